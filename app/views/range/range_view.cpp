// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/range/range_view.hpp"

#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int numbers_from = 2, least_gap_width = 230, least_for_words = 240;

}  // namespace

RangeView::RangeView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      title_(make_label({}, "heading", this)),
      words_(make_label({}, "dim", this)),
      shares_(new RowsTable({}, numbers_from, tr("Shares of the selected time by rank"), this)),
      gap_(new RowsTable({tr("where the gap comes from")}, 1, tr("Where the gap comes from"), this)),
      latest_([this](RangePicture picture) {
        picture_ = std::move(picture);
        title_->setText(picture_.title);
        words_->setText(picture_.words);
        shares_->set_titles(picture_.titles);
        shares_->set_rows(picture_.shares);
        gap_->set_rows(picture_.gap);
        arrange();
        update();
      }) {
  gap_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  gap_->setFont(interface_font());
  gap_->setWordWrap(true);
  connect(&figures, &FiguresModel::changed, this, &RangeView::refresh);
  connect(&state, &SharedState::selected_range_changed, this, &RangeView::refresh);
  connect(&state, &SharedState::step_changed, this, &RangeView::refresh);
  connect(&state, &SharedState::shown_changed, this, &RangeView::refresh);
  arrange();
}

void RangeView::refresh() {
  if (!isVisible()) return;
  RangeRequest request{source().view(), source().prediction(),    figures_.latest()->context,
                       state().shown(), state().selected_range(), state().step()};
  if (const StepAnalysis* step = figures_.latest()->shown_step(); !request.step && step != nullptr)
    request.step = step->step;
  latest_.request([request = std::move(request)] { return range_picture_of(request); });
}

// Every row names its rank (on the screen only the first one does): rows of a file are sorted and filtered.
ViewTable RangeView::rows_shown() const {
  if (!picture_.analysis) return {{tr("rank"), tr("as"), tr("length, s")}, {}};
  return plain_table(*picture_.analysis, state().shown());
}

void RangeView::arrange() {
  const bool there = picture_.analysis.has_value() && !veiled();
  const bool compares = there && gap_->rows().rowCount() > 0;
  show_all(there, {title_, words_, shares_});
  gap_->setVisible(compares);
  int top = 6;
  const bool low = height() < least_for_words;  // then they are the title's tool tip
  words_->setVisible(there && !low);
  title_->setToolTip(low ? picture_.words : QString());
  for (QLabel* label : {title_, words_}) {
    if (low && label == words_) continue;
    const int high = label->heightForWidth(width() - 2 * view_margin);
    label->setGeometry(view_margin, top, width() - 2 * view_margin, high);
    top += high;
  }
  top += 6;
  // Columns adapt to new text only when the event loop is idle again; their width is needed here.
  QMetaObject::invokeMethod(shares_->horizontalHeader(), "resizeSections", Qt::DirectConnection);
  const int room = height() - top - 4;
  const int header = shares_->horizontalHeader()->sizeHint().height();
  const bool scrolls = header + shares_->verticalHeader()->length() + 2 > room;
  const int shares_width =
      shares_->horizontalHeader()->length() + 4 + (scrolls ? shares_->verticalScrollBar()->sizeHint().width() : 0);
  // Side by side if both fit, else one below the other.
  const bool beside = compares && width() >= cell_inset + shares_width + 8 + least_gap_width + view_margin;
  const int gap_width = beside ? width() - view_margin - cell_inset - shares_width - 8 : 0;
  const int left_width = beside ? shares_width : width() - view_margin - cell_inset;
  shares_->setGeometry(cell_inset, top, left_width, room);
  shares_->resize(left_width, height_of_whole_rows(*shares_, room));
  gap_->setGeometry(beside ? cell_inset + left_width + 8 : cell_inset, top,
                    beside ? gap_width : width() - view_margin - cell_inset, room);
  fit_rows(*gap_);
  gap_->resize(gap_->width(), height_of_whole_rows(*gap_, room));
  if (!compares || beside) return;
  // Complete rows of both. The gap has at least a third of the height, and all that the shares do not need.
  const int least = height_of_whole_rows(*gap_, room / 3);
  const int left_height = height_of_whole_rows(*shares_, room - least);
  shares_->resize(left_width, left_height);
  gap_->setGeometry(gap_->x(), top + left_height, gap_->width(), height_of_whole_rows(*gap_, room - left_height));
}

void RangeView::paint(QPainter& painter) {
  if (picture_.analysis) return;
  if (const Report* report = figures_.latest()->shown(); report != nullptr && report->folded)
    return paint_empty(
        painter, rect(), colours(), tr("Not available for folded plans"),
        tr("The %1 ranks of this plan are folded (identical ranks are one), and their ops have no separate "
           "times. The shares of the whole step are in \"Where the step goes\".")
            .arg(report->ranks));
  paint_empty(painter, rect(), colours(), tr("No step to analyse yet"),
              tr("A run or a prediction fills this view: shift and drag in the time line to select a range. It then "
                 "shows the time of every rank in the range, and the prediction for the same ops."));
}

}  // namespace rankscope::app
