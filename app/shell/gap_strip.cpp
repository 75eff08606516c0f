// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/gap_strip.hpp"

#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <algorithm>
#include <cmath>

#include "app/shell/arrangement.hpp"
#include "app/shell/gap_words.hpp"
#include "app/shell/plan_figures.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/elided_label.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int strip_bar = 20, strip_bar_gap = 4, strip_top = 5, strip_margin = 16, heading_gap = 8;
constexpr int closed_bar = 17, closed_prediction = 5, closed_top = 3, closed_gap = 2;  // one bar over the other
constexpr int sentence_height = 36;                                                    // two lines
constexpr int names_height = 20;   // of the pieces that are too narrow for their names
constexpr int narrow_strip = 620;  // too narrow for the complete heading
constexpr int piece_inset = 6;     // of the text on a piece

QString prediction_name() { return GapStrip::tr("predicted"); }

/// Space for the longest name of a bar, so that the bars do not move when the name changes.
int bar_name_width() {
  const QFontMetricsF metrics(interface_font());
  double width = metrics.horizontalAdvance(prediction_name());
  for (const Obtained obtained : {Obtained::measured, Obtained::emulated})
    width = std::max(width, metrics.horizontalAdvance(run_column_name(obtained)));
  return static_cast<int>(std::ceil(width)) + 6;
}

/// The shown ranks represent more ranks: single ranks cannot be named.
bool folded(const Figures& figures) { return figures.shown() != nullptr && figures.context == nullptr; }

}  // namespace

QString label_of(TimeClass time, bool serves) {
  switch (time) {
    case TimeClass::tensor: return GapStrip::tr("exposed tensor communication");
    case TimeClass::pipeline: return GapStrip::tr("exposed transfers");
    case TimeClass::data: return serves ? GapStrip::tr("exposed server traffic") : GapStrip::tr("exposed all-reduce");
    case TimeClass::zero: return GapStrip::tr("exposed ZeRO communication");
    default: return text::utf8(name_of(time));
  }
}

GapStrip::GapStrip(FiguresModel& figures, QWidget* parent) : PaintedWidget(parent), figures_(figures) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Where the step goes"));
  setCursor(Qt::PointingHandCursor);
  show_anyway_ = make_link(tr("Show anyway"), this);
  show_anyway_->setToolTip(tr("Show all results without an answer"));
  show_anyway_->hide();
  connect(show_anyway_, &QPushButton::clicked, this, &GapStrip::show_anyway_wanted);
  connect(&figures, &FiguresModel::changed, this, [this] {
    setAccessibleDescription(gap_sentence(*figures_.latest()));
    update();
  });
}

void GapStrip::set_veil(const QString& until) {
  veil_ = until;
  show_anyway_->setVisible(!until.isEmpty());
  place_button();
  update();
}

void GapStrip::place_button() {
  show_anyway_->adjustSize();
  show_anyway_->move(width() - strip_margin - show_anyway_->width(),
                     closed_top + (closed_bar - show_anyway_->height()) / 2 + 1);
}

void GapStrip::mousePressEvent(QMouseEvent* event) {
  QWidget::mousePressEvent(event);
  if (event->button() != Qt::LeftButton) return;
  if (!veil_.isEmpty())
    emit question_wanted();
  else
    emit open_wanted(!open());
}

void GapStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  place_button();
}

QSize GapStrip::sizeHint() const {
  return {640, strip_top + 2 * strip_bar + strip_bar_gap + names_height + sentence_height + 9};
}

bool GapStrip::open() const { return height() > part_size::shares; }

QString GapStrip::heading() const {
  const QString words = width() < narrow_strip ? tr("Step") : tr("Where the step goes");
  return (open() ? QStringLiteral("▾ ") : QStringLiteral("▸ ")) + words;
}

int GapStrip::left_width() const {
  const int words = static_cast<int>(std::ceil(QFontMetricsF(bold_font()).horizontalAdvance(heading())));
  return strip_margin + words + heading_gap + (veil_.isEmpty() ? bar_name_width() + heading_gap : 0);
}

QRectF GapStrip::bar_area(int row) const {
  const double left = left_width(), wide = std::max(1, width() - left_width() - strip_margin);
  if (open()) return {left, static_cast<double>(strip_top + row * (strip_bar + strip_bar_gap)), wide, strip_bar};
  if (row == 0) return {left, closed_top, wide, closed_bar};
  return {left, closed_top + closed_bar + closed_gap, wide, closed_prediction};
}

std::vector<GapStrip::Piece> GapStrip::pieces(const StepShares& shares, const QRectF& bar) const {
  std::vector<Piece> result;
  double at = bar.left();
  const auto add = [&](TimeClass time, double share, bool unknown) {
    if (!(share > 0)) return;
    const double right = at + share * bar.width();
    result.push_back(
        {QRectF(std::round(at), bar.top(), std::round(right) - std::round(at), bar.height()), time, share, unknown});
    at = right;
  };
  for (int i = 0; i < time_class_count; ++i) {
    const auto time = static_cast<TimeClass>(i);
    if (time != TimeClass::other) add(time, shares[time], false);
  }
  add(TimeClass::other, shares[TimeClass::other] - shares.unknown, false);
  add(TimeClass::other, shares.unknown, true);
  return result;
}

bool GapStrip::serves() const {
  const auto figures = figures_.latest();
  return figures->scenario && figures->scenario->plan.has_servers();
}

QString GapStrip::name_of_piece(const Piece& piece) const {
  if (piece.unknown) return tr("unknown");
  const auto figures = figures_.latest();
  const bool alone = figures->scenario && figures->scenario->model.is_collective();
  return alone && piece.time == TimeClass::data ? tr("the collective") : label_of(piece.time, serves());
}

QString GapStrip::words_on(const Piece& piece) const {
  const QFontMetricsF metrics(interface_font());
  const QString share = text::percent(piece.share), full = name_of_piece(piece) + QLatin1Char(' ') + share;
  const double room = piece.area.width() - piece_inset - 4;
  return metrics.horizontalAdvance(full) <= room ? full : metrics.horizontalAdvance(share) <= room ? share : QString();
}

std::vector<const StepAnalysis*> GapStrip::bars() const {
  const Figures& figures = *figures_.latest();
  std::vector<const StepAnalysis*> result;
  if (figures.step) result.push_back(&*figures.step);
  if (figures.forecast) result.push_back(&*figures.forecast);
  return result;
}

void GapStrip::paint_names(QPainter& painter) const {
  const Palette& p = colours();
  using Key = std::pair<TimeClass, bool>;
  std::vector<std::pair<Key, Piece>> nameless;  // of both bars, each once
  const std::vector<const StepAnalysis*> shown = bars();
  for (std::size_t row = 0; row < shown.size(); ++row)
    for (const Piece& piece : pieces(shown[row]->average, bar_area(static_cast<int>(row)))) {
      if (piece.area.width() < 1) continue;  // it is not visible
      const Key key{piece.time, piece.unknown};
      const bool known =
          std::any_of(nameless.begin(), nameless.end(), [&](const auto& one) { return one.first == key; });
      if (!known && !words_on(piece).startsWith(name_of_piece(piece))) nameless.emplace_back(key, piece);
    }
  std::sort(nameless.begin(), nameless.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  // If the long names do not fit: the column titles of the range view.
  const QFontMetricsF metrics(painter.font());
  const QRectF area(left_width(), bar_area(1).bottom() + 3, width() - left_width() - strip_margin, names_height - 4);
  std::vector<std::pair<Argb, QString>> entries;
  for (const bool brief : {false, true}) {
    entries.clear();
    double wide = 0;
    for (const auto& [key, piece] : nameless) {
      const QString name = brief && !piece.unknown ? text::utf8(name_of(piece.time)) : name_of_piece(piece);
      entries.emplace_back(piece.unknown ? p.unknown : color_of(piece.time, p), name);
      wide += legend_entry_width(metrics, name);
    }
    if (wide <= area.width()) break;
  }
  paint_legend(painter, area.topLeft(), area.width(), p, entries);
}

void GapStrip::paint_bar(QPainter& painter, const QString& name, const StepShares& shares, const QRectF& bar,
                         bool ghost) const {
  const Palette& p = colours();
  painter.setFont(interface_font());
  const bool with_words = bar.height() > closed_prediction;
  painter.setPen(color(p.dim));
  if (with_words)
    painter.drawText(QRectF(strip_margin, bar.top(), bar.left() - heading_gap - strip_margin, bar.height()), at_right,
                     name);
  const QFontMetricsF metrics(painter.font());
  for (const Piece& piece : pieces(shares, bar)) {
    // A bubble looks as it does in the time line.
    Argb fill = piece.time == TimeClass::bubble ? p.ground : color_of(piece.time, p);
    if (ghost) fill = mixed(p.ground, fill, 0.62F);
    const QRectF area = piece.area.adjusted(0, 0, piece.area.width() > 2 ? -1 : 0, 0);
    if (piece.unknown) {
      painter.fillRect(area, QBrush(color(p.unknown), Qt::Dense5Pattern));
    } else {
      painter.fillRect(area, color(fill));
      if (piece.time == TimeClass::bubble) painter.fillRect(area, QBrush(color(p.hatch), Qt::BDiagPattern));
    }
    const QString words = words_on(piece);
    if (words.isEmpty() || !with_words) continue;
    if (piece.time == TimeClass::bubble || piece.unknown) {
      // Text on a hatched ground needs a plain strip under it.
      const QRectF plain(area.left() + 3, area.top() + 2, metrics.horizontalAdvance(words) + 6, area.height() - 4);
      painter.fillRect(plain, color(piece.unknown ? p.ground : fill));
      painter.setPen(color(p.ink_on(piece.unknown ? p.ground : fill)));
    } else {
      painter.setPen(color(p.ink_on(fill)));
    }
    painter.drawText(area.adjusted(piece_inset, 0, 0, 0), at_left, words);
  }
}

void GapStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Palette& p = colours();
  painter.fillRect(rect(), color(p.ground));
  painter.setFont(bold_font());
  painter.setPen(color(p.text));
  const QRectF line(strip_margin, bar_area(0).top(), width() - 2 * strip_margin,
                    open() ? strip_bar : closed_bar + closed_gap);
  painter.drawText(line, at_left, heading());
  painter.setFont(interface_font());
  const Figures& figures = *figures_.latest();
  const QRectF words(strip_margin, bar_area(1).bottom() + names_height + 4, width() - 2 * strip_margin,
                     sentence_height);
  painter.setPen(color(p.dim));
  const QRectF instead = line.adjusted(left_width() - strip_margin, 0, 0, 0);
  const QFontMetrics small(painter.font());
  const auto explain = [&](const QString& why) {
    const auto room = static_cast<int>(instead.width()) - (veil_.isEmpty() ? 0 : show_anyway_->width() + heading_gap);
    painter.drawText(instead, at_left, elided_at_word(small, why, room));
  };
  if (!veil_.isEmpty()) {
    painter.setPen(color(p.accent));  // like links
    return explain(veil_);
  }
  if (!figures.step && !figures.forecast)
    return explain(folded(figures) ? tr("Not available for folded plans.")
                                   : tr("Nothing yet: compute, bubble and exposed communication of a step"));
  int row = 0;
  if (figures.step) paint_bar(painter, run_column_name(figures), figures.step->average, bar_area(row++), false);
  if (figures.forecast)
    paint_bar(painter, prediction_name(), figures.forecast->average, bar_area(row++), figures.step.has_value());
  if (!open()) return;
  painter.setFont(interface_font());
  paint_names(painter);
  QString sentence;
  const QFontMetricsF metrics(painter.font());
  for (std::size_t reasons = 4; reasons-- > 0;) {
    sentence = gap_sentence(figures, reasons);
    if (metrics.boundingRect(words, Qt::TextWordWrap, sentence).height() <= sentence_height) break;
  }
  if (sentence.isEmpty() && !figures.run) sentence = tr("Prediction only.") + QLatin1Char(' ') + next_;
  draw_text(painter, words, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, sentence, figures.step ? p.text : p.dim);
}

void GapStrip::set_next(const QString& sentence) {
  if (sentence == next_) return;
  next_ = sentence;
  update();
}

QString GapStrip::tip_at(QPoint at) const {
  if (!veil_.isEmpty()) return veil_;
  QString words;
  int row = 0;
  for (const StepAnalysis* step : bars()) {
    for (const Piece& piece : pieces(step->average, bar_area(row)))
      if (piece.area.contains(at))
        words = QStringLiteral("<b>%1</b> %2<br>%3")
                    .arg(name_of_piece(piece), text::percent(piece.share),
                         (serves() ? tr("%1 of a step of %2, mean over the workers")
                                   : tr("%1 of a step of %2, mean over the ranks"))
                             .arg(text::seconds(piece.share * step->seconds()), text::seconds(step->seconds())));
    ++row;
  }
  return words.isEmpty() ? gap_sentence(*figures_.latest()) : words;
}

}  // namespace rankscope::app
