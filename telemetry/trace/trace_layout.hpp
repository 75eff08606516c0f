// The conventions of a trace's writer and reader in addition to MCAP itself.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "telemetry/event/encoded.hpp"
#include "telemetry/trace/mcap.hpp"

namespace rankscope {

/// The profile of recordings whose metadata have checksums; earlier recordings have no profile.
inline constexpr std::string_view trace_profile = "rankscope";
inline constexpr std::string_view session_metadata = "rankscope";
inline constexpr std::string_view run_metadata = "run";
inline constexpr std::string_view end_metadata = "end";      ///< how the run ended; none while it is under way
inline constexpr std::string_view relay_metadata = "relay";  ///< the relay's counts; at the end
inline constexpr std::string_view forged_key = "forged";
inline constexpr std::string_view loss_metadata = "lost";  ///< messages that the disk did not take, and why; at the end
inline constexpr std::string_view mark_metadata = "mark";  ///< one record each (marks.hpp)
inline constexpr std::string_view sweep_topic =
    "/rankscope/sweep";  ///< of a JSON trace (engine/explain/facts/sweep_file.hpp)

/// MCAP has checksums of chunks and of the summary; these cover the rest. Each metadata record has one of its other
/// values, the session's record also one of all bytes of the file before it.
inline constexpr std::string_view metadata_crc_key = "crc32", head_crc_key = "head_crc32";
/// The checksum of the metadata's name and values, without the checksum itself, as eight hexadecimal digits.
std::string metadata_crc(const mcap::Metadata& metadata);
/// The session's metadata, for a file whose preceding bytes have that checksum: `more` and both checksums.
mcap::Metadata session_metadata_of(mcap::StringMap more, std::uint32_t head_crc);
/// With its checksum as one of its values.
mcap::Metadata with_crc(mcap::Metadata metadata);
std::string hex_of(std::uint32_t crc);

/// Channels of the wire form, ids 1 … 5. Readers recognise a telemetry message by its own file identifier, so that it
/// is found even if the channel records are lost.
inline constexpr std::array<std::string_view, 5> event_topics{
    "/rankscope/control", "/rankscope/summary", "/rankscope/spans", "/rankscope/memory", "/rankscope/phases"};
std::uint16_t channel_of(EventKind kind);
/// Of a topic whose messages are JSON; `text` is a JSON schema.
mcap::Schema json_schema(std::uint16_t id, std::string_view topic, std::string_view text);
/// Whether a message's data is the wire form of telemetry.
bool is_telemetry(mcap::View data);

}  // namespace rankscope
