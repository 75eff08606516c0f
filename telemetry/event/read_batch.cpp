#include <algorithm>

#include "telemetry/event/wire_event.hpp"

namespace rankscope::wire {
namespace {

// Kinds, purposes and segments unknown here may be from a newer build and are kept; a known kind that contradicts its
// purpose is damage.
void check_op(OpId op, bool may_be_none) {
  if (op == OpId()) return require(may_be_none, "a row without an op");
  if (!op.valid()) return;
  const OpFields f = op.fields();
  require(may_have(f.kind, f.purpose), "an op id whose kind contradicts its purpose");
}

OpId op_of(std::int64_t value) { return OpId(static_cast<std::uint64_t>(value)); }

// Calls visit(first, count) for blocks of rows.
template <class F>
void in_blocks(std::size_t rows, F visit) {
  for (std::size_t first = 0; first < rows; first += block_rows) visit(first, std::min(block_rows, rows - first));
}

void check_ops(const ColumnReader& ops, std::size_t rows, bool may_be_none) {
  Block op;
  in_blocks(rows, [&](std::size_t first, std::size_t count) {
    ops.read(first, count, op);
    // Neighbours often have the same op (its live bytes when it began, and when it ended).
    OpId checked = OpId(op_of(op[0]).value() ^ 1);
    for (std::size_t i = 0; i < count; ++i) {
      if (op_of(op[i]) == checked) continue;
      checked = op_of(op[i]);
      check_op(checked, may_be_none);
    }
  });
}

// Rows [first, first + count) of several columns.
template <class... Columns>
std::array<Block, sizeof...(Columns)> blocks_of(std::size_t first, std::size_t count, const Columns&... columns) {
  std::array<Block, sizeof...(Columns)> blocks;
  Block* block = blocks.data();
  (columns.read(first, count, *block++), ...);
  return blocks;
}

// The columns that each kind of batch has, their lengths and ranges checked; those that all kinds begin with.
struct KeyColumns {
  template <class Table>
  KeyColumns(const Table& t, const DecodeLimits& limits)
      : rows(rows_of(t.op(), limits.rows)),
        op(t.op(), rows, "op"),
        rank(t.rank(), rows, 0, limits.ranks - 1, "rank"),
        step(t.step(), rows, 0, UINT32_MAX, "step") {}

  std::size_t rows;
  ColumnReader op, rank, step;
};

struct SpanColumns : KeyColumns {
  using Row = Span;
  SpanColumns(const Spans& t, const DecodeLimits& limits)
      : KeyColumns(t, limits),
        begin(t.begin_ns(), rows, -greatest_time_ns, greatest_time_ns, "begin"),
        wait(t.wait_ns(), rows, 0, greatest_time_ns, "wait"),
        work(t.work_ns(), rows, 0, greatest_time_ns, "work"),
        cpu(t.cpu_ns(), rows, -1, greatest_time_ns, "cpu") {}

  // Extends the time of all rows by those of a block; every end is in its range.
  void reach(std::size_t first, std::size_t count, std::int64_t& least, std::int64_t& greatest) const {
    auto [b, w, d] = blocks_of(first, count, begin, wait, work);
    std::int64_t latest_active = INT64_MIN;
    for (std::size_t i = 0; i < count; ++i) {
      w[i] += b[i];
      least = std::min(least, b[i]);
      latest_active = std::max(latest_active, w[i]);
    }
    time_in_range(latest_active);
    for (std::size_t i = 0; i < count; ++i) greatest = std::max(greatest, w[i] + d[i]);
    time_in_range(greatest);
  }

  void read(std::size_t first, std::size_t count, std::vector<Span>& out) const {
    const auto [o, r, s, b, w, d, c] = blocks_of(first, count, op, rank, step, begin, wait, work, cpu);
    for (std::size_t i = 0; i < count; ++i)
      out.push_back({static_cast<std::int32_t>(r[i]), static_cast<std::uint32_t>(s[i]), op_of(o[i]), b[i], b[i] + w[i],
                     b[i] + w[i] + d[i], c[i]});
  }

  static constexpr bool may_have_no_op = false;
  ColumnReader begin, wait, work, cpu;
};

struct MemoryColumns : KeyColumns {
  using Row = MemorySample;
  MemoryColumns(const Memory& t, const DecodeLimits& limits)
      : KeyColumns(t, limits),
        time(t.time_ns(), rows, -greatest_time_ns, greatest_time_ns, "time"),
        bytes{ColumnReader(t.parameters(), rows, 0, greatest_bytes, "parameters"),
              ColumnReader(t.gradients(), rows, 0, greatest_bytes, "gradients"),
              ColumnReader(t.optimizer(), rows, 0, greatest_bytes, "optimizer"),
              ColumnReader(t.activations(), rows, 0, greatest_bytes, "activations"),
              ColumnReader(t.buffers(), rows, 0, greatest_bytes, "buffers"),
              ColumnReader::later(t.host(), rows, 0, greatest_bytes, "host"),
              ColumnReader::later(t.workspace(), rows, 0, greatest_bytes, "workspace"),
              ColumnReader::later(t.context(), rows, 0, greatest_bytes, "context"),
              ColumnReader::later(t.unclassified(), rows, 0, greatest_bytes, "unclassified")} {}

  void reach(std::size_t first, std::size_t count, std::int64_t& least, std::int64_t& greatest) const {
    const auto [t] = blocks_of(first, count, time);
    for (std::size_t i = 0; i < count; ++i) {
      least = std::min(least, t[i]);
      greatest = std::max(greatest, t[i]);
    }
  }

  void read(std::size_t first, std::size_t count, std::vector<MemorySample>& out) const {
    const auto [o, r, s, t] = blocks_of(first, count, op, rank, step, time);
    std::array<Block, memory_class_count> b;
    for (std::size_t k = 0; k < b.size(); ++k) bytes[k].read(first, count, b[k]);
    for (std::size_t i = 0; i < count; ++i) {
      MemorySample& sample = out.emplace_back();
      sample.rank = static_cast<std::int32_t>(r[i]);
      sample.step = static_cast<std::uint32_t>(s[i]);
      sample.op = op_of(o[i]);
      sample.time_ns = t[i];
      for (std::size_t k = 0; k < b.size(); ++k) sample.bytes[k] = b[k][i];
    }
  }

  static constexpr bool may_have_no_op = true;
  ColumnReader time;
  std::array<ColumnReader, memory_class_count> bytes;
};

struct PhaseColumns : KeyColumns {
  using Row = PhaseSpan;
  PhaseColumns(const Phases& t, const DecodeLimits& limits)
      : KeyColumns(t, limits),
        phase(t.phase(), rows, 0, INT32_MAX, "phase"),
        chunk(t.chunk(), rows, -1, INT32_MAX, "chunk"),
        from(t.from(), rows, -1, limits.ranks - 1, "from"),
        to(t.to(), rows, -1, limits.ranks - 1, "to"),
        bytes(t.bytes(), rows, -1, greatest_bytes, "bytes"),
        begin(t.begin_ns(), rows, -greatest_time_ns, greatest_time_ns, "begin"),
        length(t.length_ns(), rows, 0, greatest_time_ns, "length") {}

  void reach(std::size_t first, std::size_t count, std::int64_t& least, std::int64_t& greatest) const {
    const auto [b, l] = blocks_of(first, count, begin, length);
    for (std::size_t i = 0; i < count; ++i) {
      least = std::min(least, b[i]);
      greatest = std::max(greatest, b[i] + l[i]);
    }
    time_in_range(greatest);
  }

  void read(std::size_t first, std::size_t count, std::vector<PhaseSpan>& out) const {
    const auto [o, r, s, p, c, f, t, y, b, l] =
        blocks_of(first, count, op, rank, step, phase, chunk, from, to, bytes, begin, length);
    for (std::size_t i = 0; i < count; ++i)
      out.push_back({static_cast<std::int32_t>(r[i]), static_cast<std::uint32_t>(s[i]), op_of(o[i]),
                     static_cast<std::int32_t>(p[i]), static_cast<std::int32_t>(c[i]), static_cast<std::int32_t>(f[i]),
                     static_cast<std::int32_t>(t[i]), y[i], b[i], b[i] + l[i]});
  }

  static constexpr bool may_have_no_op = false;
  ColumnReader phase, chunk, from, to, bytes, begin, length;
};

template <class Columns, class Table>
BatchBrief check(const Table* table, const DecodeLimits& limits) {
  require(table != nullptr, "no event");
  BatchBrief brief;
  brief.obtained = known(table->obtained(), Obtained::simulated);
  brief.clock = known(table->clock(), ClockDomain::device);
  const Columns columns(*table, limits);
  check_ops(columns.op, columns.rows, Columns::may_have_no_op);
  brief.rows = columns.rows;
  if (brief.rows == 0) return brief;
  brief.begin_ns = INT64_MAX;
  brief.end_ns = INT64_MIN;
  in_blocks(brief.rows,
            [&](std::size_t first, std::size_t count) { columns.reach(first, count, brief.begin_ns, brief.end_ns); });
  return brief;
}

template <class Columns, class Table>
rankscope::Event read(const Table& table, const BatchBrief& brief, const DecodeLimits& limits) {
  const Columns columns(table, limits);
  Batch<typename Columns::Row> batch{brief.obtained, brief.clock, {}};
  batch.rows.reserve(columns.rows);
  in_blocks(columns.rows, [&](std::size_t first, std::size_t count) { columns.read(first, count, batch.rows); });
  return batch;
}

}  // namespace

BatchBrief check_batch(const Message& m, const DecodeLimits& limits) {
  switch (kind_of(m)) {
    case EventKind::spans: return check<SpanColumns>(m.event_as_Spans(), limits);
    case EventKind::memory: return check<MemoryColumns>(m.event_as_Memory(), limits);
    case EventKind::phases: return check<PhaseColumns>(m.event_as_Phases(), limits);
    default: throw Refusal{"no batch"};
  }
}

rankscope::Event read_batch(const Message& m, const BatchBrief& brief, const DecodeLimits& limits) {
  switch (kind_of(m)) {
    case EventKind::spans: return read<SpanColumns>(*m.event_as_Spans(), brief, limits);
    case EventKind::memory: return read<MemoryColumns>(*m.event_as_Memory(), brief, limits);
    case EventKind::phases: return read<PhaseColumns>(*m.event_as_Phases(), brief, limits);
    default: throw Refusal{"no batch"};
  }
}

std::vector<EncodedMessage::StepExtent> step_extents(const Spans& spans, const DecodeLimits& limits) {
  const SpanColumns columns(spans, limits);
  std::vector<EncodedMessage::StepExtent> extents;
  in_blocks(columns.rows, [&](std::size_t first, std::size_t count) {
    const auto [o, r, s, b, w, d] =
        blocks_of(first, count, columns.op, columns.rank, columns.step, columns.begin, columns.wait, columns.work);
    for (std::size_t i = 0; i < count; ++i) {
      const auto rank = static_cast<std::int32_t>(r[i]);
      const auto step = static_cast<std::uint32_t>(s[i]);
      if (extents.empty() || extents.back().rank != rank || extents.back().step != step)
        extents.push_back({rank, step, INT64_MAX, INT64_MAX, INT64_MIN});
      EncodedMessage::StepExtent& extent = extents.back();
      if (b[i] < extent.first_compute_ns && is_compute(op_of(o[i]).lane())) extent.first_compute_ns = b[i];
      extent.first_ns = std::min(extent.first_ns, b[i]);
      extent.last_end_ns = std::max(extent.last_end_ns, b[i] + w[i] + d[i]);
    }
  });
  return extents;
}

}  // namespace rankscope::wire
