// Cross-entropy over a vocabulary that tensor ranks share, in two passes with one exchange of three numbers per row and
// rank between them. Row by row; the loss is summed in row order, and the ranks' numbers in rank order, so that the
// results of all ranks are bit-identical.
#include <cmath>
#include <limits>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// The statistics of a row over all ranks.
struct Combined {
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0, target = 0;
  double loss() const { return std::log(sum) + (greatest - target); }
};

Combined combine(const View& statistics, std::int64_t row, const VocabularySpec& spec) {
  const auto of = [&](std::int64_t rank, int which) {
    return element(statistics, (rank * spec.rows + row) * vocabulary_statistics + which);
  };
  Combined all;
  for (std::int64_t rank = 0; rank < spec.ranks; ++rank) all.greatest = std::max(all.greatest, of(rank, 0));
  for (std::int64_t rank = 0; rank < spec.ranks; ++rank) {
    all.sum += of(rank, 1) * std::exp(of(rank, 0) - all.greatest);
    all.target += of(rank, 2);
  }
  return all;
}

void check(const VocabularySpec& spec, const char* op) {
  if (spec.logits_type != spec.type && spec.logits_type != wide(spec.type))
    throw Unsupported(std::string(op) + " has no logits in " + std::string(rankscope::name_of(spec.logits_type)) +
                      " for a gradient in " + std::string(rankscope::name_of(spec.type)));
}

}  // namespace

Prepared<View, View, View, View, VocabularyPart> vocabulary_numerators(const VocabularySpec& spec,
                                                                       const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  check(spec, "vocabulary_numerators");
  return {0, [&loops, spec, threads = options.threads](View numerators, View statistics, View logits, View targets,
                                                       VocabularyPart part, const Stream&) {
            const auto* target = targets.as<const std::int32_t>();
            parallel_each(threads, spec.rows, [&](std::int64_t r) {
              const std::int64_t word = target[r] - part.first;
              const bool here = word >= 0 && word < part.count;
              // Before the numerators overwrite it.
              set_element(statistics, r * vocabulary_statistics + 2,
                          here ? element(logits, r * spec.columns + word) : 0.0);
              double greatest = 0, sum = 0;
              loops.numerators_row(at(numerators, r * spec.columns), at(logits, r * spec.columns), spec.columns,
                                   part.count, &greatest, &sum, spec.logits_type != spec.type);
              set_element(statistics, r * vocabulary_statistics, greatest);
              set_element(statistics, r * vocabulary_statistics + 1, sum);
            });
          }};
}

Prepared<View, View, View, View, double, VocabularyPart> vocabulary_loss(const VocabularySpec& spec,
                                                                         const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  check(spec, "vocabulary_loss");
  return {aligned(spec.rows * bytes_of(DType::f64)),
          [&loops, spec, threads = options.threads](View gradient, View loss, View statistics, View targets,
                                                    double scale, VocabularyPart part, const Stream& stream) {
            auto* row_loss = reinterpret_cast<double*>(stream.workspace);
            const auto* target = targets.as<const std::int32_t>();
            parallel_for(threads, spec.rows, [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t r = first; r < last; ++r) {
                const Combined all = combine(statistics, r, spec);
                row_loss[r] = all.loss();
                const double own =
                    element(statistics, (part.index * spec.rows + r) * vocabulary_statistics) - all.greatest;
                loops.scale(at(gradient, r * spec.columns), scale * std::exp(own) / all.sum, spec.columns);
                const std::int64_t word = target[r] - part.first;
                if (word < 0 || word >= part.count) continue;
                // p - 1 from the loss itself, without cancellation if p is near 1.
                const double slope = scale * std::expm1(-row_loss[r]);
                const auto narrower = static_cast<float>(slope);
                loops.narrow(at(gradient, r * spec.columns + word),
                             wide(spec.type) == DType::f64 ? static_cast<const void*>(&slope) : &narrower, 1);
              }
            });
            double sum = spec.accumulate_loss ? *loss.as<double>() : 0.0;
            for (std::int64_t r = 0; r < spec.rows; ++r) sum += row_loss[r];
            *loss.as<double>() = sum;
          }};
}

}  // namespace rankscope::kernels::cpu
