#include "telemetry/event/crc32.hpp"

#include <string_view>
#include <vector>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("the checksum is the one of zlib, PNG and MCAP") {
  // The check value of CRC-32/ISO-HDLC in catalogues of CRCs.
  constexpr std::string_view digits = "123456789";
  CHECK(crc32(std::as_bytes(std::span(digits))) == 0xCBF43926);
  CHECK(crc32({}) == 0);
}

TEST_CASE("a checksum can be computed over pieces of any length") {
  std::vector<std::byte> data(1000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 + i / 7);
  const std::span<const std::byte> all(data);
  for (std::size_t cut = 0; cut <= 40; ++cut) CHECK(crc32(all.subspan(cut), crc32(all.first(cut))) == crc32(all));
}
