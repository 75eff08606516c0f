// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/side_panel.hpp"

#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int header_height = 30, edge_width = 6, left_margin = 16, right_margin = 12, button_size = 24;

/// A title from bottom to top, as wide as the strip.
class Strip : public QAbstractButton {
 public:
  Strip(const QString& title, QChar arrow, QWidget* parent) : QAbstractButton(parent), arrow_(arrow) {
    setText(title);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::TabFocus);
    setAttribute(Qt::WA_Hover);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const bool lit = underMouse() || hasFocus();
    painter.fillRect(rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(lit ? QPalette::Highlight : QPalette::WindowText));
    painter.drawText(QRect(0, 8, width(), button_size), Qt::AlignCenter, QString(arrow_));
    painter.setFont(bold_font(font()));
    painter.rotate(-90);
    const QRect along(-height(), 0, height() - 8 - button_size - 8, width());
    painter.drawText(along, at_right, text());
  }

 private:
  QChar arrow_;
};

}  // namespace

SidePanel::SidePanel(const QString& title, const QString& key, Side side, QWidget* content, QWidget* parent)
    : QWidget(parent),
      title_(title),
      side_(side),
      content_(content),
      heading_(new QLabel(title, this)),
      fold_(make_tool_button(this, side == Side::left ? QStringLiteral("◂") : QStringLiteral("▸"),
                             tr("Fold to a strip (%1)").arg(key), tr("Fold: %1").arg(title))),
      strip_(new Strip(title, side == Side::left ? QChar(0x25B8) : QChar(0x25C2), this)),
      edge_(new QWidget(this)) {
  setAccessibleName(title);
  content_->setParent(this);
  heading_->setProperty("role", QStringLiteral("heading"));
  strip_->setToolTip(tr("Unfold (%1)").arg(key));
  strip_->setAccessibleName(tr("Unfold: %1").arg(title));
  strip_->hide();
  edge_->setCursor(Qt::SplitHCursor);
  edge_->setToolTip(tr("Drag: width of the panel. Double click: fold it."));
  edge_->installEventFilter(this);
  connect(fold_, &QToolButton::clicked, this, [this] { emit fold_wanted(true); });
  connect(strip_, &QAbstractButton::clicked, this, [this] { emit fold_wanted(false); });
}

int SidePanel::frame_width() { return edge_width; }

void SidePanel::set_folded(bool folded) {
  folded_ = folded;
  strip_->setVisible(folded);
  show_all(!folded, {heading_, fold_, edge_});
  if (!lent_) content_->setVisible(!folded);
  place();
}

void SidePanel::lend() {
  lent_ = true;
  content_->setParent(nullptr);
}

void SidePanel::take_back() {
  lent_ = false;
  content_->setParent(this);
  set_folded(folded_);
}

// Notifies the owner of the panel's width when its content needs a different one.
bool SidePanel::event(QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) emit needs_changed();
  return QWidget::event(event);
}

void SidePanel::resizeEvent(QResizeEvent*) { place(); }

void SidePanel::place() {
  strip_->setGeometry(rect());
  if (folded_) return;
  const bool left = side_ == Side::left;
  const int inside = width() - edge_width, from = left ? 0 : edge_width;
  edge_->setGeometry(left ? inside : 0, 0, edge_width, height());
  edge_->raise();
  const int margin = left ? left_margin : right_margin;  // aligned with its content
  heading_->setGeometry(from + margin, 0, inside - 2 * margin - button_size, header_height);
  fold_->setGeometry(from + inside - button_size - 6, (header_height - button_size) / 2, button_size, button_size);
  if (!lent_) content_->setGeometry(from, header_height, inside, height() - header_height);
}

void SidePanel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::Mid));
  const int x = side_ == Side::left ? width() - 1 : 0;
  painter.drawLine(x, 0, x, height());
}

bool SidePanel::eventFilter(QObject* watched, QEvent* event) {
  if (watched != edge_) return QWidget::eventFilter(watched, event);
  const auto x_of = [&] { return mapFromGlobal(static_cast<QMouseEvent*>(event)->globalPosition().toPoint()).x(); };
  switch (event->type()) {
    case QEvent::MouseButtonPress: grabbed_at_ = side_ == Side::left ? width() - x_of() : x_of(); return true;
    case QEvent::MouseMove:
      emit width_wanted(side_ == Side::left ? x_of() + grabbed_at_ : width() - x_of() + grabbed_at_);
      return true;
    case QEvent::MouseButtonRelease: emit width_chosen(); return true;
    case QEvent::MouseButtonDblClick: emit fold_wanted(true); return true;
    default: return QWidget::eventFilter(watched, event);
  }
}

}  // namespace rankscope::app
