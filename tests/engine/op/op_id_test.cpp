#include "engine/op/op_id.hpp"

#include <iterator>

#include "tests/catch.hpp"

using namespace rankscope;

TEST_CASE("every combination of fields survives packing, printing and parsing") {
  for (int kind = 0; kind < op_kind_count; ++kind)
    for (int purpose = 0; purpose < purpose_count; ++purpose)
      for (int segment = 0; segment < segment_count; ++segment)
        for (int number : {-1, 0, 7, 2046}) {
          OpFields f;
          f.kind = static_cast<OpKind>(kind);
          f.purpose = static_cast<Purpose>(purpose);
          if (!may_have(f.kind, f.purpose)) continue;
          f.segment = static_cast<Segment>(segment);
          f.chunk = f.micro_batch = f.block = f.index = number;
          const OpId id = OpId::of(f);
          REQUIRE(id.valid());
          REQUIRE(id.fields() == f);
          std::string error;
          const auto parsed = parse_token(to_token(id), &error);
          INFO(to_token(id) << " " << error);
          REQUIRE(parsed == id);
        }
}

TEST_CASE("tokens read as documented") {
  const auto token = [](OpFields f) { return to_token(OpId::of(f)); };
  CHECK(token({OpKind::forward, Purpose::none, 2, 3, 5, Segment::qkv, -1}) == "F:c2:m3:b5.qkv");
  CHECK(token({OpKind::forward, Purpose::none, 2, 3, -1, Segment::whole, -1}) == "F:c2:m3");
  CHECK(token({OpKind::backward, Purpose::none, 3, 0, -1, Segment::head, -1}) == "B:c3:m0:.head");
  CHECK(token({OpKind::send, Purpose::pipeline_forward, 2, 3, -1, Segment::whole, -1}) ==
        "SEND.pipeline_forward:c2:m3");
  CHECK(token({OpKind::all_reduce, Purpose::data_gradient, 2, -1, -1, Segment::whole, 1}) ==
        "ALLREDUCE.data_gradient:c2:i1");
}

TEST_CASE("a send and its receive name each other") {
  for (const char* token : {"SEND.pipeline_forward:c2:m3", "RECV.pipeline_forward:c3:m3",
                            "SEND.pipeline_backward:c3:m0", "RECV.pipeline_backward:c2:m0", "SEND.server:m1:i0"}) {
    const OpId id = *parse_token(token);
    CHECK(counterpart(id) != id);
    CHECK(counterpart(counterpart(id)) == id);
  }
  CHECK(to_token(counterpart(*parse_token("SEND.pipeline_forward:c2:m3"))) == "RECV.pipeline_forward:c3:m3");
  CHECK(to_token(counterpart(*parse_token("SEND.pipeline_backward:c3:m0"))) == "RECV.pipeline_backward:c2:m0");
}

TEST_CASE("bad tokens are refused with the reason") {
  for (const char* token : {"", "X:c1", "F:q1", "F:cx", "F:c", "SEND:c1", "F.tensor:c1", "SEND.offload:i1",
                            "OPT.tensor", "SEND.nothing:c1", "F:c1:b2.nose", "F:c99999", "F:c1:", "F:c-2"}) {
    std::string error;
    INFO(token);
    CHECK_FALSE(parse_token(token, &error).has_value());
    CHECK_FALSE(error.empty());
  }
}

TEST_CASE("a field too large for an id is refused, not wrapped") {
  OpFields f;
  f.chunk = 4095;
  CHECK_THROWS_AS(OpId::of(f), std::out_of_range);
  f.chunk = 0;
  f.micro_batch = 65535;
  CHECK_THROWS_AS(OpId::of(f), std::out_of_range);
}

TEST_CASE("invalid bit patterns of op ids are recognised") { CHECK_FALSE(OpId(~std::uint64_t{0}).valid()); }

TEST_CASE("the data of each member before and after each collective") {
  struct Row {
    OpKind kind;
    bool root, parts, gathers, hands_out, sum;
  };
  const Row rows[] = {
      {OpKind::broadcast, true, false, false, false, false},    {OpKind::scatter, true, true, false, true, false},
      {OpKind::reduce, true, false, false, false, true},        {OpKind::all_reduce, false, false, false, false, true},
      {OpKind::gather, true, true, true, false, false},         {OpKind::all_gather, false, true, true, false, false},
      {OpKind::reduce_scatter, false, true, false, true, true}, {OpKind::all_to_all, false, true, false, false, false}};
  int collectives = 0;
  for (int i = 0; i < op_kind_count; ++i) collectives += is_collective(static_cast<OpKind>(i)) ? 1 : 0;
  CHECK(collectives == static_cast<int>(std::size(rows)));
  for (const Row& row : rows) {
    INFO(name_of(row.kind));
    CHECK(is_collective(row.kind));
    CHECK(has_root(row.kind) == row.root);
    CHECK(has_parts(row.kind) == row.parts);
    CHECK(gathers_parts(row.kind) == row.gathers);
    CHECK(hands_out_parts(row.kind) == row.hands_out);
    CHECK(is_sum(row.kind) == row.sum);
  }
  for (const OpKind other : {OpKind::send, OpKind::receive, OpKind::copy, OpKind::forward}) {
    CHECK_FALSE(has_root(other));
    CHECK_FALSE(has_parts(other));
  }
}

TEST_CASE("an op of an imported run keeps its fields, its lane and its kind, and has no place in a model") {
  for (const OpKind kind : {OpKind::compute, OpKind::backward, OpKind::all_reduce, OpKind::send})
    for (const int name : {0, 1, 0xfffff})
      for (const int occurrence : {0, 2047, 2048, 0xffffff})
        for (const LaneUse use : {LaneUse::compute, LaneUse::communication, LaneUse::host}) {
          const ObservedOp op{kind, Purpose::tensor, observed_lane(use, 15), name, occurrence};
          const OpId id = OpId::of_observed(op);
          REQUIRE(id.valid());
          REQUIRE(id.is_observed());
          REQUIRE(id.observed() == op);
          REQUIRE(id.lane() == op.lane);
          REQUIRE(id.fields() == OpFields{kind, Purpose::tensor, -1, -1, -1, Segment::whole, -1});
          REQUIRE(parse_token(to_token(id)) == id);
          REQUIRE(folded_to_chunk(id) == id);
          REQUIRE(counterpart(counterpart(id)) == id);
          REQUIRE(is_compute(id.lane()) == (use == LaneUse::compute));
          REQUIRE(is_on_host(id.lane()) == (use == LaneUse::host));
        }
  CHECK_FALSE(parse_token("F:c1:m0")->is_observed());
  CHECK(counterpart(*parse_token("SEND.pipeline_forward:l40:n3:i5")) ==
        *parse_token("RECV.pipeline_forward:l40:n3:i5"));
  CHECK_THROWS_AS(OpId::of_observed({OpKind::compute, Purpose::none, observed_lane(LaneUse::compute, 0), 1 << 20, 0}),
                  std::out_of_range);
  for (const char* token : {"F:l16", "F:l16:n1", "F:l16:n1:i1:c2", "F:n1:l16:i1", "F:l15:n1:i1", "F:l80:n1:i1",
                            "F:l16:n1:i16777216", "F:c1:n1"}) {
    std::string error;
    INFO(token);
    CHECK_FALSE(parse_token(token, &error).has_value());
    CHECK_FALSE(error.empty());
  }
}
