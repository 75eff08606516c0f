#include "telemetry/store/run_digest.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>

#include "telemetry/event/encoded.hpp"
#include "telemetry/store/rank_data.hpp"

namespace rankscope {

namespace {

constexpr std::uint32_t steps_kept_apart = 256;  ///< more than ranks are apart, and than any message is late

}  // namespace

struct RunDigest::State {
  struct Batch {
    std::vector<std::byte> bytes;
    Envelope envelope;
    Obtained obtained = Obtained::measured;
    std::uint32_t greatest_step = 0;
    std::int64_t rows = 0;
    std::vector<EncodedMessage::StepExtent> extents;
  };

  std::mutex mutex;
  std::size_t steps = 0;
  RunStore store{0, steps_kept_apart};
  std::array<std::set<std::uint32_t>, obtained_count> latest;
  std::deque<Batch> batches;  // of the latest steps, not in the store yet

  bool is_old(const Batch& batch) const {
    const auto& kept = latest[static_cast<std::size_t>(batch.obtained)];
    return !kept.empty() && batch.greatest_step < *kept.begin();
  }

  void take_spans(const EncodedMessage& message) {
    Batch batch{{message.bytes().begin(), message.bytes().end()},
                message.envelope(),
                message.obtained(),
                0,
                message.rows(),
                message.step_extents()};
    auto& kept = latest[static_cast<std::size_t>(batch.obtained)];
    for (const auto& extent : batch.extents) {
      batch.greatest_step = std::max(batch.greatest_step, extent.step);
      kept.insert(extent.step);
    }
    while (kept.size() > steps) kept.erase(kept.begin());
    batches.push_back(std::move(batch));
    std::erase_if(batches, [&](const Batch& b) {
      if (is_old(b)) store.accept_outline(b.envelope, b.obtained, b.extents, b.rows);
      return is_old(b);
    });
  }
};

RunDigest::RunDigest(std::size_t steps) : state_(std::make_unique<State>()) {
  state_->steps = std::max<std::size_t>(steps, 1);
}
RunDigest::~RunDigest() = default;

void RunDigest::accept(const Message& message) { accept_encoded(EncodedMessage(encode(message))); }

void RunDigest::accept_encoded(const EncodedMessage& message) {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  if (message.kind() == EventKind::spans)
    s.take_spans(message);
  else if (is_batch(message.kind()))
    s.store.accept_outline(message.envelope(), message.obtained(), {}, message.rows());
  else
    s.store.accept(message.message());
}

std::shared_ptr<const StoreView> RunDigest::view() {
  State& s = *state_;
  const std::lock_guard lock(s.mutex);
  for (const State::Batch& batch : s.batches)
    if (const Decoded decoded = decode(batch.bytes)) s.store.accept(decoded.message);
  s.batches.clear();
  return s.store.view();
}

}  // namespace rankscope
