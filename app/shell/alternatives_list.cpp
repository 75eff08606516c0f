// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/alternatives_list.hpp"

#include <QLabel>
#include <QPushButton>
#include <cmath>

#include "app/views/common/parts.hpp"
#include "app/views/common/text.hpp"

namespace rankscope::app {
namespace {

QString change_of(double value, double before) {
  const double share = value / before - 1;
  return std::fabs(share) < 0.0005 ? AlternativesList::tr("as now") : text::signed_percent(share);
}

QLabel* add_words(QBoxLayout& column, const QString& words, QWidget* parent) {
  auto* label = make_label(words, "dim", parent);
  column.addWidget(label);
  return label;
}

}  // namespace

QString words_of(const Alternative& other, const Alternative& now) {
  QString words =
      AlternativesList::tr("step %1, memory %2")
          .arg(change_of(other.step_seconds, now.step_seconds), change_of(other.peak_bytes, now.peak_bytes));
  if (std::isfinite(other.bubble) && (other.bubble > 0 || now.bubble > 0))
    words += AlternativesList::tr(",\nbubble %1").arg(text::percent(other.bubble));
  return words;
}

AlternativesList::AlternativesList(Adviser& adviser, QWidget* parent)
    : QWidget(parent), adviser_(adviser), column_(column_in(this, 8)) {
  auto* heading = make_label(tr("One change away"), "heading", this);
  heading->setToolTip(
      tr("Plans one change away: same training, same number of ranks; predicted from the cluster's figures"));
  column_->addWidget(heading);
  connect(&adviser, &Adviser::changed, this, &AlternativesList::rebuild);
  rebuild();
}

void AlternativesList::set_veil(const QString& until) {
  if (until == veil_) return;
  veil_ = until;
  rebuild();
}

void AlternativesList::set_editable(bool editable) {
  if (editable == editable_) return;
  editable_ = editable;
  rebuild();
}

void AlternativesList::rebuild() {
  delete rows_;
  rows_ = new QWidget(this);
  auto* rows = column_in(rows_, 2);
  column_->addWidget(rows_);
  const auto all = adviser_.latest();
  if (!veil_.isEmpty()) {
    add_words(*rows, veil_, rows_);
    auto* show = make_link(tr("Show anyway"), rows_);
    show->setToolTip(tr("Show all results without an answer"));
    connect(show, &QPushButton::clicked, this, &AlternativesList::show_anyway_wanted, Qt::QueuedConnection);
    rows->addWidget(show, 0, Qt::AlignLeft);
    return;
  }
  if (all == nullptr) {
    add_words(*rows,
              !adviser_.settled() ? tr("Predicting nearby plans…")
              : adviser_.asked()
                  ? tr("Not available: this plan cannot run, or has too many ops to predict its variants.")
                  : text::unknown(),
              rows_);
    return;
  }
  const std::vector<Alternative> best = worth_trying(*all);
  if (best.empty())
    add_words(*rows, tr("No single change is predicted to shorten the step by 1 % or reduce the memory by 10 %."),
              rows_);
  for (const Alternative& other : best) {
    auto* change = make_link(QString::fromStdString(other.change), rows_);
    change->setEnabled(editable_);
    change->setToolTip(tr("Apply this change; Ctrl+Z undoes it"));
    connect(change, &QPushButton::clicked, this, [this, plan = other.plan] { emit wanted(plan); });
    rows->addWidget(change, 0, Qt::AlignLeft);
    QLabel* words = add_words(*rows, words_of(other, all->now), rows_);
    words->setContentsMargins(0, 0, 0, 6);
    change->setAccessibleDescription(words->text());
  }
}

}  // namespace rankscope::app
