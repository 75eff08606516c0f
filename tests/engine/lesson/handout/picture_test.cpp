#include "engine/lesson/handout/picture.hpp"

#include "tests/catch.hpp"

using namespace rankscope;

namespace {

int count(const std::string& text, std::string_view words) {
  int found = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
  return found;
}

Span span(int rank, const char* op, std::int64_t begin, std::int64_t end) {
  Span result;
  result.rank = rank;
  result.op = *parse_token(op);
  result.begin_ns = result.active_ns = begin;
  result.end_ns = end;
  return result;
}

DrawnStep two_ranks() {
  DrawnStep step;
  step.range = {0, 10'000'000};
  step.ranks = 2;
  step.note = "simulated";
  step.spans = {span(0, "F:c0:m0:b0.qkv", 0, 1'000'000), span(0, "F:c0:m0:b0.up", 1'000'000, 2'000'000),
                span(0, "B:c0:m0", 6'000'000, 10'000'000), span(1, "F:c1:m0", 2'000'000, 4'000'000),
                span(0, "SEND.pipeline_forward:c0:m0", 2'000'000, 2'500'000)};
  MemorySample sample;
  for (const auto& [rank, time, bytes] : {std::tuple(0, 0, 1 << 20), std::tuple(0, 2'000'000, 8 << 20),
                                          std::tuple(0, 9'000'000, 1 << 20), std::tuple(1, 0, 1 << 20)}) {
    sample.rank = rank;
    sample.time_ns = time;
    sample.bytes[static_cast<std::size_t>(MemoryClass::activations)] = bytes;
    step.samples.push_back(sample);
  }
  return step;
}

}  // namespace

TEST_CASE("a time line has a box for each chunk and micro-batch, a row for each rank, and time in milliseconds") {
  const Picture picture = draw_timeline(two_ranks());
  CHECK(count(picture.svg, ">rank ") == 2);
  CHECK(count(picture.svg, "fill=\"#0d8ad7\"") == 2 + 1);  // two forwards, one with joined segments; the legend
  CHECK(count(picture.svg, "fill=\"#6b3009\"") == 1 + 1);
  CHECK(count(picture.svg, "fill=\"#147254\"") == 1 + 1);
  CHECK(picture.svg.find("begin, ms") != std::string::npos);
  CHECK(picture.caption.find("simulated") != std::string::npos);
}

TEST_CASE("a picture of memory is of the rank with the greatest peak, with bytes in their unit") {
  const Picture picture = draw_memory(two_ranks());
  CHECK(picture.caption.find("Memory of rank 0") == 0);
  CHECK(picture.svg.find(">MiB<") != std::string::npos);
  CHECK(count(picture.svg, "<polygon") == 1);
}

TEST_CASE("a picture of a step with more ranks than a page has rows says so") {
  DrawnStep step = two_ranks();
  step.ranks = 64;
  CHECK(draw_timeline(step).caption.find("the first 16 of 64 ranks") != std::string::npos);
}
