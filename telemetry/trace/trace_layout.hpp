// What a trace's writer and reader agree on beyond MCAP itself.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "telemetry/event/encoded.hpp"
#include "telemetry/trace/mcap.hpp"

namespace rankscope {

inline constexpr std::string_view trace_profile = "";  // none of the well-known ones
inline constexpr std::string_view session_metadata = "rankscope";
inline constexpr std::string_view run_metadata = "run";
inline constexpr std::string_view sweep_topic = "/rankscope/sweep";  ///< of a JSON trace (engine/facts/sweep_file.hpp)

/// Channels of the wire form, ids 1 … 5. Readers know a telemetry message by its own file identifier, so that one
/// is found even where the channel records are lost.
inline constexpr std::array<std::string_view, 5> event_topics{
    "/rankscope/control", "/rankscope/summary", "/rankscope/spans", "/rankscope/memory", "/rankscope/phases"};
std::uint16_t channel_of(EventKind kind);
/// Whether a message's data is the wire form of telemetry.
bool is_telemetry(mcap::View data);

}  // namespace rankscope
