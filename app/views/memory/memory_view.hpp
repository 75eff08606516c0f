// SPDX-License-Identifier: GPL-3.0-or-later
// Memory by class: of one rank over time, under the time line's range and cursor, and of all ranks at their peak, side
// by side; the prediction as an outline; and the buffers that are alive at the cursor, or at the peak.
#pragma once
#include <QComboBox>
#include <array>

#include "app/models/bubble_source.hpp"
#include "app/session/latest.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/memory/alive_list.hpp"
#include "app/views/memory/memory_picture.hpp"

namespace rankscope::app {

/// From the bottom of a stack; the host's memory is separate.
inline constexpr std::array device_classes{MemoryClass::parameters,  MemoryClass::gradients,   MemoryClass::optimizer,
                                           MemoryClass::activations, MemoryClass::buffers,     MemoryClass::workspace,
                                           MemoryClass::context,     MemoryClass::unclassified};
static_assert(device_classes.size() + 1 == memory_class_count);

inline double of(const ClassBytes& bytes, MemoryClass memory) {
  return static_cast<double>(bytes[static_cast<std::size_t>(memory)]);
}

class MemoryView : public DataView {
  Q_OBJECT
 public:
  /// `programs` outlives the view; null: no buffers can be named.
  MemoryView(SharedState& state, SnapshotSource& source, BubbleSource* programs = nullptr, QWidget* parent = nullptr);
  bool settled() const override { return latest_.settled(); }

  const MemoryPicture& picture() const { return picture_; }
  int rank() const { return rank_; }
  void set_rank(int rank);
  /// The positions of the two plots, in this widget's coordinates: their data areas without axes.
  QRect time_area() const;
  QRect peak_area() const;
  /// The list of live buffers; empty if there is no space for it.
  QRect alive_area() const;
  const AliveList& alive() const { return alive_; }
  /// The top of the axis, bytes.
  double axis_bytes() const;

 protected:
  /// Every rank at its peak, then the shown rank over the visible time.
  ViewTable rows_shown() const override;
  void on_veil() override { refresh_ranks(); }
  void paint(QPainter& painter) override;
  void arrange() override { refresh(); }
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  QString tip_at(QPoint at) const override;
  void on_show() override;

 private:
  void refresh();
  /// "rank 3", or the stage of a folded plan.
  QString name_of(int rank) const;
  void refresh_ranks();
  void paint_time(QPainter& painter) const;
  void paint_time_axis(QPainter& painter, const QRect& area) const;
  void paint_peaks(QPainter& painter) const;
  void paint_axis(QPainter& painter, const QRect& area, bool labels) const;
  void list_alive();  ///< the live buffers at the cursor, else at the peak
  AliveList alive_while(OpId op, const ClassBytes& seen, int rank, const QString& moment) const;
  double y_of(double bytes, const QRect& area) const;

  BubbleSource* programs_;
  QComboBox* ranks_;
  Latest<MemoryPicture> latest_;
  MemoryPicture picture_;
  AliveList alive_;
  std::string scenario_;     ///< of the run shown
  int identical_ranks_ = 1;  ///< number of ranks that each of its ranks represents: those of a stage of a folded plan
  int rank_ = 0;
};

}  // namespace rankscope::app
