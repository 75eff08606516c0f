// `rankscope-engine paths`: optimizers on a surface of two parameters.
#include "engine/worker/paths.hpp"

#include <memory>

#include "engine/worker/commands/command.hpp"

namespace rankscope::command {

Command paths(CLI::App& app) {
  const auto given = std::make_shared<PathsInput>();
  auto* line = app.add_subcommand(
      "paths", "compute optimizer paths on a surface of two parameters, in fp64; no model is trained");
  line->add_option("SURFACE", given->surface, "ravine (the default), saddle, two-minima, rosenbrock or beale");
  line->add_option("--optimizer", given->optimizers, "optimizers, as in --optimizer sgd,adam (default: all)")
      ->delimiter(',');
  line->add_option("--rate", given->rates,
                   "learning rates, as in --rate sgd=0.09,adam=0.1, or one for all (default: suitable for the surface)")
      ->delimiter(',');
  line->add_option("--steps", given->steps, "steps of each path (default: suitable for the surface)")
      ->check(whole_number(1));
  line->add_option("--noise", given->noise,
                   "standard deviation of the noise in each component of a gradient, the same for all optimizers");
  line->add_option("--seed", given->seed, "of the noise");
  line->add_option("--start", given->start, "start point, as in --start=-4,1");
  line->add_option("--condition", given->condition, "condition number of the ravine: largest / smallest curvature");
  line->add_option("--set", given->set, "a key of [train], for optimizers that use it, as in --set momentum=0.5")
      ->take_all();
  add_json(line, given->json);
  return {line, [given] { return print_paths(*given); }};
}

}  // namespace rankscope::command
