// SPDX-License-Identifier: GPL-3.0-or-later
// The texts and rows of the hang view, from the analysis. No widgets.
#pragma once
#include <QString>
#include <vector>

#include "app/views/common/rows_model.hpp"
#include "engine/explain/analyse/hang.hpp"
#include "engine/explain/facts/facts.hpp"
#include "telemetry/store/run_store.hpp"

namespace rankscope::app {

/// The known data at one moment.
struct HangPicture {
  bool ran = false;   ///< something was measured
  bool over = false;  ///< the session has reported its end, or a rank its failure
  bool failed = false;
  std::int64_t lost = 0;  ///< events known to be missing
  std::int64_t origin_ns = 0, last_event_ns = 0;
  double step_seconds = 0;  ///< the median; 0 unknown
  std::uint32_t last_step = 0;
  Standstill still;
  QString sentence;  ///< who is late; empty when no rank waits
  std::vector<std::vector<Cell>> pending, lanes;
};

/// Uses the newest steps of the run. `context` may be null: then only the events' times are known.
HangPicture hang_picture_of(const StoreView& run, const RunContext* context);

/// The time without a finished op after which a live run counts as hanging: ten steps, at least two seconds.
double quiet_limit_s(const HangPicture& picture);

struct HangHeadline {
  QString title, words;
  Tone tone = Tone::text;
};
/// `quiet_s`: the time since the last event, by the viewer's clock; only live.
HangHeadline headline_of(const HangPicture& picture, bool live, double quiet_s);

QStringList pending_titles();
QStringList lane_titles();

}  // namespace rankscope::app
