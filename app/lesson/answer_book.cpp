// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer_book.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <algorithm>
#include <cmath>

namespace rankscope::app {
namespace {

constexpr QLatin1String version_key("version"), labs_key("labs"), tries_key("tries"), answer_key("answer"),
    at_key("at"), told_key("told"), by_key("by"), rank_key("rank"), op_key("op");
constexpr int version = 1;

QString in_book(const char* text) { return QCoreApplication::translate("AnswerBook", text); }

QJsonArray array_of(const std::vector<double>& values) {
  QJsonArray array;
  for (const double value : values) array.append(std::isfinite(value) ? QJsonValue(value) : QJsonValue());
  return array;
}

QJsonValue json_of(const Attempt& attempt) {
  if (const auto* number = std::get_if<double>(&attempt)) return *number;
  if (const auto* option = std::get_if<std::string>(&attempt)) return QString::fromStdString(*option);
  if (const auto* drawn = std::get_if<std::vector<double>>(&attempt)) return array_of(*drawn);
  if (const auto* op = std::get_if<PointedOp>(&attempt))
    return QJsonObject{{rank_key, op->rank}, {op_key, QString::fromStdString(to_token(op->op))}};
  QJsonArray items;
  for (const std::string& item : std::get<std::vector<std::string>>(attempt))
    items.append(QString::fromStdString(item));
  return items;
}

std::vector<double> numbers_of(const QJsonArray& array) {
  std::vector<double> values;
  for (const QJsonValue& value : array) values.push_back(value.toDouble(std::nan("")));
  return values;
}

/// nullopt for what is no answer to a question of this kind.
std::optional<Attempt> attempt_of(const QJsonValue& json, QuestionKind kind) {
  switch (kind) {
    case QuestionKind::number: return json.isDouble() ? std::optional<Attempt>(json.toDouble()) : std::nullopt;
    case QuestionKind::choice:
      return json.isString() ? std::optional<Attempt>(json.toString().toStdString()) : std::nullopt;
    case QuestionKind::order: {
      std::vector<std::string> items;
      for (const QJsonValue& item : json.toArray()) items.push_back(item.toString().toStdString());
      return items.empty() ? std::nullopt : std::optional<Attempt>(std::move(items));
    }
    case QuestionKind::draw: {
      std::vector<double> drawn = numbers_of(json.toArray());
      return drawn.empty() ? std::nullopt : std::optional<Attempt>(std::move(drawn));
    }
    case QuestionKind::point: {
      const auto op = parse_token(json.toObject().value(op_key).toString().toStdString());
      return op ? std::optional<Attempt>(PointedOp{json.toObject().value(rank_key).toInt(), *op}) : std::nullopt;
    }
  }
  return std::nullopt;
}

QJsonValue json_of(const Target& told) {
  if (const auto* number = std::get_if<double>(&told)) return *number;
  if (const auto* series = std::get_if<std::vector<double>>(&told)) return array_of(*series);
  return {};
}

std::optional<Target> told_of(const QJsonValue& json) {
  if (json.isDouble()) return Target(json.toDouble());
  if (json.isArray()) return Target(numbers_of(json.toArray()));
  return std::nullopt;
}

}  // namespace

AnswerBook::AnswerBook(QString file) : file_(std::move(file)) {
  QFile stored(file_);
  if (file_.isEmpty() || !stored.open(QIODevice::ReadOnly)) return;
  QJsonParseError error{};
  const QJsonObject root = QJsonDocument::fromJson(stored.readAll(), &error).object();
  if (error.error == QJsonParseError::NoError && root.value(version_key).toInt() == version) {
    labs_ = root.value(labs_key).toObject();
    return;
  }
  stored.close();
  const QString aside = file_ + QStringLiteral(".unreadable");
  QFile::remove(aside);
  const bool moved = QFile::rename(file_, aside);
  trouble_ =
      in_book("The saved answers in %1 cannot be read (%2); %3")
          .arg(file_, error.error == QJsonParseError::NoError ? in_book("from another version") : error.errorString(),
               moved ? in_book("the file is now %1.").arg(QFileInfo(aside).fileName())
                     : in_book("new answers are not saved."));
  if (!moved) file_.clear();
}

void AnswerBook::fill(const QString& lab, Answer& answer) const {
  const QJsonObject kept = labs_.value(lab).toObject().value(QString::fromStdString(answer.question.ask)).toObject();
  for (const QJsonValue& one : kept.value(tries_key).toArray()) {
    const QJsonObject object = one.toObject();
    if (auto attempt = attempt_of(object.value(answer_key), answer.question.kind);
        attempt && answer.tries.size() < most_tries)
      answer.tries.push_back({std::move(*attempt), object.value(at_key).toString()});
  }
  if (answer.tries.empty()) return;
  answer.told = told_of(kept.value(told_key));
  answer.told_by = kept.value(by_key).toString();
}

QString AnswerBook::keep(const QString& lab, const Answer& answer) {
  QJsonObject questions = labs_.value(lab).toObject();
  const QString key = QString::fromStdString(answer.question.ask);
  if (answer.tries.empty()) {
    questions.remove(key);
  } else {
    QJsonArray tries;
    for (const Try& one : answer.tries) tries.append(QJsonObject{{at_key, one.at}, {answer_key, json_of(one.attempt)}});
    QJsonObject kept{{tries_key, tries}};
    if (answer.told) kept.insert(told_key, json_of(*answer.told));
    if (answer.told) kept.insert(by_key, answer.told_by);
    if (questions.value(key).toObject() == kept) return {};
    questions.insert(key, kept);
  }
  labs_.insert(lab, questions);
  if (file_.isEmpty()) return {};
  QDir().mkpath(QFileInfo(file_).absolutePath());
  QSaveFile out(file_);
  const QByteArray bytes = QJsonDocument(QJsonObject{{version_key, version}, {labs_key, labs_}}).toJson();
  if (out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit()) return {};
  return in_book("Your answer could not be saved in %1: %2").arg(file_, out.errorString());
}

std::size_t AnswerBook::answered(const Lab& lab) const {
  return static_cast<std::size_t>(
      std::count_if(lab.questions.begin(), lab.questions.end(), [&](const Question& question) {
        Answer answer;
        answer.question = question;
        fill(QString::fromStdString(lab.name()), answer);
        return answer.open();
      }));
}

}  // namespace rankscope::app
