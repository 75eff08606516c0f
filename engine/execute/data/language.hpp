// A synthetic language whose entropy per token is known exactly, which is the lowest possible mean loss.
//
// A sparse Markov chain of order two with a small memory: the next token depends on the token and on the *class* of the
// one before (two classes). Each of these 2·V contexts has up to four successors with its own probabilities. A
// predictor that uses only the last token stays above that floor; to reach it a model must also use the token before,
// which attention makes possible; a tiny model learns it in a few hundred steps.
//
// Probabilities are multiples of 2⁻³²: the entropy is computed from exactly the probabilities that are sampled. One
// successor of every context follows a cycle through all tokens, so every token is reached from every other and the
// stationary distribution is unique. Samples begin in it.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace rankscope {

class Language {
 public:
  /// Drawn from `seed`; vocabulary ≥ 2.
  Language(int vocabulary, std::uint64_t seed);

  static constexpr int classes = 2;
  static constexpr int most_successors = 4;

  int vocabulary() const { return vocabulary_; }
  int class_of(std::int32_t token) const { return class_of_[token]; }

  struct Successor {
    std::int32_t token;
    double probability;  ///< a multiple of 2⁻³²
  };
  /// The possible successors of `token` after a token of class `class_before`; probabilities sum to 1 exactly.
  std::vector<Successor> successors(std::int32_t token, int class_before) const;

  /// The long-run share of positions with this token after a token of this class.
  double stationary(std::int32_t token, int class_before) const { return stationary_[token * classes + class_before]; }

  /// Entropy of the next token given all before, in nats: the chain's entropy rate.
  double entropy_rate() const { return rate_; }
  /// Entropy of the next token given only the last one.
  double entropy_given_one() const { return given_one_; }
  /// The best mean loss on samples of `context` tokens: the first prediction sees one token, the others at least two.
  double floor(int context) const { return (given_one_ + (context - 1) * rate_) / context; }

  /// Writes tokens 0 … length-1 of sample number `sample` of the unlimited corpus: a function of (seed, sample) only,
  /// and a shorter length gives the same beginning.
  void draw(std::int64_t sample, int length, std::int32_t* tokens) const;

 private:
  struct Context {
    std::array<std::int32_t, most_successors> token;
    std::array<std::uint32_t, most_successors> last_word;  ///< greatest random word that selects this successor
  };

  void draw_contexts();
  void find_stationary();
  void find_entropies();

  int vocabulary_, successor_count_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> class_of_;
  std::vector<Context> contexts_;          ///< [token · classes + class before]
  std::vector<double> stationary_;         ///< indexed in the same way
  std::vector<double> stationary_before_;  ///< its running sums, to draw the first token from
  double rate_ = 0, given_one_ = 0;
};

}  // namespace rankscope
