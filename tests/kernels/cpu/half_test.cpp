// fp16 in the vector loops, compared with the definition: every fp16, and fp32 values around every fp16.
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/cpu/cpu.hpp"
#include "kernels/cpu/loops.hpp"
#include "kernels/tensor/element.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::kernels;

namespace {

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

TEST_CASE("every fp16 is widened exactly and rounded back to itself") {
  std::vector<std::uint16_t> all(65536), again(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  for (const std::string_view instruction_set : cpu_instruction_sets()) {
    Options options;
    options.instruction_set = instruction_set;
    const cpu::Loops& loops = cpu::loops_for(DType::f16, options);
    INFO(instruction_set);
    loops.widen(wide.data(), all.data(), 65536);
    loops.narrow(again.data(), wide.data(), 65536);
    int wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      wrong += !same(wide[i], widened_from_f16(all[i]));
      wrong += !std::isnan(wide[i]) && again[i] != all[i];
      wrong += std::isnan(wide[i]) && !std::isnan(widened_from_f16(again[i]));
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("an fp32 is rounded to the nearest fp16, ties to even") {
  // The middles between neighbours, values slightly above and below, and too large values.
  std::vector<float> values{65504.0f, 65519.996f, 65520.0f, 1e30f, INFINITY, -65520.0f,
                            0x1p-25f, 0x1.1p-25f, 0x1p-26f, -0.0f, 1e-45f};
  for (std::uint32_t h = 0; h < 0x7BFF; ++h) {
    const float below = widened_from_f16(static_cast<std::uint16_t>(h));
    const float above = widened_from_f16(static_cast<std::uint16_t>(h + 1));
    const float middle = below + (above - below) / 2;  // exact: fp32 has 13 more bits
    values.insert(values.end(), {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e30f), -middle});
  }
  std::vector<std::uint16_t> stored(values.size());
  for (const std::string_view instruction_set : cpu_instruction_sets()) {
    Options options;
    options.instruction_set = instruction_set;
    cpu::loops_for(DType::f16, options).narrow(stored.data(), values.data(), static_cast<std::int64_t>(values.size()));
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      wrong += stored[i] != rounded_to_f16(values[i]);
      // The definition: no other fp16 is nearer, and of two equally near the even one is chosen.
      if (std::fabs(values[i]) >= 65520.0f) continue;
      const float got = widened_from_f16(stored[i]);
      const double off = std::fabs(static_cast<double>(got) - values[i]);
      for (const int step : {-1, 1}) {
        const auto magnitude = static_cast<int>(stored[i] & 0x7FFF) + step;
        if (magnitude < 0 || magnitude > 0x7BFF) continue;
        const auto other = static_cast<std::uint16_t>((stored[i] & 0x8000) | magnitude);
        const double other_off = std::fabs(static_cast<double>(widened_from_f16(other)) - values[i]);
        wrong += other_off < off || (other_off == off && (stored[i] & 1));
      }
    }
    INFO(instruction_set);
    CHECK(wrong == 0);
  }
}
