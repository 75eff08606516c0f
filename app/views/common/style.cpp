// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QGuiApplication>
#include <cmath>

// A resource of a static library is linked only if it is requested, outside of any namespace.
static void load_icons() { Q_INIT_RESOURCE(icons); }

namespace rankscope::app {
namespace {

bool digits_have_one_width(const QFont& font) {
  const QFontMetricsF metrics(font);
  const qreal first = metrics.horizontalAdvance(QLatin1Char('0'));
  for (char digit = '1'; digit <= '9'; ++digit)
    if (std::fabs(metrics.horizontalAdvance(QLatin1Char(digit)) - first) > 0.01) return false;
  return true;
}

QString hex(Argb argb) { return color(argb).name(); }

/// Words such as @text are the palette's colours. Qt moves a cell's text 3 px further in than its padding states, but
/// not a header's: hence 8 and 11.
constexpr const char* sheet_text = R"(
QToolTip { color: @text; background: @panel; border: 1px solid @line; padding: 4px 6px; }
#topBar, #leftPanel, #rightPanel, #statusBar { background: @panel; }
#topBar { border-bottom: 1px solid @line; }
#statusBar { border-top: 1px solid @line; }
#leftPanel > QWidget, #rightPanel > QWidget { background: transparent; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QLabel[role="dim"] { color: @dim; }
QLabel[role="caption"] { color: @dim; font-weight: 600; }
QLabel[role="heading"] { color: @text; font-weight: 600; }
QLabel[role="title"] { color: @text; font-weight: 700; font-size: 18px; }
QLabel[role="bad"] { color: @bad; }
QLabel[role="good"] { color: @good; }
QLabel[role="pill"] { color: @dim; border: 1px solid @dim; border-radius: 10px; padding: 0 10px; min-height: 19px; max-height: 19px; font-weight: 600; font-size: 12px; }
QLabel[role="pill"][live="true"] { color: @ground; background: @good; border-color: @good; }
QDialog { background: @panel; border: 1px solid @line; }
QListWidget { background: @panel; color: @text; border: none; outline: none; }
QListWidget::item { padding: 5px 8px; border-radius: 3px; }
QListWidget::item:selected { background: @accent; color: @onaccent; }
QFrame[role="rule"] { background: @line; border: none; max-height: 1px; min-height: 1px; }
QFrame[role="banner"] { background: @panel; border: none; border-bottom: 1px solid @line; border-left: 4px solid @accent; }
QFrame[role="banner"][kind="warning"], QFrame[role="banner"][kind="error"] { border-left-color: @bad; }
QFrame[role="card"] { background: @ground; border: 1px solid @line; border-radius: 6px; }
QPushButton, QToolButton[role="button"] { color: @text; background: @panel; border: 1px solid @line; border-radius: 4px; padding: 4px 12px; min-height: 16px; }
QPushButton:hover, QToolButton[role="button"]:hover { border-color: @accent; }
QPushButton:pressed, QToolButton[role="button"]:pressed { background: @raised; }
QPushButton:disabled { color: @faint; }
QPushButton:focus, QComboBox:focus, QSpinBox:focus, QDoubleSpinBox:focus, QLineEdit:focus { border-color: @accent; }
QPushButton[role="primary"] { color: @onaccent; background: @accent; border-color: @accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: @accentover; }
QPushButton[role="primary"]:disabled { color: @faint; background: @panel; border-color: @line; }
QPushButton[role="link"] { color: @accent; background: transparent; border: none; padding: 0; text-align: left; }
QPushButton[role="link"]:hover, QPushButton[role="link"]:focus { text-decoration: underline; }
QPushButton[role="link"]:disabled { color: @text; }
QToolButton { color: @text; background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px 6px; }
QToolButton:hover { border-color: @line; background: @raised; }
QToolButton:disabled { color: @faint; }
QToolButton:focus { border-color: @accent; }
QToolButton::menu-indicator { image: none; }
QPushButton::menu-indicator { image: url(:/rankscope/icons/down-@theme.xpm); width: 10px; height: 6px; subcontrol-origin: padding; subcontrol-position: center right; right: 8px; }
QPushButton[role="menu"] { padding-right: 24px; }
QToolButton[role="step"] { border: 1px solid @line; background: @ground; color: @text; padding: 0; min-width: 22px; max-width: 22px; min-height: 22px; max-height: 22px; font-weight: 600; }
QToolButton[role="step"]:hover { border-color: @accent; }
QToolButton[role="step"]:disabled { color: @faint; background: @panel; }
QToolButton[role="segment"] { border: 1px solid @line; border-radius: 0; padding: 3px 2px; color: @dim; background: @panel; }
QToolButton[role="segment"]:checked { color: @onaccent; background: @accent; border-color: @accent; font-weight: 600; }
QToolButton[role="segment"]:disabled { color: @faint; }
QToolButton[role="segment"]:checked:disabled { color: @text; background: @raised; border-color: @line; }
QComboBox, QSpinBox, QDoubleSpinBox, QLineEdit { color: @text; background: @ground; border: 1px solid @line; border-radius: 4px; padding: 3px 8px; min-height: 18px; selection-background-color: @accent; selection-color: @onaccent; }
QComboBox:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QLineEdit:disabled { color: @dim; background: @panel; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox::down-arrow { image: url(:/rankscope/icons/down-@theme.xpm); width: 10px; height: 6px; }
QComboBox::down-arrow:disabled { image: url(:/rankscope/icons/down-@theme-disabled.xpm); }
QComboBox QAbstractItemView { background: @panel; color: @text; border: 1px solid @line; selection-background-color: @accent; selection-color: @onaccent; outline: none; }
QTabBar { background: transparent; }
#tabRow { background: @panel; border-bottom: 1px solid @line; }
QTabBar::tab { color: @dim; background: transparent; border: none; border-bottom: 2px solid transparent; padding: 5px 4px; margin: 0 8px 0 0; }
QTabBar::tab:first { margin-left: 8px; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; font-weight: 600; }
QTabBar[away="true"]::tab:selected { color: @dim; border-bottom-color: transparent; font-weight: 400; }
QTabBar::tab:hover { color: @text; }
#tabRow QToolButton { padding: 1px 6px; }
#tabRow QToolButton:checked { color: @accent; }
QTabBar::tab:focus { color: @accent; }
QTabWidget::pane { border: none; }
QTableView { background: @ground; alternate-background-color: @ground; color: @text; border: none; gridline-color: @line; selection-background-color: @raised; outline: none; }
QTableView::item { padding: 2px 8px; border-bottom: 1px solid @line; }
QTableView::indicator { width: 12px; height: 12px; border: 1px solid @dim; border-radius: 3px; background: @ground; }
QTableView::indicator:checked { background: @accent; border-color: @accent; image: url(:/rankscope/icons/check-@theme.xpm); }
QTableView::indicator:hover { border-color: @accent; }
QHeaderView { background: @ground; }
QHeaderView::section { background: @ground; color: @dim; border: none; border-bottom: 1px solid @line; padding: 4px 11px; font-weight: 400; }
QPlainTextEdit, QTextBrowser { background: @ground; color: @text; border: 1px solid @line; border-radius: 4px; selection-background-color: @accent; selection-color: @onaccent; }
QMenu { background: @panel; color: @text; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 16px; border-radius: 3px; }
QMenu::item:selected { background: @accent; color: @onaccent; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QProgressBar { background: @ground; color: @text; border: 1px solid @line; border-radius: 4px; text-align: center; max-height: 16px; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 4px; min-height: 24px; min-width: 24px; margin: 1px; }
QScrollBar::handle:hover { background: @dim; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page { background: none; border: none; height: 0; width: 0; }
QSlider::groove:horizontal { height: 3px; background: @line; border-radius: 1px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 1px; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -5px 0; border-radius: 6px; background: @accent; }
QSlider::handle:horizontal:disabled { background: @faint; }
QSlider:focus { border: none; }
)";

}  // namespace

Argb color_of(TimeClass time, const Palette& p) {
  switch (time) {
    case TimeClass::compute: return p.of(SpanClass::forward);
    case TimeClass::recompute: return p.of(SpanClass::recompute);
    case TimeClass::tensor: return p.of(SpanClass::collective, Lane::tensor);
    case TimeClass::pipeline: return p.of(SpanClass::transfer);
    case TimeClass::data: return p.of(SpanClass::collective);
    case TimeClass::zero: return p.of(SpanClass::collective, Lane::zero_gather);
    case TimeClass::optimizer: return p.of(SpanClass::optimizer);
    case TimeClass::bubble: return p.hatch;
    case TimeClass::other: return p.of(SpanClass::other);
  }
  return p.text;
}

Argb color_of(MemoryClass memory, const Palette& palette) {
  switch (memory) {
    case MemoryClass::parameters: return palette.of(SpanClass::recompute);
    case MemoryClass::gradients: return palette.of(SpanClass::backward);
    case MemoryClass::optimizer: return palette.of(SpanClass::optimizer);
    case MemoryClass::activations: return palette.of(SpanClass::forward);
    case MemoryClass::buffers: return palette.of(SpanClass::transfer);
    case MemoryClass::host: return palette.of(SpanClass::collective);
    case MemoryClass::workspace: return palette.gather;
    case MemoryClass::context: return palette.reduce;
    case MemoryClass::unclassified: return palette.accent;
  }
  return palette.text;
}

QString label_of(MemoryClass memory) { return text::words(name_of(memory)); }

QFont interface_font() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
  font.setPixelSize(interface_pixels);
  return font;
}

QFont bold_font(QFont font) {
  font.setWeight(QFont::DemiBold);
  return font;
}

QFont number_font() {
  QFont font = interface_font();
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
  font.setFeature("tnum", 1);
#endif
  return digits_have_one_width(font) ? font : fixed_font();
}

QFont fixed_font() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  font.setPixelSize(interface_pixels);
  return font;
}

void draw_text(QPainter& painter, const QRectF& box, int flags, const QString& words, Argb ink) {
  painter.setPen(color(ink));
  painter.drawText(box, flags, words);
}

void draw_line(QPainter& painter, const QRectF& box, int flags, const QString& words, Argb ink) {
  draw_text(painter, box, flags, QFontMetricsF(painter.font()).elidedText(words, Qt::ElideRight, box.width()), ink);
}

QPalette qt_palette(const Palette& p) {
  QPalette result;
  result.setColor(QPalette::Window, color(p.ground));
  result.setColor(QPalette::WindowText, color(p.text));
  result.setColor(QPalette::Base, color(p.panel));
  result.setColor(QPalette::AlternateBase, color(p.ground));
  result.setColor(QPalette::Text, color(p.text));
  result.setColor(QPalette::PlaceholderText, color(p.dim));
  result.setColor(QPalette::Button, color(p.panel));
  result.setColor(QPalette::ButtonText, color(p.text));
  result.setColor(QPalette::BrightText, color(p.bad));
  result.setColor(QPalette::Highlight, color(p.accent));
  result.setColor(QPalette::HighlightedText, color(p.on_accent));
  result.setColor(QPalette::Link, color(p.accent));
  result.setColor(QPalette::LinkVisited, color(p.accent));
  result.setColor(QPalette::ToolTipBase, color(p.panel));
  result.setColor(QPalette::ToolTipText, color(p.text));
  result.setColor(QPalette::Light, color(mixed(p.panel, p.text, 0.10F)));
  result.setColor(QPalette::Mid, color(p.line));
  result.setColor(QPalette::Dark, color(p.line));
  result.setColor(QPalette::Shadow, color(p.ground));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    result.setColor(QPalette::Disabled, role, color(p.faint));
  result.setColor(QPalette::Disabled, QPalette::Highlight, color(p.line));
  return result;
}

QString style_sheet(const Palette& p) {
  load_icons();
  QString sheet = QString::fromUtf8(sheet_text);
  // Longer names first: "@accentover" begins with "@accent".
  const std::pair<const char*, QString> values[] = {
      {"@accentover", hex(mixed(p.accent, p.text, 0.15F))},
      {"@onaccent", hex(p.on_accent)},
      {"@accent", hex(p.accent)},
      {"@raised", hex(mixed(p.panel, p.text, 0.10F))},
      {"@ground", hex(p.ground)},
      {"@panel", hex(p.panel)},
      {"@line", hex(p.line)},
      {"@text", hex(p.text)},
      {"@theme", p.theme == Theme::light ? QStringLiteral("light") : QStringLiteral("dark")},  // which drawing of marks
      {"@dim", hex(p.dim)},
      {"@faint", hex(p.faint)},
      {"@good", hex(p.good)},
      {"@bad", hex(p.bad)},
  };
  for (const auto& [name, value] : values) sheet.replace(QLatin1String(name), value);
  return sheet;
}

Theme system_theme() {
  const QPalette system = QGuiApplication::palette();
  const bool dark = system.color(QPalette::Window).lightness() < system.color(QPalette::WindowText).lightness();
  return dark ? Theme::dark : Theme::light;
}

}  // namespace rankscope::app
