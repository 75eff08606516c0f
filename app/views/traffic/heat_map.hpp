// SPDX-License-Identifier: GPL-3.0-or-later
// Rank × rank: the bytes that each rank sends to each other one in a step, as colours with a scale.
#pragma once
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/session/figures.hpp"
#include "app/views/common/painted_widget.hpp"
#include "engine/explain/analyse/exchange.hpp"

namespace rankscope::app {

/// Rank × rank: the bytes that each rank sends to each other one in a step, counted if a run reports it, else
/// predicted.
struct LinkMatrix {
  /// By the plan, "auto" collectives as loopback's own. Above 256 ranks neighbours share a cell.
  TrafficMatrix predicted;
  /// [from · side + to], counted at the senders' transport, as links[] of --json; NaN if a sender did not count all
  /// that it sent. Empty if no link is counted.
  std::vector<double> counted;

  bool is_counted(int from, int to) const;
  double shown(int from, int to) const;  ///< counted, else predicted
  double total() const;                  ///< of the shown values
  double greatest() const;
  /// The origin of all senders' bytes, without those that send nothing.
  enum class Source : std::uint8_t { predicted, counted, both, traced };
  Source source() const;
  bool traced = false;  ///< an imported run's: only messages, and they are as the trace says
};

/// `only`: ops of that purpose and kind only. These are predicted: links are counted for all purposes together.
/// Nothing if it is not known who takes part in which exchange.
std::optional<LinkMatrix> link_matrix(const Figures& figures, std::optional<TrafficKey> only = {});

/// The matrix as colours with a scale.
class HeatMap : public PaintedWidget {
  Q_OBJECT
 public:
  explicit HeatMap(QWidget* parent = nullptr);
  /// No letters are smaller.
  void set_smallest(int pixels);
  /// `what` names the traffic. Null: nothing is known.
  void set_matrix(std::shared_ptr<const LinkMatrix> matrix, const QString& what);
  const LinkMatrix* matrix() const { return matrix_.get(); }
  /// Whether the bytes are counted or predicted, and their total.
  QString source_words() const;
  QSize minimumSizeHint() const override { return {220, 180}; }
  /// The width of a map of this height, with its axes and its scale, so that no space is left below its cells.
  int width_for(int height) const;

  QRectF cell_rect(int from, int to) const;
  /// A number beside the cells: that of the first rank of `cell`, its letters around that cell's middle.
  struct Tick {
    int cell = 0;
    QRectF box;
  };
  struct Ticks {
    std::vector<Tick> rows, columns;  ///< the same cells on both axes
  };
  Ticks ticks() const;
  /// The tool tip's text at a point; empty outside of the cells.
  QString tip_at(QPoint at) const override;

 signals:
  /// A cell of one rank on each axis was clicked.
  void link_clicked(int from, int to);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  QRectF area() const;
  QFont tick_font() const;
  int side() const { return matrix_ ? matrix_->predicted.side : 0; }
  double scale_width() const;
  double row_numbers_width() const;  ///< of the widest rank's number before the rows
  Argb fill_of(double bytes) const;
  void paint_cells(QPainter& painter) const;
  void paint_axes(QPainter& painter) const;
  void paint_scale(QPainter& painter) const;
  QString range_of(int cell) const;
  /// Sender and receiver, as cells; nothing outside of them.
  std::optional<std::pair<int, int>> cells_at(QPointF at) const;

  std::shared_ptr<const LinkMatrix> matrix_;
  double greatest_ = 0;
  QString what_;
  int smallest_ = 11;
};

}  // namespace rankscope::app
