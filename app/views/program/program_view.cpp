// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/program/program_view.hpp"

#include <QPainter>
#include <QRegularExpression>
#include <QSyntaxHighlighter>
#include <QTextBlock>
#include <algorithm>
#include <stdexcept>

#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/facts/facts.hpp"

namespace rankscope::app {
namespace {

constexpr int control_height = 30;
constexpr int picture_gap = 10, least_picture = 110;
constexpr int pause_ms = 200;             ///< from the last key to the check of the text
constexpr std::size_t most_ops = 20'000;  ///< limits of a program's text and of an order's picture

/// Ops in the colour of their boxes, comments dim.
class OpColours : public QSyntaxHighlighter {
 public:
  explicit OpColours(QTextDocument* document) : QSyntaxHighlighter(document) {}
  void set_palette(const Palette& palette) {
    palette_ = &palette;
    rehighlight();
  }

 protected:
  void highlightBlock(const QString& text) override {
    if (palette_ == nullptr) return;
    static const QRegularExpression token(QStringLiteral("\\b([A-Z_]+)[.:][\\w.:]*\\w"));
    for (auto matches = token.globalMatch(text); matches.hasNext();) {
      const QRegularExpressionMatch match = matches.next();
      const auto op = parse_token(match.captured().toStdString());
      if (!op) continue;
      QTextCharFormat format;
      format.setBackground(faded(palette_->of(class_of(*op)), 0.25));  // as a text colour it would be hard to read
      format.setFontWeight(QFont::DemiBold);
      setFormat(static_cast<int>(match.capturedStart(1)), static_cast<int>(match.capturedLength(1)), format);
    }
    const qsizetype comment = text.indexOf(QLatin1Char('#'));
    if (comment >= 0)
      setFormat(static_cast<int>(comment), static_cast<int>(text.size() - comment), color(palette_->dim));
  }

 private:
  const Palette* palette_ = nullptr;
};

QString program_text(const RunContext& context, int rank) {
  const RankProgram& program = context.programs[static_cast<std::size_t>(rank)];
  if (program.ops.size() > most_ops)
    return QObject::tr("# %1 ops: too long to be read. rankscope-engine plan --program prints it.")
        .arg(text::count(static_cast<std::int64_t>(program.ops.size())));
  return QString::fromStdString(to_text(program));
}

}  // namespace

ProgramView::ProgramView(SharedState& state, Session& session, QWidget* parent)
    : DataView(state, session, parent),
      session_(session),
      which_(new QComboBox(this)),
      words_(new ElidedLabel(this, "text")),
      text_(new QPlainTextEdit(this)),
      picture_(new OrderPicture(this)),
      checker_([this](const OrderCheck& check) { take_check(check); }) {
  which_->setAccessibleName(tr("Which text"));
  which_->addItem(tr("stage order (editable)"));
  text_->setAccessibleName(tr("The program's text"));
  text_->setFrameShape(QFrame::NoFrame);
  text_->setTabChangesFocus(true);
  colours_of_ops_ = new OpColours(text_->document());
  set_up_pause(delay_, pause_ms, this, &ProgramView::request_check);
  connect(text_, &QPlainTextEdit::textChanged, this, &ProgramView::take_text);
  connect(picture_, &OrderPicture::chosen, this, &ProgramView::find_in_text);
  connect(which_, &QComboBox::currentIndexChanged, this, [this](int index) { show_program(index - 1); });
  connect(&session, &Session::scenario_changed, this, &ProgramView::take_scenario);
  connect(&session, &Session::state_changed, this, &ProgramView::take_scenario);
  connect(&session.figures(), &FiguresModel::changed, this, &ProgramView::take_programs);
  take_colours();
  take_scenario();
}

// The highlighter is deleted with the document, which then reports a change.
ProgramView::~ProgramView() { text_->disconnect(this); }

void ProgramView::take_colours() {
  static_cast<OpColours*>(colours_of_ops_)->set_palette(colours());
  text_->setFont(fixed_font());
  mark();
}

bool ProgramView::editable() const {
  const SessionState now = session_.state();
  return shown_ < 0 && session_.spec().kind == SourceKind::scenario && session_.scenario() &&
         now != SessionState::starting && now != SessionState::running && now != SessionState::stopping;
}

void ProgramView::show_program(int rank) {
  if (shown_ == rank) return;
  shown_ = rank;
  which_->setCurrentIndex(rank + 1);
  dirty_ = false;
  plan_ = {};
  take_scenario();
}

void ProgramView::show_op(int rank, OpId op) {
  show_program(rank);
  find_in_text(op);
}

void ProgramView::take_scenario() {
  text_->setReadOnly(!editable());
  arrange();
  update();
  if (shown_ >= 0) return take_programs();
  if (!session_.scenario()) {
    plan_ = {};
    fill({});
    return words_->set_text({});
  }
  const PlanSpec& plan = session_.scenario()->plan;
  // The typed text has become the plan: it is not replaced.
  const bool own = plan.schedule == ScheduleKind::by_hand && plan.order == text_->toPlainText().toStdString();
  if (plan == plan_ && (dirty_ || own)) return;
  plan_ = plan;
  if (own) return request_check();
  dirty_ = false;
  try {
    fill(QString::fromStdString(order_text(plan)));
  } catch (const std::invalid_argument& error) {
    fill(QStringLiteral("# ") + QString::fromUtf8(error.what()));
  }
  request_check();
}

void ProgramView::take_programs() {
  const auto context = session_.figures().latest()->context;
  const int ranks = context ? static_cast<int>(context->programs.size()) : 0;
  if (which_->count() != ranks + 1) {
    const QSignalBlocker quiet(which_);
    while (which_->count() > ranks + 1) which_->removeItem(which_->count() - 1);
    while (which_->count() < ranks + 1) which_->addItem(tr("program of rank %1").arg(which_->count() - 1));
    if (shown_ >= ranks) shown_ = -1;
    which_->setCurrentIndex(shown_ + 1);
    arrange();
  }
  if (shown_ < 0 || !context || !isVisible()) return;
  const QString text = program_text(*context, shown_);
  if (text != text_->toPlainText()) fill(text);
  check_ = {};
  words_->set_text(
      tr("%1 ops in program order (read only): one line per op with the ops it waits for, its bytes and buffers")
          .arg(text::count(static_cast<std::int64_t>(context->programs[static_cast<std::size_t>(shown_)].ops.size()))));
  mark();
}

void ProgramView::fill(const QString& text) {
  filling_ = true;
  text_->setPlainText(text);
  last_ = text_->toPlainText();
  filling_ = false;
}

void ProgramView::take_text() {
  if (filling_ || shown_ >= 0) return;
  // New colours are also a change of the document.
  const QString now = text_->toPlainText();
  if (now == last_) return;
  last_ = now;
  dirty_ = true;
  delay_.start();
}

void ProgramView::request_check() {
  if (!session_.scenario() || shown_ >= 0) return;
  checker_.request([text = text_->toPlainText().toStdString(), plan = session_.scenario()->plan] {
    return check_order(text, plan);
  });
}

void ProgramView::take_check(const OrderCheck& check) {
  check_ = check;
  mark();
  picture_->set_stale(!check.ok);
  if (check.ok) {
    picture_->set_order(check.units.size() <= most_ops ? check.units : std::vector<UnitOp>{});
    arrange();
  }
  if (!session_.scenario() || shown_ >= 0) return;
  if (!check.ok) {
    words_->set_text(check.line > 0 ? tr("Line %1: %2").arg(check.line).arg(QString::fromStdString(check.message))
                                    : QString::fromStdString(check.message));
    return;
  }
  // A question about the bubble must not be answered here.
  words_->set_text(veiled() ? tr("%1 ops, valid").arg(check.units.size())
                            : tr("%1 ops; ideal bubble (equal stages, no communication): %2")
                                  .arg(check.units.size())
                                  .arg(text::percent(check.ideal_bubble)));
  if (!dirty_ || !editable()) return;
  dirty_ = false;
  Scenario scenario = *session_.scenario();
  const std::string order = text_->toPlainText().toStdString();
  if (scenario.plan.schedule == ScheduleKind::by_hand && scenario.plan.order == order) return;
  scenario.plan.schedule = ScheduleKind::by_hand;
  scenario.plan.order = order;
  plan_ = scenario.plan;
  session_.edit(scenario);
}

void ProgramView::mark() {
  const bool bad = shown_ < 0 && !check_.ok && !check_.message.empty();
  set_style_property(*words_, "role", bad ? QStringLiteral("bad") : QStringLiteral("dim"));
  QList<QTextEdit::ExtraSelection> marks;
  if (bad && check_.line > 0) {
    const QTextBlock block = text_->document()->findBlockByNumber(check_.line - 1);
    QTextEdit::ExtraSelection line;
    line.cursor = QTextCursor(block);
    line.cursor.select(QTextCursor::BlockUnderCursor);
    line.format.setBackground(faded(colours().bad, 0.14));
    line.format.setProperty(QTextFormat::FullWidthSelection, true);
    marks << line;
    // If an op occurs twice, the last occurrence is marked.
    const qsizetype at = check_.token.empty() ? -1 : block.text().lastIndexOf(QString::fromStdString(check_.token));
    if (at >= 0) {
      QTextEdit::ExtraSelection op;
      op.cursor = QTextCursor(block);
      op.cursor.setPosition(block.position() + static_cast<int>(at));
      op.cursor.setPosition(op.cursor.position() + static_cast<int>(check_.token.size()), QTextCursor::KeepAnchor);
      op.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
      op.format.setUnderlineColor(color(colours().bad));
      op.format.setBackground(faded(colours().bad, 0.35));
      marks << op;
    }
  }
  text_->setExtraSelections(marks);
}

void ProgramView::find_in_text(OpId op) {
  const QTextCursor found =
      text_->document()->find(QString::fromStdString(to_token(op)), 0, QTextDocument::FindWholeWords);
  if (found.isNull()) return;
  text_->setTextCursor(found);
  text_->setFocus();
}

void ProgramView::arrange() {
  const bool there = session_.scenario().has_value();
  show_all(there, {which_, words_, text_});
  which_->setGeometry(view_margin, 4, which_->sizeHint().width(), control_height);
  const int left = view_margin + which_->width() + 12;
  words_->setGeometry(left, 4, width() - left - view_margin, control_height);
  // The text has space for its lines and some more; the picture has the rest, if that is enough.
  const int top = control_height + 8, room = height() - top - 4;
  const int visible_lines = static_cast<int>(text_->document()->size().height());
  const int lines = (visible_lines + 2) * text_->fontMetrics().lineSpacing() + 12;
  const int text_least = std::clamp(lines, room * 35 / 100, room * 55 / 100);
  const int pictured = std::min(picture_->preferred_height(), room - text_least - picture_gap);
  const bool pictures = there && shown_ < 0 && pictured >= least_picture;
  picture_->setVisible(pictures);
  const int text_height = pictures ? room - pictured - picture_gap : room;
  text_->setGeometry(view_margin - 4, top, width() - 2 * view_margin + 8, text_height);
  picture_->setGeometry(view_margin, top + text_height + picture_gap, width() - 2 * view_margin, std::max(pictured, 0));
}

void ProgramView::paint(QPainter& painter) {
  if (!session_.scenario())
    paint_empty(painter, rect(), colours(), tr("No program yet"),
                tr("Open a scenario: the order of each stage's forward and backward passes is shown here as text "
                   "and can be edited."));
}

}  // namespace rankscope::app
