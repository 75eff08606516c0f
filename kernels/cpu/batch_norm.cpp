// Batch norm, forward and backward, with the residual and the ReLU that follow it. Sums are computed over blocks of
// rows, then over the blocks in order, so that they do not depend on the number of threads.
#include <cstring>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// Two numbers per channel for each block of rows.
struct BatchPartials {
  View first, second;
  static std::int64_t bytes(const BatchNormSpec& spec) {
    return 2 * aligned(blocks_of(spec.rows) * spec.channels * bytes_of(wide(spec.type)));
  }
  BatchPartials(const BatchNormSpec& spec, std::byte* workspace)
      : first{workspace, wide(spec.type), {blocks_of(spec.rows), spec.channels}},
        second{workspace + bytes(spec) / 2, wide(spec.type), {blocks_of(spec.rows), spec.channels}} {}
};

/// Calls body(block, first element, rows) for every block.
template <class Body>
void for_each_block(const BatchNormSpec& spec, int threads, Body body) {
  parallel_each(threads, blocks_of(spec.rows), [&](std::int64_t b) {
    body(b, b * rows_per_block * spec.channels, std::min(rows_per_block, spec.rows - b * rows_per_block));
  });
}

}  // namespace

Prepared<View, View, View, View, View, View, View> batch_norm_forward(const BatchNormSpec& spec,
                                                                      const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  return {BatchPartials::bytes(spec),
          [&loops, spec, threads = options.threads](View y, View mean, View rstd, View x, View weight, View bias,
                                                    View residual, const Stream& stream) {
            const BatchPartials partials(spec, stream.workspace);
            for_each_block(spec, threads, [&](std::int64_t b, std::int64_t from, std::int64_t rows) {
              loops.channel_statistics(at(partials.first, b * spec.channels), at(partials.second, b * spec.channels),
                                       at(x, from), rows, spec.channels);
            });
            const BatchShape shape{spec.rows, spec.channels, rows_per_block, spec.epsilon};
            parallel_for(threads, spec.channels, [&](std::int64_t first, std::int64_t last, int) {
              loops.combine_statistics(mean.data, rstd.data, partials.first.data, partials.second.data, shape, first,
                                       last);
            });
            const BatchOperands operands{mean.data, rstd.data, weight.data};
            for_each_block(spec, threads, [&](std::int64_t, std::int64_t from, std::int64_t rows) {
              loops.batch_norm_forward(at(y, from), at(x, from), operands, bias.data,
                                       spec.residual ? at(residual, from) : nullptr, rows, spec.channels, spec.relu);
            });
          }};
}

Prepared<View, View, View, View, View, View, View, View, View, View> batch_norm_backward(const BatchNormSpec& spec,
                                                                                         const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const Loops& sums = loops_for(wide(spec.type), options);
  const std::int64_t of_channels = aligned(spec.channels * bytes_of(wide(spec.type)));
  return {BatchPartials::bytes(spec) + 2 * of_channels,
          [&loops, &sums, spec, of_channels, threads = options.threads](
              View dx, View dweight, View dbias, View dresidual, View dy, View y, View x, View mean, View rstd,
              View weight, const Stream& stream) {
            const BatchOperands operands{mean.data, rstd.data, weight.data};
            const BatchPartials partials(spec, stream.workspace);
            // The sums over only these rows, which dx needs even if gradients are accumulated.
            std::byte* own = stream.workspace + BatchPartials::bytes(spec);
            const View weights{own, wide(spec.type), {spec.channels}};
            const View biases{own + of_channels, wide(spec.type), {spec.channels}};
            for_each_block(spec, threads, [&](std::int64_t b, std::int64_t from, std::int64_t rows) {
              loops.batch_norm_sums(at(partials.first, b * spec.channels), at(partials.second, b * spec.channels),
                                    at(dy, from), spec.relu ? at(y, from) : nullptr, at(x, from), operands, rows,
                                    spec.channels);
            });
            const std::int64_t blocks = blocks_of(spec.rows);
            parallel_for(threads, spec.channels, [&](std::int64_t first, std::int64_t last, int) {
              const auto sum = [&](View gradient, View total, View partial, bool accumulate) {
                loops.sum_partials(total.data, partial.data, blocks, spec.channels, first, last, false);
                if (accumulate)
                  sums.add(at(gradient, first), at(gradient, first), at(total, first), last - first);
                else
                  std::memcpy(at(gradient, first), at(total, first),
                              static_cast<std::size_t>((last - first) * bytes_of(total.type)));
              };
              sum(dweight, weights, partials.first, spec.accumulate_weight);
              sum(dbias, biases, partials.second, spec.accumulate_bias);
            });
            for_each_block(spec, threads, [&](std::int64_t, std::int64_t from, std::int64_t rows) {
              loops.batch_norm_backward(at(dx, from), spec.residual ? at(dresidual, from) : nullptr, at(dy, from),
                                        spec.relu ? at(y, from) : nullptr, at(x, from), operands, weights.data,
                                        biases.data, spec.rows, rows, spec.channels);
            });
          }};
}

}  // namespace rankscope::kernels::cpu
