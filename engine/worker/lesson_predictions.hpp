// Simulations for lessons: the values for its questions, and pictures of its step.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/explain/facts/prediction.hpp"
#include "engine/lesson/handout/picture.hpp"
#include "engine/lesson/lab/check.hpp"
#include "engine/lesson/lab/lab.hpp"

namespace rankscope {

/// Each scenario is simulated once.
class LessonPredictions {
 public:
  /// In the question's unit: of its variant, of the lesson's own scenario, or of optimizers' paths. nullopt for what no
  /// simulation has. Throws as read_scenario and predict_with_facts do.
  std::optional<double> value(const Lab& lab, const Question& question);
  std::vector<double> series(const Lab& lab, const Question& question);
  /// Time line and memory of a step of the lesson's own scenario; none if all ranks of a stage are folded into one
  /// and there are too many stages to draw, or for a lesson that trains nothing. Throws as value().
  std::vector<Picture> pictures(const Lab& lab);
  /// Ranks, and links by level, of the lesson's own scenario.
  ClickedPlaces places(const Lab& lab);
  /// The lesson's own scenario.
  const Scenario& scenario(const Lab& lab);

 private:
  struct Prediction {
    Scenario scenario;
    StepPrediction step;
  };
  const Prediction& of(const Lab& lab, const std::vector<std::string>& settings);
  std::map<std::string, std::shared_ptr<const Prediction>> known_;  ///< by file and settings
};

}  // namespace rankscope
