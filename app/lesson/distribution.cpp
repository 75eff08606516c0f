// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/distribution.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/lesson/lab/translation.hpp"

namespace rankscope::app {
namespace {

QString in_class(const char* text) { return QCoreApplication::translate("Distribution", text); }

void count_numbers(Distribution& made, const Question& question, const std::vector<Attempt>& attempts,
                   const std::optional<Target>& truth) {
  std::vector<double> numbers;
  for (const Attempt& attempt : attempts)
    if (const auto* number = std::get_if<double>(&attempt)) numbers.push_back(*number);
  made.answers = static_cast<int>(numbers.size());
  made.bins = bins_of(numbers, made.unit);
  if (!truth) return;
  made.truth = std::get<double>(*truth);
  for (const Mistake& mistake : question.mistakes) made.mistakes.push_back(std::get<double>(mistake.near));
}

void count_words(Distribution& made, const Question& question, const std::vector<Attempt>& attempts,
                 const std::optional<Target>& truth) {
  std::vector<std::pair<Attempt, int>> counts;
  if (question.kind == QuestionKind::choice)
    for (const std::string& option : question.options) counts.emplace_back(option, 0);
  for (const Attempt& attempt : attempts) {
    ++made.answers;
    const auto same = std::find_if(counts.begin(), counts.end(), [&](const auto& one) { return one.first == attempt; });
    if (same != counts.end())
      ++same->second;
    else
      counts.emplace_back(attempt, 1);
  }
  if (question.kind != QuestionKind::choice)
    std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [attempt, count] : counts) {
    CountedAnswer& one = made.counted.emplace_back();
    one.words = attempt_words(question, attempt);
    one.count = count;
    if (!truth) continue;
    const Reply reply = judge(question, attempt, *truth);
    one.right = reply.accepted();
    one.because = QString::fromStdString(reply.because);
  }
}

void spread_drawings(Distribution& made, const Question& question, const std::vector<Attempt>& attempts,
                     const std::optional<Target>& truth) {
  std::map<std::size_t, int> sizes;
  for (const Attempt& attempt : attempts)
    if (const auto* drawn = std::get_if<std::vector<double>>(&attempt)) ++sizes[drawn->size()];
  std::size_t usual = 0;
  for (const auto& [size, count] : sizes)
    if (usual == 0 || count > sizes[usual]) usual = size;
  std::vector<std::vector<double>> points(usual);
  for (const Attempt& attempt : attempts) {
    const auto* drawn = std::get_if<std::vector<double>>(&attempt);
    if (drawn == nullptr) continue;
    ++made.answers;
    made.other_sizes += drawn->size() != usual;
    for (std::size_t i = 0; i < usual && drawn->size() == usual; ++i) points[i].push_back((*drawn)[i]);
  }
  made.most = question.most;
  made.by_step = question.answer_from.starts_with("steps");
  if (truth) made.true_series = std::get<std::vector<double>>(*truth);
  for (std::vector<double>& values : points) {
    made.spread.push_back(quartiles_of(std::move(values)));
    made.most = std::max(made.most, made.spread.back().high);
  }
  for (const double value : made.true_series)
    if (std::isfinite(value)) made.most = std::max(made.most, value);
}

}  // namespace

Bins bins_of(const std::vector<double>& values, const QString& unit, int most) {
  Bins bins;
  if (unit == QLatin1String("%")) {
    bins = {0, 100, std::vector<int>(10)};
  } else if (!values.empty()) {
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    bins.low = *least;
    bins.high = *greatest > *least ? *greatest : *least + std::max(1.0, std::fabs(*least) * 0.1);
    // Square root of the number: suitable for histograms of few values.
    const int needed = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(values.size()))) + 1);
    bins.counts.resize(static_cast<std::size_t>(std::clamp(needed, 3, most)));
  }
  for (const double value : values) {
    const auto count = static_cast<double>(bins.counts.size());
    const double at = (std::clamp(value, bins.low, bins.high) - bins.low) / (bins.high - bins.low) * count;
    ++bins.counts[static_cast<std::size_t>(std::min(at, count - 1))];
  }
  return bins;
}

Quartiles quartiles_of(std::vector<double> values) {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  if (values.empty()) return {nothing, nothing, nothing};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

Distribution distribution_of(const Question& question, const std::vector<Attempt>& attempts,
                             const std::optional<Target>& truth) {
  Distribution made;
  made.kind = question.kind;
  made.unit = QString::fromStdString(question.unit);
  std::vector<Attempt> fitting;
  for (const Attempt& given : attempts)
    if (Attempt attempt = from_original(question, given); fits(question, attempt))
      fitting.push_back(std::move(attempt));
  switch (question.kind) {
    case QuestionKind::number: count_numbers(made, question, fitting, truth); break;
    case QuestionKind::draw: spread_drawings(made, question, fitting, truth); break;
    case QuestionKind::choice:
    case QuestionKind::order:
    case QuestionKind::point: count_words(made, question, fitting, truth); break;
  }
  return made;
}

QString words_of(const Distribution& distribution) {
  QStringList words{distribution.answers == 1 ? in_class("1 answer")
                                              : in_class("%1 answers").arg(distribution.answers)};
  for (const CountedAnswer& one : distribution.counted) {
    const QString mark = !one.right ? QString() : *one.right ? in_class(" (right)") : QString();
    words << in_class("%1%2: %3").arg(one.words, mark).arg(one.count);
  }
  if (distribution.other_sizes > 0)
    words << in_class("%1 with another number of points are left out").arg(distribution.other_sizes);
  return words.join(QStringLiteral("; "));
}

}  // namespace rankscope::app
