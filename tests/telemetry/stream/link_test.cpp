#include "telemetry/stream/link.hpp"

#include <cstring>

#include "tests/catch.hpp"
#include "tests/telemetry/event/random_events.hpp"

using namespace rankscope;
using rankscope::test::RandomEvents;

TEST_CASE("the pieces of a body are read as they were written, each at a multiple of eight bytes") {
  RandomEvents random(1);
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::optional<SpoolPosition>> places;
  std::vector<std::byte> body;
  for (std::size_t i = 0; i < 50; ++i) {
    sent.emplace_back(i * 7 % 31, static_cast<std::byte>(i));
    places.push_back(i % 3 == 0 ? std::nullopt
                                : std::optional(SpoolPosition{static_cast<std::uint32_t>(i), std::uint64_t{1} << i}));
    link::append(body, {places.back(), sent.back()});
  }
  const auto pieces = link::pieces_of(body);
  REQUIRE(pieces);
  REQUIRE(pieces->size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const link::Piece& piece = (*pieces)[i];
    INFO("piece " << i);
    CHECK(piece.position == places[i]);
    CHECK(std::vector(piece.bytes.begin(), piece.bytes.end()) == sent[i]);
    CHECK((piece.bytes.data() - body.data()) % 8 == 0);
  }
}

TEST_CASE("a body that is cut, or whose lengths are wrong, is refused and never read beyond its end") {
  RandomEvents random(2);
  std::vector<std::byte> body;
  for (int i = 0; i < 5; ++i) link::append(body, {std::nullopt, encode(random.message(i))});
  for (std::size_t size = 0; size < body.size(); size += 4) {
    // In separate memory, so that a read past the end is detected.
    const std::vector<std::byte> cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    if (const auto pieces = link::pieces_of(cut)) CHECK(pieces->size() < 5);
  }
  for (const std::uint64_t length : {std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    std::vector<std::byte> lying = body;
    std::memcpy(lying.data(), &length, sizeof length);
    CHECK_FALSE(link::pieces_of(lying));
  }
}
