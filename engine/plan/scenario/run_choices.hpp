// The closed sets of names that say how a scenario is run (--device, --comm, --clock, --unfused), each with the only
// table of its names. A recording keeps the names themselves.
#pragma once
#include "engine/plan/scenario/choice.hpp"

namespace rankscope {

/// What computes. `sleep`: nothing does, each op sleeps its predicted cost.
enum class DeviceKind : std::uint8_t { cpu, cuda, sleep };
inline constexpr std::string_view device_words[] = {"cpu", "cuda", "sleep"};
template <>
inline constexpr std::span<const std::string_view> word_table<DeviceKind> = device_words;

/// Whether ops are computed on this machine.
constexpr bool computes(DeviceKind device) { return device != DeviceKind::sleep; }

/// How ranks communicate. `loopback`: as threads of one process.
enum class CommunicatorKind : std::uint8_t { loopback, mpi, nccl };
inline constexpr std::string_view communicator_words[] = {"loopback", "mpi", "nccl"};
template <>
inline constexpr std::span<const std::string_view> word_table<CommunicatorKind> = communicator_words;

/// What a GPU computes in one kernel instead of several; each can be switched off (--unfused). `gelu`, `bias_gradient`:
/// within the matrix product that it belongs to.
enum class FusedPath : std::uint8_t { attention, gelu, bias_gradient };
inline constexpr std::string_view fused_path_words[] = {"attention", "gelu", "bias-gradient"};
template <>
inline constexpr std::span<const std::string_view> word_table<FusedPath> = fused_path_words;

/// The clock of the headline numbers. `automatic`: the device's where ranks share cores.
enum class ClockChoice : std::uint8_t { automatic, wall, device };
inline constexpr std::string_view clock_words[] = {"auto", "wall", "device"};
template <>
inline constexpr std::span<const std::string_view> word_table<ClockChoice> = clock_words;

}  // namespace rankscope
