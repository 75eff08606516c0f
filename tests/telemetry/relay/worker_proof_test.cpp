// Only a client that knows the run's secret may send as a worker, on any endpoint.
#include "tests/telemetry/relay/relay_support.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

/// A summary of rank 0 with a sequence number that the forger chooses.
std::string forged_summary(std::uint64_t sequence) { return body_of({{a_session(), 0, sequence, 0, a_summary(0, 7)}}); }

std::string refusal(Stranger& stranger) {
  std::string why;
  stranger.await([&](const link::Incoming& in) {
    if (in.header && in.header->type == link::Type::refused) why = in.body;
    return !why.empty();
  });
  return why;
}

}  // namespace

TEST_CASE("without the run's secret nobody is a worker, and forged messages change nothing") {
  const bool tcp = GENERATE(false, true);
  const bool keys_wanted = GENERATE(false, true);
  RelayOptions options;
  RelayKeys keys;
  if (keys_wanted) {
    keys = new_relay_keys();
    options.keys = keys.relay;
    options.admitted = keys.admitted();
  }
  Run run(tcp ? "tcp://127.0.0.1:*" : "", options);
  run.start_worker(keys.worker);
  run.train(5, 10);
  REQUIRE(eventually([&] { return run.tap.summaries() == 10; }));

  // Even with the worker's CURVE key, which does not contain the secret.
  Stranger forger(run.relay->join(keys.worker));
  // Immediately, after only a hello, after an invented proof, and after a proof with another secret.
  forger.send({link::Type::worker_messages, 1, 1, 1}, forged_summary(100));
  CHECK(refusal(forger).find("without proof") != std::string::npos);
  forger.send({link::Type::worker_hello, 1}, session_text());
  forger.send({link::Type::worker_messages, 1, 1, 1}, forged_summary(101));
  CHECK(refusal(forger).find("without proof") != std::string::npos);
  forger.send({link::Type::worker_proof, 1}, session_text() + std::string(32, 'x'));
  CHECK(refusal(forger).find("secret") != std::string::npos);
  CHECK_FALSE(forger.handshake(new_run_secret(), 2));
  for (std::uint64_t n = 1; n <= 50; ++n) forger.send({link::Type::worker_messages, 2, n, 1}, forged_summary(200 + n));
  CHECK(eventually([&] { return run.relay->status().forged >= 54; }));

  run.train(5, 10);
  CHECK(eventually([&] { return run.tap.summaries() == 20; }));
  CHECK(run.relay->status().doubled == 0);
  CHECK(run.relay->status().lost == 0);
  CHECK(eventually([&] { return run.relay->status().workers == 1; }));
  CHECK(run.tap.all<Gap>().empty());
}

TEST_CASE("an answer to a challenge is invalid on another connection and at another relay") {
  Run run("tcp://127.0.0.1:*");
  const std::string secret = run.relay->worker_join().run_secret;
  Stranger worker(run.relay->join()), thief(run.relay->join());
  // The thief knows what an honest worker receives and sends.
  ProofCode challenge;
  REQUIRE(worker.send({link::Type::worker_hello, 1}, session_text()));
  REQUIRE(worker.await([&](const link::Incoming& in) {
    if (!in.header || in.header->type != link::Type::worker_challenge) return false;
    std::memcpy(challenge.data(), in.body.data(), challenge.size());
    return true;
  }));
  const ProofCode answer = answer_challenge(secret, a_session(), 1, challenge);
  const std::string proof = session_text() + std::string(reinterpret_cast<const char*>(answer.data()), answer.size());
  thief.send({link::Type::worker_hello, 1}, session_text());
  thief.send({link::Type::worker_proof, 1}, proof);
  CHECK(refusal(thief).find("secret") != std::string::npos);
  // Answers from an earlier connection are also invalid.
  worker.send({link::Type::worker_proof, 2}, proof);
  CHECK(refusal(worker).find("secret") != std::string::npos);
  CHECK(run.relay->status().workers == 0);
  worker.send({link::Type::worker_proof, 1}, proof);
  CHECK(eventually([&] { return run.relay->status().workers == 1; }));
  // A repeated proof changes nothing: the worker's sequence numbers continue.
  worker.send({link::Type::worker_messages, 1, 1, 1}, forged_summary(1));
  worker.send({link::Type::worker_proof, 1}, proof);
  worker.send({link::Type::worker_messages, 1, 2, 1}, forged_summary(2));
  CHECK(eventually([&] { return run.tap.summaries() == 2; }));
}

TEST_CASE("a worker with another secret, or none, gets the reason once") {
  Run run;
  const std::string secret = GENERATE(as<std::string>{}, new_run_secret(), "");
  std::atomic<int> times = 0;
  std::string why;
  PublisherOptions options;
  options.session = a_session();
  options.relay = run.relay->worker_join();
  options.relay.run_secret = secret;
  options.period = 20ms;
  options.close_limit = 0ms;
  options.refused = [&](const std::string& reason) {
    why = reason;
    ++times;
  };
  {
    Publisher worker(options);
    worker.control(0, a_hello(1));
    CHECK(eventually([&] { return times > 0; }));
    std::this_thread::sleep_for(1s);  // it keeps trying
  }
  CHECK(times == 1);
  CHECK(why.find(secret.empty() ? "does not contain the secret" : "does not know the secret") != std::string::npos);
  CHECK(run.relay->status().workers == 0);
}

TEST_CASE("neither the snapshot nor a viewer's join string holds the run's secret") {
  const RelayKeys keys = new_relay_keys();
  RelayOptions options;
  options.keys = keys.relay;
  options.admitted = keys.admitted();
  Run run("tcp://127.0.0.1:*", options);
  const std::string secret = run.relay->worker_join(keys.worker).run_secret;
  REQUIRE(secret.size() == 40);
  CHECK(to_string(run.relay->join(keys.viewers[0])).find(secret) == std::string::npos);
  Stranger viewer(run.relay->join(keys.viewers[0]));
  REQUIRE(viewer.send({link::Type::viewer_hello, 1, 0, 0, 10}));
  std::string received;
  viewer.await([&](const link::Incoming& in) {
    received += in.body;
    return in.header && in.header->type == link::Type::snapshot;
  });
  CHECK(received.find(secret) == std::string::npos);
  CHECK(new_run_secret() != new_run_secret());
}

TEST_CASE("viewers cannot take the workers' places, and a viewer that sends as a worker stays a viewer") {
  Run run;
  Stranger viewer(run.relay->join());
  REQUIRE(viewer.send({link::Type::viewer_hello, 1, 0, 0, 10}));
  REQUIRE(viewer.await([](const link::Incoming& in) { return in.header && in.header->type == link::Type::snapshot; }));
  CHECK_FALSE(viewer.handshake(run.relay->worker_join().run_secret, 2));
  CHECK(eventually([&] { return run.relay->status().forged >= 1; }));
}

TEST_CASE("workers of this machine have an endpoint of their own, and viewers elsewhere do not reach it") {
  const Directory directory;
  const RelayKeys keys = new_relay_keys();
  RelayOptions options;
  options.worker_endpoint = "ipc://" + directory.file("workers");
  options.keys = keys.relay;
  options.admitted = keys.admitted();
  Run run("tcp://127.0.0.1:*", options);
  const Join join = run.relay->worker_join(keys.worker);
  CHECK(join.endpoint == options.worker_endpoint);
  CHECK_FALSE(join.secured());
  run.start_worker(keys.worker);
  run.train(5, 10);
  Collector seen, nothing;
  const auto viewer = view(run.relay->join(keys.viewers[0]), seen);
  CHECK(eventually([&] { return seen.summaries() == 10; }));
  const auto bare = view({run.relay->endpoint(), {}, {}}, nothing);  // the viewers' endpoint needs keys anyway
  CHECK(eventually([&] { return bare->status().why.find("keys") != std::string::npos; }));
  CHECK(nothing.messages().empty());
}

TEST_CASE("a client of an earlier version of the link gets the error that it is too old") {
  const char version = GENERATE('1', '2');
  Run run;
  Stranger old(run.relay->join());
  auto hello = link::pack({link::Type::viewer_hello, 1, 0, 0, 10});
  hello[3] = static_cast<std::byte>(version);
  old.send_raw({{reinterpret_cast<const char*>(hello.data()), hello.size()}, ""});
  const std::vector<std::string> answer = old.await_frames();
  REQUIRE(answer.size() == 2);
  CHECK(answer[0].substr(0, 4) == std::string("RSL") + version);
  CHECK(answer[1].find("version 3") != std::string::npos);
}
