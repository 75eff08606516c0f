// SPDX-License-Identifier: GPL-3.0-or-later
// A recording with known content (runs.hpp), written as by a recorder.
#pragma once
#include <QString>
#include <map>

#include "telemetry/trace/trace_writer.hpp"
#include "tests/app/session/runs.hpp"
#include "tests/catch.hpp"

namespace rankscope::app {

/// Messages with the sequence numbers that a recorder would see. `change` may change each event.
inline QString record(const QString& path, const Scenario& scenario, int steps,
                      const std::function<void(Event&)>& change = {}) {
  TraceWriter writer(path.toStdString());
  std::map<int, std::pair<std::uint64_t, std::uint64_t>> counts;
  publish_run(
      [&](int rank, Event event) {
        auto& [messages, control] = counts[rank];
        if (change) change(event);
        if (is_control(event)) ++control;
        writer.accept({{}, rank, ++messages, control, std::move(event)});
      },
      scenario, steps);
  REQUIRE(writer.close());
  return path;
}

}  // namespace rankscope::app
