// The data for a run's report, kept at low cost during the run: control, the totals of the summaries,
// the times of every step, and the spans of the latest steps. Older spans, memory samples and phases are only counted,
// and older steps are merged over the ranks, so a long run takes little memory; the recording has everything.
#pragma once
#include <cstddef>
#include <memory>

#include "telemetry/store/run_store.hpp"

namespace rankscope {

class RunDigest : public EventSink {
 public:
  /// Keeps the spans of so many latest steps, measured, emulated and simulated ones each for themselves.
  explicit RunDigest(std::size_t steps = 32);
  ~RunDigest() override;
  void accept(const Message& message) override;
  void accept_encoded(const EncodedMessage& message) override;
  /// A store's view, in which the steps before the latest have their ranges and no spans, and event_count() counts all
  /// that came. Spans stay encoded until this is called. Any thread.
  std::shared_ptr<const StoreView> view();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankscope
