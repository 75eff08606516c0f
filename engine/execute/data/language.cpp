#include "engine/execute/data/language.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>

#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

constexpr double words = 0x1p32;

/// The random properties of the language itself; samples have their own streams.
enum Part : std::uint32_t { part_classes, part_cycle, part_successors, part_weights };

/// Draws values one after the other from one stream.
class Draws {
 public:
  Draws(std::uint64_t seed, Part part) : seed_(seed), stream_(random_stream(RandomPurpose::language, part)) {}
  double uniform() { return rankscope::uniform(seed_, stream_, next_++); }
  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(uniform() * n); }

 private:
  std::uint64_t seed_, stream_, next_ = 0;
};

double minus_p_log_p(double p) { return p > 0 ? -p * std::log(p) : 0; }

/// Integer shares of 2³² in proportion to the weights, each at least one, by rounding the running sums; returns for
/// each the greatest word that selects it.
template <std::size_t N>
std::array<std::uint32_t, N> last_words(const std::array<double, N>& weights, int count) {
  const double sum = std::accumulate(weights.begin(), weights.begin() + count, 0.0);
  std::array<std::uint32_t, N> last{};
  double running = 0;
  std::uint64_t begin = 0;
  for (int i = 0; i < count; ++i) {
    running += weights[i];
    std::uint64_t end = static_cast<std::uint64_t>(running / sum * words);
    end = std::clamp<std::uint64_t>(end, begin + 1, (std::uint64_t{1} << 32) - (count - 1 - i));
    if (i == count - 1) end = std::uint64_t{1} << 32;
    last[i] = static_cast<std::uint32_t>(end - 1);
    begin = end;
  }
  return last;
}

}  // namespace

Language::Language(int vocabulary, std::uint64_t seed)
    : vocabulary_(vocabulary), successor_count_(std::min(vocabulary, most_successors)), seed_(seed) {
  assert(vocabulary >= 2);
  draw_contexts();
  find_stationary();
  find_entropies();
}

void Language::draw_contexts() {
  Draws class_draws(seed_, part_classes), cycle_draws(seed_, part_cycle);
  class_of_.resize(vocabulary_);
  for (auto& c : class_of_) c = static_cast<std::uint8_t>(class_draws.below(classes));

  std::vector<std::int32_t> cycle(vocabulary_), after(vocabulary_);
  std::iota(cycle.begin(), cycle.end(), 0);
  for (int i = vocabulary_ - 1; i > 0; --i) std::swap(cycle[i], cycle[cycle_draws.below(i + 1)]);
  for (int i = 0; i < vocabulary_; ++i) after[cycle[i]] = cycle[(i + 1) % vocabulary_];

  Draws token_draws(seed_, part_successors), weight_draws(seed_, part_weights);
  contexts_.resize(static_cast<std::size_t>(vocabulary_) * classes);
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    Context& context = contexts_[i];
    context.token[0] = after[i / classes];
    for (int k = 1; k < successor_count_; ++k) {
      const auto chosen = context.token.begin() + k;
      do {
        *chosen = token_draws.below(vocabulary_);
      } while (std::find(context.token.begin(), chosen, *chosen) != chosen);
    }
    // Exponential weights make the probabilities uniform among all that sum to one; the constant keeps the rarest
    // successor frequent enough to be learned.
    std::array<double, most_successors> weights{};
    for (int k = 0; k < successor_count_; ++k) weights[k] = 0.05 - std::log(1.0 - weight_draws.uniform());
    context.last_word = last_words(weights, successor_count_);
  }
}

std::vector<Language::Successor> Language::successors(std::int32_t token, int class_before) const {
  const Context& context = contexts_[token * classes + class_before];
  std::vector<Successor> all;
  std::int64_t begin = 0;
  for (int k = 0; k < successor_count_; ++k) {
    const std::int64_t end = std::int64_t{context.last_word[k]} + 1;
    all.push_back({context.token[k], static_cast<double>(end - begin) / words});
    begin = end;
  }
  return all;
}

void Language::find_stationary() {
  // Power iteration of (I + P)/2, which has the same fixed point as P and converges even if P alone oscillates.
  const std::size_t n = contexts_.size();
  std::vector<double> now(n, 1.0 / static_cast<double>(n)), next(n);
  constexpr int most_iterations = 20000;
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    std::copy(now.begin(), now.end(), next.begin());
    for (std::size_t i = 0; i < n; ++i) {
      const Context& context = contexts_[i];
      const int own_class = class_of_[i / classes];
      std::int64_t begin = 0;
      for (int k = 0; k < successor_count_; ++k) {
        const std::int64_t end = std::int64_t{context.last_word[k]} + 1;
        next[context.token[k] * classes + own_class] += now[i] * static_cast<double>(end - begin) / words;
        begin = end;
      }
    }
    double change = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      next[i] /= 2;
      change += std::abs(next[i] - now[i]);
      sum += next[i];
    }
    for (double& p : next) p /= sum;
    now.swap(next);
    if (change < 1e-14) break;
  }
  stationary_ = now;
  stationary_before_.resize(n);
  std::partial_sum(now.begin(), now.end(), stationary_before_.begin());
}

void Language::find_entropies() {
  for (std::int32_t token = 0; token < vocabulary_; ++token) {
    std::map<std::int32_t, double> joint;  // probability of this token and that successor
    double share = 0;
    for (int c = 0; c < classes; ++c) {
      const double p = stationary(token, c);
      share += p;
      for (const Successor& s : successors(token, c)) {
        rate_ += p * minus_p_log_p(s.probability);
        joint[s.token] += p * s.probability;
      }
    }
    if (share > 0)
      for (const auto& [successor, p] : joint) given_one_ += share * minus_p_log_p(p / share);
  }
}

void Language::draw(std::int64_t sample, int length, std::int32_t* tokens) const {
  // One stream for all samples; samples are 2²⁴ positions apart, which is more than any context.
  const std::uint64_t stream = random_stream(RandomPurpose::samples);
  const std::uint64_t first_word = static_cast<std::uint64_t>(sample) << 24;

  // Words 0 to 3 draw the first token and the class before it; each later word draws one token.
  const double u = uniform(seed_, stream, first_word / 2) * stationary_before_.back();
  const auto found = std::upper_bound(stationary_before_.begin(), stationary_before_.end() - 1, u);
  const auto beginning = static_cast<std::int32_t>(found - stationary_before_.begin());
  std::int32_t token = beginning / classes;
  int class_before = beginning % classes;
  if (length > 0) tokens[0] = token;
  RandomBlock block{};
  for (int i = 1; i < length; ++i) {
    const std::uint64_t word = first_word + 3 + static_cast<std::uint64_t>(i);
    if (word % 4 == 0) block = random_block(seed_, stream, word / 4);
    const Context& context = contexts_[token * classes + class_before];
    int k = 0;
    while (block.word[word % 4] > context.last_word[k]) ++k;
    class_before = class_of_[token];
    token = context.token[k];
    tokens[i] = token;
  }
}

}  // namespace rankscope
