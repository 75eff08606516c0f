// Random plans through the real program: each is refused with one line whose advice works when it is followed, or it
// runs, its memory and traffic are those predicted to the byte, and verify finds no difference
// unless it reports stale weights.
//
//   plan_fuzz [--seed N] [--count N] [--only I]      15 plans; in a long run of the tests 200
//
// Prints each fault with the plan that has it (--only I repeats that plan alone), and at the end a summary. Exit
// status 1 if there was a fault.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/long.hpp"
#include "tests/whole/plans/advice.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;
using nlohmann::json;

namespace {

constexpr int most_refusals = 16;  ///< of one plan, one after the other
constexpr std::size_t longest_line = 400;
namespace status = rankscope::status;
using status::bad_input, status::not_shown;

struct Counts {
  int plans = 0, refused = 0, refusals = 0, advice = 0, ran = 0, equal = 0, shown_nothing = 0, against_twin = 0,
      stale = 0, killed = 0, faults = 0;
};

/// Means over ranks of integer bytes, except rounding errors of their sums.
bool same_mean(double a, double b) { return std::abs(a - b) <= 1e-12 * std::abs(b); }

bool names_what_there_is(const Refusal& refusal) {
  return refusal.what.starts_with("unknown ") || refusal.what.find(" is out of range; ") != std::string::npos ||
         refusal.what.find("; it takes ") != std::string::npos;
}

/// Whether the refusal after a change is about the change itself. Of the list of all values, this plan may need
/// another; the next refusal then states which, and is of another kind.
bool takes_back(const Refusal& first, const Change& change, const Refusal& next) {
  if (next.what == first.what) return true;
  return next.key == change.path && (!change.of_list || names_what_there_is(next));
}

class Fuzz {
 public:
  explicit Fuzz(std::uint64_t seed) : seed_(seed) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "The rank that waits is not the rank that is late. ";
    folder_.file("book.txt", text);
  }

  void try_plan(int index) {
    index_ = index;
    Draw draw(seed_ * 1'000'003 + static_cast<std::uint64_t>(index));
    DrawnPlan plan(draw);
    ++counts.plans;
    if (!follow_until_accepted(plan, draw)) return;
    run(plan);
    verify(plan);
  }

  Counts counts;

 private:
  Ended engine_on(const DrawnPlan& plan, std::vector<std::string> arguments) {
    file_ = folder_.file(fmt::format("drawn-{}.toml", index_), plan.to_toml());  // which lists its checkpoints
    arguments.insert(arguments.begin() + 1, file_);
    return Process(folder_, engine_command(std::move(arguments))).wait(a_minute * 3);
  }

  void fault(const DrawnPlan& plan, const std::string& what) {
    ++counts.faults;
    std::cout << fmt::format("FAULT in plan {} of seed {}: {}\n{}\n", index_, seed_, what, plan.to_toml())
              << std::flush;
  }

  /// The plan's refusal; nullopt if it is accepted, or if it ends in another way, which is a fault.
  std::optional<Refusal> refusal_of(const DrawnPlan& plan, bool& sound) {
    const Ended ended = engine_on(plan, {"plan", "--json"});
    sound = true;
    if (ended.status == 0 || ended.status == status::does_not_fit) return std::nullopt;
    sound = false;
    if (ended.status != bad_input) {
      fault(plan, fmt::format("plan ended with status {}, signal {}: {}", ended.status, ended.signal, ended.err));
      return std::nullopt;
    }
    const auto refusal = read_refusal(ended.err, file_, plan);
    if (!refusal)
      fault(plan, "not one line of FILE:LINE:COLUMN: WHAT: " + ended.err);
    else if (ended.err.size() > longest_line)
      fault(plan, fmt::format("a refusal of {} characters: {}", ended.err.size(), ended.err));
    else if (refusal->key.empty())
      fault(plan, "a refusal at no key: " + ended.err);
    else
      sound = true;
    return sound ? refusal : std::nullopt;
  }

  /// Follows advice, one by one, until the plan is accepted. Each advice on the way is tried.
  bool follow_until_accepted(DrawnPlan& plan, Draw& draw) {
    bool sound = true;
    auto refusal = refusal_of(plan, sound);
    if (refusal) ++counts.refused;
    std::set<std::string> followed;  // keys
    for (int i = 0; refusal && i < most_refusals; ++i) {
      ++counts.refusals;
      const std::vector<Advice> advice = advice_in(*refusal);
      if (advice.empty()) return fault(plan, "no advice that can be followed: " + refusal->what), false;
      std::vector<std::pair<DrawnPlan, std::optional<Refusal>>> after;
      for (const Advice& one : advice) {
        ++counts.advice;
        DrawnPlan changed = plan;
        for (const Change& change : one)
          if (change.value.empty())
            changed.remove(change.path);
          else
            changed.set(change.path, change.value);
        const auto next = refusal_of(changed, sound);
        if (!sound) return false;
        for (const Change& change : one)
          if (next && takes_back(*refusal, change, *next))
            return fault(plan, fmt::format("advice that is refused when followed: {}\n  followed: {}\n  then: {}",
                                           refusal->what, to_text(one), next->what)),
                   false;
        after.emplace_back(changed, next);
      }
      // A user does not undo a change that was advised before, if there is another way.
      std::vector<std::size_t> ways;
      for (std::size_t w = 0; w < advice.size(); ++w)
        if (std::none_of(advice[w].begin(), advice[w].end(),
                         [&](const Change& change) { return followed.contains(change.path); }))
          ways.push_back(w);
      const std::size_t way = ways.empty()
                                  ? static_cast<std::size_t>(draw.between(0, static_cast<int>(advice.size()) - 1))
                                  : draw.one_of(ways);
      for (const Change& change : advice[way]) followed.insert(change.path);
      plan = std::move(after[way].first);
      refusal = std::move(after[way].second);
    }
    if (refusal) fault(plan, "advice that leads from one refusal to the next: " + refusal->what);
    return sound && !refusal;
  }

  /// Some plans request the death of a rank: the program then ends, and reports the rank.
  static bool dies_as_asked(const DrawnPlan& plan, const Ended& ended, int status) {
    return ended.status == status && ended.in_time && plan.has("fault.kill_rank") && plan.has("fault.kill_step") &&
           ended.err.find(fmt::format("rank {} was killed at the start of step {} (fault.kill_rank)",
                                      plan.at("fault.kill_rank"), plan.at("fault.kill_step"))) != std::string::npos;
  }

  void run(const DrawnPlan& plan) {
    const Ended ended = engine_on(plan, {"run", "--json"});
    if (dies_as_asked(plan, ended, status::rank_lost)) return void(++counts.killed);
    if (ended.status != 0 || !ended.in_time)
      return fault(plan, fmt::format("run ended with status {}, signal {}{}: {}", ended.status, ended.signal,
                                     ended.in_time ? "" : ", too late", ended.err));
    ++counts.ran;
    const json report = json::parse(ended.out);
    for (const json& rank : report["memory"])
      for (const auto& [key, value] : rank["predicted"].items())
        if (key != "at_peak" && rank[key] != value)
          return fault(plan, fmt::format("rank {}'s {}: {} bytes, predicted {}", rank["rank"].dump(), key,
                                         rank[key].dump(), value.dump()));
    for (const json& row : report["traffic"])
      if (!row["bytes_per_rank"].is_null() && !same_mean(row["bytes_per_rank"], row["predicted"]))
        return fault(plan, "traffic is not as predicted: " + row.dump());
    if (report["telemetry"]["dropped"] != 0) return fault(plan, "events were dropped: " + report["telemetry"].dump());
  }

  void verify(const DrawnPlan& plan) {
    const Ended ended = engine_on(plan, {"verify", "--json"});
    if (dies_as_asked(plan, ended, status::failed)) return;
    if ((ended.status != 0 && ended.status != not_shown && ended.status != 1) || !ended.in_time)
      return fault(plan, fmt::format("verify ended with status {}, signal {}{}: {}", ended.status, ended.signal,
                                     ended.in_time ? "" : ", too late", ended.err));
    const json found = json::parse(ended.out, nullptr, false);
    if (found.is_discarded()) return fault(plan, "verify failed: " + ended.err);
    const json& result = found["verify"];
    for (const json& row : result["runs"]) against_twin(row);
    if ((ended.status == 1) != result["stale_weights"])
      return fault(plan, "verify finds a difference, or does not name stale weights: " + result.dump());
    if (ended.status == 1) return void(++counts.stale);
    ++(ended.status == 0 ? counts.equal : counts.shown_nothing);
    if (ended.status == not_shown)
      std::cout << fmt::format("plan {}: {}\n", index_, result["reason"].dump()) << std::flush;
  }

  void against_twin(const json& row) {
    if (row["twin"].empty()) return;
    ++counts.against_twin;
    std::cout << fmt::format("plan {}: against a twin: {}\n", index_, row.dump()) << std::flush;
  }

  Folder folder_;
  std::uint64_t seed_;
  int index_ = 0;
  std::string file_;
};

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  int count = is_long() ? 200 : 15, only = -1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const long value = std::strtol(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<std::uint64_t>(value);
    if (std::strcmp(argv[i], "--count") == 0) count = static_cast<int>(value);
    if (std::strcmp(argv[i], "--only") == 0) only = static_cast<int>(value);
  }
  Fuzz fuzz(seed);
  for (int i = only >= 0 ? only : 0; i < (only >= 0 ? only + 1 : count); ++i) fuzz.try_plan(i);
  const Counts& c = fuzz.counts;
  std::cout << fmt::format(
      "{} plans: {} refused at first ({} refusals, {} advices followed); {} ran; verify: {} equal, {} not shown, {} "
      "judged against a twin, {} with stale weights; {} killed as asked; {} faults\n",
      c.plans, c.refused, c.refusals, c.advice, c.ran, c.equal, c.shown_nothing, c.against_twin, c.stale, c.killed,
      c.faults);
  return c.faults > 0 ? 1 : 0;
}
