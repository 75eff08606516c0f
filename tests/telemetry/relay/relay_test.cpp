// Relay, workers and viewers with real sockets: what viewers and taps receive if some are slow, late or lost.
#include "telemetry/relay/relay.hpp"

#include "tests/telemetry/relay/relay_support.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("viewer and tap get all messages of two ranks, each once, over ipc and tcp") {
  const std::string endpoint = GENERATE(std::string(), std::string("tcp://127.0.0.1:*"));
  Run run(endpoint);
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  run.start_worker();
  REQUIRE(run.worker->control(0, a_hello(2)));
  REQUIRE(is_live(*viewer));
  for (int i = 0; i < 20; ++i) {
    run.train(5, 100);
    std::this_thread::sleep_for(2ms);
  }
  run.worker->lane(1, Lane::data).phase(an_unknown_phase(1, 99, 7));
  for (std::int32_t rank : {0, 1}) run.worker->control(rank, End{rank, true, 99, "", false});
  REQUIRE(run.worker->close(60s));
  run.relay->publish(End{-1, true, 99, "finished", false});
  REQUIRE(run.relay->finish(20s));
  for (Collector* sink : {&seen, &run.tap}) {
    REQUIRE(eventually([&] { return sink->all<End>().size() == 3; }));
    CHECK(sink->summaries() == 200);
    CHECK(sink->spans() == 2 * 100 * 100);
    CHECK_FALSE(sink->any_double());
    CHECK(sink->all<Hello>().size() == 1);
    CHECK(sink->all<Gap>().empty());
    const auto phases = sink->all<PhaseBatch>();
    REQUIRE(phases.size() == 1);
    CHECK(phases[0].rows == std::vector<PhaseSpan>{an_unknown_phase(1, 99, 7)});
  }
  CHECK(eventually([&] { return viewer->status().state == ViewerState::ended; }));
  CHECK(viewer->status().garbage == 0);
  CHECK(run.relay->status().garbage == 0);
}

TEST_CASE(
    "a late joiner gets the whole picture: control, all summaries, and detail that the ring has lost from the spools") {
  RelayOptions options;
  options.ring_bytes = 40'000;  // a few batches
  Run run({}, options);
  run.start_worker();
  run.worker->control(0, a_hello(2));
  run.worker->control(1, ProgramRecord{1, 42, "F:c0:m0\n"});
  for (int i = 0; i < 40; ++i) {
    run.train(5, 100);
    std::this_thread::sleep_for(6ms);
  }
  REQUIRE(eventually([&] { return run.tap.spans() == 2 * 200 * 100 && run.tap.summaries() == 400; }));
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  CHECK(seen.all<Hello>().size() == 1);
  CHECK(seen.all<ProgramRecord>().size() == 1);
  CHECK(seen.summaries() == 400);
  REQUIRE(eventually([&] { return seen.spans() == 2 * 200 * 100; }));
  CHECK_FALSE(seen.any_double());
  // The viewer got gaps for details that it did not have yet, and each such gap was filled.
  const auto gaps = seen.all<Gap>();
  CHECK_FALSE(gaps.empty());
  std::map<std::int32_t, std::set<std::uint64_t>> numbers;
  for (const Message& m : seen.messages()) numbers[m.rank].insert(m.sequence);
  for (const Gap& gap : gaps)
    for (auto n = gap.first_sequence; n <= gap.last_sequence; ++n) CHECK(numbers[gap.rank].count(n) == 1);
  // The run continues.
  run.train(5, 100);
  CHECK(eventually([&] { return seen.spans() == 2 * 205 * 100 && seen.summaries() == 410; }));
}

TEST_CASE("a run that is over before its viewer has joined stays open until the viewer has everything") {
  Run run;
  run.start_worker();
  run.worker->control(0, a_hello(2));
  run.train(5, 100);
  REQUIRE(run.worker->close(60s));
  run.relay->publish(End{-1, true, 4, "finished", false});
  CHECK_FALSE(run.relay->finish(200ms, 1));  // no viewer has joined
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(run.relay->finish(20s, 1));
  CHECK(eventually([&] { return viewer->status().state == ViewerState::ended; }));
  CHECK(seen.summaries() == 10);
  CHECK(seen.spans() == 2 * 5 * 100);
  CHECK(eventually([&] { return run.relay->status().joined == 1; }));
}

TEST_CASE("if the spools cannot be read, lost detail stays a gap that counts its events") {
  RelayOptions options;
  options.ring_bytes = 40'000;
  Run run({}, options, false);
  run.start_worker();
  for (int i = 0; i < 40; ++i) {
    run.train(5, 100);
    std::this_thread::sleep_for(6ms);
  }
  REQUIRE(eventually([&] { return run.tap.spans() == 2 * 200 * 100; }));
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  REQUIRE(run.worker->close(60s));
  REQUIRE(run.relay->finish(20s));
  std::int64_t missing = 0;
  for (const Gap& gap : seen.all<Gap>()) {
    missing += gap.events;
    CHECK(gap.begin_ns < gap.end_ns);
  }
  CHECK(missing > 0);
  CHECK(seen.spans() + missing == 2 * 200 * 100);
  CHECK(seen.summaries() == 400);
}

TEST_CASE("a viewer that never grants credits, and one that never reads, delay nobody") {
  Run run;
  Stranger never_grants(run.relay->join()), never_reads(run.relay->join());
  REQUIRE(never_grants.send({link::Type::viewer_hello, 1, 0, 0, 0}));
  REQUIRE(never_reads.send({link::Type::viewer_hello, 1, 0, 0, UINT64_MAX}));
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  REQUIRE(eventually([&] { return run.relay->status().viewers == 3; }));
  run.start_worker();
  for (int i = 0; i < 100; ++i) {
    run.train(10, 200);
    std::this_thread::sleep_for(2ms);
  }
  CHECK(eventually([&] { return seen.summaries() == 2000 && seen.spans() == 2 * 1000 * 200; }));
  CHECK(run.worker->status().dropped_events == 0);
  CHECK(run.worker->status().unsent_detail == 0);
  CHECK(run.tap.spans() == 2 * 1000 * 200);
  // The viewer without credits gets control and summaries up to its window, and no detail.
  int control = 0, detail = 0;
  never_grants.await(
      [&](const link::Incoming& in) {
        if (in.header && in.header->type == link::Type::viewer_message) ++(in.header->b == 0 ? detail : control);
        return false;
      },
      300ms);
  CHECK(control > 0);
  CHECK(control <= 512);
  CHECK(detail == 0);
}

TEST_CASE("a viewer whose sink is slow misses detail, gets a gap for it, and all detail in the end") {
  class Slow : public Collector {
   public:
    void accept(const Message& message) override {
      if (std::holds_alternative<SpanBatch>(message.event)) std::this_thread::sleep_for(4ms);
      Collector::accept(message);
    }
  };
  RelayOptions options;
  options.ring_bytes = 60'000;
  Run run({}, options);
  Slow seen;
  const auto viewer = view(run.relay->join(), seen, 2);
  REQUIRE(is_live(*viewer));
  run.start_worker();
  for (int i = 0; i < 60; ++i) {
    run.train(5, 100);
    std::this_thread::sleep_for(5ms);
  }
  CHECK(eventually([&] { return run.tap.spans() == 2 * 300 * 100; }));
  CHECK(eventually([&] { return run.relay->status().missed > 0; }));
  CHECK(eventually([&] { return seen.spans() == 2 * 300 * 100; }));
  CHECK(seen.summaries() == 600);
  CHECK_FALSE(seen.all<Gap>().empty());
  CHECK_FALSE(seen.any_double());
}

TEST_CASE("a viewer finds a relay that starts late, and a worker too") {
  const Directory directory;
  const Join join{"ipc://" + directory.file("relay"), {}, {}};
  Collector seen;
  const auto viewer = view(join, seen);
  PublisherOptions options;
  options.session = a_session();
  options.relay = join;
  options.relay.run_secret = new_run_secret();
  Publisher worker(options);
  worker.control(0, a_hello(1));
  worker.lane(0, Lane::compute).span(a_span(0, 0, 1));
  std::this_thread::sleep_for(150ms);
  CHECK(viewer->status().state == ViewerState::connecting);
  RelayOptions relay_options;
  relay_options.endpoint = join.endpoint;
  relay_options.run_secret = options.relay.run_secret;
  Relay relay(relay_options);
  CHECK(eventually([&] { return seen.all<Hello>().size() == 1 && seen.spans() == 1; }));
  CHECK(is_live(*viewer));
}

TEST_CASE(
    "after a relay died, worker and viewer continue with its successor, and the viewer misses nothing and gets nothing "
    "twice") {
  Run run("tcp://127.0.0.1:*");
  run.relay_options.endpoint = run.relay->endpoint();
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  run.start_worker();
  run.worker->control(0, a_hello(2));
  run.train(50, 100);
  REQUIRE(eventually([&] { return seen.spans() == 2 * 50 * 100 && seen.summaries() == 100; }));
  run.relay.reset();
  run.train(50, 50);
  std::this_thread::sleep_for(100ms);
  run.start_relay();
  run.train(50, 50);
  // The new relay's log is empty. What the old one had acknowledged is read from the spools, at the end or when a gap
  // is detected.
  CHECK(eventually([&] { return seen.summaries() == 300 && seen.spans() == 2 * (50 * 100 + 100 * 50); }));
  CHECK_FALSE(seen.any_double());
  CHECK(eventually([&] { return viewer->status().snapshots >= 2; }));
  CHECK(eventually([&] { return viewer->status().doubled > 0; }));
}

TEST_CASE("a viewer that the relay removed for its silence continues where it was") {
  RelayOptions options;
  options.viewer_limit = 300ms;
  Run run({}, options);
  run.start_worker();
  run.train(10, 10);
  // A sink that sleeps delays its viewer's answers.
  class Napping : public Collector {
   public:
    void accept(const Message& message) override {
      if (const auto* summary = std::get_if<StepSummary>(&message.event);
          summary && summary->step == 5 && summary->rank == 1)
        std::this_thread::sleep_for(900ms);
      Collector::accept(message);
    }
  } seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(eventually([&] { return run.relay->status().forgotten >= 1; }));
  run.train(10, 10);
  CHECK(eventually([&] { return seen.summaries() == 40 && seen.spans() == 400; }));
  CHECK_FALSE(seen.any_double());
  CHECK(eventually([&] { return viewer->status().snapshots >= 2; }));
}
