// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/finder.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "app/models/span_details.hpp"
#include "app/models/translated.hpp"

namespace rankscope {
namespace {

constexpr std::size_t most_searched = 300'000;

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool contains(std::string_view text, std::string_view word) {
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same_letter) != text.end();
}

std::vector<std::string_view> words_of(std::string_view query) {
  std::vector<std::string_view> words;
  constexpr std::string_view blank = " \t\n";
  for (std::size_t at = query.find_first_not_of(blank); at != std::string_view::npos;) {
    const std::size_t end = std::min(query.find_first_of(blank, at), query.size());
    words.push_back(query.substr(at, end - at));
    at = query.find_first_not_of(blank, end);
  }
  return words;
}

/// Collects matches, at most `most`.
class Collector {
 public:
  Collector(std::string_view query, std::size_t most) : words_(words_of(query)), most_(most) {}

  bool has_query() const { return !words_.empty(); }

  /// False when it is full.
  bool take(Found found) {
    const std::string text = found.title + ' ' + found.detail;
    if (!std::all_of(words_.begin(), words_.end(), [&](std::string_view word) { return contains(text, word); }))
      return true;
    if (found_.size() == most_) {
      complete_ = false;
      return false;
    }
    found_.push_back(std::move(found));
    return true;
  }

  /// Returns the collected matches, and is empty again.
  std::vector<Found> release() { return std::exchange(found_, {}); }
  bool complete() const { return complete_; }
  void set_incomplete() { complete_ = false; }

 private:
  std::vector<std::string_view> words_;
  std::size_t most_;
  std::vector<Found> found_;
  bool complete_ = true;
};

void append(std::vector<Found>& to, std::vector<Found> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool find_ops(const RankProgram& program, const std::string& rank, Collector& into) {
  return std::all_of(program.ops.begin(), program.ops.end(), [&](const Op& op) {
    return into.take({Found::Kind::op, program.rank, op.id, to_token(op.id) + " · " + rank, phrase_of(op.id), 0});
  });
}

bool find_tensors(const RankProgram& program, const std::string& rank, Collector& into) {
  const std::vector<Lifetime> lifetimes = lifetimes_of(program);
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const Lifetime& life = lifetimes[base_of(program.buffers, static_cast<BufferIndex>(b))];
    Found found{Found::Kind::tensor,
                program.rank,
                life.used() ? program.ops[life.first].id : OpId{},
                buffer.name + " · " + rank,
                std::string(name_of(ledger_class(buffer))),
                buffer.bytes()};
    if (!into.take(std::move(found))) return false;
  }
  return true;
}

}  // namespace

bool has_words(std::string_view text, std::string_view query) {
  const auto words = words_of(query);
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) { return contains(text, word); });
}

Findings find_in(const ProgramOf& program_of, const RunPlan& plan, std::string_view query, std::size_t most) {
  Collector ranks(query, most), ops(query, most), tensors(query, most);
  if (!ranks.has_query()) return {};
  std::size_t searched = 0;
  bool more_ops = true, more_tensors = true;
  for (std::int32_t r = 0; r < plan.grid.size(); ++r) {
    const std::string name = translated("rank %1", r);
    ranks.take({Found::Kind::rank, r, {}, name, place_of(plan, r), 0});
    const auto program = searched < most_searched ? program_of(r) : nullptr;
    if (program == nullptr) {
      if (searched >= most_searched) ops.set_incomplete();
      continue;
    }
    if (more_ops) more_ops = find_ops(*program, name, ops);
    if (more_tensors) more_tensors = find_tensors(*program, name, tensors);
    searched += program->ops.size() + program->buffers.size();
  }
  Findings findings{ranks.release(), ranks.complete() && ops.complete() && tensors.complete()};
  append(findings.found, ops.release());
  append(findings.found, tensors.release());
  return findings;
}

}  // namespace rankscope
