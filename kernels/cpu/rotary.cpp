// Rotary positions and grouped queries: from packed heads to attention's operand, and its gradient back.
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cpu/loops.hpp"
#include "kernels/cpu/ops.hpp"
#include "kernels/cpu/parallel.hpp"

namespace rankscope::kernels::cpu {
namespace {

/// Cosines, then sines, of each position and pair [context, depth/2], computed in fp64.
class Angles {
 public:
  explicit Angles(const RotarySpec& spec)
      : type_(wide(spec.type)), half_(spec.depth / 2), all_(spec.context * half_), bytes_(2 * all_ * bytes_of(type_)) {
    for (std::int64_t position = 0; position < spec.context; ++position)
      for (std::int64_t i = 0; i < half_; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(spec.depth);
        const double angle = static_cast<double>(position) * std::pow(spec.theta, exponent);
        set(position * half_ + i, std::cos(angle));
        set(all_ + position * half_ + i, std::sin(angle));
      }
  }
  const void* cosine(std::int64_t position) const { return bytes_.data() + position * half_ * bytes_of(type_); }
  const void* sine(std::int64_t position) const { return bytes_.data() + (all_ + position * half_) * bytes_of(type_); }

 private:
  void set(std::int64_t index, double value) {
    std::byte* to = bytes_.data() + index * bytes_of(type_);
    const auto rounded = static_cast<float>(value);
    if (type_ == DType::f64)
      std::memcpy(to, &value, sizeof value);
    else
      std::memcpy(to, &rounded, sizeof rounded);
  }

  DType type_;
  std::int64_t half_, all_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Prepared<View, View> rotary_forward(const RotarySpec& spec, const Options& options) {
  require_groups(spec);
  const Loops& loops = loops_for(spec.type, options);
  const auto angles = std::make_shared<const Angles>(spec);
  return {0, [&loops, spec, angles, threads = options.threads](View y, View x, const Stream&) {
            const std::int64_t depth = spec.depth, half = depth / 2, group = spec.heads / spec.key_value_heads;
            const std::size_t head_bytes = static_cast<std::size_t>(depth * bytes_of(spec.type));
            parallel_for(threads, spec.rows(), [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t r = first; r < last; ++r) {
                const void *cosine = angles->cosine(r % spec.context), *sine = angles->sine(r % spec.context);
                std::int64_t from = r * spec.packed_width(), to = r * spec.spread_width();
                for (std::int64_t h = 0; h < spec.heads; ++h, from += depth, to += depth)
                  loops.rotate_head(at(y, to), at(x, from), 1, 0, cosine, sine, half, false);
                for (const bool key : {true, false})
                  for (std::int64_t h = 0; h < spec.heads; ++h, to += depth) {
                    if (h % group != 0) {
                      std::memcpy(at(y, to), at(y, to - depth), head_bytes);
                      continue;
                    }
                    loops.rotate_head(at(y, to), at(x, from), 1, 0, key ? cosine : nullptr, sine, half, false);
                    from += depth;
                  }
              }
            });
          }};
}

Prepared<View, View> rotary_backward(const RotarySpec& spec, const Options& options) {
  require_groups(spec);
  const Loops& loops = loops_for(spec.type, options);
  const auto angles = std::make_shared<const Angles>(spec);
  return {0, [&loops, spec, angles, threads = options.threads](View dx, View dy, const Stream&) {
            const std::int64_t depth = spec.depth, half = depth / 2, group = spec.heads / spec.key_value_heads;
            parallel_for(threads, spec.rows(), [&](std::int64_t first, std::int64_t last, int) {
              for (std::int64_t r = first; r < last; ++r) {
                const void *cosine = angles->cosine(r % spec.context), *sine = angles->sine(r % spec.context);
                std::int64_t to = r * spec.packed_width(), from = r * spec.spread_width();
                for (std::int64_t h = 0; h < spec.heads; ++h, from += depth, to += depth)
                  loops.rotate_head(at(dx, to), at(dy, from), 1, 0, cosine, sine, half, true);
                for (const bool key : {true, false})
                  for (std::int64_t h = 0; h < spec.key_value_heads; ++h, from += group * depth, to += depth)
                    loops.rotate_head(at(dx, to), at(dy, from), group, depth, key ? cosine : nullptr, sine, half, true);
              }
            });
          }};
}

}  // namespace rankscope::kernels::cpu
