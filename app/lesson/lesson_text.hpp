// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson's Markdown at its full height: the panel scrolls, not a box within it. Its commands are links that
// execute them, its answers are folded, and its terms show their definitions.
#pragma once
#include <QTextBrowser>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/models/palette.hpp"
#include "engine/lesson/lab/experiment.hpp"
#include "engine/lesson/lab/glossary.hpp"
#include "engine/lesson/lab/question.hpp"

namespace rankscope::app {

class LessonText : public QTextBrowser {
  Q_OBJECT
 public:
  explicit LessonText(QWidget* parent);
  /// `symbols`: those that the lesson defines itself.
  void set_lesson(const QString& markdown, const Glossary& glossary = {},
                  const std::map<std::string, std::string>& symbols = {},
                  const Palette& colours = palette_of(Theme::dark));
  /// Pixels of the longest word: with less width it would be broken.
  int longest_word() const { return longest_word_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }
  /// Terms of the glossary that are marked in the text.
  const std::vector<Term>& marked_terms() const { return terms_; }

 signals:
  void experiment_wanted(const Experiment& experiment);
  void view_wanted(const Evidence& evidence);
  void lab_wanted(const QString& name);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void show_text();
  QString with_links(const QString& markdown);
  void lay_out();
  void mark_terms();
  bool mark(int position, int length, const Term& term);
  void follow(const QUrl& link);
  void fit();
  int measured_longest_word() const;

  QString markdown_;
  Glossary glossary_;
  std::map<std::string, std::string> symbols_;
  const Palette* colours_;
  std::set<int> unfolded_;  ///< answers that are shown
  std::vector<Experiment> experiments_;
  std::vector<Term> terms_;
  int longest_word_ = 0;
};

/// Parses a link such as "view:memory?rank=0&step=3&op=F:c0:m0"; nullopt for any other link.
std::optional<Evidence> evidence_of(const QUrl& link);

}  // namespace rankscope::app
