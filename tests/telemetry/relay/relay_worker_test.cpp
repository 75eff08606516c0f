// What a relay does with a worker's messages: out of order, duplicate, lost, or faster than its tap.
#include <atomic>

#include "tests/telemetry/relay/relay_support.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("disordered and duplicate batches give the same result, and missing ones are a gap") {
  RelayOptions options;
  options.hole_limit = 1s;
  Run run({}, options, false);
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  Stranger worker(run.relay->join());
  REQUIRE(worker.handshake(run.relay->worker_join().run_secret));
  std::uint64_t number = 0;
  const auto send = [&](std::uint64_t sequence) {
    Message m{a_session(), 3, sequence, 0, {}};
    if (sequence % 2 == 0)
      m.event = a_summary(3, static_cast<std::uint32_t>(sequence));
    else
      m.event = SpanBatch{{}, {}, {a_span(3, 0, static_cast<std::int64_t>(sequence))}};
    worker.send({link::Type::worker_messages, 1, ++number, 1}, body_of({m}));
  };
  for (std::uint64_t sequence : {5, 1, 5, 2, 9, 4, 3, 3, 1, 10, 12}) send(sequence);  // 6, 7, 8 and 11 are missing
  CHECK(eventually([&] { return run.relay->status().messages == 8; }));
  CHECK(eventually([&] { return run.relay->status().doubled == 3; }));
  REQUIRE(eventually([&] { return seen.all<Gap>().size() == 2; }));
  CHECK(eventually([&] { return run.relay->status().lost == 4; }));
  const auto gaps = seen.all<Gap>();
  CHECK(gaps[0].rank == 3);
  CHECK(gaps[0].first_sequence == 6);
  CHECK(gaps[0].last_sequence == 8);
  CHECK(gaps[1].first_sequence == 11);
  CHECK(gaps[1].last_sequence == 11);
  CHECK(seen.spans() == 4);
  CHECK(seen.summaries() == 4);
  CHECK_FALSE(seen.any_double());
  send(7);  // late, but still accepted
  CHECK(eventually([&] { return seen.spans() == 5; }));
}

TEST_CASE("messages beyond the relay's window are read from the spool: the tap loses nothing") {
  RelayOptions options;
  options.worker_window = 2;
  Run run({}, options);
  auto publisher = run.publisher_options();
  run.worker = std::make_unique<Publisher>(publisher);
  run.train(2000, 20);
  REQUIRE(run.worker->close(0ms) == false);  // ends immediately, with many unsent messages
  run.worker.reset();
  run.relay->finish(20s);
  CHECK(run.tap.summaries() == 4000);
  CHECK(run.tap.spans() == 2 * 2000 * 20);
  CHECK_FALSE(run.tap.any_double());
  CHECK(run.relay->status().recovered > 0);
}

TEST_CASE("a tap that is slow, or blocks for longer than the worker's time limit, loses nothing and repeats little") {
  class Slow : public Collector {
   public:
    void accept(const Message& message) override {
      std::this_thread::sleep_for(message.sequence == 50 ? 1300ms : 3ms);
      // A busy machine can cause standstills of its own.
      const auto now = std::chrono::steady_clock::now();
      if (now - last_ > 500ms) ++standstills;
      last_ = now;
      Collector::accept(message);
    }
    std::atomic<int> standstills = 0;

   private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  } tap;
  const Directory directory;
  RelayOptions options;
  options.endpoint = "ipc://" + directory.file("relay");
  options.session = a_session();
  Relay relay(options, {&tap});
  PublisherOptions worker_options;
  worker_options.session = a_session();
  worker_options.relay = relay.worker_join();
  worker_options.period = 2ms;
  worker_options.silence_limit = 600ms;
  constexpr std::uint32_t steps = 700;  // 2.1 s at the tap's speed: more than three times the worker's limit
  Publisher worker(worker_options);
  for (std::uint32_t step = 0; step < steps; ++step) worker.summary(a_summary(0, step));
  CHECK(worker.close(60s));
  CHECK(eventually([&] { return tap.summaries() == steps; }));
  CHECK_FALSE(tap.any_double());
  INFO(worker.status().sent << " messages sent for " << steps << ", " << tap.standstills << " standstills");
  // A standstill repeats one window; slowness alone repeats nothing.
  CHECK(tap.standstills >= 1);
  CHECK(worker.status().sent <= steps + tap.standstills * static_cast<std::int64_t>(options.worker_window));
}
