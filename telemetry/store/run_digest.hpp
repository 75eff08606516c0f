// The data for a run's report, kept at low cost during the run: control, the totals of the summaries, the times of
// every step, and the spans of the latest steps. Older spans, memory samples and phases are only counted, and older
// steps are merged over the ranks, so a long run uses little memory; the recording contains everything.
#pragma once
#include <cstddef>
#include <memory>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

class RunDigest : public EventSink {
 public:
  /// Keeps the spans of this number of latest steps; measured, emulated and simulated steps are counted separately.
  explicit RunDigest(std::size_t steps = 32);
  ~RunDigest() override;
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  /// A store's view. Steps before the latest have their ranges and no spans; event_count() counts all events that
  /// arrived. Spans stay encoded until this is called. Any thread.
  std::shared_ptr<const StoreView> view();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
