// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/traffic/exchange_player.hpp"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

#include "app/models/span_details.hpp"
#include "app/views/common/data_view.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

constexpr int bar_height = 36, words_height = 40, margin = 12, slider_steps = 10'000, tick_ms = 16;
constexpr int most_boxes = 64;  // above, members have no boxes that could be read

// What a speed's entry means: phases a second, or seconds of the run per second of the viewer's.
struct Speed {
  PlayClock clock;
  double value;
};
constexpr Speed speeds_there[] = {
    {PlayClock::phases, 0.25},   {PlayClock::phases, 0.5},    {PlayClock::phases, 1},      {PlayClock::phases, 2},
    {PlayClock::phases, 5},      {PlayClock::recorded, 0.1},  {PlayClock::recorded, 0.01}, {PlayClock::recorded, 1e-3},
    {PlayClock::recorded, 1e-4}, {PlayClock::recorded, 1e-5},
};
constexpr int default_speed = 2;

QString speed_text(const Speed& speed) {
  if (speed.clock == PlayClock::recorded)
    return QStringLiteral("1/%1 ×").arg(text::count(std::llround(1 / speed.value)));
  if (speed.value == 1) return ExchangePlayer::tr("1 phase/s");
  if (speed.value > 1) return ExchangePlayer::tr("%1 phases/s").arg(speed.value);
  return ExchangePlayer::tr("a phase in %1 s").arg(1 / speed.value);
}

QToolButton* make_button(QWidget* parent, const QString& words, const QString& help) {
  auto* button = new QToolButton(parent);
  button->setText(words);
  button->setToolTip(help);
  button->setAccessibleName(help);
  button->setProperty("role", QStringLiteral("button"));
  return button;
}

}  // namespace

struct ExchangePlayer::Look {
  QRectF ring, times;
  double box_width = 0, box_height = 0, cell_height = 0;
  bool boxes = true;
  std::vector<QPointF> places;
};

ExchangePlayer::ExchangePlayer(QWidget* parent)
    : QWidget(parent),
      colours_(&palette_of(Theme::dark)),
      back_(make_button(this, QStringLiteral("|◀"), tr("One phase back (,)"))),
      play_(make_button(this, tr("Play"), tr("Play or pause (Space)"))),
      forward_(make_button(this, QStringLiteral("▶|"), tr("One phase on (.)"))),
      slider_(new QSlider(Qt::Horizontal, this)),
      speeds_(new QComboBox(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("The chosen collective, phase by phase"));
  slider_->setRange(0, slider_steps);
  slider_->setAccessibleName(tr("Moment of the collective"));
  for (const Speed& speed : speeds_there) speeds_->addItem(speed_text(speed));
  speeds_->setCurrentIndex(default_speed);
  speeds_->setAccessibleName(tr("Speed"));
  speeds_->setToolTip(tr("Phases a second, or the recorded times slowed down"));
  auto* row = new QHBoxLayout;
  row->setContentsMargins(margin, 4, margin, 4);
  row->setSpacing(6);
  row->addWidget(back_);
  row->addWidget(play_);
  row->addWidget(forward_);
  row->addWidget(slider_, 1);
  row->addWidget(speeds_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addStretch(1);
  column->addLayout(row);
  timer_.setInterval(tick_ms);
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &ExchangePlayer::tick);
  connect(back_, &QToolButton::clicked, this, [this] { step(-1); });
  connect(forward_, &QToolButton::clicked, this, [this] { step(+1); });
  connect(play_, &QToolButton::clicked, this, [this] { set_playing(!playing()); });
  connect(speeds_, &QComboBox::currentIndexChanged, this, &ExchangePlayer::take_speed);
  connect(slider_, &QSlider::valueChanged, this, [this](int value) {
    set_playing(false);
    set_moment(time_.length() * value / slider_steps);
  });
  show_moment();
}

void ExchangePlayer::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  update();
}

void ExchangePlayer::set_exchange(std::shared_ptr<const GroupExchange> exchange) {
  const bool same = exchange && exchange_ && exchange->op == exchange_->op && exchange->step == exchange_->step &&
                    exchange->ranks == exchange_->ranks && exchange->timed == exchange_->timed;
  exchange_ = std::move(exchange);
  if (!same) {
    set_playing(false);
    const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
    time_ = exchange_ ? ExchangeTime(*exchange_, speed.clock) : ExchangeTime();
    // In the middle of the first phase something is seen to move, also in a picture.
    at_ = time_.clock() == PlayClock::phases ? std::min(0.5, time_.length()) : time_.next(0) / 2;
  }
  show_moment();
}

void ExchangePlayer::take_speed() {
  if (!exchange_) return;
  const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
  const ExchangeTime wanted(*exchange_, speed.clock);
  if (wanted.clock() != time_.clock()) {
    // The same share of the whole, on the other clock.
    at_ = time_.length() > 0 ? at_ / time_.length() * wanted.length() : 0;
    time_ = wanted;
  }
  show_moment();
}

void ExchangePlayer::set_moment(double at) {
  at_ = std::clamp(at, 0.0, time_.length());
  show_moment();
}

void ExchangePlayer::set_playing(bool playing) {
  if (playing == timer_.isActive()) return;
  if (playing) {
    if (!exchange_ || time_.length() <= 0) return;
    if (at_ >= time_.length()) at_ = 0;
    since_.start();
    timer_.start();
  } else {
    timer_.stop();
  }
  show_moment();
}

void ExchangePlayer::tick() {
  const Speed speed = speeds_there[std::max(speeds_->currentIndex(), 0)];
  const double seconds = static_cast<double>(since_.nsecsElapsed()) * 1e-9;
  since_.start();
  // What is not timed plays by phases, whatever is asked for.
  const double rate = time_.clock() == PlayClock::recorded ? speed.value * 1e9
                      : speed.clock == PlayClock::phases   ? speed.value
                                                           : 1.0;
  at_ = std::min(at_ + seconds * rate, time_.length());
  if (at_ >= time_.length()) timer_.stop();
  show_moment();
}

void ExchangePlayer::step(int by) {
  set_playing(false);
  set_moment(by > 0 ? time_.next(at_) : time_.previous(at_));
}

void ExchangePlayer::show_moment() {
  const bool there = exchange_ && !exchange_->moves.empty();
  const QSignalBlocker quiet(slider_);
  slider_->setValue(time_.length() > 0 ? static_cast<int>(std::lround(at_ / time_.length() * slider_steps)) : 0);
  play_->setText(playing() ? tr("Pause") : tr("Play"));
  for (QWidget* widget : {static_cast<QWidget*>(back_), static_cast<QWidget*>(play_), static_cast<QWidget*>(forward_),
                          static_cast<QWidget*>(slider_), static_cast<QWidget*>(speeds_)})
    widget->setVisible(there);
  update();
}

void ExchangePlayer::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Space: return set_playing(!playing());
    case Qt::Key_Period: return step(+1);
    case Qt::Key_Comma: return step(-1);
    case Qt::Key_Home: return set_moment(0);
    case Qt::Key_End: return set_moment(time_.length());
    default: QWidget::keyPressEvent(event);
  }
}

void ExchangePlayer::resizeEvent(QResizeEvent*) { update(); }

Argb ExchangePlayer::mark() const {
  if (!exchange_) return colours_->accent;
  return colours_->of(is_collective(exchange_->kind) ? SpanClass::collective : SpanClass::transfer,
                      exchange_->op.lane());
}

ExchangePlayer::Look ExchangePlayer::look() const {
  Look look;
  QRectF room(margin, words_height + 4, width() - 2 * margin, height() - words_height - bar_height - 8);
  const int n = exchange_->size();
  // The members' times stand at the right where there is room for both.
  const double times_width = room.width() >= 560 ? std::min(room.width() * 0.42, 420.0) : 0;
  look.times = QRectF(room.right() - times_width, room.top(), times_width, room.height());
  if (times_width > 0) room.setRight(look.times.left() - 2 * margin);
  look.boxes = n <= most_boxes;
  const double across = std::max(1.0, std::min(room.width(), room.height() * 1.6));
  const double share = n <= 4 ? 0.26 : n <= 8 ? 0.2 : n <= 16 ? 0.13 : 0.08;
  look.box_width = look.boxes ? std::clamp(across * share, 14.0, 116.0) : 6;
  look.box_height = look.boxes ? std::clamp(std::min(look.box_width * 0.62, room.height() * 0.24), 12.0, 60.0) : 6;
  look.ring = room.adjusted(look.box_width / 2, look.box_height / 2, -look.box_width / 2, -look.box_height / 2);
  if (n > 2 && exchange_->algorithm != Algorithm::tree) {
    const double most = look.ring.height() * 1.9;
    if (look.ring.width() > most)
      look.ring.adjust((look.ring.width() - most) / 2, 0, -(look.ring.width() - most) / 2, 0);
  }
  look.places = member_places(*exchange_, look.ring);
  return look;
}

QRectF ExchangePlayer::member_box(int member) const {
  if (!exchange_) return {};
  const Look l = look();
  const QPointF at = l.places[static_cast<std::size_t>(member)];
  return {at.x() - l.box_width / 2, at.y() - l.box_height / 2, l.box_width, l.box_height};
}

void ExchangePlayer::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours_->ground));
  if (!exchange_) {
    paint_empty(painter, rect(), *colours_, tr("No collective is chosen"),
                tr("Choose a line of the table, or a collective or message in the time line."));
    return;
  }
  paint_words(painter);
  const Look l = look();
  painter.setRenderHint(QPainter::Antialiasing);
  if (!exchange_->moves.empty()) paint_moves(painter, l);
  paint_members(painter, l);
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (exchange_->opaque) {
    const QRectF middle =
        l.ring.adjusted(l.box_width * 0.6, l.box_height * 0.8, -l.box_width * 0.6, -l.box_height * 0.8);
    if (middle.width() > 150 && middle.height() > 60)
      paint_empty(painter, middle, *colours_, tr("Phases unknown"),
                  tr("The communicator's own algorithm does not tell. Set collective in the plan to see them."));
  }
  if (l.times.width() > 0) paint_times(painter, l.times);
}

void ExchangePlayer::paint_words(QPainter& painter) const {
  const GroupExchange& e = *exchange_;
  QFont bold = interface_font();
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(color(colours_->text));
  QString title = QString::fromStdString(phrase_of(e.op));
  title[0] = title[0].toUpper();
  title += tr(" · %1 · step %2").arg(QString::fromStdString(to_token(e.op))).arg(e.step);
  const QRectF line(margin, 4, width() - 2 * margin, 17);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(bold).elidedText(title, Qt::ElideMiddle, line.width()));
  QStringList words;
  words << tr("%1 ranks").arg(e.size()) << text::bytes(static_cast<double>(e.bytes));
  if (e.algorithm)
    words << QString::fromUtf8(name_of(*e.algorithm).data(), static_cast<qsizetype>(name_of(*e.algorithm).size()));
  if (e.opaque) {
    words << tr("phases unknown");
  } else if (e.phases > 0) {
    const int phase = time_.phase_at(at_);
    words << tr("phase %1 of %2: %3").arg(phase + 1).arg(e.phases).arg(phase_words(e, phase));
    if (time_.clock() == PlayClock::recorded) words << text::nanoseconds(std::llround(at_));
    words << (e.timed ? tr("recorded") : tr("not timed"));
  }
  painter.setFont(interface_font());
  painter.setPen(color(colours_->dim));
  painter.drawText(
      line.translated(0, 18), Qt::AlignLeft | Qt::AlignVCenter,
      QFontMetricsF(interface_font()).elidedText(words.join(QStringLiteral(" · ")), Qt::ElideRight, line.width()));
}

void ExchangePlayer::paint_members(QPainter& painter, const Look& l) const {
  const GroupExchange& e = *exchange_;
  const Holdings holdings = holdings_at(e, time_, at_);
  QFont font = interface_font();
  font.setPixelSize(std::clamp(static_cast<int>(l.box_height * 0.34), 9, 13));
  const QFontMetricsF metrics(font);
  const auto chunks = static_cast<int>(e.chunk_bytes.size());
  for (int m = 0; m < e.size(); ++m) {
    const QPointF at = l.places[static_cast<std::size_t>(m)];
    const QRectF box(at.x() - l.box_width / 2, at.y() - l.box_height / 2, l.box_width, l.box_height);
    painter.setPen(QPen(color(colours_->dim), 1));
    painter.setBrush(color(colours_->panel));
    painter.drawRoundedRect(box, 3, 3);
    if (!l.boxes) continue;
    const QString number = QString::number(e.ranks[static_cast<std::size_t>(m)]);
    const QString name = tr("rank %1").arg(number);
    const bool cells = chunks > 0 && box.height() >= 24 && box.width() / chunks >= 3;
    const QRectF title = cells ? QRectF(box.left(), box.top(), box.width(), box.height() * 0.46) : box;
    painter.setFont(font);
    painter.setPen(color(colours_->text));
    painter.drawText(title, Qt::AlignCenter, metrics.horizontalAdvance(name) < box.width() - 4 ? name : number);
    if (!cells) continue;
    const QRectF strip(box.left() + 4, title.bottom(), box.width() - 8, box.bottom() - title.bottom() - 4);
    const double width = strip.width() / chunks;
    for (int c = 0; c < chunks; ++c) {
      if (e.chunk_bytes[static_cast<std::size_t>(c)] == 0) continue;  // fewer elements than ranks
      const QRectF cell(strip.left() + c * width, strip.top(), std::max(width - 1, 1.0), strip.height());
      painter.fillRect(cell, color(mixed(colours_->panel, colours_->text, 0.14F)));
      const double share = static_cast<double>(holdings.at(m, c)) / holdings.whole();
      const double height = std::round(cell.height() * share);
      painter.fillRect(QRectF(cell.left(), cell.bottom() - height, cell.width(), height), color(mark()));
    }
  }
}

void ExchangePlayer::paint_moves(QPainter& painter, const Look& l) const {
  const GroupExchange& e = *exchange_;
  // Who ever sends to whom, faintly; then what is under way.
  painter.setBrush(Qt::NoBrush);
  std::vector<std::pair<int, int>> drawn;
  for (const ExchangeMove& move : e.moves) {
    const std::pair<int, int> pair{std::min(move.from, move.to), std::max(move.from, move.to)};
    if (e.size() > most_boxes || std::find(drawn.begin(), drawn.end(), pair) != drawn.end()) continue;
    drawn.push_back(pair);
    painter.setPen(QPen(color(colours_->line), 1.5));
    painter.drawLine(l.places[static_cast<std::size_t>(move.from)], l.places[static_cast<std::size_t>(move.to)]);
  }
  QFont font = interface_font();
  font.setPixelSize(11);
  font.setWeight(QFont::DemiBold);
  const QFontMetricsF metrics(font);
  const Argb fill = mark();
  for (const ExchangeMove& move : e.moves) {
    const double done = time_.done(move, at_);
    if (done <= 0 || done >= 1) continue;
    const QPointF from = l.places[static_cast<std::size_t>(move.from)],
                  to = l.places[static_cast<std::size_t>(move.to)];
    const QPointF way = to - from;
    const double length = std::max(std::hypot(way.x(), way.y()), 1.0);
    // A little aside of the line, so that two that pass each other are both seen.
    const QPointF aside(-way.y() / length * 9, way.x() / length * 9);
    // Boxes hide the line's ends: what moves is seen between them.
    const double hidden = std::min(0.4, 0.5 * std::min(l.box_width / std::max(std::fabs(way.x()), 1.0),
                                                       l.box_height / std::max(std::fabs(way.y()), 1.0)));
    const QPointF at = from + way * (hidden + (1 - 2 * hidden) * done) + aside;
    painter.setPen(QPen(color(fill), 2));
    painter.drawLine(from + aside, at);
    const QString words = !is_collective(e.kind)                    ? QString()
                          : move.last_chunk - move.first_chunk == 1 ? QString::number(move.first_chunk)
                          : move.last_chunk - move.first_chunk == static_cast<int>(e.chunk_bytes.size())
                              ? tr("all")
                              : QStringLiteral("%1–%2").arg(move.first_chunk).arg(move.last_chunk - 1);
    const double width = std::max(metrics.horizontalAdvance(words) + 8, 16.0);
    const QRectF token(at.x() - width / 2, at.y() - 9, width, 18);
    painter.setPen(QPen(color(colours_->ground), 1.5));
    painter.setBrush(color(fill));
    painter.drawRoundedRect(token, 4, 4);
    painter.setFont(font);
    painter.setPen(color(colours_->ink_on(fill)));
    painter.drawText(token, Qt::AlignCenter, words);
  }
}

void ExchangePlayer::paint_times(QPainter& painter, const QRectF& area) const {
  const GroupExchange& e = *exchange_;
  std::int64_t begin = 0, end = 0;
  bool any = false;
  for (const auto& span : e.spans) {
    if (!span) continue;
    begin = any ? std::min(begin, span->begin_ns) : span->begin_ns;
    end = any ? std::max(end, span->end_ns) : span->end_ns;
    any = true;
  }
  const double row = std::clamp((area.height() - 44) / std::max(e.size(), 1), 4.0, 26.0);
  const bool named = row >= 14;
  painter.setFont(interface_font());
  painter.setPen(color(colours_->dim));
  painter.drawText(QRectF(area.left(), area.top(), area.width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                   any ? tr("thin: waiting; full: moving bytes") : tr("times not recorded"));
  if (!any) return;
  const double name_width = named ? 54 : 0, number_width = named ? 132 : 0;
  const double left = area.left() + name_width, width = std::max(area.width() - name_width - number_width, 20.0);
  const double scale = width / std::max<double>(static_cast<double>(end - begin), 1);
  double y = area.top() + 24;
  for (int m = 0; m < e.size() && y + row <= area.bottom() - 18; ++m, y += row) {
    const auto& span = e.spans[static_cast<std::size_t>(m)];
    painter.setPen(color(colours_->text));
    if (named)
      painter.drawText(QRectF(area.left(), y, name_width, row), Qt::AlignLeft | Qt::AlignVCenter,
                       tr("rank %1").arg(e.ranks[static_cast<std::size_t>(m)]));
    if (!span) {
      painter.setPen(color(colours_->dim));
      if (named) painter.drawText(QRectF(left, y, width, row), Qt::AlignLeft | Qt::AlignVCenter, tr("not recorded"));
      continue;
    }
    const double x0 = left + static_cast<double>(span->begin_ns - begin) * scale;
    const double x1 = left + static_cast<double>(span->active_ns - begin) * scale;
    const double x2 = left + static_cast<double>(span->end_ns - begin) * scale;
    const double middle = y + row / 2;
    painter.fillRect(QRectF(x0, middle - 1, std::max(x1 - x0, 0.0), 2), color(mark()));
    painter.fillRect(QRectF(x1, y + 2, std::max(x2 - x1, 1.0), row - 4), color(mark()));
    if (!named) continue;
    painter.setFont(number_font());
    painter.setPen(color(colours_->dim));
    painter.drawText(QRectF(area.right() - number_width + 8, y, number_width - 8, row),
                     Qt::AlignRight | Qt::AlignVCenter,
                     text::nanoseconds(span->active_ns - span->begin_ns) + QStringLiteral(" + ") +
                         text::nanoseconds(span->end_ns - span->active_ns));
    painter.setFont(interface_font());
  }
  painter.setPen(color(colours_->dim));
  painter.drawText(QRectF(left, y + 2, width, 16), Qt::AlignLeft | Qt::AlignVCenter, text::nanoseconds(end - begin));
  if (named)
    painter.drawText(QRectF(area.right() - number_width, y + 2, number_width, 16), Qt::AlignRight | Qt::AlignVCenter,
                     tr("waiting + moving"));
  const QRectF rest(area.left(), y + 28, area.width(), area.bottom() - y - 28);
  if (e.moves.empty() || !is_collective(e.kind) || rest.height() < 36) return;
  const QString chunk = text::bytes(static_cast<double>(*std::max_element(e.chunk_bytes.begin(), e.chunk_bytes.end())));
  painter.drawText(rest, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                   e.sums()
                       ? tr("A cell is a chunk of the buffer (%1 here). It fills with the ranks whose parts are "
                            "summed in it; full, it holds all %2.")
                             .arg(chunk)
                             .arg(e.size())
                       : tr("A cell is a chunk of the buffer (%1 here). It is full where the rank has it.").arg(chunk));
}

}  // namespace rankscope::app
