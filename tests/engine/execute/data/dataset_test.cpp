#include "engine/execute/data/dataset.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/execute/data/language.hpp"
#include "engine/execute/data/sampler.hpp"
#include "engine/execute/data/token_file.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

/// A folder that is removed when the test ends.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("rankscope-data-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return (path / name).string();
  }
};

Scenario scenario_with(const std::string& source, int context, int vocabulary) {
  Scenario scenario;
  scenario.data.source = source;
  scenario.model.context = context;
  scenario.model.vocabulary = vocabulary;
  return scenario;
}

struct Batch {
  std::vector<std::int32_t> tokens, targets;
};
Batch read(const Dataset& data, std::int64_t first, int samples, int context) {
  Batch batch{std::vector<std::int32_t>(static_cast<std::size_t>(samples) * context, -1),
              std::vector<std::int32_t>(static_cast<std::size_t>(samples) * context, -1)};
  data.fill(first, samples, batch.tokens.data(), batch.targets.data());
  return batch;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a target is the token that follows, in the language and in a text") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7 % 251);
  folder.file("book.txt", text);
  for (const std::string& source : {std::string("synthetic"), "text:" + (folder.path / "book.txt").string()}) {
    const int context = 16;
    const auto data = open_dataset(scenario_with(source, context, 256));
    const Batch batch = read(*data, 3, 5, context);
    for (int sample = 0; sample < 5; ++sample)
      for (int i = 0; i + 1 < context; ++i)
        CHECK(batch.targets[sample * context + i] == batch.tokens[sample * context + i + 1]);
    // The number of samples per request makes no difference.
    for (int sample = 0; sample < 5; ++sample) {
      const Batch one = read(*data, 3 + sample, 1, context);
      CHECK(std::equal(one.tokens.begin(), one.tokens.end(), batch.tokens.begin() + sample * context));
      CHECK(std::equal(one.targets.begin(), one.targets.end(), batch.targets.begin() + sample * context));
    }
  }
}

TEST_CASE("the synthetic data state the floor of their loss") {
  const auto data = open_dataset(scenario_with("synthetic", 64, 256));
  CHECK(data->entropy_nats() == Language(256, 1).floor(64));
}

TEST_CASE("an epoch reads every sample of a file once, the next one in another order") {
  const Folder folder;
  const int context = 4, samples = 50;
  std::string bytes;
  for (int i = 0; i < context * samples + 1; ++i) bytes += static_cast<char>(i % 256);
  const TokenFile file(folder.file("ramp", bytes), TokenFile::Coding::bytes, context, 256, 7);
  CHECK(std::isnan(file.entropy_nats()));
  std::vector<std::int64_t> orders[2];
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::set<std::int64_t> places;
    for (int i = 0; i < samples; ++i) {
      orders[epoch].push_back(file.position_of(epoch * samples + i));
      places.insert(orders[epoch].back());
    }
    CHECK(places.size() == samples);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == (samples - 1) * context);
  }
  CHECK(orders[0] != orders[1]);
  const Batch batch = read(file, 17, 1, context);
  for (int i = 0; i < context; ++i) {
    CHECK(batch.tokens[i] == (orders[0][17] + i) % 256);
    CHECK(batch.targets[i] == (orders[0][17] + i + 1) % 256);
  }
}

TEST_CASE("all plans read the same text in a step") {
  const Folder folder;
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += static_cast<char>(i * i % 256);
  const std::string path = folder.file("book", bytes);
  const int context = 8;
  const auto data = open_dataset(scenario_with("text:" + path, context, 256));
  const Batch whole = read(*data, 2 * 12, 12, context);
  for (const BatchShape shape : {BatchShape{1, 12, 1}, BatchShape{2, 3, 2}, BatchShape{4, 1, 3}})
    for (int d = 0; d < shape.data; ++d)
      for (int m = 0; m < shape.micro_batches; ++m) {
        const std::int64_t first = shape.first_sample(2, d, m);
        const Batch part = read(*data, first, shape.micro_batch_size, context);
        CHECK(std::equal(part.tokens.begin(), part.tokens.end(), whole.tokens.begin() + (first - 24) * context));
      }
}

TEST_CASE("16-bit tokens are little-endian") {
  const Folder folder;
  // 0x0102, 0x0001, 0x00ff: written low byte first.
  const TokenFile file(folder.file("tokens.bin", std::string("\x02\x01\x01\x00\xff\x00", 6)),
                       TokenFile::Coding::little_endian_16, 2, 300, 1);
  const Batch batch = read(file, 0, 1, 2);
  CHECK(batch.tokens == std::vector<std::int32_t>{0x0102, 0x0001});
  CHECK(batch.targets == std::vector<std::int32_t>{0x0001, 0x00ff});
}

TEST_CASE("data that do not fit are refused with the file, the error and the remedy") {
  const Folder folder;
  const std::string text = folder.file("short.txt", "12345678");
  const std::string odd = folder.file("odd.bin", "123");
  const std::string large = folder.file("large.bin", std::string("\x00\x00\x10\x27\x01\x00", 6));
  const auto open = [](const std::string& source, int context, int vocabulary) {
    return error_of([&] { open_dataset(scenario_with(source, context, vocabulary)); });
  };
  CHECK(open("text:" + text, 8, 256) ==
        text + ": it has 8 tokens; one sample needs 9 (the context, and one token after it)");
  CHECK(open("text:" + text, 7, 256) == "no error");
  CHECK(open("text:" + text, 4, 128) ==
        text + ": its tokens are bytes, and the vocabulary is 128; it must be at least 256");
  CHECK(open("tokens:" + odd, 1, 256) ==
        odd + ": it has 3 bytes, which is no multiple of 2; tokens have 16 bits, little-endian");
  CHECK(open("tokens:" + large, 1, 10000) ==
        large + ": token 1 is 10000; the vocabulary has 10000, so tokens must be below that");
  CHECK(open("tokens:" + large, 1, 10001) == "no error");
  CHECK(open("text:" + folder.path.string(), 1, 256) ==
        folder.path.string() + ": it is no ordinary file; give one that can be read at any place");
  CHECK(open("text:/nonexistent/book", 1, 256) ==
        "/nonexistent/book: No such file or directory; a path in a scenario starts at the scenario's folder");
  CHECK(open("music", 1, 256) ==
        "data.source: unknown source 'music'; it is \"synthetic\", \"text:FILE\" or \"tokens:FILE\"");
}

TEST_CASE("a path in a scenario is relative to the scenario's folder") {
  const Folder folder;
  folder.file("book.txt", "some words to read");
  Scenario scenario = scenario_with("text:book.txt", 4, 256);
  scenario.file = (folder.path / "lab.toml").string();
  CHECK_NOTHROW(open_dataset(scenario));
}

namespace {

/// Little-endian numbers of this width.
std::string numbers(const std::vector<std::int64_t>& values, int width) {
  std::string bytes;
  for (const std::int64_t value : values)
    for (int byte = 0; byte < width; ++byte) bytes += static_cast<char>(value >> 8 * byte & 255);
  return bytes;
}

std::vector<std::int64_t> some_tokens() {
  std::vector<std::int64_t> tokens;
  for (int i = 0; i < 200; ++i) tokens.push_back(1 + i * 37 % 240);
  return tokens;
}

/// Of a file of tokens, read with this width: its first tokens, or the error without the file's name.
std::string first_of(const std::string& file, int width, int vocabulary = 250) {
  Scenario scenario = scenario_with("tokens:" + file, 3, vocabulary);
  scenario.data.token_bytes = width;
  std::string text;
  const std::string error = error_of([&] {
    const auto data = open_dataset(scenario);
    std::set<std::int32_t> seen;
    for (int sample = 0; sample < 66; ++sample)
      for (const std::int32_t token : read(*data, sample, 1, 3).tokens) seen.insert(token);
    text = std::to_string(seen.size()) + " tokens up to " + std::to_string(*seen.rbegin());
  });
  return text.empty() ? error.substr(file.size()) : text;
}

}  // namespace

TEST_CASE("tokens of 16 and of 32 bits are the same tokens, and one width is not taken for another") {
  const Folder folder;
  const std::string narrow = folder.file("narrow", numbers(some_tokens(), 2)),
                    wide = folder.file("wide", numbers(some_tokens(), 4)),
                    widest = folder.file("widest", numbers(some_tokens(), 8));
  CHECK(first_of(narrow, 2) == first_of(wide, 4));
  CHECK(first_of(narrow, 2).ends_with(" tokens up to 237"));
  CHECK(first_of(wide, 2) == ": every second token is 0, as if tokens had 32 bits; use data.token_bytes = 4");
  CHECK(first_of(widest, 2) == ": every second token is 0, as if tokens had 64 bits; convert them to 16 or 32 bits");
  CHECK(first_of(widest, 4) == ": every second token is 0, as if tokens had 64 bits; convert them to 16 or 32 bits");
  CHECK(first_of(narrow, 4).find("the vocabulary has 250, so tokens must be below that") != std::string::npos);
  const std::string large = folder.file("large", numbers({100'000, 5, 7, 9, 11, 13, 15}, 4));
  CHECK(first_of(large, 4, 128'256).ends_with("up to 100000"));
}

TEST_CASE("the header of llm.c and the index of Megatron say the width, and must agree with the scenario") {
  const Folder folder;
  const auto with_header = [&](std::int64_t magic, int width) {
    std::vector<std::int64_t> header(256, 0);
    header[0] = magic;
    return numbers(header, 4) + numbers(some_tokens(), width);
  };
  const std::string plain = first_of(folder.file("plain", numbers(some_tokens(), 2)), 2);
  const std::string gpt2 = folder.file("gpt2", with_header(20240520, 2)),
                    llama = folder.file("llama", with_header(20240801, 4));
  CHECK(first_of(gpt2, 2) == plain);
  CHECK(first_of(llama, 4) == plain);
  CHECK(first_of(gpt2, 4) == ": its header (llm.c) says that tokens have 16 bits; use data.token_bytes = 2");
  CHECK(first_of(llama, 2) == ": its header (llm.c) says that tokens have 32 bits; use data.token_bytes = 4");

  const auto megatron = [&](const std::string& name, char type, int width) {
    folder.file(name + ".idx", std::string("MMIDIDX\0\0", 9) + numbers({1}, 8) + type + numbers({1, 1}, 8));
    return folder.file(name + ".bin", numbers(some_tokens(), width));
  };
  const std::string u16 = megatron("u16", 8, 2), i32 = megatron("i32", 4, 4), i64 = megatron("i64", 5, 8);
  CHECK(first_of(u16, 2) == plain);
  CHECK(first_of(i32, 4) == plain);
  CHECK(first_of(i32, 2) == ": its index (Megatron) says that tokens have 32 bits; use data.token_bytes = 4");
  CHECK(first_of(i64, 4) == ": its index (Megatron) says that tokens have 64 bits; convert them to 16 or 32 bits");
}
