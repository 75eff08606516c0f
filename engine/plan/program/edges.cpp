#include <algorithm>
#include <array>
#include <map>

#include "engine/plan/program/passes.hpp"

namespace rankscope {
namespace {

// Ops are numbered through two laps of the program, since the second lap depends on accesses of the first one: an op's
// number is lap × ops + index. Lane clocks count ops of a lane through both laps.
using Number = std::int64_t;
constexpr Number nobody = -1;
using LaneClock = std::array<std::int64_t, lane_count>;  ///< per lane: how many of its ops are known to have finished

/// A range of the arena: its last writer, and its readers since then, per lane.
struct Cell {
  std::int64_t end = 0;
  Number writer = nobody;
  std::array<Number, lane_count> readers{};
};

class MemoryMap {
 public:
  explicit MemoryMap(std::int64_t bytes) {
    Cell cell;
    cell.end = bytes;
    cell.readers.fill(nobody);
    cells_.emplace(0, cell);
  }
  /// Calls `visit` on the cells of [begin, end), split so that they cover exactly that range.
  template <class Visit>
  void over(std::int64_t begin, std::int64_t end, Visit visit) {
    split(begin);
    split(end);
    for (auto cell = cells_.find(begin); cell != cells_.end() && cell->first < end; ++cell) visit(cell->second);
  }

 private:
  void split(std::int64_t at) {
    const auto next = cells_.upper_bound(at);
    if (next == cells_.begin()) return;
    const auto cell = std::prev(next);
    if (cell->first == at || cell->second.end <= at) return;
    Cell right = cell->second;
    cell->second.end = at;
    cells_.emplace(at, right);
  }
  std::map<std::int64_t, Cell> cells_;
};

class EdgeFinder {
 public:
  explicit EdgeFinder(RankProgram& program) : program_(program), count_(static_cast<Number>(program.ops.size())) {
    position_.resize(program.ops.size());
    for (std::size_t i = 0; i < program.ops.size(); ++i)
      position_[i] = ++lane_ops_[static_cast<std::size_t>(program.ops[i].lane())];  // 1-based
    finished_.resize(2 * program.ops.size());
  }

  void run() {
    MemoryMap memory(program_.arena_bytes + program_.host_bytes);
    for (Number lap = 0; lap < 2; ++lap)
      for (Number i = 0; i < count_; ++i) visit(memory, lap * count_ + i);
  }

 private:
  Op& op_of(Number number) { return program_.ops[static_cast<std::size_t>(number % count_)]; }
  std::size_t lane_of_number(Number number) { return static_cast<std::size_t>(op_of(number).lane()); }
  std::int64_t clock_of(Number number) {
    return position_[static_cast<std::size_t>(number % count_)] + number / count_ * lane_ops_[lane_of_number(number)];
  }
  static void merge(LaneClock& into, const LaneClock& other) {
    for (std::size_t l = 0; l < lane_count; ++l) into[l] = std::max(into[l], other[l]);
  }

  void visit(MemoryMap& memory, Number number) {
    Op& op = op_of(number);
    const std::size_t lane = lane_of_number(number);
    LaneClock& known = lane_known_[lane];
    std::vector<Number> needs = hazards(memory, number);

    // In the second lap the edges found in the first one already apply.
    if (number >= count_)
      for (const OpIndex before : op.after) merge(known, finished_[static_cast<std::size_t>(count_ + before)]);
    if (const Number pace = pace_of(number); pace != nobody) needs.push_back(pace);
    if (op.lane() == Lane::compute) last_compute_ = number;
    if (is_collective(op.id.kind())) last_collective_ = number;
    std::sort(needs.begin(), needs.end(), std::greater<>());  // the latest first: it may imply the others
    for (const Number need : needs) {
      const std::size_t other = lane_of_number(need);
      if (other == lane || known[other] >= clock_of(need)) continue;
      merge(known, finished_[static_cast<std::size_t>(need)]);
      (need / count_ == number / count_ ? op.after : op.after_previous).push_back(static_cast<OpIndex>(need % count_));
    }
    known[lane] = clock_of(number);
    finished_[static_cast<std::size_t>(number)] = known;
  }

  /// A gather of parameters, or of rows that a weight gradient needs again, depends on the compute op before it in
  /// program order. Otherwise its lane would run ahead as far as memory allows, and hold the data that stage 3 of ZeRO,
  /// or sequence parallelism, should not hold. A check depends on its collective, also on a rank that
  /// gets no new data from it: until then this rank takes part in it, and holds the data that it sends.
  Number pace_of(Number number) {
    const OpFields f = op_of(number).id.fields();
    if (f.kind == OpKind::check) return last_collective_;
    const bool gathers = f.purpose == Purpose::zero_parameter || (f.purpose == Purpose::tensor && f.micro_batch >= 0 &&
                                                                  f.index == static_cast<int>(TensorPhase::again));
    return gathers && last_compute_ / count_ == number / count_ ? last_compute_ : nobody;
  }

  std::vector<Number> hazards(MemoryMap& memory, Number number) {
    const std::size_t lane = lane_of_number(number);
    std::vector<Number> needs;
    for (const BufferUse& use : op_of(number).uses) {
      const Buffer& buffer = program_.buffers[use.buffer];
      const bool writes = use.access != Access::read;
      memory.over(buffer.offset, buffer.offset + buffer.bytes(), [&](Cell& cell) {
        if (cell.writer != nobody && cell.writer != number) needs.push_back(cell.writer);
        if (writes) {
          for (const Number reader : cell.readers)
            if (reader != nobody && reader != number) needs.push_back(reader);
          cell.writer = number;
          cell.readers.fill(nobody);
        } else {
          cell.readers[lane] = number;
        }
      });
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    return needs;
  }

  RankProgram& program_;
  Number count_;
  std::vector<std::int64_t> position_;
  std::array<std::int64_t, lane_count> lane_ops_{};
  std::vector<LaneClock> finished_;  ///< by number: the ops known to have finished when it has
  std::array<LaneClock, lane_count> lane_known_{};
  Number last_compute_ = nobody, last_collective_ = nobody;  ///< in program order
};

}  // namespace

RankProgram add_edges(RankProgram program) {
  for (Op& op : program.ops) {
    op.after.clear();
    op.after_previous.clear();
  }
  EdgeFinder(program).run();
  return program;
}

}  // namespace rankscope
