// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/answer.hpp"

#include <QCoreApplication>
#include <QStringList>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/models/span_details.hpp"
#include "app/views/common/text.hpp"
#include "engine/explain/analyse/report_value.hpp"

namespace rankscope::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Answer", text); }

QString plain_number(double value) { return QString::number(value, 'g', 9); }

/// "2.7 points", "3.4 MiB".
QString off_text(const Question& question, double off) {
  if (question.is_percentage()) return tr("%1 points").arg(QString::number(off, 'f', 1));
  const QString number = off >= 99.5 || off == std::round(off) ? text::number(off) : QString::number(off, 'g', 2);
  return question.unit.empty() ? number : number + QChar(0xA0) + QString::fromStdString(question.unit);
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

/// "forward → backward → update".
QString in_order(const std::vector<std::string>& items) { return text::list(items).join(QStringLiteral(" → ")); }

/// "backward, micro-batch 3, rank 2".
QString op_words(const PointedOp& pointed) {
  QString words = QString::fromStdString(phrase_of(pointed.op));
  if (const int micro_batch = pointed.op.fields().micro_batch; micro_batch >= 0)
    words += tr(", micro-batch %1").arg(micro_batch);
  return words + tr(", rank %1").arg(pointed.rank);
}

/// "the uplink of node 3", "the link from rank 1 to rank 2".
QString link_words(const PointedLink& link) {
  if (link.level.empty()) return QString::fromStdString(words_of(LinkPattern{{}, {}, link.from, link.to}));
  return QString::fromStdString(words_of(LinkPattern{link.level, link.unit, {}, {}}));
}

/// The answer as typed: "27 %".
QString guess_text(const Question& question, double value) {
  return question.unit.empty() ? plain_number(value)
                               : plain_number(value) + QChar(0xA0) + QString::fromStdString(question.unit);
}

}  // namespace

std::optional<Attempt> Pointed::attempt_for(const Question& question) const {
  const auto as_attempt = [](const auto& one) { return one ? std::optional<Attempt>(*one) : std::nullopt; };
  switch (question.at) {
    case PointAt::op: return as_attempt(op);
    case PointAt::rank: return as_attempt(rank);
    case PointAt::link: return as_attempt(link);
  }
  return std::nullopt;
}

std::optional<double> path_value(const Paths& paths, const QString& path) {
  return value_at(to_json(paths), path.toStdString());
}

std::size_t series_size(const std::optional<Scenario>& scenario, const QString& path) {
  if (!scenario) return 0;
  return static_cast<std::size_t>(path.startsWith(QLatin1String("steps")) ? scenario->train.steps
                                                                          : scenario->plan.ranks());
}

std::optional<Target> Answer::truth() const {
  if (const auto known = known_answer(question)) return known;
  return result;
}

std::optional<Reply> Answer::reply() const {
  const auto right = truth();
  if (tries.empty() || !right) return std::nullopt;
  return judge(question, tries.back().attempt, *right);
}

bool Answer::accepts_try() const {
  if (tries.empty()) return true;
  const auto verdict = reply();
  return verdict && !verdict->accepted() && tries.size() < most_tries;
}

std::optional<double> Answer::guess() const {
  if (tries.empty()) return std::nullopt;
  const Attempt& last = tries.back().attempt;
  if (const auto* number = std::get_if<double>(&last)) return *number;
  if (const auto* drawn = std::get_if<std::vector<double>>(&last)) return mean_of(*drawn);
  return std::nullopt;
}

std::optional<double> Answer::result_number() const {
  if (!result) return std::nullopt;
  if (const auto* number = std::get_if<double>(&*result)) return *number;
  if (const auto* series = std::get_if<std::vector<double>>(&*result)) return mean_of(*series);
  return std::nullopt;
}

QString value_text(const Question& question, double value) {
  // Rounding must not turn the right answer into a wrong one.
  constexpr double share_of_tolerance = 0.1;
  const QString number = question.is_percentage() ? QString::number(value, 'f', 1)
                                                  : text::number_within(value, question.tolerance * share_of_tolerance);
  return question.unit.empty() ? number : number + QChar(0xA0) + QString::fromStdString(question.unit);
}

QString attempt_words(const Question& question, const Attempt& attempt) {
  if (const auto* number = std::get_if<double>(&attempt)) return guess_text(question, *number);
  if (const auto* option = std::get_if<std::string>(&attempt)) return QString::fromStdString(*option);
  if (const auto* items = std::get_if<std::vector<std::string>>(&attempt)) return in_order(*items);
  if (const auto* op = std::get_if<PointedOp>(&attempt)) return op_words(*op);
  if (const auto* rank = std::get_if<PointedRank>(&attempt)) return tr("rank %1").arg(rank->rank);
  if (const auto* link = std::get_if<PointedLink>(&attempt)) return link_words(*link);
  return tr("your drawing");
}

QString target_words(const Question& question, const Target& target) {
  if (const auto* number = std::get_if<double>(&target)) return value_text(question, *number);
  if (const auto* option = std::get_if<std::string>(&target)) return QString::fromStdString(*option);
  if (const auto* items = std::get_if<std::vector<std::string>>(&target)) return in_order(*items);
  if (const auto* pattern = std::get_if<OpPattern>(&target)) return QString::fromStdString(words_of(*pattern));
  if (const auto* ranks = std::get_if<RankPattern>(&target)) return QString::fromStdString(words_of(*ranks));
  if (const auto* link = std::get_if<LinkPattern>(&target)) return QString::fromStdString(words_of(*link));
  return {};
}

QString verdict_words(const Answer& answer) {
  const auto reply = answer.reply();
  if (!reply) return {};
  const Question& question = answer.question;
  const bool number = question.kind == QuestionKind::number;
  if (answer.accepts_try()) {
    const QString wrong = !number ? tr("Not right.") : reply->off > 0 ? tr("Too high.") : tr("Too low.");
    return wrong + QLatin1Char(' ') + tr("One more try.");
  }
  if (!number && !question.drawn()) return reply->accepted() ? tr("Right") : tr("Not right");
  const QString allowed = plain_number(question.tolerance);
  const QString far = off_text(question, std::fabs(reply->off));
  if (question.drawn())
    return (reply->accepted() ? tr("Right (%1 off on average; %2 allowed)") : tr("%1 off on average (%2 allowed)"))
        .arg(far, allowed);
  if (reply->off == 0) return tr("Right (exact)");
  if (reply->grade == Grade::right) return tr("Right (%1 off; %2 allowed)").arg(far, allowed);
  const QString way = reply->off > 0 ? tr("%1 too high").arg(far) : tr("%1 too low").arg(far);
  return (reply->grade == Grade::close ? tr("Close (%1; %2 allowed)") : tr("%1 (%2 allowed)")).arg(way, allowed);
}

}  // namespace rankscope::app
