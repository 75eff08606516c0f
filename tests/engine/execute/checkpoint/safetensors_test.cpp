#include "engine/execute/checkpoint/safetensors.hpp"

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using testing::TemporaryDirectory;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

TEST_CASE("tensors are read as they were written, with their metadata") {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "a.safetensors").string();
  std::vector<float> a{1, -2, 3.5f, 4, 5, 6};
  std::vector<std::uint16_t> b{1, 2, 3};
  write_safetensors(path, {{"x.weight", {a.data(), DType::f32, {2, 3}}}, {"b", {b.data(), DType::bf16, {3}}}},
                    {{"rank", "7"}});
  const SafetensorsFile file(path);
  CHECK(file.metadata().at("rank") == "7");
  CHECK(file.tensors().size() == 2);
  file.check();
  const auto& x = file.tensors().at("x.weight");
  CHECK(x.shape == Shape{2, 3});
  std::vector<float> part(3);
  file.read(x, 2, 3, part.data());
  CHECK(part == std::vector<float>{3.5f, 4, 5});
  CHECK(content(path).size() % 2 == 0);
}

TEST_CASE("an invalid, truncated or changed file is refused in one line with its name") {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "a.safetensors").string();
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("a.safetensors: cannot be read"));
  for (const std::string& text : {std::string(), std::string("short"), std::string(64, '\xff')}) {
    write(path, text);
    CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("a.safetensors: is no safetensors file"));
  }
  std::vector<double> a(100, 1.0);
  write_safetensors(path, {{"a", {a.data(), DType::f64, {100}}}}, {});
  const std::string whole = content(path);
  write(path, whole.substr(0, whole.size() - 8));
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("is the file incomplete?"));
  std::string changed = whole;
  changed[changed.size() - 5] ^= 1;
  write(path, changed);
  CHECK_THROWS_WITH(SafetensorsFile(path).check(), ContainsText("is damaged"));
  // If any byte of the header changes, the file is either still valid or refused.
  const auto header = static_cast<std::size_t>(static_cast<unsigned char>(whole[0])) + 8;
  for (std::size_t i = 0; i < header; ++i) {
    changed = whole;
    changed[i] ^= 0x15;
    write(path, changed);
    try {
      const SafetensorsFile file(path);
    } catch (const CheckpointError&) {
    }
  }
}

TEST_CASE("tensors must be adjacent: gaps, overlaps and unused bytes are refused") {
  const TemporaryDirectory folder;
  const std::string path = (folder.path() / "a.safetensors").string();
  const auto with_places = [&](int a_begin, int a_end, int b_begin, int b_end, int bytes) {
    std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[)" + std::to_string(a_begin) + "," +
                         std::to_string(a_end) + R"(]},"b":{"dtype":"F32","shape":[2],"data_offsets":[)" +
                         std::to_string(b_begin) + "," + std::to_string(b_end) + "]}}";
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    REQUIRE(header.size() < 256);
    write(path, length + header + std::string(static_cast<std::size_t>(bytes), 'x'));
  };
  with_places(0, 8, 8, 16, 16);
  CHECK(SafetensorsFile(path).tensors().size() == 2);
  with_places(8, 16, 0, 8, 16);  // the order of names does not matter
  CHECK(SafetensorsFile(path).tensors().size() == 2);
  with_places(0, 8, 4, 12, 12);
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("is damaged: 'b' begins at byte 4"));
  with_places(0, 8, 0, 8, 8);
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("is damaged: 'b' begins at byte 0"));
  with_places(0, 8, 12, 20, 20);
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("is damaged: 'b' begins at byte 12"));
  with_places(4, 12, 12, 20, 20);
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("is damaged: 'a' begins at byte 4"));
  with_places(0, 8, 8, 16, 20);
  CHECK_THROWS_WITH(SafetensorsFile(path), ContainsText("its tensors end at byte 16"));
}
