#include "engine/prove/verify/verify_contents.hpp"

#include <fmt/format.h>

#include <mutex>

#include "engine/execute/run/contents.hpp"
#include "engine/plan/program/passes.hpp"
#include "engine/prove/verify/parity.hpp"

namespace rankscope {

VerifyResult verify_contents(const Scenario& scenario, const RunSettings& settings, const Progress& progress) {
  const StepProgram step = compile(scenario);
  const CollectiveTask task = task_of(step);
  ContentsProof proof{task.kind, task.n, parity::steps, 0, {}};
  for (int member = 0; member < task.n; ++member) proof.elements += left_elements(task, member);
  std::mutex mutex;
  const auto report = [&](std::uint32_t steps) {
    if (progress)
      progress(fmt::format("{}: step {} of {}", name_of(task.kind), steps, parity::steps),
               static_cast<double>(steps) / parity::steps);
  };
  report(0);
  try {
    run_loopback(step, settings, {}, [&](RankRun& run, int rank) {
      for (std::uint32_t s = 0; s < parity::steps; ++s) {
        try {
          run.run(s, 1);
        } catch (const WrongContents& wrong) {
          const std::lock_guard lock(mutex);
          if (proof.wrong.empty()) proof.wrong = wrong.what();
          throw;
        }
        if (rank == 0) report(s + 1);
      }
    });
  } catch (const RunFailure&) {
    if (proof.wrong.empty()) throw;
  }
  VerifyResult result;
  result.passed = proof.wrong.empty();
  result.outcome = result.passed ? Outcome::equal : Outcome::different;
  result.contents = std::move(proof);
  return result;
}

}  // namespace rankscope
