// Another process of this machine at a run's socket: it knows all that the socket sends, but not the run's secret.
#include <signal.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>
#include <zmq.hpp>

#include "telemetry/event/codec.hpp"
#include "telemetry/stream/link.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope;
using namespace rankscope::test;

namespace {

/// The attacker's own ZeroMQ socket.
class Attacker {
 public:
  explicit Attacker(const std::string& endpoint) : socket_(context_, zmq::socket_type::dealer) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 2000);
    socket_.connect(endpoint);
  }
  void send(const link::Header& header, const std::string& body) {
    link::send(socket_, header, std::as_bytes(std::span(body)));
  }
  /// The next message's header and body, if one arrives soon.
  std::optional<std::pair<link::Header, std::string>> await() {
    zmq::message_t message;
    if (!socket_.recv(message)) return std::nullopt;
    const auto header = link::unpack({static_cast<const std::byte*>(message.data()), message.size()});
    return header ? std::optional(std::pair(*header, message.to_string().substr(link::header_bytes))) : std::nullopt;
  }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_;
};

/// The session, from the snapshot for every viewer.
std::string session_from(const std::string& endpoint) {
  Attacker viewer(endpoint);
  std::string session;
  wait_until(a_minute, [&] {
    viewer.send({link::Type::viewer_hello, 1, 0, 0, 0}, "");
    if (const auto received = viewer.await(); received && received->first.type == link::Type::snapshot)
      session = received->second;
    return !session.empty();
  });
  return session;
}

std::string piece_of(const Message& message) {
  std::vector<std::byte> body;
  link::append(body, {std::nullopt, encode(message)});
  return {reinterpret_cast<const char*>(body.data()), body.size()};
}

}  // namespace

TEST_CASE("forged workers and sequence numbers change nothing in a run, and are reported") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  constexpr int steps = 60;
  const std::string file = (folder / "run.mcap").string();
  Process run(folder, engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--comm", comm, "--steps",
                                                       std::to_string(steps), "--json", "--publish",
                                                       "tcp://127.0.0.1:*", "--record", file})));
  const std::string endpoint = run.line_of_errors("viewers: ", a_minute);
  REQUIRE(endpoint.starts_with("tcp://127.0.0.1:"));
  const std::string text = session_from(endpoint);
  REQUIRE(text.size() == sizeof(SessionId));
  SessionId session{};
  std::copy(text.begin(), text.end(), session.begin());

  // Summaries of a rank with the sequence numbers that it will use itself, a rank's end, and the session's.
  Attacker forger(endpoint);
  forger.send({link::Type::worker_hello, 7}, text);
  std::optional<std::pair<link::Header, std::string>> challenged;
  REQUIRE(wait_until(a_minute, [&] { return (challenged = forger.await()).has_value(); }));
  CHECK(challenged->first.type == link::Type::worker_challenge);
  forger.send({link::Type::worker_proof, 7}, text + std::string(32, 'x'));
  std::uint64_t number = 0;
  for (std::uint64_t sequence = 1; sequence <= 400; ++sequence) {
    StepSummary summary;
    summary.rank = 3;
    summary.step = static_cast<std::uint32_t>(sequence);
    summary.loss = 666;
    forger.send({link::Type::worker_messages, 7, ++number, 1}, piece_of({session, 3, sequence, 0, summary}));
  }
  forger.send({link::Type::worker_messages, 7, ++number, 1},
              piece_of({session, 3, 401, 0, End{3, false, 0, "forged", false}}));
  forger.send({link::Type::worker_messages, 7, ++number, 1},
              piece_of({session, -1, 1, 0, End{-1, false, 0, "forged", false}}));
  bool refused = false;
  for (int i = 0; i < 20 && !refused; ++i)
    if (const auto received = forger.await()) refused = received->first.type == link::Type::refused;
  CHECK(refused);

  const Ended ended = run.wait(a_minute);
  INFO(ended.err);
  CHECK(ended.status == 0);
  CHECK(ended.err.find("did not prove to be workers") != std::string::npos);
  const json report = only_object(ended);
  CHECK(report["telemetry"]["dropped"] == 0);
  const std::int64_t forged = report["forged_messages"];
  CHECK(forged >= 400);
  CHECK_THAT(ended.err, ContainsText(std::to_string(forged) + " messages were ignored"));
  const json info = only_object(trace_tool(folder, {"info", file, "--json"}));
  CHECK(info["forged_messages"] == forged);
  CHECK(info["damage"]["any"] == false);
  CHECK(only_object(trace_tool(folder, {"stats", file, "--json"}))["forged_messages"] == forged);
  REQUIRE(report["steps"].size() == steps);
  for (const auto& step : report["steps"]) {
    REQUIRE(step["loss"].is_number());
    REQUIRE(step["loss"].get<double>() < 100);
  }
}

TEST_CASE("the run's secret is in no argument list, and reaches the workers by their environment") {
  const Folder folder;
  const std::string comm = GENERATE(as<std::string>{}, "loopback", "mpi");
  if (comm == "mpi" && !can_use_mpi()) return;
  INFO(comm);
  Process run(folder, engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--comm", comm, "--steps", "100000",
                                                       "--publish", "tcp://127.0.0.1:*"})));
  REQUIRE(!run.line_of_errors("viewers: ", a_minute).empty());
  std::string secret;
  REQUIRE(wait_until(a_minute, [&] {
    for (const pid_t process : folder.processes()) {
      if (process == run.pid() || arguments_of(process).find("worker") == std::string::npos) continue;
      const std::string job = environment_of(process, "RANKSCOPE_JOB");
      if (job.empty()) continue;
      const std::string join = parse_json(job).at("join");
      if (join.size() > 40) secret = join.substr(join.size() - 40);  // only this after the #: there are no keys here
    }
    return secret.size() >= 40;
  }));
  for (const pid_t process : folder.processes()) {
    INFO(arguments_of(process));
    CHECK(arguments_of(process).find(secret) == std::string::npos);
  }
  // Threads of one process connect to the relay at a place that only this user can enter.
  if (comm == "loopback") {
    bool found = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.is_socket() && entry.path().filename() == "workers") {
        found = true;
        const auto mode = std::filesystem::status(entry.path().parent_path()).permissions();
        CHECK((mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all)) ==
              std::filesystem::perms::none);
      }
    CHECK(found);
  }
  run.signal(SIGTERM);
  CHECK(run.wait(a_minute).status == status::stopped);
}

TEST_CASE("a worker that has another secret than the run's says once why it is not admitted") {
  const Folder folder;
  Process run(folder, engine_command(with_small_model(
                          {"run", lab("pipeline-1f1b"), "--steps", "100000", "--publish", "tcp://127.0.0.1:*"})));
  REQUIRE(!run.line_of_errors("viewers: ", a_minute).empty());
  json job;
  REQUIRE(wait_until(a_minute, [&] {
    for (const pid_t process : folder.processes())
      if (const std::string text = environment_of(process, "RANKSCOPE_JOB"); process != run.pid() && !text.empty())
        job = parse_json(text);
    return !job.is_null();
  }));
  std::string join = job.at("join");
  join.replace(join.size() - 40, 40, std::string(40, 'x'));
  job["join"] = join;
  job["directory"] = (folder / "none").string();
  Process stranger(folder, {program("rankscope-engine"), "worker"},
                   {.environment = {"RANKSCOPE_JOB=" + job.dump()}, .input = {}});
  const std::string line = stranger.line_of_errors("rankscope-engine: not accepted: ", a_minute);
  CHECK_THAT(line, ContainsText("this peer does not know the secret of the run"));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // five more attempts
  stranger.signal(SIGKILL);
  const std::string errors = stranger.wait(a_minute).err;
  INFO(errors);
  CHECK(errors.find("not accepted") == errors.rfind("not accepted"));
  run.signal(SIGTERM);
  CHECK(run.wait(a_minute).status == status::stopped);
}

TEST_CASE("a viewer's key that is revoked during the run is rejected, and the run continues") {
  const Folder folder;
  const std::string ada = (folder / "ada.join").string(), bob = (folder / "bob.join").string();
  Process run(folder, engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--steps", "100000", "--publish",
                                                       "tcp://127.0.0.1:*", "--join-file", ada, "--join-file", bob})));
  REQUIRE(!run.line_of_errors("viewers: ", a_minute).empty());
  struct stat info {};
  for (const std::string& file : {ada, bob}) {
    REQUIRE(stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
  }
  const Ended revoked = trace_tool(folder, {"revoke", ada});
  INFO(revoked.err);
  CHECK(revoked.status == 0);
  // From outside: a client with that key fails in the handshake.
  const auto comes_in = [&](const std::string& file) {
    const Join join = read_join_file(file);
    zmq::context_t context{1};
    zmq::socket_t socket(context, zmq::socket_type::dealer);
    link::set_up_client(socket, join);
    socket.set(zmq::sockopt::immediate, false);
    socket.set(zmq::sockopt::rcvtimeo, 2000);
    socket.connect(join.endpoint);
    const auto head = link::pack({link::Type::viewer_hello, 1, 0, 0, 0});
    socket.send(zmq::buffer(head));
    zmq::message_t answer;
    return socket.recv(answer).has_value();
  };
  CHECK(wait_until(a_minute, [&] { return !comes_in(ada); }));
  CHECK(wait_until(a_minute, [&] { return comes_in(bob); }));
  run.signal(SIGTERM);
  CHECK(run.wait(a_minute).status == status::stopped);
}

TEST_CASE("a recording into a pipe that nobody reads, or over the scenario, is refused at once") {
  const Folder folder;
  const std::string pipe = (folder / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const Ended to_pipe =
      engine(folder, with_small_model({"run", lab("pipeline-1f1b"), "--steps", "3", "--record", pipe}));
  CHECK(to_pipe.status == 2);
  CHECK(to_pipe.err.find("is a pipe") != std::string::npos);
  const std::string text =
      "[model]\nlayers = 2\nwidth = 32\n[plan]\ndata = 1\nmicro_batches = 1\n[train]\nglobal_batch = 2\nsteps = 2\n";
  const std::string scenario = folder.file("mine.toml", text);
  const Ended over = engine(folder, {"run", scenario, "--record", scenario});
  CHECK(over.status == 2);
  CHECK(over.err.find("is the input") != std::string::npos);
  CHECK(std::filesystem::file_size(scenario) == text.size());
}

TEST_CASE("too few file descriptors are named at once, with how many are needed") {
  if (!can_use_mpi()) return;
  const Folder folder;
  const std::string limited = "ulimit -n 24; exec \"$0\" \"$@\"";
  std::vector<std::string> command{"/bin/bash", "-c", limited};
  for (std::string& word :
       engine_command(with_small_model({"run", lab("pipeline-1f1b"), "--comm", "mpi", "--steps", "3"})))
    command.push_back(word);
  const Ended ended = Process(folder, command).wait(a_minute);
  INFO(ended.err);
  CHECK(ended.in_time);
  CHECK(ended.status == 2);
  CHECK(ended.err.find("may open 24") != std::string::npos);
  CHECK(ended.err.find("need 48") != std::string::npos);
  // A soft limit is raised.
  command[2] = "ulimit -Sn 24; exec \"$0\" \"$@\"";
  CHECK(Process(folder, command).wait(a_minute).status == 0);
}
