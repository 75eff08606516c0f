// Softmax and cross-entropy, row by row; the loss is summed in row order.
#include <cassert>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View, double> cross_entropy(const CrossEntropySpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const bool in_wide = spec.logits_type != spec.type;
  if (in_wide && spec.logits_type != wide(spec.type))
    throw Unsupported("cross_entropy has no logits in " + std::string(rankscope::name_of(spec.logits_type)) +
                      " for a gradient in " + std::string(rankscope::name_of(spec.type)));
  return {aligned(spec.rows * bytes_of(DType::f64)),
          [&loops, spec, in_wide, threads = options.threads](View gradient, View loss, View logits, View targets,
                                                             double factor, const Stream& stream) {
            auto* row_loss = reinterpret_cast<double*>(stream.workspace);
            const auto* target = targets.as<const std::int32_t>();
            parallel_each(threads, spec.rows, [&](std::int64_t r) {
              assert(target[r] >= 0 && target[r] < spec.vocabulary);
              row_loss[r] = loops.cross_entropy_row(at(gradient, r * spec.vocabulary), at(logits, r * spec.vocabulary),
                                                    spec.vocabulary, target[r], factor, in_wide);
            });
            double sum = spec.accumulate_loss ? *loss.as<double>() : 0.0;
            for (std::int64_t r = 0; r < spec.rows; ++r) sum += row_loss[r];
            *loss.as<double>() = sum;
          }};
}

}  // namespace rankscope::kernels::cpu
