// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/hang/hang_view.hpp"

#include <QHeaderView>
#include <QPainter>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int check_interval_ms = 250, clock_interval_ms = 500;
constexpr int catching_up_ms = 700;  // limit for the arrival of events from before the window joined
constexpr int most_pending_rows = 6;
// What a presentation can omit: the group, then the last finished op; the ranks that left, then the group.
constexpr int spare_of_lanes[] = {2, 3}, spare_of_pending[] = {4, 1};

}  // namespace

HangView::HangView(SharedState& state, SnapshotSource& source, FiguresModel& figures, QWidget* parent)
    : DataView(state, source, parent),
      figures_(figures),
      title_(make_label({}, "heading", this)),
      words_(make_label({}, "text", this)),
      waits_(make_label(tr("Which ranks wait for which"), "caption", this)),
      where_(make_label(tr("Current op of every lane"), "caption", this)),
      pending_(new RowsTable(pending_titles(), 6, tr("Communications with missing ranks"), this)),
      lanes_(new RowsTable(lane_titles(), 7, tr("Lanes of all ranks"), this)),
      latest_([this](HangPicture picture) { deliver(std::move(picture)); }) {
  auto* column = column_in(this, 4, {cell_inset, 8, 12, 4});
  column->addWidget(title_);
  column->addWidget(words_);
  column->addWidget(waits_);
  column->addWidget(pending_);
  column->addWidget(where_);
  column->addWidget(lanes_, 1);
  column->addStretch(0);
  // A heading belongs to the part below it.
  for (QLabel* heading : {waits_, where_}) heading->setContentsMargins(cell_padding, 12, 0, 2);
  for (QLabel* label : {title_, words_}) label->setContentsMargins(cell_padding, 0, 0, 0);
  lanes_->horizontalHeader()->setStretchLastSection(true);
  connect(lanes_, &QTableView::clicked, this, [this](const QModelIndex& index) { select_lane(index.row()); });
  set_up_pause(soon_, check_interval_ms, this, &HangView::refresh);
  clock_.setInterval(clock_interval_ms);
  connect(&clock_, &QTimer::timeout, this, &HangView::tick);
  const auto soon = [this] {
    const auto view = this->source().view();
    const std::int64_t events = view->event_count() + view->evicted_count();
    if (events != events_) {
      quiet_.start();
      moves_ = moves_ || (live_ && live_since_.elapsed() > catching_up_ms);
    }
    events_ = events;
    if (!soon_.isActive() && isVisible()) soon_.start();
  };
  connect(&source, &SnapshotSource::changed, this, soon);
  connect(&figures, &FiguresModel::changed, this, soon);
  quiet_.start();
  deliver({});
}

void HangView::set_live(bool live) {
  if (live == live_) return;
  live_ = live;
  moves_ = false;
  if (live) {
    quiet_.start();
    live_since_.start();
    clock_.start();
  } else {
    clock_.stop();
  }
  take_headline();
}

bool HangView::settled() const {
  const bool known = !live_ || moves_ || picture_.over ||
                     static_cast<double>(quiet_.elapsed()) * 1e-3 > quiet_limit_s(picture_) + clock_interval_ms * 2e-3;
  return known && latest_.settled() && !soon_.isActive();
}

// While hidden, nothing is computed until silence requires it.
void HangView::tick() {
  const double quiet_s = static_cast<double>(quiet_.elapsed()) * 1e-3;
  if (quiet_s > quiet_limit_s(picture_) && looked_at_ != events_) refresh();
  take_headline();
}

void HangView::refresh() {
  looked_at_ = events_;
  latest_.request(
      [view = source().view(), context = figures_.latest()->context] { return hang_picture_of(*view, context.get()); });
}

void HangView::deliver(HangPicture picture) {
  picture_ = std::move(picture);
  pending_->set_rows(picture_.pending);
  lanes_->set_rows(picture_.lanes);
  const bool waits = pending_->rows().rowCount() > 0;
  show_all(waits, {waits_, pending_});
  pending_->setFixedHeight(pending_->height_of(most_pending_rows));
  show_all(lanes_->rows().rowCount() > 0, {where_, lanes_});
  take_headline();
  arrange();
}

void HangView::arrange() {
  const auto fit = [this](RowsTable& table, std::span<const int> spare) {
    table.hide_until_fits(presents() ? spare : std::span<const int>());
  };
  fit(*lanes_, spare_of_lanes);
  fit(*pending_, spare_of_pending);
}

void HangView::take_headline() {
  const double quiet_s = static_cast<double>(quiet_.elapsed()) * 1e-3;
  const HangHeadline headline = headline_of(picture_, live_, quiet_s);
  title_->setText(headline.title);
  const bool hangs = live_ && !picture_.over && picture_.ran && headline.tone == Tone::bad;
  if (hangs != hangs_) emit hang_changed(hangs_ = hangs);
  words_->setText(headline.words);
  title_->setVisible(picture_.ran);  // else both are in the place of the lists
  words_->setVisible(picture_.ran && !headline.words.isEmpty());
  const char* role = headline.tone == Tone::bad ? "bad" : headline.tone == Tone::good ? "good" : "heading";
  set_style_property(*title_, "role", QString::fromLatin1(role));
  title_->setFont(bold_font());
  update();
}

void HangView::select_lane(int row) {
  if (row < 0 || row >= static_cast<int>(picture_.still.lanes.size())) return;
  const LanePlace& lane = picture_.still.lanes[static_cast<std::size_t>(row)];
  if (lane.left.valid()) state().set_selected(SpanRef{lane.rank, lane.left_step, lane.left, Obtained::measured});
}

void HangView::paint(QPainter& painter) {
  if (picture_.ran) return;
  paint_empty(painter, rect(), colours(), title_->text(), words_->text());
}

}  // namespace rankscope::app
