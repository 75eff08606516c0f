// Relay, workers and viewers with real sockets.
#include "telemetry/relay/relay.hpp"

#include <atomic>
#include <chrono>
#include <zmq.hpp>

#include "telemetry/stream/link.hpp"
#include "telemetry/stream/publisher.hpp"
#include "telemetry/stream/spool.hpp"
#include "telemetry/stream/viewer_client.hpp"
#include "tests/catch.hpp"
#include "tests/telemetry/stream/support.hpp"

using namespace rankscope;
using namespace rankscope::test;
using namespace std::chrono_literals;

namespace {

// A run of `ranks` ranks in one process, at a relay of its own.
class Run {
 public:
  explicit Run(const std::string& endpoint = {}, RelayOptions options = {}, bool spools_reachable = true) {
    options.endpoint = endpoint.empty() ? "ipc://" + directory.file("relay") : endpoint;
    options.session = a_session();
    if (spools_reachable) options.spool_directory = directory.file("spool");
    relay_options = options;
    start_relay();
  }
  void start_relay() { relay = std::make_unique<Relay>(relay_options, std::vector<EventSink*>{&tap}); }
  PublisherOptions publisher_options(const CurveKeys& keys = {}) const {
    PublisherOptions o;
    o.session = a_session();
    o.spool_directory = directory.file("spool");
    o.relay = relay->join(keys);
    o.period = 5ms;
    return o;
  }
  void start_worker(const CurveKeys& keys = {}) { worker = std::make_unique<Publisher>(publisher_options(keys)); }

  // `steps` steps of all ranks with `spans` spans each, no faster than the publisher's thread gets its share of a busy
  // machine: what the rings drop is another test's subject.
  void train(std::uint32_t steps, int spans, int ranks = 2) {
    for (std::uint32_t end = step + steps; step < end; ++step)
      for (std::int32_t rank = 0; rank < ranks; ++rank) {
        LaneWriter& lane = worker->lane(rank, Lane::compute);
        for (int i = 0; i < spans; ++i) lane.span(a_span(rank, step, total[rank]++));
        worker->summary(a_summary(rank, step));
        const auto room = [&] {
          return worker->counts(0).emitted + worker->counts(1).emitted - worker->status().events < 4000;
        };
        REQUIRE(eventually(room));
      }
  }

  const Directory directory;
  Collector tap;
  RelayOptions relay_options;
  std::unique_ptr<Relay> relay;
  std::unique_ptr<Publisher> worker;
  std::uint32_t step = 0;
  std::map<std::int32_t, std::int64_t> total;
};

// A DEALER of the test's own, which can say anything.
class Stranger {
 public:
  explicit Stranger(const Join& join) : socket_(context_, zmq::socket_type::dealer) {
    link::set_up_client(socket_, join);
    socket_.connect(join.endpoint);
  }
  bool say(const link::Header& header, const std::string& body = {}) {
    return eventually([&] { return link::send(socket_, header, std::as_bytes(std::span(body))); }, 5s);
  }
  void say_raw(const std::vector<std::string>& frames) {
    socket_.set(zmq::sockopt::sndtimeo, 5000);
    for (std::size_t i = 0; i < frames.size(); ++i)
      socket_.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
  // What comes within a limit, until `enough`.
  template <class F>
  bool hear(F enough, std::chrono::milliseconds limit = 5s) {
    return eventually(
        [&] {
          link::Incoming incoming;
          while (link::receive(socket_, incoming))
            if (enough(incoming)) return true;
          return false;
        },
        limit);
  }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_;
};

std::unique_ptr<ViewerClient> view(const Join& join, EventSink& sink, std::uint32_t credits = 64) {
  ViewerOptions options;
  options.join = join;
  options.detail_credits = credits;
  options.silence_limit = 1500ms;
  return std::make_unique<ViewerClient>(options, sink);
}

bool is_live(const ViewerClient& viewer) {
  return eventually([&] { return viewer.status().state == ViewerState::live; });
}

// The body with which a worker says these messages, all of them in no spool.
std::string body_of(const std::vector<Message>& messages) {
  std::vector<std::byte> body;
  for (const Message& message : messages) link::append(body, {std::nullopt, encode(message)});
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

std::string session_text() {
  const SessionId id = a_session();
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

}  // namespace

TEST_CASE("viewer and tap get all that two ranks say, each message once, over ipc and tcp") {
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
  REQUIRE(run.worker->close(10s));
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
    CHECK(phases[0].phases == std::vector<PhaseSpan>{an_unknown_phase(1, 99, 7)});
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
  REQUIRE(eventually([&] { return run.tap.spans() == 2 * 200 * 100; }));
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  CHECK(seen.all<Hello>().size() == 1);
  CHECK(seen.all<ProgramRecord>().size() == 1);
  CHECK(seen.summaries() == 400);
  REQUIRE(eventually([&] { return seen.spans() == 2 * 200 * 100; }));
  CHECK_FALSE(seen.any_double());
  // It was told what was not there yet, and each such gap was filled.
  const auto gaps = seen.all<Gap>();
  CHECK_FALSE(gaps.empty());
  std::map<std::int32_t, std::set<std::uint64_t>> numbers;
  for (const Message& m : seen.messages()) numbers[m.rank].insert(m.sequence);
  for (const Gap& gap : gaps)
    for (auto n = gap.first_sequence; n <= gap.last_sequence; ++n) CHECK(numbers[gap.rank].count(n) == 1);
  // And it goes on living.
  run.train(5, 100);
  CHECK(eventually([&] { return seen.spans() == 2 * 205 * 100 && seen.summaries() == 410; }));
}

TEST_CASE("where the spools cannot be reached, lost detail stays a gap that counts its events") {
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
  REQUIRE(run.worker->close(10s));
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

TEST_CASE("a viewer that never grants credits, and one that never reads, hold nobody up") {
  Run run;
  Stranger never_grants(run.relay->join()), never_reads(run.relay->join());
  REQUIRE(never_grants.say({link::Type::viewer_hello, 1, 0, 0, 0}));
  REQUIRE(never_reads.say({link::Type::viewer_hello, 1, 0, 0, UINT64_MAX}));
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
  // The one without credits gets control and summaries as far as its window, and no detail at all.
  int control = 0, detail = 0;
  never_grants.hear(
      [&](const link::Incoming& in) {
        if (in.header && in.header->type == link::Type::viewer_message) ++(in.header->b == 0 ? detail : control);
        return false;
      },
      300ms);
  CHECK(control > 0);
  CHECK(control <= 512);
  CHECK(detail == 0);
}

TEST_CASE("a viewer whose sink is slow misses detail, is told so, and gets it all in the end") {
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
  CHECK(run.relay->status().missed > 0);
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
  Publisher worker(options);
  worker.control(0, a_hello(1));
  worker.lane(0, Lane::compute).span(a_span(0, 0, 1));
  std::this_thread::sleep_for(150ms);
  CHECK(viewer->status().state == ViewerState::connecting);
  RelayOptions relay_options;
  relay_options.endpoint = join.endpoint;
  Relay relay(relay_options);
  CHECK(eventually([&] { return seen.all<Hello>().size() == 1 && seen.spans() == 1; }));
  CHECK(is_live(*viewer));
}

TEST_CASE(
    "after a relay died, worker and viewer go on with its successor, and the viewer misses nothing and gets nothing "
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
  // The new relay's log begins anew: what the old one had acknowledged comes from the spools, at the end or when a hole
  // shows.
  CHECK(eventually([&] { return seen.summaries() == 300 && seen.spans() == 2 * (50 * 100 + 100 * 50); }));
  CHECK_FALSE(seen.any_double());
  CHECK(viewer->status().snapshots >= 2);
  CHECK(viewer->status().doubled > 0);
}

TEST_CASE("a viewer that the relay forgot for its silence comes back where it was") {
  RelayOptions options;
  options.viewer_limit = 300ms;
  Run run({}, options);
  run.start_worker();
  run.train(10, 10);
  // A sink that sleeps keeps its viewer from answering.
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
  CHECK(viewer->status().snapshots >= 2);
}

TEST_CASE("garbage on the socket is counted and ignored") {
  Run run;
  run.start_worker();
  run.train(5, 10);
  Stranger stranger(run.relay->join());
  const std::string noise(1000, '\x5A');
  const auto header = link::pack({link::Type::worker_messages, 1, 1, 1});
  const std::string good_header(reinterpret_cast<const char*>(header.data()), header.size());
  for (int i = 0; i < 50; ++i) {
    stranger.say_raw({"x"});
    stranger.say_raw({"", "", "", "", ""});
    stranger.say_raw({noise, noise});
    stranger.say_raw({good_header, noise, noise});
    stranger.say_raw({good_header.substr(0, 39), noise});
  }
  stranger.say({link::Type::snapshot, 1}, noise);            // only relays say this
  stranger.say({link::Type::worker_hello, 1}, "too short");  // no session
  CHECK(eventually([&] { return run.relay->status().garbage >= 252; }));
  // As a worker it is let in (ipc has no keys), and its damaged messages are refused one by one.
  REQUIRE(stranger.say({link::Type::worker_hello, 2}, session_text()));
  const auto before = run.relay->status().garbage;
  for (std::uint64_t n = 1; n <= 20; ++n) stranger.say({link::Type::worker_messages, 2, n, 1}, noise);
  CHECK(eventually([&] { return run.relay->status().garbage == before + 20; }));
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  run.train(5, 10);
  CHECK(eventually([&] { return seen.summaries() == 20 && seen.spans() == 200; }));
  CHECK(viewer->status().garbage == 0);
}

TEST_CASE("a viewer can only read") {
  Run run;
  Stranger viewer(run.relay->join());
  REQUIRE(viewer.say({link::Type::viewer_hello, 1, 0, 0, 10}));
  REQUIRE(viewer.hear([](const link::Incoming& in) { return in.header && in.header->type == link::Type::snapshot; }));
  viewer.say({link::Type::worker_hello, 2}, session_text());
  viewer.say({link::Type::worker_messages, 2, 1, 1}, body_of({{a_session(), 0, 1, 0, a_summary(0, 7)}}));
  CHECK(eventually([&] { return run.relay->status().garbage >= 2; }));
  CHECK(run.tap.summaries() == 0);
}

TEST_CASE("a worker of another session is refused") {
  Run run;
  Stranger worker(run.relay->join());
  const SessionId other = a_session(99);
  REQUIRE(worker.say({link::Type::worker_hello, 1}, {reinterpret_cast<const char*>(other.data()), other.size()}));
  std::string why;
  CHECK(worker.hear([&](const link::Incoming& in) {
    if (in.header && in.header->type == link::Type::refused) why = in.body;
    return !why.empty();
  }));
  CHECK(why.find(to_string(a_session())) != std::string::npos);
}

TEST_CASE("disordered and doubled batches make the same picture, and what never comes is a gap") {
  RelayOptions options;
  options.hole_limit = 300ms;
  Run run({}, options, false);
  Collector seen;
  const auto viewer = view(run.relay->join(), seen);
  REQUIRE(is_live(*viewer));
  Stranger worker(run.relay->join());
  REQUIRE(worker.say({link::Type::worker_hello, 1}, session_text()));
  std::uint64_t number = 0;
  const auto send = [&](std::uint64_t sequence) {
    Message m{a_session(), 3, sequence, 0, {}};
    if (sequence % 2 == 0)
      m.event = a_summary(3, static_cast<std::uint32_t>(sequence));
    else
      m.event = SpanBatch{{}, {}, {a_span(3, 0, static_cast<std::int64_t>(sequence))}};
    worker.say({link::Type::worker_messages, 1, ++number, 1}, body_of({m}));
  };
  for (std::uint64_t sequence : {5, 1, 5, 2, 9, 4, 3, 3, 1, 10, 12}) send(sequence);  // 6, 7, 8 and 11 never come
  CHECK(eventually([&] { return run.relay->status().messages == 8; }));
  CHECK(run.relay->status().doubled == 3);
  REQUIRE(eventually([&] { return seen.all<Gap>().size() == 2; }));
  CHECK(run.relay->status().lost == 4);
  const auto gaps = seen.all<Gap>();
  CHECK(gaps[0].rank == 3);
  CHECK(gaps[0].first_sequence == 6);
  CHECK(gaps[0].last_sequence == 8);
  CHECK(gaps[1].first_sequence == 11);
  CHECK(gaps[1].last_sequence == 11);
  CHECK(seen.spans() == 4);
  CHECK(seen.summaries() == 4);
  CHECK_FALSE(seen.any_double());
  send(7);  // late, but not too late
  CHECK(eventually([&] { return seen.spans() == 5; }));
}

TEST_CASE("what the relay's window has no room for comes from the spool: the tap loses nothing") {
  RelayOptions options;
  options.worker_window = 2;
  Run run({}, options);
  auto publisher = run.publisher_options();
  run.worker = std::make_unique<Publisher>(publisher);
  run.train(2000, 20);
  REQUIRE(run.worker->close(0ms) == false);  // gone at once, with much unsaid
  run.worker.reset();
  run.relay->finish(20s);
  CHECK(run.tap.summaries() == 4000);
  CHECK(run.tap.spans() == 2 * 2000 * 20);
  CHECK_FALSE(run.tap.any_double());
  CHECK(run.relay->status().recovered > 0);
}

TEST_CASE(
    "a tap that is slow, or stands still for longer than the worker's patience, loses nothing and repeats little") {
  class Slow : public Collector {
   public:
    void accept(const Message& message) override {
      std::this_thread::sleep_for(message.sequence == 50 ? 1300ms : 3ms);
      // A machine whose processors are elsewhere makes standstills of its own.
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
  worker_options.relay = relay.join();
  worker_options.period = 2ms;
  worker_options.silence_limit = 600ms;
  constexpr std::uint32_t steps = 700;  // 2.1 s at the tap's pace: more than three times the worker's patience
  Publisher worker(worker_options);
  for (std::uint32_t step = 0; step < steps; ++step) worker.summary(a_summary(0, step));
  CHECK(worker.close(20s));
  CHECK(eventually([&] { return tap.summaries() == steps; }));
  CHECK_FALSE(tap.any_double());
  INFO(worker.status().sent << " messages sent for " << steps << ", " << tap.standstills << " standstills");
  // One window again for a standstill; the slowness alone needs no repetition.
  CHECK(tap.standstills >= 1);
  CHECK(worker.status().sent <= steps + tap.standstills * static_cast<std::int64_t>(options.worker_window));
}

TEST_CASE("with keys, listed viewers and workers come in, and nobody else is served") {
  const RelayKeys keys = new_relay_keys();
  RelayOptions options;
  options.keys = keys.relay;
  options.admitted = keys.admitted();
  Run run("tcp://127.0.0.1:*", options);
  run.start_worker(keys.worker);
  run.worker->control(0, a_hello(2));
  run.train(5, 10);
  Collector seen, nothing;
  const auto viewer = view(parse_join(to_string(run.relay->join(keys.viewer))), seen);
  CHECK(eventually([&] { return seen.summaries() == 10 && seen.spans() == 100; }));

  SECTION("an unlisted key is refused, and told why") {
    const auto unlisted = view(run.relay->join(new_curve_keys()), nothing);
    CHECK(eventually([&] { return unlisted->status().state == ViewerState::refused; }));
    CHECK(unlisted->status().why.find("not admit") != std::string::npos);
    CHECK(eventually([&] { return run.relay->status().turned_away >= 1; }));
  }
  SECTION("a client without keys gets nothing") {
    const auto bare = view({run.relay->endpoint(), {}, {}}, nothing);
    CHECK(eventually([&] { return bare->status().why.find("keys") != std::string::npos; }));
    CHECK(bare->status().state != ViewerState::live);
  }
  SECTION("a client with another relay's public key gets nothing") {
    Join wrong = run.relay->join(keys.viewer);
    wrong.server_key = new_curve_keys().public_key;
    const auto lost = view(wrong, nothing);
    std::this_thread::sleep_for(400ms);
    CHECK(lost->status().state != ViewerState::live);
  }
  SECTION("a viewer's key cannot speak as a worker") {
    Stranger forger(run.relay->join(keys.viewer));
    forger.say({link::Type::worker_hello, 1}, session_text());
    std::string why;
    CHECK(forger.hear([&](const link::Incoming& in) {
      if (in.header && in.header->type == link::Type::refused) why = in.body;
      return !why.empty();
    }));
    CHECK(why == "this key is not a worker's");
  }
  SECTION("a worker's key cannot look") {
    const auto nosy = view(run.relay->join(keys.worker), nothing);
    CHECK(eventually([&] { return nosy->status().state == ViewerState::refused; }));
  }
  CHECK(nothing.messages().empty());
  run.train(5, 10);
  CHECK(eventually([&] { return seen.summaries() == 20; }));
}

TEST_CASE("a relay does not open beyond this machine without keys") {
  RelayOptions options;
  options.endpoint = "tcp://*:*";
  CHECK_THROWS_AS(Relay(options), JoinError);
  options.endpoint = "tcp://0.0.0.0:0";
  CHECK_THROWS_AS(Relay(options), JoinError);
}
