// Programs written by hand in the text form, with one op for each collective; the executor runs them on loopback ranks.
#include "engine/execute/run/bind_call.hpp"

#include <map>
#include <thread>

#include "engine/execute/comm/loopback.hpp"
#include "engine/execute/run/comm_table.hpp"
#include "engine/execute/run/executor.hpp"
#include "engine/explain/analyse/report.hpp"
#include "engine/plan/program/communication.hpp"
#include "engine/plan/program/dry_run.hpp"
#include "engine/plan/program/passes.hpp"
#include "engine/predict/cost/modelled_costs.hpp"
#include "engine/predict/layout/simulate.hpp"
#include "engine/predict/network/link.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

constexpr std::int64_t part = 6;  // elements

// The text of one rank's program over the given grid: every collective of the data and of the tensor group, out of
// place and in place. `whole` operands are two adjacent views in one buffer, like gradients.
class Hand {
 public:
  Hand(RankGrid grid, int rank) : grid_(grid), rank_(rank) {
    text_ = "rankscope-program 1\nrank " + std::to_string(rank) + "\narena 0\n";
    add_group(GroupKind::data, "zero_gradient", "zero_parameter");
    add_group(GroupKind::tensor, "tensor", "tensor");
  }
  RankProgram program() const { return add_edges(place_buffers(parse_program(text_ + ops_))); }

 private:
  // Adds one buffer, or two views that share one; returns the index of the operand's first buffer.
  int buffers(std::int64_t elements, bool cut = true) {
    const int base = add_buffer(elements, "");
    if (!cut) return base;
    const std::string within = " within " + std::to_string(base) + " at ";
    const std::int64_t third = elements / 3;
    add_buffer(third, within + "0");
    add_buffer(elements - third, within + std::to_string(third * 4));
    return base + 1;
  }
  int add_buffer(std::int64_t elements, const std::string& where) {
    text_ += "buffer " + std::to_string(count_) + " gradients fp32 " + std::to_string(elements) + " -1 persistent" +
             where + " b" + std::to_string(count_) + "\n";
    return count_++;
  }
  std::string uses(int first, char access, bool cut = true) const {
    return " " + std::to_string(first) + access + (cut ? " " + std::to_string(first + 1) + access : "");
  }
  void op(const std::string& token, GroupKind group, int root, const std::string& uses) {
    ops_ += "op " + token + std::to_string(index_++) + " group " + std::string(name_of(group)) +
            (root < 0 ? "" : " root " + std::to_string(root)) + " uses" + uses + "\n";
  }
  void add_group(GroupKind group, const std::string& reduces, const std::string& gathers) {
    const std::vector<int> members = grid_.group_of(rank_, group);
    const auto n = static_cast<std::int64_t>(members.size());
    const int root = members.back();
    const bool is_root = root == rank_;
    const auto whole = [&] { return buffers(part * n); };
    const auto shard = [&] { return buffers(part, false); };
    const std::string r = "." + reduces + ":c0:i", g = "." + gathers + ":c0:i";
    op("BROADCAST" + g, group, root, uses(whole(), is_root ? 'r' : 'w'));
    op("REDUCE" + r, group, root, uses(whole(), 'a'));
    op("ALLREDUCE" + r, group, -1, uses(whole(), 'a'));
    if (is_root) {
      const int all = whole();
      op("SCATTER" + g, group, root, uses(all, 'r') + uses(shard(), 'w', false));
      op("SCATTER" + g, group, root, uses(whole(), 'a'));
      const int mine = shard();
      op("GATHER" + g, group, root, uses(mine, 'r', false) + uses(whole(), 'w'));
      op("GATHER" + g, group, root, uses(whole(), 'a'));
    } else {
      for (const char* kind : {"SCATTER", "SCATTER", "GATHER", "GATHER"})
        op(kind + g, group, root, uses(shard(), *kind == 'S' ? 'w' : 'r', false));
    }
    const int mine = shard();
    op("ALLGATHER" + g, group, -1, uses(mine, 'r', false) + uses(whole(), 'w'));
    op("ALLGATHER" + g, group, -1, uses(whole(), 'a'));
    const int sum = whole();
    op("REDUCESCATTER" + r, group, -1, uses(sum, 'a') + uses(shard(), 'w', false));
    op("REDUCESCATTER" + r, group, -1, uses(whole(), 'a'));
    const int sent = whole();
    op("ALLTOALL" + g, group, -1, uses(sent, 'r') + uses(whole(), 'w'));
  }

  RankGrid grid_;
  int rank_, count_ = 0, index_ = 0;
  std::string text_, ops_;
};

// The e-th element of a rank's operand before an op: small whole numbers, different everywhere.
float value_at(int rank, OpIndex op, bool output, std::int64_t e) {
  return static_cast<float>((rank * 31 + static_cast<int>(op) * 7 + (output ? 50 : 0) + e * 3) % 97);
}

float* data_of(const RankProgram& program, const Arena& arena, std::span<const BufferUse> uses) {
  const Buffer& b = program.buffers[uses.front().buffer];
  return arena.view(b.offset, b.type, b.shape).as<float>();
}

std::int64_t elements_of(const RankProgram& program, std::span<const BufferUse> uses) {
  std::int64_t elements = 0;
  for (const BufferUse& use : uses) elements += program.buffers[use.buffer].shape.elements();
  return elements;
}

// The expected results, by the definition of each collective from the operands of all members.
struct Expectation {
  const RankGrid& grid;
  const std::vector<RankProgram>& programs;

  // Element e of that rank's whole operand (or tensor) before the op.
  float whole(int rank, OpIndex op, std::int64_t e) const { return value_at(rank, op, false, e); }
  // Element e of that rank's part; if it works in place, the part is inside its whole.
  float part_of(int rank, OpIndex op, int index, std::int64_t e) const {
    const CommOperands o = operands_of(programs[static_cast<std::size_t>(rank)].ops[op]);
    return value_at(rank, op, false, o.in_place() ? index * part + e : e);
  }

  // The elements of the operand that holds the result; NaN where the result is unspecified.
  std::vector<float> result(int rank, OpIndex index) const {
    const RankProgram& program = programs[static_cast<std::size_t>(rank)];
    const Op& op = program.ops[index];
    const CommOperands o = operands_of(op);
    const std::vector<int> members = grid.group_of(rank, op.group);
    const int me = static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
    const auto out = o.output.empty() ? o.input : o.output;
    std::vector<float> values(static_cast<std::size_t>(elements_of(program, out)),
                              std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t e = 0; e < static_cast<std::int64_t>(values.size()); ++e) {
      float& value = values[static_cast<std::size_t>(e)];
      float sum = 0;
      const std::int64_t at = o.in_place() || op.id.kind() != OpKind::reduce_scatter ? e : me * part + e;
      for (const int member : members) sum += whole(member, index, at);
      const int from = static_cast<int>(e / part);  // for whole operands: the member with this part
      switch (op.id.kind()) {
        case OpKind::broadcast: value = whole(op.root, index, e); break;
        case OpKind::reduce: value = rank == op.root ? sum : value; break;
        case OpKind::all_reduce: value = sum; break;
        case OpKind::scatter: value = whole(op.root, index, o.in_place() ? e : me * part + e); break;
        case OpKind::gather:
          value = rank == op.root ? part_of(members[from], index, from, e % part) : whole(rank, index, e);
          break;
        case OpKind::all_gather: value = part_of(members[from], index, from, e % part); break;
        case OpKind::reduce_scatter: value = !o.in_place() || from == me ? sum : value; break;
        case OpKind::all_to_all: value = whole(members[from], index, me * part + e % part); break;
        default: throw std::logic_error("no collective");
      }
    }
    return values;
  }
};

struct Ran {
  std::vector<std::string> wrong;
  std::vector<TrafficRow> traffic;  // of one step
};

Ran run_rank(World& world, const std::vector<RankProgram>& programs, const RankGrid& grid, const char* algorithm) {
  Ran ran;
  const RankProgram& program = programs[static_cast<std::size_t>(world.rank())];
  HostDevice host;
  const Arena arena(host, program.arena_bytes);
  const CommTable table(program, grid, world, algorithm);
  std::vector<std::function<CommResult()>> calls;
  for (const Op& op : program.ops) calls.push_back(bind_call(program, op, grid, arena, table.of(op)));
  std::mutex mutex;
  std::map<std::tuple<Purpose, OpKind, GroupKind>, TrafficRow> rows;
  Executor executor(program, [&](OpIndex index, std::uint32_t step) {
    const Op& op = program.ops[index];
    const CommOperands o = operands_of(op);
    for (const auto uses : {o.output, o.input})
      for (std::int64_t e = 0; e < (uses.empty() ? 0 : elements_of(program, uses)); ++e)
        data_of(program, arena, uses)[e] = value_at(program.rank, index, uses.data() != o.input.data(), e);
    const WireBytes before = table.of(op).wire_bytes();
    calls[index]();
    const WireBytes after = table.of(op).wire_bytes();
    const auto expected = Expectation{grid, programs}.result(program.rank, index);
    const float* got = data_of(program, arena, o.output.empty() ? o.input : o.output);
    const std::lock_guard lock(mutex);
    for (std::size_t e = 0; e < expected.size(); ++e)
      if (!std::isnan(expected[e]) && got[e] != expected[e]) {
        ran.wrong.push_back("rank " + std::to_string(program.rank) + ", " + to_token(op.id) + ": " +
                            std::to_string(got[e]) + " at " + std::to_string(e) + ", not " +
                            std::to_string(expected[e]));
        break;
      }
    if (step > 0 || grid.group_of(program.rank, op.group).size() < 2) return;
    const OpFields f = op.id.fields();
    TrafficRow& row =
        rows.try_emplace({f.purpose, f.kind, op.group}, TrafficRow{f.purpose, f.kind, 0, 0, 0, op.group}).first->second;
    ++row.count;
    row.wire_bytes += after.sent - before.sent;
  });
  executor.run(0, 2, [&](const std::string& why) { world.abort(why); });
  for (const auto& [key, row] : rows) ran.traffic.push_back(row);
  return ran;
}

}  // namespace

TEST_CASE("programs with every collective, in place and not, of two groups at once, do what the collectives mean") {
  const auto grid = GENERATE(RankGrid{1, 2, 1}, RankGrid{2, 2, 1}, RankGrid{2, 3, 1}, RankGrid{1, 5, 1});
  const std::string algorithm = GENERATE("auto", "ring", "naive", "tree", "halving-doubling");
  CAPTURE(grid.tensor, grid.data, algorithm);
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < grid.size(); ++rank) programs.push_back(Hand(grid, rank).program());
  REQUIRE(find_deadlock(programs, grid).value_or("") == "");

  RunFacts facts;
  facts.grid = grid;
  facts.plan.collective = algorithm;
  facts.programs = programs;
  const auto hub = make_loopback(grid.size());
  std::vector<Ran> ran(static_cast<std::size_t>(grid.size()));
  std::vector<std::string> errors(ran.size());
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < grid.size(); ++rank)
      ranks.emplace_back([&, rank] {
        try {
          ran[static_cast<std::size_t>(rank)] = run_rank(*world(hub, rank), programs, grid, algorithm.c_str());
        } catch (const std::exception& e) {
          errors[static_cast<std::size_t>(rank)] = e.what();
        }
      });
  }
  CHECK(errors == std::vector<std::string>(ran.size()));
  for (std::size_t rank = 0; rank < ran.size(); ++rank) {
    CHECK(ran[rank].wrong == std::vector<std::string>{});
    StepSummary summary;
    summary.rank = static_cast<int>(rank);
    summary.traffic = ran[rank].traffic;
    facts.summaries.push_back(summary);
  }

  // The transport's counts are those of the programs, for every purpose and kind.
  const Report report = make_report(facts);
  CHECK(report.traffic.size() >= 8);
  for (const TrafficReport& row : report.traffic) {
    CAPTURE(name_of(row.purpose), name_of(row.collective));
    CHECK(row.bytes_per_rank == Approx(row.predicted));
    CHECK(row.bytes_per_rank > 0);
  }

  // Simulates the same programs; each collective takes its algorithm's time on links of one byte per nanosecond.
  Costs costs;
  costs.compute_ns = [](const RankProgram&, const Op&) { return std::int64_t{0}; };
  costs.link = [](int, int) { return Link{0, 1.0}; };
  if (const auto named = algorithm_of(algorithm))
    costs.collective_ns = [named = *named, &costs](OpKind kind, std::span<const int> members, std::int64_t payload) {
      return algorithm_ns(kind, named, members, payload, costs.link);
    };
  const Simulation simulation = simulate(programs, grid, costs);
  for (const Span& span : simulation.spans) {
    const OpFields f = span.op.fields();
    const auto group = f.purpose == Purpose::tensor ? grid.tensor : grid.data;
    if (f.kind != OpKind::all_gather || group < 2) continue;
    const std::int64_t sent = (group - 1) * part * 4;  // every member receives the others' parts over its one link
    CHECK(span.end_ns - span.active_ns >= sent);
    if (algorithm == "ring" || algorithm == "auto") CHECK(span.end_ns - span.active_ns == sent);
  }
}

TEST_CASE("an op that breaks the rules is refused when it is bound, by rank and token") {
  const RankGrid grid{1, 2, 1};
  RankProgram program = Hand(grid, 0).program();
  const auto hub = make_loopback(2);
  HostDevice host;
  const Arena arena(host, program.arena_bytes);
  std::jthread other([&] { CommTable(Hand(grid, 1).program(), grid, *world(hub, 1), "ring"); });
  const std::unique_ptr<World> mine = world(hub, 0);
  const CommTable table(program, grid, *mine, "ring");
  Op op = program.ops[2];
  op.uses.front().access = Access::read;
  CHECK_THROWS_WITH(bind_call(program, op, grid, arena, table.of(op)),
                    "rank 0, ALLREDUCE.zero_gradient:c0:i2: uses its buffers as 'ra'; all_reduce accumulates into "
                    "its data");
}
