#include "engine/explain/analyse/difference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

using Table = std::map<std::string, std::pair<DifferenceSide, DifferenceSide>>;

double number(double value) { return std::isnan(value) ? 0 : value; }

void add(DifferenceSide& side, double seconds, double count) {
  side.seconds = number(side.seconds) + seconds;
  side.count = number(side.count) + count;
}

/// The ranks that have spans: other ranks of a folded plan have no data.
double ranks_of(const ComparedStep& step) {
  std::size_t ranks = std::max<std::size_t>(step.analysis->ranks.size(), 1);
  if (step.analysis->ranks.empty())
    for (const Span& span : step.spans) ranks = std::max(ranks, static_cast<std::size_t>(span.rank) + 1);
  return static_cast<double>(ranks);
}

std::string name_of_cause(const BubbleStretch& stretch) {
  std::string name(name_of(stretch.cause));
  if (stretch.purpose != Purpose::none) name += " of " + std::string(name_of(stretch.purpose));
  return name;
}

std::string name_of_op(OpId op) {
  const OpFields fields = op.fields();
  std::string name(name_of(fields.kind));
  if (fields.purpose != Purpose::none) name += " of " + std::string(name_of(fields.purpose));
  return name;
}

void append(std::vector<DifferenceRow>& rows, DifferenceKind kind, const Table& table) {
  std::vector<DifferenceRow> own;
  for (const auto& [name, sides] : table) own.push_back({kind, name, -1, sides.first, sides.second});
  std::stable_sort(own.begin(), own.end(), [](const DifferenceRow& x, const DifferenceRow& y) {
    return std::fabs(x.seconds()) > std::fabs(y.seconds());
  });
  rows.insert(rows.end(), own.begin(), own.end());
}

Table times(const ComparedStep& a, const ComparedStep& b) {
  Table table;
  for (int i = 0; i < time_class_count; ++i) {
    const auto time = static_cast<TimeClass>(i);
    const double in_a = a.analysis->average[time] * a.analysis->seconds();
    const double in_b = b.analysis->average[time] * b.analysis->seconds();
    if (in_a == 0 && in_b == 0) continue;
    auto& sides = table[std::string(name_of(time))];
    sides.first.seconds = in_a;
    sides.second.seconds = in_b;
  }
  return table;
}

Table causes(const ComparedStep& a, const ComparedStep& b) {
  Table table;
  for (const bool second : {false, true}) {
    const ComparedStep& step = second ? b : a;
    for (const BubbleStretch& stretch : step.analysis->stretches) {
      auto& sides = table[name_of_cause(stretch)];
      DifferenceSide& side = second ? sides.second : sides.first;
      side.seconds = number(side.seconds) + static_cast<double>(stretch.length_ns()) * 1e-9 / ranks_of(step);
    }
  }
  return table;
}

Table ops(const ComparedStep& a, const ComparedStep& b) {
  Table table;
  for (const bool second : {false, true}) {
    const ComparedStep& step = second ? b : a;
    for (const Span& span : step.spans) {
      auto& sides = table[name_of_op(span.op)];
      add(second ? sides.second : sides.first, static_cast<double>(span.end_ns - span.begin_ns) * 1e-9 / ranks_of(step),
          1 / ranks_of(step));
    }
  }
  return table;
}

/// One or two classes of each rank's time.
void append_ranks(std::vector<DifferenceRow>& rows, DifferenceKind kind, const ComparedStep& a, const ComparedStep& b,
                  std::initializer_list<TimeClass> classes) {
  const auto side_of = [&](const ComparedStep& step, std::size_t rank) {
    DifferenceSide side;
    if (rank >= step.analysis->ranks.size()) return side;
    side.seconds = 0;
    for (const TimeClass time : classes) side.seconds += step.analysis->ranks[rank][time] * step.analysis->seconds();
    return side;
  };
  const std::size_t ranks = std::max(a.analysis->ranks.size(), b.analysis->ranks.size());
  for (std::size_t rank = 0; rank < ranks; ++rank)
    rows.push_back({kind, {}, static_cast<std::int32_t>(rank), side_of(a, rank), side_of(b, rank)});
}

}  // namespace

double DifferenceRow::seconds() const { return number(b.seconds) - number(a.seconds); }

std::vector<DifferenceRow> difference_of(const ComparedStep& a, const ComparedStep& b) {
  std::vector<DifferenceRow> rows;
  append(rows, DifferenceKind::time, times(a, b));
  append(rows, DifferenceKind::cause, causes(a, b));
  append(rows, DifferenceKind::op, ops(a, b));
  append_ranks(rows, DifferenceKind::compute, a, b, {TimeClass::compute, TimeClass::recompute});
  append_ranks(rows, DifferenceKind::idle, a, b, {TimeClass::bubble});
  return rows;
}

}  // namespace rankscope
