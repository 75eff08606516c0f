// Records NCCL's reports about the inside of one communicator's collectives and messages, by its profiler plug-in
// interface. The plug-in is in this program: enable_nccl_profiler() (nccl.hpp) makes NCCL search for it here.
//
// NCCL reports a work (a collective or message) while it is enqueued, and ends its event at once. So everything that it
// reports between a call's begin and end belongs to that call: a work that NCCL omits is unknown, and later calls are
// not mistaken for it. Details are reported some time later, by the proxy thread, in any order: for each channel of the
// kernel its begin and end on the device's timer, and for each transfer over the network (if any) its peer and bytes.
// Transfers within a host are not reported, so the peers of a collective's channels are unknown.
//
// Only for the nccl files of this folder.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/execute/comm/group.hpp"

namespace rankscope::comm {

/// The next request to the library: this many collectives or messages, all of one call.
struct NcclWorks {
  int count = 0;
  std::optional<std::uint64_t> call{};  ///< identified by this number; none: its phases are not recorded
};

class NcclRecording;

class NcclRecorder {
 public:
  explicit NcclRecorder(const GroupSetting& setting);
  ~NcclRecorder();
  NcclRecorder(const NcclRecorder&) = delete;
  NcclRecorder& operator=(const NcclRecorder&) = delete;

  /// The communicator's name for NCCL, which passes it to the plug-in.
  const char* name() const { return name_.c_str(); }
  /// Called before the works are enqueued, and when the library has enqueued them: one call at a time.
  void begin_call(const NcclWorks& works);
  void end_call();
  /// The phases reported since the previous call. Any thread.
  std::vector<LatePhase> take();
  /// Some reported work has incomplete details. False if NCCL does not use the plug-in.
  bool awaits_more() const;

 private:
  std::shared_ptr<NcclRecording> recording_;
  std::string name_;
};

}  // namespace rankscope::comm
