#include "engine/execute/data/images.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// The power of a wave with this direction and length in one colour of an image.
double power_of(const std::vector<std::int32_t>& bytes, int image, int colour, int direction, double length) {
  const double angle = std::numbers::pi * direction / 8, turn = 2 * std::numbers::pi / length;
  double real = 0, imaginary = 0;
  for (int y = 0; y < image; ++y)
    for (int x = 0; x < image; ++x) {
      const double value = bytes[static_cast<std::size_t>((y * image + x) * 3 + colour)] - 127.5;
      const double at = turn * (std::cos(angle) * x + std::sin(angle) * y);
      real += value * std::cos(at);
      imaginary += value * std::sin(at);
    }
  return real * real + imaginary * imaginary;
}

/// The class that a filter recognises if it knows the waves, but not their phases.
int recognised(const std::vector<std::int32_t>& bytes, int image, int classes) {
  int best = 0;
  double greatest = -1;
  for (int c = 0; c < classes; ++c) {
    const double length[] = {4, 6, 9, 13.5};
    double power = 0;
    for (int colour = 0, digits = c; colour < 3; ++colour, digits /= 8)
      power += power_of(bytes, image, colour, digits % 8, length[c / 512]);
    if (power > greatest) {
      greatest = power;
      best = c;
    }
  }
  return best;
}

}  // namespace

TEST_CASE("an image determines its class") {
  constexpr int image = 32, classes = 10, samples = 2000;
  const SyntheticImages images(image, classes, 7);
  std::vector<std::int32_t> bytes(image * image * 3);
  std::int32_t label = -1;
  for (int s = 0; s < samples; ++s) {
    images.fill(s, 1, bytes.data(), &label);
    for (const std::int32_t byte : bytes) REQUIRE((byte >= 0 && byte <= 255));
    REQUIRE(recognised(bytes, image, classes) == images.class_of(s));
  }
}

TEST_CASE("a tenth of the labels are wrong, evenly over the other classes, and that gives the floor of the loss") {
  constexpr int image = 4, classes = 10, samples = 100'000;
  const SyntheticImages images(image, classes, 7);
  std::vector<std::int32_t> bytes(image * image * 3);
  std::int32_t label = -1;
  std::vector<int> of_class(classes), off_by(classes);
  for (int s = 0; s < samples; ++s) {
    images.fill(s, 1, bytes.data(), &label);
    REQUIRE((label >= 0 && label < classes));
    ++of_class[static_cast<std::size_t>(images.class_of(s))];
    ++off_by[static_cast<std::size_t>((label - images.class_of(s) + classes) % classes)];
  }
  // Within five standard deviations of a binomial.
  const auto agrees = [](int count, double p) {
    return std::abs(count - p * samples) < 5 * std::sqrt(samples * p * (1 - p));
  };
  double entropy = 0;
  for (int c = 0; c < classes; ++c) {
    const auto i = static_cast<std::size_t>(c);
    CHECK(agrees(of_class[i], 0.1));
    CHECK(agrees(off_by[i], c == 0 ? 0.9 : 0.1 / 9));
    entropy -= static_cast<double>(off_by[i]) / samples * std::log(static_cast<double>(off_by[i]) / samples);
  }
  CHECK(images.entropy_nats() == Approx(entropy).epsilon(0.02));
  CHECK(images.entropy_nats() == Approx(0.9 * std::log(1 / 0.9) + 0.1 * std::log(9 / 0.1)).epsilon(1e-12));
}

TEST_CASE("classes of every digit differ, up to the thousand of ImageNet") {
  constexpr int image = 48, classes = 1000;
  const SyntheticImages images(image, classes, 3);
  std::vector<std::int32_t> bytes(image * image * 3);
  std::int32_t label = -1;
  for (int s = 0; s < 12; ++s) {
    images.fill(s, 1, bytes.data(), &label);
    CHECK(recognised(bytes, image, classes) == images.class_of(s));
  }
}

TEST_CASE("a sample is a function of the seed and its number alone") {
  constexpr int image = 20, values = image * image * 3;
  const SyntheticImages images(image, 10, 7), again(image, 10, 7), other(image, 10, 8);
  std::vector<std::int32_t> together(5 * values), alone(values), labels(5), label(1);
  images.fill(1000, 5, together.data(), labels.data());
  for (int s = 0; s < 5; ++s) {
    again.fill(1000 + s, 1, alone.data(), label.data());
    CHECK(std::equal(alone.begin(), alone.end(), together.begin() + s * values));
    CHECK(label[0] == labels[static_cast<std::size_t>(s)]);
  }
  other.fill(1004, 1, alone.data(), label.data());
  CHECK(!std::equal(alone.begin(), alone.end(), together.begin() + 4 * values));
}
