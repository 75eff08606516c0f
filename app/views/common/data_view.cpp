// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/data_view.hpp"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <QToolTip>

#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr int veil_button_room = 34;  ///< under the text of a veil

/// Under the text of its parent's veil, however large that is.
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
    : PaintedWidget(parent), state_(state), source_(source) {
  setMinimumSize(320, 140);
}

void DataView::set_presentation(double scale) {
  presentation_ = scale;
  if (show_anyway_ != nullptr) static_cast<VeilButton*>(show_anyway_)->place();
  arrange();
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

void DataView::showEvent(QShowEvent*) {
  on_show();
  QTimer::singleShot(0, this, [this] {
    if (isVisible()) on_stay();
  });
}

bool DataView::event(QEvent* event) {
  if (!is_hidden() || event->type() != QEvent::ToolTip) return PaintedWidget::event(event);
  QToolTip::hideText();
  return true;
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
  constexpr int wrapped = Qt::AlignHCenter | Qt::TextWordWrap;
  const QFont normal = painter.font();
  const qreal width = std::min<qreal>(area.width() - 32, 440);
  const QRectF column(area.center().x() - width / 2, area.top(), width, area.height());
  const qreal hint_height = painter.boundingRect(column, wrapped, hint).height();
  painter.setFont(bold_font(normal));
  const qreal title_height = painter.boundingRect(column, wrapped, title).height();
  const qreal y = area.top() + std::max<qreal>(8, (area.height() - title_height - 6 - hint_height) / 2);
  draw_text(painter, QRectF(column.left(), y, width, title_height), wrapped, title, colours.text);
  painter.setFont(normal);
  draw_text(painter, QRectF(column.left(), y + title_height + 6, width, hint_height + 2), wrapped, hint, colours.dim);
  painter.restore();
}

namespace {

constexpr qreal legend_square = 15, legend_gap = 6;  ///< including the space to its name; the least between two entries

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
    draw_text(painter, QRectF(at.x() + x + square, at.y(), entry - square + 4, 16), at_left, name, colours.dim);
    x += entry + gap;
  }
  return x;
}

}  // namespace rankscope::app
