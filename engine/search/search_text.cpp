#include <fmt/format.h>

#include <cmath>

#include "engine/search/search.hpp"

namespace rankscope {
namespace {

std::string row(const PlanResult& r, const SearchResult& result) {
  return fmt::format("  {:>9.4g} s {:>8.1f} GB  bubble {:>4.1f} %  {}\n", r.step.seconds, r.bytes * 1e-9,
                     100 * r.step.bubble / r.step.seconds, short_name(r.plan, result.global_batch));
}

}  // namespace

std::string to_text(const SearchResult& result) {
  std::string text =
      fmt::format("{} plans of {} ranks in {:.2f} s: {} simulated, {} out of memory, the others bounded\n",
                  result.plans, result.ranks, result.seconds, result.simulated, result.out_of_memory);
  if (result.best.empty()) {
    text += "No plan fits into the devices' memory.\n";
    if (const auto& nearest = result.least_memory)
      text += fmt::format("Nearest is one that needs {:.1f} of {:.1f} GB:\n", nearest->bytes * 1e-9,
                          result.device_bytes * 1e-9) +
              row(*nearest, result);
    return text;
  }
  text += "\nfastest\n";
  for (const PlanResult& r : result.best) text += row(r, result);
  if (result.best.size() > 1) {
    const double behind = result.best[1].step.seconds - result.best[0].step.seconds;
    text += fmt::format("\nThe second is {:.4g} s behind:", behind);
    for (const LostTime& lost : why_slower(result.best[0].step, result.best[1].step))
      if (std::abs(lost.seconds) > 0.005 * behind && lost.seconds != 0)
        text += fmt::format(" {} {:+.3g} s", lost.part, lost.seconds);
    text += "\n";
  }
  text += "\ntime against memory: each needs less than all faster ones\n";
  for (const PlanResult& r : result.front) text += row(r, result);
  return text;
}

}  // namespace rankscope
