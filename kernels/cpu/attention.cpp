// Causal attention, forward and backward: the heads of the samples are distributed over the threads.
#include <fmt/format.h>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// The offsets of a head's rows.
struct HeadPlaces {
  std::int64_t query, key, value;  ///< elements of qkv
  std::int64_t out;                ///< element of attended
  std::int64_t statistic;          ///< element of log_sum_exp
};

HeadPlaces places_of(const AttentionSpec& spec, std::int64_t index) {
  const std::int64_t sample = index / spec.heads, head = index % spec.heads, depth = spec.width / spec.heads;
  const std::int64_t row = sample * spec.context;
  const std::int64_t query = row * 3 * spec.width + head * depth;
  return {query, query + spec.width, query + 2 * spec.width, row * spec.width + head * depth, index * spec.context};
}

HeadShape shape_of(const AttentionSpec& spec) {
  if (spec.heads < 1 || spec.width % spec.heads != 0)
    throw Unsupported(
        fmt::format("attention needs a width that its heads divide; {} is not {} equal parts", spec.width, spec.heads));
  return {spec.context, spec.width / spec.heads, 3 * spec.width, spec.width};
}

}  // namespace

Prepared<View, View, View> attention_forward(const AttentionSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const HeadShape shape = shape_of(spec);
  const std::int64_t scratch = aligned(loops.attention_scratch(shape, false));
  return {scratch * options.threads, [&loops, spec, shape, scratch, threads = options.threads](
                                         View attended, View log_sum_exp, View qkv, const Stream& stream) {
            parallel_for(threads, spec.samples * spec.heads, [&](std::int64_t first, std::int64_t last, int thread) {
              for (std::int64_t i = first; i < last; ++i) {
                const HeadPlaces head = places_of(spec, i);
                loops.attention_forward(at(attended, head.out), at(log_sum_exp, head.statistic), at(qkv, head.query),
                                        at(qkv, head.key), at(qkv, head.value), shape,
                                        stream.workspace + thread * scratch);
              }
            });
          }};
}

Prepared<View, View, View, View, View> attention_backward(const AttentionSpec& spec, const Options& options) {
  const Loops& loops = loops_for(spec.type, options);
  const HeadShape shape = shape_of(spec);
  const std::int64_t scratch = aligned(loops.attention_scratch(shape, true));
  return {scratch * options.threads,
          [&loops, spec, shape, scratch, threads = options.threads](
              View dqkv, View dattended, View qkv, View log_sum_exp, View attended, const Stream& stream) {
            parallel_for(threads, spec.samples * spec.heads, [&](std::int64_t first, std::int64_t last, int thread) {
              for (std::int64_t i = first; i < last; ++i) {
                const HeadPlaces head = places_of(spec, i);
                loops.attention_backward(at(dqkv, head.query), at(dqkv, head.key), at(dqkv, head.value),
                                         at(dattended, head.out), at(qkv, head.query), at(qkv, head.key),
                                         at(qkv, head.value), at(log_sum_exp, head.statistic), at(attended, head.out),
                                         shape, stream.workspace + thread * scratch);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
