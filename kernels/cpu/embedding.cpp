// Token and position embedding. Backward adds up the rows of each token in row order, for any number of threads: each
// thread has a range of columns.
#include <cassert>
#include <cstring>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {

Prepared<View, View, View, View> embedding_forward(const EmbeddingSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View y, View tokens, View wte, View wpe, const Stream&) {
            const auto* token = tokens.as<const std::int32_t>();
            parallel_each(threads, spec.samples * spec.context, [&](std::int64_t r) {
              assert(token[r] >= 0 && token[r] < spec.vocabulary);
              loops.embed_row(at(y, r * spec.width), at(wte, token[r] * spec.width),
                              at(wpe, r % spec.context * spec.width), spec.width);
            });
          }};
}

Prepared<View, View, View, View> embedding_backward(const EmbeddingSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dwte, View dwpe, View dy, View tokens, const Stream&) {
            const auto* token = tokens.as<const std::int32_t>();
            parallel_for(threads, spec.width, [&](std::int64_t first, std::int64_t last, int) {
              const std::int64_t columns = last - first;
              const auto clear = [&](View gradient, std::int64_t rows) {
                for (std::int64_t r = 0; r < rows; ++r)
                  std::memset(at(gradient, r * spec.width + first), 0,
                              static_cast<std::size_t>(columns * bytes_of(gradient.type)));
              };
              if (!spec.accumulate_tokens) clear(dwte, spec.vocabulary);
              if (!spec.accumulate_positions) clear(dwpe, spec.context);
              for (std::int64_t r = 0; r < spec.samples * spec.context; ++r) {
                assert(token[r] >= 0 && token[r] < spec.vocabulary);
                const void* row = at(dy, r * spec.width + first);
                loops.accumulate(at(dwte, token[r] * spec.width + first), row, columns);
                loops.accumulate(at(dwpe, r % spec.context * spec.width + first), row, columns);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
