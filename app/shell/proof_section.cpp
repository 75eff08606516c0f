// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/proof_section.hpp"

#include <QLabel>
#include <QPushButton>

#include "app/views/common/parts.hpp"

namespace rankscope::app {

ProofSection::ProofSection(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      heading_(make_label({}, "heading", this)),
      words_(make_label({}, "text", this)),
      button_(new QPushButton(this)) {
  auto* column = column_in(this, 8);
  column->addWidget(heading_);
  words_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(words_);
  column->addWidget(button_);
  connect(button_, &QPushButton::clicked, this, [this] {
    if (proof_.state() == Proof::State::running)
      proof_.stop();
    else
      proof_.start(session_.engine_program(), QStringList{session_.spec().text} + session_.overrides());
  });
  connect(&proof_, &Proof::changed, this, &ProofSection::take_in);
  connect(&session, &Session::scenario_changed, &proof_, &Proof::forget);
  connect(&session, &Session::scenario_changed, this, &ProofSection::take_in);
  connect(&session, &Session::state_changed, this, &ProofSection::take_in);
  take_in();
}

void ProofSection::take_in() {
  // A recording's plan may lack its scenario's file; a plan that cannot run cannot be verified either.
  setVisible(session_.spec().kind == SourceKind::scenario);
  const Proof::State state = proof_.state();
  const bool runs = state == Proof::State::running;
  // A collective alone trains nothing.
  const bool trains = !session_.scenario() || !session_.scenario()->model.is_collective();
  heading_->setText(trains ? tr("Same training?") : tr("As defined?"));
  words_->setText(!proof_.words().isEmpty() ? proof_.words()
                  : !trains                 ? runs ? tr("Running five steps and comparing the result of every rank…")
                                                   : tr("Not checked yet. Runs 5 steps and compares the result of every rank.")
                                  : runs ? tr("Training five steps under this plan and on one rank…")
                                            : tr("Not checked yet. Trains 5 steps on one rank and compares."));
  set_style_property(*words_, "role",
                     state == Proof::State::passed   ? QStringLiteral("good")
                     : state == Proof::State::failed ? QStringLiteral("bad")
                                                     : QStringLiteral("dim"));
  button_->setText(runs ? tr("Stop") : trains ? tr("Verify against one rank") : tr("Verify against the definition"));
  button_->setEnabled(runs || session_.can_run());
}

}  // namespace rankscope::app
