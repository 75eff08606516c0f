// The colours can be distinguished with any colour vision: CIEDE2000 (Sharma, Wu and Dalal 2005) after the
// simulation of Machado, Oliveira and Fernandes 2009 at full severity.
#include "app/models/palette.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;
constexpr Matrix normal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix protanopia{
    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia{
    {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritanopia{
    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
constexpr double radian = 3.14159265358979323846 / 180;

Vector times(const Matrix& m, const Vector& v) {
  Vector r{};
  for (std::size_t i = 0; i < 3; ++i) r[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return r;
}

Vector linear(Argb colour) {
  Vector r{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = static_cast<double>(colour >> (16 - 8 * i) & 0xff) / 255;
    r[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return r;
}

Vector lab(Vector rgb) {
  for (double& c : rgb) c = std::min(std::max(c, 0.0), 1.0);
  constexpr Matrix to_xyz{
      {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};
  const Vector xyz = times(to_xyz, rgb);
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double degrees(double b, double a) {
  const double h = a == 0 && b == 0 ? 0 : std::atan2(b, a) / radian;
  return h < 0 ? h + 360 : h;
}

double ciede2000(const Vector& p, const Vector& q) {
  const double mean_c = (std::hypot(p[1], p[2]) + std::hypot(q[1], q[2])) / 2;
  const double g = 0.5 * (1 - std::sqrt(std::pow(mean_c, 7) / (std::pow(mean_c, 7) + std::pow(25.0, 7))));
  const double a1 = p[1] * (1 + g), a2 = q[1] * (1 + g);
  const double c1 = std::hypot(a1, p[2]), c2 = std::hypot(a2, q[2]);
  const double h1 = degrees(p[2], a1), h2 = degrees(q[2], a2);
  const double dl = q[0] - p[0], dc = c2 - c1;
  double dh = c1 * c2 == 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const double big_dh = 2 * std::sqrt(c1 * c2) * std::sin(radian * dh / 2);
  const double l = (p[0] + q[0]) / 2, c = (c1 + c2) / 2;
  double h = h1 + h2;
  if (c1 * c2 != 0) h = std::fabs(h1 - h2) <= 180 ? h / 2 : (h < 360 ? (h + 360) / 2 : (h - 360) / 2);
  const double t = 1 - 0.17 * std::cos(radian * (h - 30)) + 0.24 * std::cos(radian * 2 * h) +
                   0.32 * std::cos(radian * (3 * h + 6)) - 0.20 * std::cos(radian * (4 * h - 63));
  const double sl = 1 + 0.015 * (l - 50) * (l - 50) / std::sqrt(20 + (l - 50) * (l - 50));
  const double sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const double rt = -2 * std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25.0, 7))) *
                    std::sin(radian * 60 * std::exp(-std::pow((h - 275) / 25, 2)));
  return std::sqrt(std::pow(dl / sl, 2) + std::pow(dc / sc, 2) + std::pow(big_dh / sh, 2) +
                   rt * (dc / sc) * (big_dh / sh));
}

// Every colour of drawn data, by name: the classes, and collectives of the lanes that have their own.
std::vector<std::pair<std::string, Argb>> marks_of(const Palette& colours) {
  std::vector<std::pair<std::string, Argb>> marks;
  for (int c = 0; c < span_class_count; ++c) {
    const auto kind = static_cast<SpanClass>(c);
    marks.emplace_back(name_of(kind), colours.of(kind));
  }
  for (const Lane lane : {Lane::tensor, Lane::zero_gather, Lane::zero_reduce})
    marks.emplace_back(name_of(SpanClass::collective, lane), colours.of(SpanClass::collective, lane));
  return marks;
}

}  // namespace

TEST_CASE("the colour difference agrees with the published test data") {
  // Sharma, Wu and Dalal 2005, table 1, pairs 1, 7, 17 and 25.
  CHECK(ciede2000({50, 2.6772, -79.7751}, {50, 0, -82.7485}) == Approx(2.0425).margin(1e-4));
  CHECK(ciede2000({50, 0, 0}, {50, -1, 2}) == Approx(2.3669).margin(1e-4));
  CHECK(ciede2000({50, 2.5, 0}, {73, 25, -18}) == Approx(27.1492).margin(1e-4));
  CHECK(ciede2000({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}) == Approx(1.2644).margin(1e-4));
}

TEST_CASE("any two colours of data differ by at least 12, also with colour blindness") {
  for (const Theme theme : every_theme)
    for (const auto& [sight, matrix] : {std::pair{"normal", normal}, std::pair{"protanopia", protanopia},
                                        std::pair{"deuteranopia", deuteranopia}, std::pair{"tritanopia", tritanopia}}) {
      const auto marks = marks_of(palette_of(theme));
      REQUIRE(marks.size() == span_class_count + 3);
      for (std::size_t a = 0; a < marks.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          INFO(name_of(theme) << ", " << sight << ": " << marks[a].first << " and " << marks[b].first);
          CHECK(ciede2000(lab(times(matrix, linear(marks[a].second))), lab(times(matrix, linear(marks[b].second)))) >=
                12);
        }
    }
}

TEST_CASE("marks have a contrast of 3:1 to the background, and text of 4.5:1") {
  for (const Theme theme : every_theme) {
    const Palette& colours = palette_of(theme);
    for (const Argb behind : {colours.ground, colours.panel}) {
      for (const auto& [name, mark] : marks_of(colours)) {
        INFO(name);
        CHECK(contrast(mark, behind) >= 3);
      }
      for (const Argb text : {colours.text, colours.dim, colours.accent, colours.good, colours.bad})
        CHECK(contrast(text, behind) >= 4.5);
    }
    CHECK(contrast(colours.on_accent, colours.accent) >= 4.5);
    for (const auto& [name, fill] : marks_of(colours)) {
      INFO("ink on " << name);
      CHECK(contrast(colours.ink_on(fill), fill) >= 4.5);
    }
  }
}

TEST_CASE("a hatch has a contrast of 2.5:1 to the background, and less than every box") {
  for (const Theme theme : every_theme) {
    const Palette& colours = palette_of(theme);
    const auto marks = marks_of(colours);
    CHECK(contrast(colours.hatch, colours.ground) >= 2.5);
    for (const auto& [name, mark] : marks) {
      INFO(name);
      CHECK(contrast(colours.hatch, colours.ground) < contrast(mark, colours.ground));
    }
    for (const auto& [kind, lane] :
         {std::pair{SpanClass::transfer, Lane::forward_send}, std::pair{SpanClass::collective, Lane::data},
          std::pair{SpanClass::collective, Lane::tensor}, std::pair{SpanClass::collective, Lane::zero_gather},
          std::pair{SpanClass::collective, Lane::zero_reduce}}) {
      INFO(name_of(kind, lane));
      CHECK(contrast(colours.hatch_of(kind, lane), colours.ground) >= 2.5);
      CHECK(contrast(colours.hatch_of(kind, lane), colours.ground) < contrast(colours.of(kind, lane), colours.ground));
    }
  }
}

TEST_CASE("lanes of collectives differ by colour, and everything else is the same on every lane") {
  for (const Theme theme : every_theme) {
    const Palette& colours = palette_of(theme);
    const Palette gather = palette_on(colours, Lane::zero_gather);
    CHECK(gather.of(SpanClass::collective) == colours.gather);
    CHECK(gather.of(SpanClass::transfer) == colours.of(SpanClass::transfer));
    CHECK(colours.of(SpanClass::collective, Lane::data) == colours.of(SpanClass::collective));
    CHECK(colours.of(SpanClass::forward, Lane::tensor) == colours.of(SpanClass::forward));
  }
}
