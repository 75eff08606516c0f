// What NCCL tells of the inside of one communicator's collectives and messages, through its profiler plug-in interface.
// The plug-in is in this program itself: hear_nccl_phases() (nccl.hpp) has NCCL look for it here.
//
// NCCL tells of a work (a collective or message) while it is enqueued, and ends its event at once. So whatever it tells
// of between a call's begin and its end is that call's: a work that NCCL leaves out is unknown, and those of later
// calls are not taken for it. What happens inside is told some time later, by the proxy thread, in any order: of each
// channel of the kernel when it began and ended on the device's timer, and of each transfer over the network, where
// there is one, its peer and bytes. Within a host no transfers are told, so that a collective's channels have no peers
// that anybody knew.
//
// For the nccl files of this folder.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/execute/comm/group.hpp"

namespace rankscope::comm {

/// What the library is about to be asked for: so many collectives or messages, all of one call.
struct NcclWorks {
  int count = 0;
  std::optional<std::uint64_t> call{};  ///< known by this number; none: nobody wants to know of its inside
};

class NcclRecording;

class NcclRecorder {
 public:
  explicit NcclRecorder(const GroupSetting& setting);
  ~NcclRecorder();
  NcclRecorder(const NcclRecorder&) = delete;
  NcclRecorder& operator=(const NcclRecorder&) = delete;

  /// What NCCL is to be given as the communicator's name: it hands that to the plug-in.
  const char* name() const { return name_.c_str(); }
  /// Before the works are enqueued, and when the library has done so: one call at a time.
  void begin_call(const NcclWorks& works);
  void end_call();
  /// What has been told since this was asked last. Any thread.
  std::vector<LatePhase> take();
  /// Of something that was told its inside is not told as a whole yet. False where NCCL does not use the plug-in.
  bool awaits_more() const;

 private:
  std::shared_ptr<NcclRecording> recording_;
  std::string name_;
};

}  // namespace rankscope::comm
