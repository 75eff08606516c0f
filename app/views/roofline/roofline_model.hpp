// SPDX-License-Identifier: GPL-3.0-or-later
// The data of the roofline view: points of the step that ran and of its prediction, and the roof over them.
// No widgets.
#pragma once
#include "app/models/palette.hpp"
#include "app/session/session.hpp"
#include "app/views/common/rows_model.hpp"
#include "app/views/common/view_table.hpp"
#include "app/views/plot/plot.hpp"
#include "engine/explain/analyse/roofline.hpp"

namespace rankscope::app {

struct RooflinePicture {
  std::vector<RooflinePoint> ran;        ///< empty if nothing ran
  std::vector<RooflinePoint> predicted;  ///< of the prediction
  QString ran_name;                      ///< how they were obtained: "measured", "emulated"
  Roof roof;
  QString roof_words;  ///< the origin of its two figures
  QString missing;     ///< why there is nothing to show; empty if there is something
  std::optional<std::uint32_t> step;

  bool empty() const { return ran.empty() && predicted.empty(); }
  /// The points of the table: those that ran, else the predicted ones.
  const std::vector<RooflinePoint>& shown() const { return ran.empty() ? predicted : ran; }
};

/// `measured_roof`: the FLOP/s that the run's machine reached in products, if the run reports them; else those of
/// the cluster's file.
RooflinePicture roofline_of(Session& session, bool measured_roof);
/// Whether the open run reports its machine's peak.
bool has_measured_roof(Session& session);

/// "forward up"; of a folded op "forward".
QString op_name(const RooflinePoint& point);
Plot roofline_plot(const RooflinePicture& picture, const Palette& colours);
QStringList roofline_titles();
std::vector<std::vector<Cell>> roofline_rows(const RooflinePicture& picture);
/// The same for a file, of the run and of the prediction.
ViewTable roofline_table(const RooflinePicture& picture);

}  // namespace rankscope::app
