#include <fmt/format.h>

#include <cmath>

#include "engine/op/words.hpp"
#include "engine/predict/search/second_text.hpp"

namespace rankscope {
namespace {

std::string value_of(const std::string& setting) { return setting.substr(setting.find('=') + 1); }

std::string row(const PlanResult& r, const SearchResult& result) {
  return plan_row(r.step.seconds, r.bytes, r.step.bubble, short_name(r.plan, result.global_batch));
}

/// The difference of the two plans, and where the second loses time.
std::string why_the_second_loses(const SearchResult& result) {
  const PlanResult &first = result.best[0], &second = result.best[1];
  std::vector<std::string> apart;
  const auto before = settings_of(first.plan), now = settings_of(second.plan);
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != before[i]) apart.push_back(now[i] + " in place of " + value_of(before[i]));
  return second_text(apart, first.step.seconds, second.step.seconds, why_slower(first.step, second.step));
}

}  // namespace

std::string plan_row(double seconds, double bytes, double bubble_seconds, const std::string& words) {
  return fmt::format("  {:>9.4g} s {:>11}  bubble {:>4.1f} %  {}\n", seconds, figure::bytes(bytes),
                     100 * bubble_seconds / seconds, words);
}

std::string second_text(const std::vector<std::string>& apart, double first_seconds, double second_seconds,
                        const std::vector<LostTime>& lost) {
  const double behind = second_seconds - first_seconds;
  std::string text = fmt::format("\nThe second ({}) is {:.3g} s behind, {:.2g} %:", fmt::join(apart, ", "), behind,
                                 100 * behind / first_seconds);
  for (const LostTime& one : lost)
    if (std::abs(one.seconds) > 0.005 * behind && one.seconds != 0)
      text += fmt::format(" {} {:+.3g} s", name_of(one.part), one.seconds);
  return text + "\n";
}

std::string to_text(const SearchResult& result) {
  std::string text = fmt::format("{} of {} in {:.2f} s: {} simulated, {} out of memory, the others bounded\n",
                                 counted(result.plans, "plan"), counted(result.ranks, "rank"), result.seconds,
                                 result.simulated, result.out_of_memory);
  if (result.best.empty()) {
    text += "No plan fits into device memory.\n";
    if (const auto& nearest = result.nearest)
      text += fmt::format("The closest plan needs {} of {}:\n", figure::bytes(nearest->bytes),
                          figure::bytes(result.device_bytes)) +
              row(*nearest, result);
    return text;
  }
  text += "\nfastest\n";
  for (const PlanResult& r : result.best) text += row(r, result);
  if (result.best.size() > 1) text += why_the_second_loses(result);
  text += "\nto simulate the fastest, add after the scenario's name:\n ";
  for (const std::string& setting : settings_of(result.best.front().plan)) text += " --set " + setting;
  text += "\n";
  text += "\ntime against memory: each needs less than all faster ones\n";
  for (const PlanResult& r : result.front) text += row(r, result);
  return text;
}

}  // namespace rankscope
