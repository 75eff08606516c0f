// The closed sets of names that define how a scenario runs (--device, --comm, --clock, --without), each with the only
// table of its names. A recording keeps the names themselves.
#pragma once
#include "engine/plan/scenario/choice.hpp"

namespace rankscope {

/// The computing device. `sleep`: none, each op sleeps for its predicted cost.
enum class DeviceKind : std::uint8_t { cpu, cuda, sleep };
template <>
inline constexpr auto word_table<DeviceKind> = word_list("cpu", "cuda", "sleep");

/// Whether ops are computed on this machine.
constexpr bool computes(DeviceKind device) { return device != DeviceKind::sleep; }

/// How ranks communicate. `loopback`: as threads of one process.
enum class CommunicatorKind : std::uint8_t { loopback, mpi, nccl };
template <>
inline constexpr auto word_table<CommunicatorKind> = word_list("loopback", "mpi", "nccl");

/// GPU optimizations that can be switched off to measure their gain (--without). `attention`: on tensor cores;
/// `cudnn`: that by cuDNN; `gelu`, `bias_gradient`: within the matrix product that each belongs to; `norm`: all
/// gradients of a layer norm in one pass; `measured`: the fastest of cuBLASLt's algorithms for each product, instead of
/// the first.
enum class FastPath : std::uint8_t { attention, cudnn, gelu, bias_gradient, norm, measured };
template <>
inline constexpr auto word_table<FastPath> = word_list("attention", "cudnn", "gelu", "bias-gradient", "norm",
                                                       "measured");

/// The clock of the headline numbers. `automatic`: the device's where ranks share cores.
enum class ClockChoice : std::uint8_t { automatic, wall, device };
template <>
inline constexpr auto word_table<ClockChoice> = word_list("auto", "wall", "device");

}  // namespace rankscope
