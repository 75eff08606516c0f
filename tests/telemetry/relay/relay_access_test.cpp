// Which clients a relay serves, and what it refuses from each kind of client.
#include "telemetry/relay/revoked_keys.hpp"
#include "tests/telemetry/relay/relay_support.hpp"

using namespace rankscope;
using namespace rankscope::test;

TEST_CASE("garbage on the socket is counted and ignored") {
  Run run;
  run.start_worker();
  run.train(5, 10);
  Stranger stranger(run.relay->join());
  const std::string noise(1000, '\x5A');
  const auto header = link::pack({link::Type::worker_messages, 1, 1, 1});
  const std::string good_header(reinterpret_cast<const char*>(header.data()), header.size());
  for (int i = 0; i < 50; ++i) {
    stranger.send_raw({"x"});
    stranger.send_raw({"", "", "", "", ""});
    stranger.send_raw({noise, noise});
    stranger.send_raw({good_header, noise, noise});
    stranger.send_raw({good_header.substr(0, 39)});
  }
  stranger.send({link::Type::snapshot, 1}, noise);            // only relays send this
  stranger.send({link::Type::worker_hello, 1}, "too short");  // too short for a session id
  CHECK(eventually([&] { return run.relay->status().garbage >= 252; }));
  // As a worker that knows the run's secret it is admitted, and each of its damaged messages is refused.
  REQUIRE(stranger.handshake(run.relay->worker_join().run_secret, 2));
  const auto before = run.relay->status().garbage;
  for (std::uint64_t n = 1; n <= 20; ++n) stranger.send({link::Type::worker_messages, 2, n, 1}, noise);
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
  REQUIRE(viewer.send({link::Type::viewer_hello, 1, 0, 0, 10}));
  REQUIRE(viewer.await([](const link::Incoming& in) { return in.header && in.header->type == link::Type::snapshot; }));
  viewer.send({link::Type::worker_hello, 2}, session_text());
  viewer.send({link::Type::worker_messages, 2, 1, 1}, body_of({{a_session(), 0, 1, 0, a_summary(0, 7)}}));
  CHECK(eventually([&] { return run.relay->status().garbage >= 2; }));
  CHECK(run.tap.summaries() == 0);
}

TEST_CASE("a worker of another session is refused") {
  Run run;
  Stranger worker(run.relay->join());
  const SessionId other = a_session(99);
  REQUIRE(worker.send({link::Type::worker_hello, 1}, {reinterpret_cast<const char*>(other.data()), other.size()}));
  std::string why;
  CHECK(worker.await([&](const link::Incoming& in) {
    if (in.header && in.header->type == link::Type::refused) why = in.body;
    return !why.empty();
  }));
  CHECK(why.find(to_string(a_session())) != std::string::npos);
}

TEST_CASE("with keys, listed viewers and workers are admitted, and nobody else is served") {
  const RelayKeys keys = new_relay_keys();
  RelayOptions options;
  options.keys = keys.relay;
  options.admitted = keys.admitted();
  Run run("tcp://127.0.0.1:*", options);
  run.start_worker(keys.worker);
  run.worker->control(0, a_hello(2));
  run.train(5, 10);
  Collector seen, nothing;
  const auto viewer = view(parse_join(to_string(run.relay->join(keys.viewers[0]))), seen);
  CHECK(eventually([&] { return seen.summaries() == 10 && seen.spans() == 100; }));

  SECTION("an unlisted key is refused with the reason") {
    const auto unlisted = view(run.relay->join(new_curve_keys()), nothing);
    CHECK(eventually([&] { return unlisted->status().state == ViewerState::refused; }));
    CHECK(unlisted->status().why.find("not accept") != std::string::npos);
    CHECK(eventually([&] { return run.relay->status().rejected >= 1; }));
  }
  SECTION("a client without keys gets nothing") {
    const auto bare = view({run.relay->endpoint(), {}, {}}, nothing);
    CHECK(eventually([&] { return bare->status().why.find("keys") != std::string::npos; }));
    CHECK(bare->status().state != ViewerState::live);
  }
  SECTION("a client with another relay's public key gets nothing") {
    Join wrong = run.relay->join(keys.viewers[0]);
    wrong.server_key = new_curve_keys().public_key;
    const auto lost = view(wrong, nothing);
    std::this_thread::sleep_for(400ms);
    CHECK(lost->status().state != ViewerState::live);
  }
  SECTION("a viewer's key cannot send as a worker") {
    Stranger forger(run.relay->join(keys.viewers[0]));
    forger.send({link::Type::worker_hello, 1}, session_text());
    std::string why;
    CHECK(forger.await([&](const link::Incoming& in) {
      if (in.header && in.header->type == link::Type::refused) why = in.body;
      return !why.empty();
    }));
    CHECK(why == "this key is not a worker's");
  }
  SECTION("a worker's key cannot view") {
    const auto nosy = view(run.relay->join(keys.worker), nothing);
    CHECK(eventually([&] { return nosy->status().state == ViewerState::refused; }));
  }
  CHECK(nothing.messages().empty());
  run.train(5, 10);
  CHECK(eventually([&] { return seen.summaries() == 20; }));
}

TEST_CASE("a key that is revoked during the run loses its connection and gets no new one; the others continue") {
  const RelayKeys keys = new_relay_keys(2);
  RelayOptions options;
  options.keys = keys.relay;
  options.admitted = keys.admitted();
  const Directory directory;
  const std::string ada = directory.file("ada.join"), bob = directory.file("bob.join");
  options.join_files = {ada, bob};
  Run run("tcp://127.0.0.1:*", options);
  write_join_file(ada, run.relay->join(keys.viewers[0]));
  write_join_file(bob, run.relay->join(keys.viewers[1]));
  run.start_worker(keys.worker);
  run.train(5, 10);
  Collector seen_by_ada, seen_by_bob, nothing;
  const auto viewer_ada = view(read_join_file(ada), seen_by_ada), viewer_bob = view(read_join_file(bob), seen_by_bob);
  REQUIRE(eventually([&] { return seen_by_ada.summaries() == 10 && seen_by_bob.summaries() == 10; }));

  CHECK(revoke_key(ada, {}) == keys.viewers[0].public_key);
  REQUIRE(eventually([&] { return viewer_ada->status().state == ViewerState::refused; }));
  CHECK(viewer_ada->status().why == "this key was revoked");
  run.train(5, 10);
  CHECK(eventually([&] { return seen_by_bob.summaries() == 20; }));
  CHECK(seen_by_ada.summaries() == 10);
  CHECK(eventually([&] { return run.relay->status().revoked == 1; }));
  const auto again = view(read_join_file(ada), nothing);
  CHECK(eventually([&] { return again->status().state == ViewerState::refused; }));
  CHECK(nothing.messages().empty());
}

TEST_CASE("a failed revocation is reported in one line") {
  const Directory directory;
  const std::string file = directory.file("run.join");
  CHECK_THROWS_AS(revoke_key(file, {}), JoinError);
  write_join_file(file, {"tcp://127.0.0.1:1", {}, {}});
  CHECK_THROWS_WITH(revoke_key(file, {}), ContainsText("contains no key"));
  CHECK_THROWS_WITH(revoke_key(file, "Ada"), ContainsText("no name"));
}

TEST_CASE("a relay does not open beyond this machine without keys") {
  RelayOptions options;
  options.endpoint = "tcp://*:*";
  CHECK_THROWS_AS(Relay(options), JoinError);
  options.endpoint = "tcp://0.0.0.0:0";
  CHECK_THROWS_AS(Relay(options), JoinError);
}
