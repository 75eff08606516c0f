#include "engine/execute/data/images.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

#include "kernels/tensor/random.hpp"

namespace rankscope {
namespace {

constexpr int colours = 3, directions = 8;
constexpr std::array<double, 4> wave_lengths{4, 6, 9, 13.5};  // pixels
constexpr double middle = 127.5, amplitude = 70, noise = 50;

/// The random properties of a sample; each has its own stream.
enum ImagePart : std::uint32_t { part_class, part_label, part_phases, part_noise };

std::uint64_t stream_of(ImagePart part) { return random_stream(RandomPurpose::images, part); }

/// A value that rotates by the same angle from one pixel to the next.
class Wave {
 public:
  Wave(double phase, double turn)
      : cosine_(std::cos(phase)), sine_(std::sin(phase)), cosine_turn_(std::cos(turn)), sine_turn_(std::sin(turn)) {}
  double next() {
    const double value = sine_;
    sine_ = sine_ * cosine_turn_ + cosine_ * sine_turn_;
    cosine_ = cosine_ * cosine_turn_ - value * sine_turn_;
    return value;
  }

 private:
  double cosine_, sine_, cosine_turn_, sine_turn_;
};

}  // namespace

SyntheticImages::SyntheticImages(int image, int classes, std::uint64_t seed)
    : image_(image), classes_(classes), seed_(seed) {
  assert(image > 0 && classes >= 2 && classes <= most_classes);
}

int SyntheticImages::class_of(std::int64_t sample) const {
  return static_cast<int>(uniform(seed_, stream_of(part_class), static_cast<std::uint64_t>(sample)) * classes_);
}

void SyntheticImages::draw(std::int64_t sample, std::int32_t* bytes) const {
  int digits = class_of(sample);
  std::array<double, colours> angle;
  for (double& a : angle) {
    a = std::numbers::pi * (digits % directions) / directions;
    digits /= directions;
  }
  const double turn = 2 * std::numbers::pi / wave_lengths[static_cast<std::size_t>(digits)];
  const auto number = static_cast<std::uint64_t>(sample);
  for (int c = 0; c < colours; ++c) {
    const double a = angle[c];
    const double phase = 2 * std::numbers::pi * uniform(seed_, stream_of(part_phases), colours * number + c);
    for (int y = 0; y < image_; ++y) {
      Wave wave(phase + turn * std::sin(a) * y, turn * std::cos(a));
      for (int x = 0; x < image_; ++x)
        bytes[(std::int64_t{y} * image_ + x) * colours + c] =
            static_cast<std::int32_t>(std::lround(middle + amplitude * wave.next()));
    }
  }
  // A block of the generator has 16 bytes of noise. Its counter allows 2³² blocks per sample.
  const std::int64_t count = std::int64_t{image_} * image_ * colours;
  for (std::int64_t first = 0; first < count; first += 16) {
    const RandomBlock block =
        random_block(seed_, stream_of(part_noise), number << 32 | static_cast<std::uint64_t>(first / 16));
    for (std::int64_t i = first; i < std::min(first + 16, count); ++i) {
      const auto drawn = block.word[(i - first) / 4] >> (8 * ((i - first) % 4)) & 0xFF;
      const double moved = bytes[i] + noise * (static_cast<double>(drawn) / middle - 1);
      bytes[i] = static_cast<std::int32_t>(std::lround(std::clamp(moved, 0.0, 255.0)));
    }
  }
}

void SyntheticImages::fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const {
  for (int i = 0; i < samples; ++i) {
    const std::int64_t sample = first_sample + i;
    draw(sample, tokens + std::int64_t{i} * image_ * image_ * colours);
    const auto number = static_cast<std::uint64_t>(sample);
    targets[i] = class_of(sample);
    if (uniform(seed_, stream_of(part_label), 2 * number) < wrong_label) {
      const double other = uniform(seed_, stream_of(part_label), 2 * number + 1) * (classes_ - 1);
      targets[i] = (targets[i] + 1 + static_cast<int>(other)) % classes_;
    }
  }
}

double SyntheticImages::entropy_nats() const {
  const double right = 1 - wrong_label;
  return -right * std::log(right) - wrong_label * std::log(wrong_label / (classes_ - 1));
}

}  // namespace rankscope
