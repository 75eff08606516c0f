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

#include "engine/lesson/lab/attempt_text.hpp"
#include "engine/lesson/lab/translation.hpp"

namespace rankscope::app {
namespace {

constexpr QLatin1String version_key("version"), labs_key("labs"), tries_key("tries"), answer_key("answer"),
    at_key("at"), result_key("told"), by_key("by");
constexpr int version = 1;

QString in_book(const char* text) { return QCoreApplication::translate("AnswerBook", text); }

QJsonArray array_of(const std::vector<double>& values) {
  QJsonArray array;
  for (const double value : values) array.append(std::isfinite(value) ? QJsonValue(value) : QJsonValue());
  return array;
}

/// As in JSON text; undefined if it is not valid.
QJsonValue json_of(const Attempt& attempt) {
  const QByteArray text = QByteArray::fromStdString('[' + attempt_text(attempt) + ']');
  return QJsonDocument::fromJson(text).array().at(0);
}

std::vector<double> numbers_of(const QJsonArray& array) {
  std::vector<double> values;
  for (const QJsonValue& value : array) values.push_back(value.toDouble(std::nan("")));
  return values;
}

/// nullopt if it is not an answer to a question of this kind.
std::optional<Attempt> attempt_of(const QJsonValue& json, const Question& question) {
  QByteArray text = QJsonDocument(QJsonArray{json}).toJson(QJsonDocument::Compact);
  text = text.mid(1, text.size() - 2);
  auto attempt = parse_attempt(text.toStdString(), question.kind);
  return attempt && fits(question, *attempt) ? attempt : std::nullopt;
}

QJsonValue json_of(const Target& result) {
  if (const auto* number = std::get_if<double>(&result)) return *number;
  if (const auto* series = std::get_if<std::vector<double>>(&result)) return array_of(*series);
  return {};
}

std::optional<Target> result_of(const QJsonValue& json) {
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
  const QJsonObject kept =
      labs_.value(lab).toObject().value(QString::fromStdString(original_ask(answer.question))).toObject();
  for (const QJsonValue& one : kept.value(tries_key).toArray()) {
    const QJsonObject object = one.toObject();
    if (auto attempt = attempt_of(object.value(answer_key), answer.question);
        attempt && answer.tries.size() < most_tries)
      answer.tries.push_back({from_original(answer.question, std::move(*attempt)), object.value(at_key).toString()});
  }
  if (answer.tries.empty()) return;
  answer.result = result_of(kept.value(result_key));
  answer.result_source = kept.value(by_key).toString();
}

QString AnswerBook::keep(const QString& lab, const Answer& answer) {
  QJsonObject questions = labs_.value(lab).toObject();
  const QString key = QString::fromStdString(original_ask(answer.question));
  if (answer.tries.empty()) {
    questions.remove(key);
  } else {
    QJsonArray tries;
    for (const Try& one : answer.tries)
      tries.append(QJsonObject{{at_key, one.at}, {answer_key, json_of(to_original(answer.question, one.attempt))}});
    QJsonObject kept{{tries_key, tries}};
    if (answer.result) kept.insert(result_key, json_of(*answer.result));
    if (answer.result) kept.insert(by_key, answer.result_source);
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
