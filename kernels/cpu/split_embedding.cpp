// Token and position embedding as separate ops, for tensor ranks: the token matrix is split over them by rows, and
// positions are added after the sum of the ranks' parts. Backward adds up rows in row order, for any number of threads:
// each thread has a range of columns.
#include <cstring>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

void clear(const View& matrix, std::int64_t rows, std::int64_t width, std::int64_t first, std::int64_t last) {
  for (std::int64_t r = 0; r < rows; ++r)
    std::memset(at(matrix, r * width + first), 0, static_cast<std::size_t>((last - first) * bytes_of(matrix.type)));
}

}  // namespace

Prepared<View, View, View, std::int64_t> token_embedding_forward(const TokenEmbeddingSpec& spec,
                                                                 const Options& options) {
  return {0, [spec, threads = options.threads](View y, View tokens, View wte, std::int64_t first_token, const Stream&) {
            const auto* token = tokens.as<const std::int32_t>();
            const auto bytes = static_cast<std::size_t>(spec.width * bytes_of(spec.type));
            parallel_each(threads, spec.rows, [&](std::int64_t r) {
              const std::int64_t row = token[r] - first_token;
              if (row >= 0 && row < spec.vocabulary)
                std::memcpy(at(y, r * spec.width), at(wte, row * spec.width), bytes);
              else
                std::memset(at(y, r * spec.width), 0, bytes);
            });
          }};
}

Prepared<View, View, View, std::int64_t> token_embedding_backward(const TokenEmbeddingSpec& spec,
                                                                  const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dwte, View dy, View tokens, std::int64_t first_token,
                                                       const Stream&) {
            const auto* token = tokens.as<const std::int32_t>();
            parallel_for(threads, spec.width, [&](std::int64_t first, std::int64_t last, int) {
              if (!spec.accumulate) clear(dwte, spec.vocabulary, spec.width, first, last);
              for (std::int64_t r = 0; r < spec.rows; ++r) {
                const std::int64_t row = token[r] - first_token;
                if (row >= 0 && row < spec.vocabulary)
                  loops.accumulate(at(dwte, row * spec.width + first), at(dy, r * spec.width + first), last - first);
              }
            });
          }};
}

Prepared<View, View, View, std::int64_t> position_embedding_forward(const PositionEmbeddingSpec& spec,
                                                                    const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0,
          [&loops, spec, threads = options.threads](View y, View x, View wpe, std::int64_t first_row, const Stream&) {
            parallel_each(threads, spec.rows, [&](std::int64_t r) {
              loops.embed_row(at(y, r * spec.width), at(x, r * spec.width),
                              at(wpe, (first_row + r) % spec.context * spec.width), spec.width);
            });
          }};
}

Prepared<View, View, std::int64_t> position_embedding_backward(const PositionEmbeddingSpec& spec,
                                                               const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {0, [&loops, spec, threads = options.threads](View dwpe, View dy, std::int64_t first_row, const Stream&) {
            parallel_for(threads, spec.width, [&](std::int64_t first, std::int64_t last, int) {
              if (!spec.accumulate) clear(dwpe, spec.context, spec.width, first, last);
              for (std::int64_t r = 0; r < spec.rows; ++r)
                loops.accumulate(at(dwpe, (first_row + r) % spec.context * spec.width + first),
                                 at(dy, r * spec.width + first), last - first);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
