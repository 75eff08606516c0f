#include "telemetry/stream/batch_former.hpp"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "telemetry/event/message_time.hpp"

namespace rankscope {
namespace {

bool sensible(const Span& s) {
  return s.begin_ns <= s.active_ns && s.active_ns <= s.end_ns && s.rank >= 0 && s.op != OpId();
}
bool sensible(const PhaseSpan& p) {
  return p.begin_ns <= p.end_ns && p.rank >= 0 && p.from >= -1 && p.to >= -1 && p.phase >= 0 && p.bytes >= -1 &&
         p.op != OpId();
}
bool sensible(const MemorySample& m) {
  return m.rank >= 0 && std::all_of(m.bytes.begin(), m.bytes.end(), [](std::int64_t b) { return b >= 0; });
}

}  // namespace

BatchFormer::RankStream& BatchFormer::stream_of(std::int32_t rank) {
  RankStream& stream = ranks_[rank];
  if (!stream.spool && !options_.spool_directory.empty())
    stream.spool = std::make_unique<SpoolWriter>(SpoolOptions{options_.spool_directory, options_.keep_last},
                                                 options_.session, rank);
  return stream;
}

BatchFormer::OpenBatches& BatchFormer::open_batches(std::int32_t rank, Obtained obtained, ClockDomain clock) {
  OpenBatches& open = stream_of(rank).open[{obtained, clock}];
  std::apply([&](auto&... batch) { ((batch.obtained = obtained, batch.clock = clock), ...); }, open);
  return open;
}

void BatchFormer::emit(std::int32_t rank, const Message& message) {
  const auto bytes = encoder_.encode(message);
  const bool reliable = is_reliable(message.event);
  ++counts_.messages;
  counts_.bytes += static_cast<std::int64_t>(bytes.size());
  std::optional<SpoolPosition> position;
  if (SpoolWriter* spool = stream_of(rank).spool.get()) position = spool->append(bytes, reliable);
  if (options_.collect) formed_.push_back({{bytes.begin(), bytes.end()}, reliable, position});
}

void BatchFormer::append(std::int32_t rank, Event event) {
  RankStream& stream = stream_of(rank);
  if (is_control(event)) ++stream.control_sequence;
  const std::uint64_t sequence = ++stream.sequence;
  emit(rank, {options_.session, rank, sequence, stream.control_sequence, std::move(event)});
}

// The batch passes its rows to the message and gets them back, emptied: their memory is reused.
template <class Batch>
void BatchFormer::close(std::int32_t rank, Batch& batch) {
  if (batch.rows.empty()) return;
  counts_.rows += static_cast<std::int64_t>(batch.rows.size());
  RankStream& stream = stream_of(rank);
  const std::uint64_t sequence = ++stream.sequence;
  Message message{options_.session, rank, sequence, stream.control_sequence, std::move(batch)};
  emit(rank, message);
  batch = std::move(std::get<Batch>(message.event));
  batch.rows.clear();
}

template <class Batch, class Row>
void BatchFormer::add_row(std::int32_t rank, Batch& batch, const Row& row) {
  if (!sensible(row)) {
    ++counts_.malformed;
    return;
  }
  batch.rows.push_back(row);
  if (batch.rows.size() >= options_.batch_rows) close(rank, batch);
}

void BatchFormer::drain(LaneWriter& lane, bool last) {
  OpenBatches& open = open_batches(lane.rank_, lane.obtained_, lane.clock_);
  const auto take = [&](auto& ring, auto& batch) {
    ring.drain(ring.capacity(), [&](const auto& row) {
      lane.latest_ns_ = std::max(lane.latest_ns_, time_of(row).end_ns);
      add_row(lane.rank_, batch, row);
    });
  };
  take(lane.spans_, std::get<SpanBatch>(open));
  take(lane.memory_, std::get<MemoryBatch>(open));
  take(lane.phases_, std::get<PhaseBatch>(open));
  lane.gaps_.drain(lane.gaps_.capacity(), [&](const Gap& gap) {
    lane.reported_drops_ += gap.events;
    append(lane.rank_, gap);
  });
  // Drops that no later row of the lane has reported.
  if (const std::int64_t unreported = lane.dropped() - lane.reported_drops_; last && unreported > 0)
    append(lane.rank_, Gap{lane.rank_, lane.latest_ns_, lane.latest_ns_, unreported});
}

template <class Batch>
void BatchFormer::add_batch(std::int32_t rank, Batch&& batch) {
  auto& open = std::get<std::decay_t<Batch>>(open_batches(rank, batch.obtained, batch.clock));
  auto& given = batch.rows;
  const auto is_sensible = [](const auto& row) { return sensible(row); };
  if (open.rows.empty() && given.size() < options_.batch_rows && std::all_of(given.begin(), given.end(), is_sensible)) {
    open.rows.swap(given);
    return;
  }
  for (const auto& row : given) add_row(rank, open, row);
}

void BatchFormer::add(std::int32_t rank, Event event) {
  std::visit(
      [&](auto&& batch) {
        using Batch = std::decay_t<decltype(batch)>;
        if constexpr (IsBatch<Batch>)
          add_batch(rank, std::forward<decltype(batch)>(batch));
        else
          assert(false && "a batch is reported");
      },
      std::move(event));
}

void BatchFormer::close_batches() {
  for (auto& [rank, stream] : ranks_)
    for (auto& [key, open] : stream.open)
      std::apply([&, rank = rank](auto&... batch) { (close(rank, batch), ...); }, open);
}

std::string BatchFormer::flush() {
  std::string trouble;
  counts_.spool_lost = 0;
  for (auto& [rank, stream] : ranks_) {
    if (!stream.spool) continue;
    stream.spool->flush();
    counts_.spool_lost += stream.spool->messages_lost();
    if (!stream.spool->error().empty()) trouble = stream.spool->error();
  }
  return trouble;
}

}  // namespace rankscope
