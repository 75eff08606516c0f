// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paths/path_player.hpp"

#include <algorithm>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int tick_ms = 16;
constexpr double slowest = 12, seconds_for_all = 10;  ///< steps per second; a limit for the duration of a long path

}  // namespace

PathPlayer::PathPlayer(QWidget* parent)
    : QWidget(parent),
      back_(word_button(this, QStringLiteral("|◀"), tr("Previous step (,)"))),
      play_(word_button(this, tr("Play"), tr("Play or pause (Space)"))),
      forward_(word_button(this, QStringLiteral("▶|"), tr("Next step (.)"))),
      slider_(new QSlider(Qt::Horizontal, this)),
      words_(new QLabel(this)) {
  slider_->setAccessibleName(tr("Step of the paths"));
  slider_->setRange(0, 0);
  slider_->setMinimumWidth(1);  // in a narrow view the words stay whole
  words_->setProperty("role", QStringLiteral("dim"));
  words_->setFont(number_font());
  words_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* row = row_in(this, 6, {view_margin, 2, view_margin, 4});
  for (QToolButton* button : {back_, play_, forward_}) row->addWidget(button);
  row->addWidget(slider_, 1);
  row->addWidget(words_);
  timer_.setInterval(tick_ms);
  timer_.setTimerType(Qt::PreciseTimer);
  connect(&timer_, &QTimer::timeout, this, &PathPlayer::tick);
  connect(back_, &QToolButton::clicked, this, [this] { step_by(-1); });
  connect(forward_, &QToolButton::clicked, this, [this] { step_by(+1); });
  connect(play_, &QToolButton::clicked, this, [this] { set_playing(!playing()); });
  connect(slider_, &QSlider::sliderPressed, this, [this] { set_playing(false); });
  connect(slider_, &QSlider::valueChanged, this, [this](int step) {
    show_words();
    emit step_changed(step);
  });
  show_words();
}

void PathPlayer::set_steps(int steps) {
  const bool at_end = step() == this->steps();
  slider_->setRange(0, std::max(0, steps));
  slider_->setPageStep(std::max(1, steps / 10));
  if (at_end) slider_->setValue(steps);
  show_words();
}

void PathPlayer::step_by(int by) {
  set_playing(false);
  slider_->setValue(step() + by);
}

void PathPlayer::set_playing(bool playing) {
  if (playing == this->playing()) return;
  if (playing) {
    if (steps() == 0) return;
    if (step() == steps()) slider_->setValue(0);
    at_ = step();
    since_.start();
    timer_.start();
  } else {
    timer_.stop();
  }
  show_words();
}

void PathPlayer::tick() {
  const double seconds = static_cast<double>(since_.nsecsElapsed()) * 1e-9;
  since_.start();
  at_ = std::min<double>(at_ + seconds * std::max(slowest, steps() / seconds_for_all), steps());
  slider_->setValue(static_cast<int>(at_));
  if (at_ >= steps()) set_playing(false);
}

void PathPlayer::show_words() {
  play_->setText(playing() ? tr("Pause") : tr("Play"));
  const QString pattern = tr("step %1 of %2");
  words_->setMinimumWidth(words_->fontMetrics().horizontalAdvance(pattern.arg(steps()).arg(steps())) + 4);
  words_->setText(pattern.arg(step()).arg(steps()));
}

}  // namespace rankscope::app
