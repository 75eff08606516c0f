// The traces of a run's ranks as one run: names and lanes get numbers that all ranks share, ops their ids, members of a
// collective the time at which the last of them arrived; and the messages of its recording.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/step/facts.hpp"
#include "telemetry/event/event.hpp"
#include "telemetry/import/align.hpp"
#include "telemetry/import/rank_trace.hpp"

namespace rankscope::import {

struct ImportedRun {
  Hello hello;
  std::vector<StepFacts> facts;      ///< [rank]
  std::vector<ClockFit> clocks;      ///< [rank]
  std::vector<Span> spans;           ///< by rank, each rank's by begin; times since the first event
  std::vector<PhaseSpan> given;      ///< what ranks gave to their exchanges, where it is known (PhaseSpan::is_given)
  std::vector<MemorySample> memory;  ///< by rank and time
  std::vector<StepSummary> summaries;
  std::vector<std::string> remarks;  ///< of all ranks, each once, with the ranks that it is about
};

/// In any order. Throws ImportError if the traces cannot be of one run: none, two of one rank, contradicting sizes.
ImportedRun join(std::vector<RankTrace> traces);

/// The messages of its recording, in order, of rank −1 and of the ranks.
void publish(const ImportedRun& run, const std::function<void(int rank, Event event)>& to);

}  // namespace rankscope::import
