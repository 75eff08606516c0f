// A simulated student answers every question of every lesson: right, by the lesson's own arithmetic, and wrong, by each
// listed mistake.
#include <algorithm>

#include "engine/lesson/lab/course.hpp"
#include "engine/lesson/lab/judge.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// The attempt of a student who makes this mistake; nullopt for a pattern, because it fits many answers.
std::optional<Attempt> attempt_of(const Target& target) {
  if (const auto* number = std::get_if<double>(&target)) return *number;
  if (const auto* option = std::get_if<std::string>(&target)) return *option;
  if (const auto* items = std::get_if<std::vector<std::string>>(&target)) return *items;
  if (const auto* drawn = std::get_if<std::vector<double>>(&target)) return *drawn;
  return std::nullopt;
}

/// Ops that fit a pattern, with many values for the fields that it leaves open.
std::vector<Attempt> ops_of(const OpPattern& pattern) {
  constexpr int most = 16;
  const auto values = [](const std::optional<int>& fixed) {
    std::vector<int> all;
    for (int value = 0; value < most; ++value)
      if (!fixed || *fixed == value) all.push_back(value);
    return all;
  };
  std::vector<OpKind> kinds{OpKind::forward, OpKind::backward, OpKind::optimizer, OpKind::send, OpKind::receive};
  if (pattern.kind) kinds = {*pattern.kind};
  std::vector<Attempt> ops;
  for (const OpKind kind : kinds)
    for (const int rank : values(pattern.rank))
      for (const int chunk : values(pattern.chunk))
        for (const int micro_batch : values(pattern.micro_batch)) {
          OpFields fields;
          fields.kind = kind;
          fields.purpose = pattern.purpose.value_or(Purpose::none);
          fields.chunk = chunk;
          fields.micro_batch = micro_batch;
          ops.push_back(PointedOp{rank, OpId::of(fields)});
        }
  return ops;
}

/// All answers that mean this target.
std::vector<Attempt> attempts_of(const Target& target) {
  if (const auto* pattern = std::get_if<OpPattern>(&target)) return ops_of(*pattern);
  std::vector<Attempt> made;
  if (const auto* ranks = std::get_if<RankPattern>(&target)) {
    for (const int rank : ranks->ranks) made.emplace_back(PointedRank{rank});
    return made;
  }
  if (const auto* link = std::get_if<LinkPattern>(&target)) {
    for (int other = 0; other < 8; ++other) {
      const bool pair = link->level.empty();
      made.emplace_back(PointedLink{link->level, pair ? 0 : link->unit.value_or(other),
                                    pair ? link->from.value_or(other) : 0, pair ? link->to.value_or(other) : 0});
    }
    return made;
  }
  return {*attempt_of(target)};
}

}  // namespace

TEST_CASE("A student who is right is accepted, and every listed mistake gets its own reason") {
  int right = 0, wrong = 0;
  for (const Lab& lab : all_labs())
    for (const Question& question : lab.questions) {
      INFO(lab.file << ": " << question.ask);
      const auto truth = known_answer(question);
      if (!truth) continue;  // only a run gives the right value
      for (const Attempt& answer : attempts_of(*truth)) {
        const Reply reply = judge(question, answer, *truth);
        CHECK(reply.grade == Grade::right);
        CHECK(reply.because.empty());
      }
      ++right;
      for (const Mistake& mistake : question.mistakes) {
        // Of the ops that fit several patterns, some belong to another mistake, or are right.
        const std::vector<Attempt> made = attempts_of(mistake.near);
        INFO(mistake.because);
        CHECK(std::any_of(made.begin(), made.end(), [&](const Attempt& attempt) {
          const Reply reply = judge(question, attempt, *truth);
          return reply.grade == Grade::wrong && reply.because == mistake.because;
        }));
        ++wrong;
      }
    }
  CHECK(right > 60);
  CHECK(wrong > 100);
}

TEST_CASE("An order is never shown in the right order, and a choice has its right option") {
  for (const Lab& lab : all_labs())
    for (const Question& question : lab.questions) {
      INFO(lab.file << ": " << question.ask);
      if (question.kind == QuestionKind::order) CHECK(shuffled(question) != question.options);
      if (question.kind != QuestionKind::choice) continue;
      CHECK(std::count(question.options.begin(), question.options.end(), std::get<std::string>(*question.answer)) == 1);
    }
}
