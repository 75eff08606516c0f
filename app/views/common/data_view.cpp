// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/data_view.hpp"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QTableView>

#include "app/views/common/style.hpp"
#include "app/views/common/tool_tip.hpp"

namespace rankscope::app {
namespace {

constexpr int veil_button_room = 34;  ///< under the words of a veil

/// Under the words of its parent's veil, however large that is.
class VeilButton : public QPushButton {
 public:
  explicit VeilButton(DataView* view) : QPushButton(DataView::tr("Show anyway"), view), view_(view) {
    setProperty("role", QStringLiteral("link"));
    setAutoDefault(true);
    setToolTip(DataView::tr("Show all results without an answer"));
    setCursor(Qt::PointingHandCursor);
    view->installEventFilter(this);
  }
  void place() {
    QFont font = interface_font();
    font.setPixelSize(qRound(interface_pixels * view_->presentation()));
    setFont(font);
    adjustSize();
    const int middle = (view_->height() - qRound(veil_button_room * view_->presentation())) / 2;
    const int below = middle + qRound(28 * view_->presentation());
    move((view_->width() - width()) / 2, std::min(below, view_->height() - height() - 2));
    raise();
  }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (watched == view_ && (event->type() == QEvent::Resize || event->type() == QEvent::Show)) place();
    return QPushButton::eventFilter(watched, event);
  }

 private:
  DataView* view_;
};

}  // namespace

DataView::DataView(SharedState& state, SnapshotSource& source, QWidget* parent)
    : QWidget(parent), state_(state), source_(source), colours_(&palette_of(Theme::dark)) {}

void DataView::set_theme(Theme theme) {
  colours_ = &palette_of(theme);
  update();
}

void DataView::set_presentation(double scale) {
  presentation_ = scale;
  if (show_anyway_ != nullptr) static_cast<VeilButton*>(show_anyway_)->place();
  update();
}

ViewTable DataView::table() const {
  ViewTable table = rows_shown();
  if (is_hidden()) table.rows.clear();
  return table;
}

void DataView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setFont(interface_font());
  painter.fillRect(rect(), color(colours().ground));
  if (!is_hidden()) return paint(painter);
  paint_empty(painter, rect().adjusted(0, 0, 0, -veil_button_room), colours(), veil_words(), {});
}

bool DataView::event(QEvent* event) {
  return shows_tip(event, this, [this](QPoint at) { return is_hidden() ? QString() : tip_at(at); }) ||
         QWidget::event(event);
}

QString DataView::selected_text() const {
  if (veiled_) return {};
  for (const QTableView* rows : findChildren<QTableView*>())
    if (rows->isVisible() && rows->selectionModel() != nullptr && rows->selectionModel()->hasSelection())
      return to_tabs(table_of(*rows->model()), rows->selectionModel()->selectedRows());
  return to_tabs(table());
}

void DataView::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fill_menu(*menu, event->pos());
  if (!menu->isEmpty()) menu->addSeparator();
  emit menu_opens(menu);
  if (menu->isEmpty()) return delete menu;
  menu->popup(event->globalPos());
}

void DataView::set_veiled(bool veiled) {
  if (veiled == veiled_) return;
  veiled_ = veiled;
  on_veil();
  const bool offers = veiled && veils_all();
  if (offers && show_anyway_ == nullptr) {
    auto* button = new VeilButton(this);
    connect(button, &QPushButton::clicked, this, &DataView::show_anyway_wanted);
    show_anyway_ = button;
  }
  if (show_anyway_ != nullptr) {
    show_anyway_->setVisible(offers);
    static_cast<VeilButton*>(show_anyway_)->place();
  }
  update();
}

void paint_empty(QPainter& painter, const QRectF& area, const Palette& colours, const QString& title,
                 const QString& hint) {
  painter.save();
  QFont bold = painter.font();
  bold.setWeight(QFont::DemiBold);
  const qreal width = std::min<qreal>(area.width() - 32, 440);
  const QRectF column(area.center().x() - width / 2, area.top(), width, area.height());
  painter.setFont(bold);
  const QRectF title_box = painter.boundingRect(column, Qt::AlignHCenter | Qt::TextWordWrap, title);
  bold.setWeight(QFont::Normal);
  painter.setFont(bold);
  const QRectF hint_box = painter.boundingRect(column, Qt::AlignHCenter | Qt::TextWordWrap, hint);
  const qreal height = title_box.height() + 6 + hint_box.height();
  qreal y = area.top() + std::max<qreal>(8, (area.height() - height) / 2);
  bold.setWeight(QFont::DemiBold);
  painter.setFont(bold);
  painter.setPen(color(colours.text));
  painter.drawText(QRectF(column.left(), y, width, title_box.height()), Qt::AlignHCenter | Qt::TextWordWrap, title);
  y += title_box.height() + 6;
  bold.setWeight(QFont::Normal);
  painter.setFont(bold);
  painter.setPen(color(colours.dim));
  painter.drawText(QRectF(column.left(), y, width, hint_box.height() + 2), Qt::AlignHCenter | Qt::TextWordWrap, hint);
  painter.restore();
}

namespace {

constexpr qreal legend_square = 15, legend_gap = 6;  ///< with the room to its name; the least between two entries

}  // namespace

qreal legend_entry_width(const QFontMetricsF& metrics, const QString& name) {
  return legend_square + metrics.horizontalAdvance(name) + legend_gap;
}

qreal paint_legend(QPainter& painter, QPointF at, qreal width, const Palette& colours,
                   const std::vector<std::pair<Argb, QString>>& entries) {
  constexpr qreal square = legend_square, widest_gap = 14, narrowest_gap = legend_gap;
  const QFontMetricsF metrics(painter.font());
  qreal all = 0;
  for (const auto& [fill, name] : entries) all += square + metrics.horizontalAdvance(name);
  const auto gaps = static_cast<qreal>(std::max<std::size_t>(entries.size(), 2) - 1);
  const qreal gap = std::clamp((width - all) / gaps, narrowest_gap, widest_gap);
  qreal x = 0;
  for (const auto& [fill, name] : entries) {
    const qreal entry = square + metrics.horizontalAdvance(name);
    if (x + entry > width) break;
    painter.fillRect(QRectF(at.x() + x, at.y() + 3, 10, 10), color(fill));
    painter.setPen(color(colours.dim));
    painter.drawText(QRectF(at.x() + x + square, at.y(), entry - square + 4, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     name);
    x += entry + gap;
  }
  return x;
}

}  // namespace rankscope::app
