// The ops of tensor ranks: their parts together must equal the whole.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

const std::vector<std::int32_t> tokens{0, 6, 6, 1, 2, 3, 3, 3, 3, 3, 5, 0, 1, 6, 2};

std::vector<std::int32_t> some_targets(std::int64_t rows, std::int64_t vocabulary) {
  std::vector<std::int32_t> targets;
  for (std::int64_t r = 0; r < rows; ++r) targets.push_back(static_cast<std::int32_t>(r * 31 % vocabulary));
  return targets;
}

/// A rank's words of a vocabulary that is divided into shares of `columns`.
VocabularyPart part_of(std::int64_t rank, std::int64_t columns, std::int64_t vocabulary) {
  const std::int64_t first = rank * columns;
  return {rank, first, std::clamp<std::int64_t>(vocabulary - first, 0, columns)};
}

/// A rank's columns of all logits [rows, vocabulary]; padding is greater than any logit.
Values share_of(const Values& logits, std::int64_t rows, std::int64_t columns, std::int64_t vocabulary,
                const VocabularyPart& part) {
  Values share;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j)
      share.push_back(j < part.count ? logits[static_cast<std::size_t>(r * vocabulary + part.first + j)] : 1000);
  return share;
}

}  // namespace

void check_residual_sum(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 300})
    for (const double probability : {0.0, 0.3}) {
      const std::int64_t rows = 7, first_row = 11;
      const Tensor x = random_tensor({rows, width}, type, 1), bias = random_tensor({width}, type, 2);
      const Tensor residual = random_tensor({rows, width}, type, 3), y({rows, width}, type);
      const DropoutSpec spec{.type = type, .rows = rows, .width = width, .probability = probability, .site = 3};
      const DropoutDraw draw{.seed = 5, .step = 2, .first_row = first_row};
      const Values xs = x.values(), bs = bias.values(), rs = residual.values();
      Values expected;
      const std::int64_t aligned_width = (width + 3) / 4 * 4;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < width; ++j) {
          const std::uint32_t word =
              random_word(draw.seed + draw.step * 0x9E3779B97F4A7C15u, random_stream(RandomPurpose::dropout, 3),
                          static_cast<std::uint64_t>((first_row + r) * aligned_width + j));
          const double kept = word < drop_threshold(probability) ? 0 : 1 / (1 - probability);
          expected.push_back(rs[r * width + j] + kept * (xs[r * width + j] + bs[j]));
        }
      set.launch(set.prepare(&KernelSet::residual_sum, spec), y, x, bias, residual, draw);
      CHECK(difference(y.values(), expected) < set.bound(type, type));
      CHECK(y.guarded());
      set.launch(set.prepare(&KernelSet::residual_sum, spec), x, x, bias, residual, draw);
      CHECK(x.values() == y.values());
    }
}

void check_token_embedding_forward(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 32}) {
    const Tensor wte = random_tensor({9, width}, type, 1);  // seven words in shares of three
    const Values te = wte.values();
    Values sum(15 * static_cast<std::size_t>(width)), expected;
    for (std::int64_t rank = 0; rank < 3; ++rank) {
      const Tensor y({15, width}, type);
      const Tensor share({3, width}, type, Values(te.begin() + 3 * rank * width, te.begin() + 3 * (rank + 1) * width));
      const TokenEmbeddingSpec spec{.type = type, .rows = 15, .vocabulary = 3, .width = width};
      set.launch(set.prepare(&KernelSet::token_embedding_forward, spec), y, integers(tokens), share, 3 * rank);
      const Values part = y.values();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
      CHECK(y.guarded());
    }
    for (const std::int32_t token : tokens)
      for (std::int64_t j = 0; j < width; ++j) expected.push_back(te[token * width + j]);
    CHECK(sum == expected);
  }
}

void check_token_embedding_backward(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 32})
    for (const bool accumulate : {false, true})
      for (const std::int64_t first : {0, 3, 6}) {
        const TokenEmbeddingSpec spec{
            .type = type, .rows = 15, .vocabulary = 3, .width = width, .accumulate = accumulate};
        const Tensor dwte = random_tensor({3, width}, wide(type), 1), dy = random_tensor({15, width}, type, 3);
        Values expected = dwte.values();
        if (!accumulate) expected.assign(expected.size(), 0);
        const Values dys = dy.values();
        for (std::size_t r = 0; r < tokens.size(); ++r)
          if (tokens[r] >= first && tokens[r] < first + 3)
            for (std::int64_t j = 0; j < width; ++j) expected[(tokens[r] - first) * width + j] += dys[r * width + j];
        set.launch(set.prepare(&KernelSet::token_embedding_backward, spec), dwte, dy, integers(tokens), first);
        CHECK(difference(dwte.values(), expected) < set.bound(type, wide(type)));
        CHECK(dwte.guarded());
      }
}

void check_position_embedding_forward(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 32}) {
    const PositionEmbeddingSpec spec{.type = type, .rows = 8, .context = 5, .width = width};
    const Tensor x = random_tensor({8, width}, type, 1), wpe = random_tensor({5, width}, type, 2);
    const Tensor y({8, width}, type);
    set.launch(set.prepare(&KernelSet::position_embedding_forward, spec), y, x, wpe, std::int64_t{13});
    const Values xs = x.values(), pe = wpe.values();
    Values expected;
    for (std::int64_t r = 0; r < 8; ++r)
      for (std::int64_t j = 0; j < width; ++j) expected.push_back(xs[r * width + j] + pe[(13 + r) % 5 * width + j]);
    CHECK(difference(y.values(), expected) < set.bound(type, type));
    CHECK(y.guarded());
  }
}

void check_position_embedding_backward(const SetUnderTest& set, DType type) {
  for (const std::int64_t width : {1, 15, 32})
    for (const bool accumulate : {false, true}) {
      const PositionEmbeddingSpec spec{.type = type, .rows = 8, .context = 5, .width = width, .accumulate = accumulate};
      const Tensor dwpe = random_tensor({5, width}, wide(type), 2), dy = random_tensor({8, width}, type, 3);
      Values expected = dwpe.values();
      if (!accumulate) expected.assign(expected.size(), 0);
      const Values dys = dy.values();
      for (std::int64_t r = 0; r < 8; ++r)
        for (std::int64_t j = 0; j < width; ++j) expected[(13 + r) % 5 * width + j] += dys[r * width + j];
      set.launch(set.prepare(&KernelSet::position_embedding_backward, spec), dwpe, dy, std::int64_t{13});
      CHECK(difference(dwpe.values(), expected) < set.bound(type, wide(type)));
      CHECK(dwpe.guarded());
    }
}

namespace {

void check_numerators(const SetUnderTest& set, DType type, DType logits_type) {
  const std::int64_t rows = 7;
  for (const std::int64_t vocabulary : {1, 15, 1201})
    for (const std::int64_t ranks : {1, 2, 4}) {
      const std::int64_t columns = (vocabulary + ranks - 1) / ranks;
      const Values all = random_values(rows * vocabulary, logits_type, 1, 20);
      const auto targets = some_targets(rows, vocabulary);
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const VocabularyPart part = part_of(rank, columns, vocabulary);
        const Tensor logits({rows, columns}, logits_type, share_of(all, rows, columns, vocabulary, part));
        const bool in_place = logits_type == type;
        const Tensor other = in_place ? Tensor{} : Tensor({rows, columns}, type);
        const Tensor statistics({rows, 3}, wide(type));
        const Values xs = logits.values();
        Values expected, sums, greatest, target;
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto row = xs.begin() + r * columns;
          const double top =
              part.count > 0 ? *std::max_element(row, row + part.count) : -std::numeric_limits<double>::infinity();
          double sum = 0;
          for (std::int64_t j = 0; j < columns; ++j) {
            expected.push_back(j < part.count ? std::exp(row[j] - top) : 0);
            sum += expected.back();
          }
          const std::int64_t word = targets[static_cast<std::size_t>(r)] - part.first;
          greatest.push_back(top);
          sums.push_back(sum);
          target.push_back(word >= 0 && word < part.count ? row[word] : 0);
        }
        const VocabularySpec spec{
            .type = type, .logits_type = logits_type, .rows = rows, .columns = columns, .ranks = ranks};
        set.launch(set.prepare(&KernelSet::vocabulary_numerators, spec), in_place ? logits.view() : other.view(),
                   statistics, logits, integers(targets), part);
        const Tensor& written = in_place ? logits : other;
        if (part.count > 0)
          CHECK(difference(written.values(), expected) < set.bound(type, type));
        else
          CHECK(written.values() == expected);
        CHECK(written.guarded());
        CHECK(statistics.guarded());
        const Values computed = statistics.values();
        for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
          CHECK(computed[3 * r] == greatest[r]);
          CHECK(difference({1 + computed[3 * r + 1]}, {1 + sums[r]}) < set.bound(type, wide(type)));
          CHECK(computed[3 * r + 2] == target[r]);
        }
      }
    }
}

}  // namespace

void check_vocabulary_numerators(const SetUnderTest& set, DType type) {
  check_numerators(set, type, wide(type));
  if (type != wide(type)) check_numerators(set, type, type);
}

void check_vocabulary_loss(const SetUnderTest& set, DType type) {
  const std::int64_t rows = 7;
  const double scale = 0.01;
  for (const std::int64_t vocabulary : {1, 15, 1201})
    for (const std::int64_t ranks : {1, 2, 4})
      for (const bool accumulate : {false, true}) {
        const std::int64_t columns = (vocabulary + ranks - 1) / ranks;
        const Values all = random_values(rows * vocabulary, wide(type), 1, 20);
        const auto targets = some_targets(rows, vocabulary);
        const VocabularySpec spec{.type = type,
                                  .logits_type = wide(type),
                                  .rows = rows,
                                  .columns = columns,
                                  .ranks = ranks,
                                  .accumulate_loss = accumulate};
        std::vector<Tensor> shares;
        Values statistics;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          const VocabularyPart part = part_of(rank, columns, vocabulary);
          const Tensor logits({rows, columns}, wide(type), share_of(all, rows, columns, vocabulary, part));
          const Tensor own({rows, 3}, wide(type));
          shares.emplace_back(Shape{rows, columns}, type);
          set.launch(set.prepare(&KernelSet::vocabulary_numerators, spec), shares.back(), own, logits,
                     integers(targets), part);
          const Values computed = own.values();
          statistics.insert(statistics.end(), computed.begin(), computed.end());
        }
        const Tensor everybodys({ranks, rows, 3}, wide(type), statistics);
        double expected_loss = accumulate ? 1.5 : 0;
        Values softmax;
        for (std::int64_t r = 0; r < rows; ++r) {
          double sum = 0;
          for (std::int64_t j = 0; j < vocabulary; ++j) sum += std::exp(all[r * vocabulary + j]);
          for (std::int64_t j = 0; j < vocabulary; ++j) softmax.push_back(std::exp(all[r * vocabulary + j]) / sum);
          expected_loss += std::log(sum) - all[r * vocabulary + targets[static_cast<std::size_t>(r)]];
        }
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          const VocabularyPart part = part_of(rank, columns, vocabulary);
          const Tensor& gradient = shares[static_cast<std::size_t>(rank)];
          const Tensor loss({1}, DType::f64, {1.5});
          set.launch(set.prepare(&KernelSet::vocabulary_loss, spec), gradient, loss, everybodys, integers(targets),
                     scale, part);
          Values expected;
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t j = 0; j < columns; ++j) {
              const bool target = part.first + j == targets[static_cast<std::size_t>(r)];
              expected.push_back(j < part.count ? scale * (softmax[r * vocabulary + part.first + j] - target) : 0);
            }
          // Rounded twice: as a numerator, and as the gradient. Relative to the greatest possible gradient.
          Values actual = gradient.values();
          actual.push_back(scale);
          expected.push_back(scale);
          CHECK(difference(actual, expected) < 2 * set.bound(type, type));
          CHECK(difference({1 + loss.values()[0]}, {1 + expected_loss}) < set.bound(type, wide(type)));
          CHECK(gradient.guarded());
        }
      }
}

}  // namespace rankscope::kernels::test
