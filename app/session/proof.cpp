// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/proof.hpp"

#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>
#include <stdexcept>

namespace rankscope::app {

void Proof::start(const QString& engine, const QStringList& arguments) {
  if (state_ == State::running) return;
  output_.clear();
  child_ = std::make_unique<EngineChild>(
      EngineCommand{engine, QStringList{QStringLiteral("verify")} + arguments + QStringList{QStringLiteral("--json")}});
  connect(child_.get(), &EngineChild::line, this, [this](const QString& text, bool error) {
    if (!error) output_ += text.toUtf8() + '\n';
  });
  connect(child_.get(), &EngineChild::ended, this, &Proof::take_end);
  set(State::running, {});
  child_->start();
}

void Proof::stop() {
  if (state_ != State::running) return;
  child_->disconnect(this);
  child_.release()->deleteLater();  // which kills what still runs
  set(State::none, {});
}

void Proof::forget() {
  stop();
  set(State::none, {});
}

void Proof::set(State state, const QString& words) {
  if (state == state_ && words == words_) return;
  state_ = state;
  words_ = words;
  emit changed();
}

void Proof::take_end(bool, int, const QString& reason) {
  // verify prints its figures also with status 1 (different) and 3 (not shown).
  try {
    const Verdict verdict = verdict_of(output_);
    set(verdict.passed ? State::passed : verdict.shown ? State::failed : State::not_shown, verdict.words);
  } catch (const std::exception& error) {
    set(State::failed, reason.isEmpty() ? QString::fromUtf8(error.what()) : reason);
  }
}

Verdict verdict_of(const QByteArray& json) {
  const QJsonObject found = QJsonDocument::fromJson(json).object().value(QStringLiteral("verify")).toObject();
  if (!found.value(QStringLiteral("passed")).isBool())
    throw std::runtime_error("The output of rankscope-engine verify cannot be read");
  const auto number = [&](const char* key) { return found.value(QLatin1String(key)).toDouble(); };
  const bool passed = found.value(QStringLiteral("passed")).toBool();
  const bool replayed = found.value(QStringLiteral("replayed")).toBool();
  struct Error {
    const char* key;
    QString name;
  };
  const Error errors[] = {
      {"losses", Proof::tr("losses")}, {"gradients", Proof::tr("gradients")}, {"parameters", Proof::tr("parameters")}};
  const Error& worst = *std::max_element(std::begin(errors), std::end(errors),
                                         [&](const Error& a, const Error& b) { return number(a.key) < number(b.key); });
  Verdict verdict;
  verdict.passed = passed;
  if (const QJsonObject contents = found.value(QStringLiteral("contents")).toObject(); !contents.isEmpty()) {
    verdict.shown = true;
    verdict.words =
        passed ? Proof::tr("✓ Every rank has the defined result: %1 numbers in each of %2 steps")
                     .arg(contents.value(QStringLiteral("elements")).toInteger())
                     .arg(contents.value(QStringLiteral("steps")).toInt())
               : Proof::tr("✗ Not the defined result: %1").arg(found.value(QStringLiteral("reason")).toString());
    return verdict;
  }
  verdict.shown = found.value(QStringLiteral("outcome")).toString() != QStringLiteral("not shown");
  if (!verdict.shown) {
    verdict.words =
        Proof::tr("Not shown: no difference found, but %1").arg(found.value(QStringLiteral("reason")).toString());
    return verdict;
  }
  const int tensors = found.value(QStringLiteral("tensors")).toInt();
  if (passed && !replayed && found.value(QStringLiteral("bit_equal")).toInt() == tensors && number(worst.key) == 0) {
    verdict.words = Proof::tr("✓ Same training: all %1 tensors identical to one rank").arg(tensors);
    return verdict;
  }
  verdict.words = (passed ? replayed ? Proof::tr("✓ Same training as a sequential replay of its arrivals")
                                     : Proof::tr("✓ Same training as on one rank")
                   : found.value(QStringLiteral("stale_weights")).toBool()
                       ? Proof::tr("✗ Not the same training as on one rank, which has no stale weights")
                       : Proof::tr("✗ Not the same training")) +
                  Proof::tr(": %1 tensors, %2 bit-equal; largest relative error %3, of %4 (tolerance %5)")
                      .arg(tensors)
                      .arg(found.value(QStringLiteral("bit_equal")).toInt())
                      .arg(number(worst.key), 0, 'e', 1)
                      .arg(worst.name)
                      .arg(number("tolerance"), 0, 'e', 0);
  return verdict;
}

}  // namespace rankscope::app
