#include "engine/lesson/lab/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankscope {
namespace {

constexpr double close_share = 0.25;  ///< of the value itself: a larger difference is only close, not right
constexpr double least_points = 1;    ///< of shares: a smaller difference is never only close

/// The factor by which an answer in another unit than the question's is wrong; empty if it is not.
std::string unit_mistake(const Question& question, double guess, double truth) {
  if (question.unit.empty() || guess == 0 || truth == 0) return {};
  const double allowed = question.tolerance;
  if (question.is_percentage() && std::fabs(guess * 100 - truth) <= allowed && std::fabs(guess) <= 1)
    return "That is a fraction of 1; the question asks for percent.";
  for (const double factor : {1e3, 1024.0, 1e6, 1048576.0, 1e9}) {
    if (std::fabs(guess / factor - truth) <= std::min(allowed, 0.01 * std::fabs(truth)))
      return fmt::format("That is {:.0f} times too large; the question asks for {}.", factor, question.unit);
    if (std::fabs(guess * factor - truth) <= std::min(allowed, 0.01 * std::fabs(truth)))
      return fmt::format("That is {:.0f} times too small; the question asks for {}.", factor, question.unit);
  }
  return {};
}

Reply judge_number(const Question& question, double guess, double truth) {
  Reply reply;
  reply.off = guess - truth;
  const double off = std::fabs(reply.off);
  // Slightly more than the tolerance, since 27.3 - 0.3 is not 27.0 in binary.
  if (off <= question.tolerance * (1 + 1e-9)) {
    const double little = question.is_percentage() ? least_points : 0;
    reply.grade = off <= std::max(close_share * std::fabs(truth), little) ? Grade::right : Grade::close;
    return reply;
  }
  double nearest = std::numeric_limits<double>::infinity();
  for (const Mistake& mistake : question.mistakes) {
    const auto* near = std::get_if<double>(&mistake.near);
    if (near == nullptr) continue;
    const double distance = std::fabs(guess - *near);
    if (distance > mistake_range(question, *near, truth) || distance >= nearest) continue;
    nearest = distance;
    reply.because = mistake.because;
  }
  if (reply.because.empty()) reply.because = unit_mistake(question, guess, truth);
  return reply;
}

/// `matches`: whether the answer equals that one: the truth, or a mistake's.
template <class Near, class Matches>
Reply judge_match(const Question& question, const Near& truth, const Matches& matches) {
  Reply reply;
  if (matches(truth)) {
    reply.grade = Grade::right;
    return reply;
  }
  for (const Mistake& mistake : question.mistakes)
    if (const auto* near = std::get_if<Near>(&mistake.near); near != nullptr && matches(*near) && reply.because.empty())
      reply.because = mistake.because;
  return reply;
}
/// An option, or items in an order.
template <class Value>
Reply judge_same(const Question& question, const Attempt& attempt, const Target& truth) {
  return judge_match(question, std::get<Value>(truth),
                     [&](const Value& value) { return value == std::get<Value>(attempt); });
}
template <class Pattern>
Reply judge_point(const Question& question, const auto& pointed, const Target& truth) {
  return judge_match(question, std::get<Pattern>(truth), [&](const Pattern& one) { return one.matches(pointed); });
}

Reply judge_drawing(const Question& question, const std::vector<double>& drawn, const std::vector<double>& truth) {
  Reply reply = judge_match(question, truth, [&](const std::vector<double>& series) {
    return mean_distance(drawn, series) <= question.tolerance;
  });
  reply.off = mean_distance(drawn, truth);
  return reply;
}

}  // namespace

double mean_distance(const std::vector<double>& drawn, const std::vector<double>& series) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(drawn.size(), series.size()); ++i) {
    if (!std::isfinite(series[i]) || !std::isfinite(drawn[i])) continue;
    sum += std::fabs(drawn[i] - series[i]);
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

double mistake_range(const Question& question, double mistake, double truth) {
  return std::min(question.tolerance, std::max(0.0, std::fabs(mistake - truth) - question.tolerance));
}

Reply judge(const Question& question, const Attempt& attempt, const Target& truth) {
  if (attempt.index() != truth.index()) return {};
  switch (question.kind) {
    case QuestionKind::number: return judge_number(question, std::get<double>(attempt), std::get<double>(truth));
    case QuestionKind::choice: return judge_same<std::string>(question, attempt, truth);
    case QuestionKind::order: return judge_same<std::vector<std::string>>(question, attempt, truth);
    case QuestionKind::draw:
      return judge_drawing(question, std::get<std::vector<double>>(attempt), std::get<std::vector<double>>(truth));
    case QuestionKind::point:
      if (const auto* rank = std::get_if<PointedRank>(&attempt))
        return judge_point<RankPattern>(question, *rank, truth);
      if (const auto* link = std::get_if<PointedLink>(&attempt))
        return judge_point<LinkPattern>(question, *link, truth);
      return judge_point<OpPattern>(question, std::get<PointedOp>(attempt), truth);
  }
  return {};
}

}  // namespace rankscope
