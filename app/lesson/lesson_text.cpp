// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/lesson_text.hpp"

#include <QDesktopServices>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>
#include <QUrlQuery>
#include <QWhatsThis>
#include <cmath>
#include <memory>

#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/lesson/lab/lesson_words.hpp"
#include "engine/lesson/lab/view_inputs.hpp"

namespace rankscope::app {
namespace {

constexpr QLatin1String run_scheme("run"), view_scheme("view"), lab_scheme("lab"), term_scheme("term"),
    answer_scheme("answer");

QString linked(const QString& words, QLatin1String scheme, qsizetype number) {
  return QStringLiteral("[%1](%2:%3)").arg(words, scheme).arg(number);
}

/// A line of a block quote without its ">".
QString without_quote(const QString& line) { return line.mid(line.startsWith(QLatin1String("> ")) ? 2 : 1); }

/// Whether the letter at `at` is a unit: after a number and a blank ("3 s", "175 B").
bool is_unit(const QString& text, qsizetype at) {
  qsizetype before = at - 1;
  while (before >= 0 && (text[before] == QLatin1Char(' ') || text[before] == QChar(0xA0))) --before;
  return before >= 0 && before < at - 1 && (text[before].isDigit() || text[before] == QLatin1Char('%'));
}

/// Letters that are English words, not symbols.
bool is_word(const QString& letters) {
  return letters == QLatin1String("a") || letters == QLatin1String("A") || letters == QLatin1String("I");
}

/// Each line of a drawing or a program is a block.
bool is_code(const QTextBlock& block) { return block.blockFormat().hasProperty(QTextFormat::BlockCodeLanguage); }

QString definition_of(const Term& term) {
  QString words = QStringLiteral("<b>%1</b>").arg(QString::fromStdString(term.name).toHtmlEscaped());
  if (!term.symbol.empty() && term.symbol != term.name)
    words += QStringLiteral(" (%1)").arg(QString::fromStdString(term.symbol).toHtmlEscaped());
  words += QStringLiteral(": ") + QString::fromStdString(term.means).toHtmlEscaped();
  if (!term.source.empty())
    words += QStringLiteral("<br><i>%1</i>").arg(QString::fromStdString(term.source).toHtmlEscaped());
  return words;
}

}  // namespace

LessonText::LessonText(QWidget* parent) : QTextBrowser(parent), colours_(&palette_of(Theme::dark)) {
  setFrameShape(QFrame::NoFrame);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setStyleSheet(QStringLiteral("QTextBrowser { background: transparent; border: none; padding: 0; }"));
  document()->setDocumentMargin(0);
  setOpenLinks(false);
  connect(this, &QTextBrowser::anchorClicked, this, &LessonText::follow);
}

void LessonText::set_lesson(const QString& markdown, const Glossary& glossary,
                            const std::map<std::string, std::string>& symbols, const Palette& colours) {
  markdown_ = markdown;
  glossary_ = glossary;
  symbols_ = symbols;
  colours_ = &colours;
  show_text();
}

void LessonText::show_text() {
  experiments_.clear();
  terms_.clear();
  setMarkdown(with_links(markdown_));
  lay_out();
  mark_terms();
  longest_word_ = measured_longest_word();
  fit();
}

// Commands become links, and answers are folded, before the text is laid out: Markdown has neither.
QString LessonText::with_links(const QString& markdown) {
  static const QRegularExpression inline_set(QStringLiteral("`((?:… )?--set [^`]+)`"));
  const auto command = [this](const QString& line) -> QString {
    const auto experiment = experiment_of(line.toStdString());
    if (!experiment) return {};
    experiments_.push_back(*experiment);
    return linked(QStringLiteral("`%1`").arg(line.trimmed()), run_scheme,
                  static_cast<qsizetype>(experiments_.size()) - 1);
  };
  QStringList out;
  int answers = 0;
  bool quoted = false, shown = false;
  for (const QString& line : markdown.split(QLatin1Char('\n'))) {
    const std::string quote = line.startsWith(QLatin1String("> ")) ? line.mid(2).toStdString() : std::string();
    if (const std::string_view answer = answer_word_of(quote); !answer.empty()) {
      quoted = true;
      shown = unfolded_.count(answers) > 0;
      out << QString() << linked(shown ? tr("Hide the answer") : tr("Show the answer"), answer_scheme, answers++)
          << QString();
      if (shown) out << QStringLiteral("> ") + QString::fromStdString(quote.substr(answer.size())).trimmed();
      continue;
    }
    quoted = quoted && line.startsWith(QLatin1Char('>'));
    if (quoted) {
      if (shown) out << QStringLiteral("> ") + without_quote(line);
      continue;
    }
    if (line.startsWith(QLatin1String("    "))) {
      const QString link = command(line);
      // Each command has its own paragraph; the text above it in its code block ends there.
      if (link.isEmpty())
        out << line;
      else
        out << QString() << link << QString();
      continue;
    }
    QString text = line;
    qsizetype from = 0;
    for (auto found = inline_set.match(text, from); found.hasMatch(); found = inline_set.match(text, from)) {
      const QString link = command(found.captured(1));
      const QString put = link.isEmpty() ? found.captured(0) : link;
      text.replace(found.capturedStart(0), found.capturedLength(0), put);
      from = found.capturedStart(0) + put.size();
    }
    out << text;
  }
  return out.join(QLatin1Char('\n'));
}

// Headings of a page would be larger than the panel's own title; paragraphs have gaps, but not the lines of a drawing.
void LessonText::lay_out() {
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    QTextCursor cursor(block);
    QTextBlockFormat form = block.blockFormat();
    const bool heading = form.headingLevel() > 0;
    const bool joined = cursor.currentTable() != nullptr || (is_code(block) && is_code(block.next()));
    form.setTopMargin(heading && block != document()->begin() ? 10 : 0);
    form.setBottomMargin(joined ? 0 : block.textList() != nullptr ? 3 : heading ? 4 : 8);
    form.setLineHeight(125, QTextBlockFormat::ProportionalHeight);
    cursor.setBlockFormat(form);
    if (!heading) continue;
    cursor.select(QTextCursor::BlockUnderCursor);
    QTextCharFormat letters;
    letters.setProperty(QTextFormat::FontSizeAdjustment, 0);
    letters.setFontWeight(QFont::DemiBold);
    cursor.mergeCharFormat(letters);
  }
  document()->setIndentWidth(18);
  // Space between the words of one column and those of the next.
  for (QTextFrame* frame : document()->rootFrame()->childFrames()) {
    auto* table = qobject_cast<QTextTable*>(frame);
    if (table == nullptr) continue;
    QTextTableFormat form = table->format();
    form.setCellSpacing(0);
    form.setCellPadding(2);
    table->setFormat(form);
  }
}

// Each term only at its first occurrence: otherwise the text would be full of marks.
void LessonText::mark_terms() {
  std::set<std::string> seen;
  const auto symbol_term = [this](const std::string& symbol) -> std::optional<Term> {
    if (const auto own = symbols_.find(symbol); own != symbols_.end()) {
      Term term;
      term.name = term.symbol = symbol;
      term.means = own->second;
      return term;
    }
    const Term* found = glossary_.find(symbol);
    return found != nullptr && found->symbol == symbol ? std::optional(*found) : std::nullopt;
  };
  static const QRegularExpression word(QStringLiteral("[\\p{L}\\p{N}][\\p{L}\\p{N}′'-]*(?:\\.\\d+)?"));
  constexpr int longest_term = 4;  // words
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    if (block.blockFormat().headingLevel() > 0) continue;
    const QString text = block.text();
    std::vector<QRegularExpressionMatch> words;
    for (auto found = word.globalMatch(text); found.hasNext();) words.push_back(found.next());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto begin = words[i].capturedStart();
      std::size_t taken = 0;
      std::optional<Term> term;
      for (std::size_t count = std::min<std::size_t>(longest_term, words.size() - i); count > 0 && !term; --count) {
        const std::string form = text.mid(begin, words[i + count - 1].capturedEnd() - begin).toStdString();
        const bool symbol = count == 1 && words[i].capturedLength() <= 2 && !is_word(words[i].captured());
        if (symbol && !is_unit(text, begin)) term = symbol_term(form);
        if (const Term* found = glossary_.find(form); !term && found != nullptr && found->symbol != form) term = *found;
        taken = count;
      }
      if (!term) continue;
      const int length = static_cast<int>(words[i + taken - 1].capturedEnd() - begin);
      if (seen.count(term->name) == 0 && mark(block.position() + static_cast<int>(begin), length, *term))
        seen.insert(term->name);
      i += taken - 1;
    }
  }
}

// False within a link, which keeps its own meaning: the term is marked at its next occurrence.
bool LessonText::mark(int position, int length, const Term& term) {
  QTextCursor cursor(document());
  cursor.setPosition(position);
  cursor.setPosition(position + length, QTextCursor::KeepAnchor);
  if (cursor.charFormat().isAnchor()) return false;
  QTextCharFormat form;
  form.setAnchor(true);
  form.setAnchorHref(QStringLiteral("%1:%2").arg(term_scheme).arg(terms_.size()));
  form.setUnderlineStyle(QTextCharFormat::DotLine);
  form.setUnderlineColor(color(colours_->dim));
  form.setToolTip(definition_of(term));
  cursor.mergeCharFormat(form);
  terms_.push_back(term);
  return true;
}

void LessonText::follow(const QUrl& link) {
  const QString scheme = link.scheme();
  const std::size_t number = link.path().toULongLong();
  if (scheme == run_scheme && number < experiments_.size()) return emit experiment_wanted(experiments_[number]);
  if (scheme == term_scheme && number < terms_.size())
    return QWhatsThis::showText(QCursor::pos(), definition_of(terms_[number]), this);
  if (scheme == lab_scheme) return emit lab_wanted(link.path());
  if (scheme == answer_scheme) {
    const int answer = static_cast<int>(number);
    if (!unfolded_.insert(answer).second) unfolded_.erase(answer);
    // The clicked text is replaced: its handler must end first.
    QMetaObject::invokeMethod(this, &LessonText::show_text, Qt::QueuedConnection);
    return;
  }
  if (const auto evidence = evidence_of(link)) return emit view_wanted(*evidence);
  QDesktopServices::openUrl(link);
}

std::optional<Evidence> evidence_of(const QUrl& link) {
  if (link.scheme() != view_scheme) return std::nullopt;
  const QUrlQuery query(link);
  Evidence evidence;
  evidence.view = link.path().toStdString();
  const auto number = [&](const QString& key) -> std::optional<int> {
    bool ok = false;
    const int value = query.queryItemValue(key).toInt(&ok);
    return ok ? std::optional(value) : std::nullopt;
  };
  evidence.step = number(QStringLiteral("step"));
  evidence.rank = number(QStringLiteral("rank"));
  const auto words = [&](const QString& key) { return query.queryItemValue(key, QUrl::FullyDecoded).toStdString(); };
  evidence.op = words(QStringLiteral("op"));
  for (const std::string_view key : inputs_of(evidence.view))
    if (const std::string value = words(text::utf8(key)); !value.empty()) evidence.inputs[std::string(key)] = value;
  return evidence;
}

int LessonText::measured_longest_word() const {
  const std::unique_ptr<QTextDocument> narrow(document()->clone());
  QTextOption option = narrow->defaultTextOption();
  option.setWrapMode(QTextOption::WordWrap);
  narrow->setDefaultTextOption(option);
  narrow->setTextWidth(1);
  return static_cast<int>(std::ceil(narrow->idealWidth()));
}

void LessonText::resizeEvent(QResizeEvent* event) {
  QTextBrowser::resizeEvent(event);
  fit();
}

// If all words fit, none is broken: the columns of a table then get their widths from their words.
void LessonText::fit() {
  QTextOption option = document()->defaultTextOption();
  option.setWrapMode(longest_word_ <= viewport()->width() ? QTextOption::WordWrap
                                                          : QTextOption::WrapAtWordBoundaryOrAnywhere);
  document()->setDefaultTextOption(option);
  document()->setTextWidth(viewport()->width());
  setFixedHeight(static_cast<int>(document()->size().height()) + 4);
}

}  // namespace rankscope::app
