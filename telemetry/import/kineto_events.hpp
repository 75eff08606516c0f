// The events of a Kineto trace as they are in the file: only those that read_kineto() needs, without their JSON.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

enum class KinetoKind : std::uint8_t { cpu_op, annotation, runtime, kernel, memcpy, memset };
constexpr bool is_on_device(KinetoKind kind) { return kind >= KinetoKind::kernel; }

struct KinetoEvent {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t correlation = -1;    ///< of a device's work and the call that launched it; -1: none
  std::int64_t external = -1;       ///< "External id": of a device's work and the operator around its launch
  std::uint32_t name = 0, row = 0;  ///< into KinetoEvents'
  std::int32_t communication = -1;  ///< into KinetoEvents::communications
  KinetoKind kind = KinetoKind::cpu_op;
  bool is_recorded = false;  ///< an operator that autograd records for a later backward
};

/// What an event says of a communication. Numbers are −1 and texts empty where it does not.
struct KinetoCommunication {
  std::string collective, type, group, description, ranks;
  std::int64_t in_elements = -1, out_elements = -1, group_size = -1, sequence = -1, source = -1, destination = -1;
  std::int64_t dimension_elements = -1;  ///< of "Input Dims"; their type is then `type`
  std::int64_t third_input = -1;         ///< of "Concrete Inputs": the group rank of the peer of c10d::send and recv_
};

/// A thread (of process `process`) or a stream (of device `process`).
struct KinetoRow {
  std::int64_t process = 0, number = 0;
  std::string name;  ///< "thread 4711 (python)"; may be empty
};

struct KinetoMemory {
  std::int64_t time_ns = 0, allocated = 0, reserved = 0;
  std::int64_t device_type = 0, device = -1;  ///< type 0 is the CPU
};

struct KinetoEvents {
  std::string host, backend;
  int rank = -1, world_size = -1;
  std::vector<std::pair<std::int64_t, std::string>> devices;  ///< number and name
  std::vector<TracedGroup> groups;                            ///< of pg_config
  std::vector<std::string> names;
  std::vector<KinetoRow> rows;
  std::vector<KinetoEvent> events;  ///< in the file's order
  std::vector<KinetoCommunication> communications;
  std::vector<KinetoMemory> memory;           ///< in the file's order
  std::map<std::string, std::size_t> unread;  ///< how many events of categories that are not known
};

/// Throws ImportError.
KinetoEvents read_kineto_events(const std::filesystem::path& file);

}  // namespace rankscope::import
