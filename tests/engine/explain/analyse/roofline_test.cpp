#include "engine/explain/analyse/roofline.hpp"

#include <algorithm>
#include <cmath>

#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"

using namespace rankscope;

namespace {

StepProgram two_blocks() {
  return compile(parse_scenario(
      "[model]\nlayers = 2\nwidth = 32\nheads = 2\ncontext = 16\nvocabulary = 64\n[train]\nglobal_batch = 4\n",
      "a.toml"));
}

Span span_of(OpFields fields, std::int64_t microseconds) {
  Span span;
  span.op = OpId::of(fields);
  span.begin_ns = span.active_ns = 1000;
  span.end_ns = 1000 + microseconds * 1000;
  return span;
}

OpFields op_of(OpKind kind, int block, Segment segment) { return {kind, Purpose::none, 0, 0, block, segment, -1}; }

}  // namespace

TEST_CASE("a point of the roofline has its op's FLOPs, its bytes and the median of its times") {
  const StepProgram step = two_blocks();
  // The product for query, key and value of 4 × 16 tokens: 2 · 64 · 32 · 96 FLOPs.
  const auto points = roofline_points(
      step, {span_of(op_of(OpKind::forward, 0, Segment::qkv), 1), span_of(op_of(OpKind::forward, 1, Segment::qkv), 9),
             span_of(op_of(OpKind::forward, 0, Segment::qkv), 2)});
  REQUIRE(points.size() == 1);
  CHECK(points[0].kind == OpKind::forward);
  CHECK(points[0].segment == Segment::qkv);
  CHECK(points[0].ops == 3);
  CHECK(points[0].flops == 2.0 * 64 * 32 * 96);
  CHECK(points[0].bytes > 4.0 * (64 * 32 + 32 * 96 + 64 * 96));  // both operands, the result, and the norm's bytes
  CHECK(points[0].seconds == Approx(2e-6));
  CHECK(points[0].all_seconds == Approx(12e-6));
  CHECK(points[0].rate() == Approx(points[0].flops / 2e-6));
}

TEST_CASE("of ops with different FLOPs the mean time belongs to the mean FLOPs") {
  const StepProgram step = two_blocks();
  const double one = roofline_points(step, {span_of(op_of(OpKind::forward, 1, Segment::whole), 1)})[0].flops;
  const double both = roofline_points(step, {span_of(op_of(OpKind::forward, -1, Segment::whole), 1)})[0].flops;
  // All have the same rate: the median of the three times would be too short for their mean FLOPs.
  const std::int64_t brief = 1000, longer = std::llround(1000 * both / one);
  const auto points = roofline_points(step, {span_of(op_of(OpKind::forward, 0, Segment::whole), brief),
                                             span_of(op_of(OpKind::forward, 1, Segment::whole), brief),
                                             span_of(op_of(OpKind::forward, -1, Segment::whole), longer)});
  REQUIRE(points.size() == 1);
  CHECK(points[0].rate() == Approx(one / 1e-3).epsilon(1e-3));
}

TEST_CASE("a folded op is the sum of its segments, and what is computed again is a forward") {
  const StepProgram step = two_blocks();
  double chunk = 0, block = 0;
  for (const SegmentSpec& segment : step.model.segments) {
    chunk += segment.forward_flops;
    if (segment.block == 1) block += segment.forward_flops;
  }
  const auto points = roofline_points(step, {span_of(op_of(OpKind::forward, -1, Segment::whole), 8),
                                             span_of(op_of(OpKind::recompute, 1, Segment::whole), 3)});
  REQUIRE(points.size() == 2);
  CHECK(points[0].flops == Approx(chunk));  // the op with the most time is first
  CHECK(points[1].kind == OpKind::recompute);
  CHECK(points[1].flops == Approx(block));
}

TEST_CASE("ops without FLOPs are no points: updates, messages, the lookup of tokens") {
  const StepProgram step = two_blocks();
  CHECK(roofline_points(step, {span_of(op_of(OpKind::forward, -1, Segment::embedding), 5),
                               span_of(op_of(OpKind::optimizer, -1, Segment::update), 5),
                               span_of({OpKind::send, Purpose::pipeline_forward, 0, 0}, 5)})
            .empty());
  CHECK(roofline_points(step, {}).empty());
}

TEST_CASE("a roof is the lesser of arithmetic and memory, which meet at its ridge") {
  const Roof roof{100e9, 10e9};
  CHECK(roof.ridge() == 10);
  CHECK(roof.at(1) == 10e9);
  CHECK(roof.at(10) == 100e9);
  CHECK(roof.at(1000) == 100e9);
  CHECK_FALSE(Roof{100e9, 0}.known());
}
