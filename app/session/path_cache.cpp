// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/path_cache.hpp"

#include <stdexcept>

#include "engine/op/contains.hpp"

namespace rankscope::app {
namespace {

constexpr std::size_t most_requests_kept = 64;

QStringList arguments_for(const PathRequest& request) {
  QStringList arguments;
  for (const std::string& argument : arguments_of(request)) arguments << QString::fromStdString(argument);
  return arguments;
}

}  // namespace

PathCache::PathCache(std::function<QString()> engine, QObject* parent) : QObject(parent), engine_(std::move(engine)) {}

PathCache::~PathCache() {
  if (child_) child_->disconnect(this);
}

std::shared_ptr<const Paths> PathCache::get(const PathRequest& request) {
  const QStringList arguments = arguments_for(request);
  if (const auto found = answers_.find(arguments); found != answers_.end()) return found->second.paths;
  const bool waits = asked_ == arguments || contains(queue_, arguments);
  if (!waits) queue_.push_back(arguments);
  start_next();
  return nullptr;
}

QString PathCache::failure(const PathRequest& request) const {
  const auto found = answers_.find(arguments_for(request));
  return found == answers_.end() ? QString() : found->second.failure;
}

void PathCache::start_next() {
  if (child_ || queue_.empty()) return;
  asked_ = queue_.front();
  queue_.pop_front();
  output_.clear();
  child_ = std::make_unique<EngineChild>(
      EngineCommand{engine_(), QStringList{QStringLiteral("paths")} + asked_ + QStringList{QStringLiteral("--json")}});
  connect(child_.get(), &EngineChild::line, this, [this](const QString& text, bool error) {
    if (!error) output_ += text.toUtf8() + '\n';
  });
  // Queued: a process that cannot be started emits `ended` inside start().
  connect(
      child_.get(), &EngineChild::ended, this, [this](bool ok, int, const QString& reason) { take_end(ok, reason); },
      Qt::QueuedConnection);
  child_->start();
}

void PathCache::take_end(bool ok, const QString& reason) {
  const QString error_text = child_->last_errors().isEmpty() ? reason : child_->last_errors().last();
  child_.release()->deleteLater();
  Answer answer;
  try {
    if (ok)
      answer.paths = std::make_shared<const Paths>(paths_from_json(output_.toStdString()));
    else
      answer.failure = error_text;
  } catch (const std::invalid_argument& error) {
    answer.failure = QString::fromUtf8(error.what());
  }
  keep(std::exchange(asked_, {}), std::move(answer));
  start_next();
  emit changed();
}

void PathCache::keep(const QStringList& arguments, Answer answer) {
  answers_[arguments] = std::move(answer);
  kept_order_.push_back(arguments);
  if (kept_order_.size() <= most_requests_kept) return;
  answers_.erase(kept_order_.front());
  kept_order_.pop_front();
}

}  // namespace rankscope::app
