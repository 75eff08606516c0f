#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <zmq.hpp>

#include "engine/lesson/lab/attempt_text.hpp"
#include "telemetry/classroom/student.hpp"
#include "telemetry/classroom/teacher.hpp"
#include "telemetry/relay/revoked_keys.hpp"
#include "telemetry/stream/link.hpp"
#include "tests/catch.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::classroom;

namespace {

/// A directory of mode 0700, removed at the end of the test.
struct Room {
  std::string directory = make_private_directory("classroom-");
  ~Room() { std::filesystem::remove_all(directory); }
  TeacherOptions options() const {
    TeacherOptions options;
    options.endpoint = "ipc://" + directory + "/class";
    return options;
  }
};

bool within(const std::function<bool()>& holds, int limit_ms = 10000) {
  return test::wait_until(std::chrono::milliseconds(limit_ms), holds);
}

SharedView some_shared_view() {
  SharedView shared;
  shared.lab = "pipeline-1f1b";
  shared.view = "memory";
  shared.step = 3;
  shared.begin_ns = -100;
  shared.end_ns = 5000;
  shared.step_ns = 9000;
  shared.rank = 2;
  shared.op = "B:c2:m1";
  return shared;
}

/// An answer to a question of "lab", given `second` seconds after ten o'clock.
Answer given(int question, double number, int second = 0, int which_try = 1) {
  const std::string seconds = std::to_string(second);
  return {"lab",     question,      number,
          which_try, Verdict::open, "2026-11-24T10:00:" + std::string(2 - seconds.size(), '0') + seconds + "Z"};
}

/// The last number of each student who has answered with a number.
std::vector<double> guesses(const Teacher& teacher, const std::string& lab, int question) {
  std::vector<double> numbers;
  for (const Student& student : teacher.students())
    if (const auto tries = student.answers.find({lab, question}); tries != student.answers.end())
      numbers.push_back(std::get<double>(tries->second.back().attempt));
  return numbers;
}

/// A socket that can send anything.
struct Rude {
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  explicit Rude(const Join& join) {
    link::set_up_client(socket, join);
    socket.set(zmq::sockopt::immediate, false);
    socket.connect(join.endpoint);
  }
  void send(const std::string& bytes) { socket.send(zmq::buffer(bytes), zmq::send_flags::none); }
  /// The teacher's answer of this kind, within a limit.
  template <class Kind>
  std::optional<Kind> await() {
    socket.set(zmq::sockopt::rcvtimeo, 100);
    std::optional<Kind> received;
    within([&] {
      zmq::message_t frame;
      if (!socket.recv(frame)) return false;
      const auto message = parse(frame.to_string());
      if (message && std::holds_alternative<Kind>(*message)) received = std::get<Kind>(*message);
      return received.has_value();
    });
    return received;
  }
  /// Joins as a student does. Returns "" or the reason of the refusal.
  std::string handshake(const Join& join, const std::string& name, const Identity& identity) {
    send(to_text(classroom::Hello{name, {}, {}}));
    const auto challenge = await<Challenge>();
    if (!challenge) return "no challenge";
    send(to_text(
        classroom::Hello{name, identity.public_key(), identity.prove(join.server_key, challenge->challenge, name)}));
    std::string why = "no answer";
    within([&] {
      zmq::message_t frame;
      if (!socket.recv(frame)) return false;
      const auto message = parse(frame.to_string());
      if (message && std::holds_alternative<Welcome>(*message)) why.clear();
      if (message && std::holds_alternative<Refused>(*message)) why = std::get<Refused>(*message).why;
      return why != "no answer";
    });
    return why;
  }
};

}  // namespace

TEST_CASE("a class's messages are read back as they were written") {
  const auto shared = parse(to_text(some_shared_view()));
  REQUIRE(shared);
  CHECK(std::get<classroom::SharedView>(*shared) == some_shared_view());
  SharedView nothing;
  CHECK(std::get<classroom::SharedView>(*parse(to_text(nothing))) == nothing);
}

TEST_CASE("invalid messages of a class are refused with a reason") {
  const std::string big = "{\"kind\":\"hello\",\"name\":\"" + std::string(5000, 'a') + "\"}";
  for (const std::string& text :
       {std::string(), std::string("null"), std::string("[1]"), std::string("{\"kind\":\"run\"}"),
        std::string("{\"kind\":\"hello\"}"), std::string("{\"kind\":\"hello\",\"name\":\"a\\u0007b\"}"),
        std::string("{\"kind\":\"answer\",\"lab\":\"x\",\"question\":-1,\"guess\":1}"),
        std::string("{\"kind\":\"answer\",\"lab\":\"x\",\"question\":1.5,\"guess\":1}"),
        std::string("{\"kind\":\"answer\",\"lab\":\"x\",\"question\":1,\"guess\":1e999}"),
        std::string("{\"kind\":\"answer\",\"lab\":\"x\",\"question\":1,\"guess\":\"1\"}"), big,
        std::string(300, '[')}) {
    CAPTURE(text.substr(0, 80));
    std::string why;
    CHECK_FALSE(parse(text, &why));
    CHECK_FALSE(why.empty());
  }
}

TEST_CASE("students see what the teacher looks at, also those who join later") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine early(teacher.join(), "Ada");
  teacher.show(some_shared_view());
  REQUIRE(within([&] { return early.shared() == some_shared_view(); }));
  StudentLine late(teacher.join(), "Grace");
  REQUIRE(within([&] { return late.shared() == some_shared_view(); }));
  SharedView next = some_shared_view();
  next.step = 4;
  teacher.show(next);
  REQUIRE(within([&] { return early.shared() == next && late.shared() == next; }));
  REQUIRE(within([&] { return teacher.status().students == 2; }));
  CHECK(early.status().connected);
  CHECK(early.status().garbage == 0);
  CHECK(teacher.status().garbage == 0);
}

TEST_CASE("the teacher has each student's answers to each question") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada"), grace(teacher.join(), "Grace");
  ada.answer(given(0, 20));
  grace.answer(given(0, 30));
  grace.answer(given(1, 7));
  REQUIRE(within([&] { return guesses(teacher, "lab", 0).size() == 2 && guesses(teacher, "lab", 1).size() == 1; }));
  ada.answer(given(0, 25, 7, 2));
  REQUIRE(within([&] {
    auto numbers = guesses(teacher, "lab", 0);
    std::sort(numbers.begin(), numbers.end());
    return numbers == std::vector<double>{25, 30};
  }));
  CHECK(guesses(teacher, "another", 0).empty());
}

TEST_CASE("complete answers of several students reach the teacher, and later results of runs") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada"), grace(teacher.join(), "Grace"), alan(teacher.join(), "Alan");
  const std::vector<double> drawn{4, 3, 2, 1};
  const std::vector<std::string> items{"forward", "backward"};
  const std::string at = "2026-11-24T10:00:00Z";
  ada.answer({"lab", 0, drawn, 1, Verdict::open, at});
  ada.answer({"lab", 1, std::string("an option"), 1, Verdict::wrong, at});
  grace.answer({"lab", 2, items, 2, Verdict::right, "2026-11-24T10:01:00Z"});
  grace.answer({"lab", 2, items, 1, Verdict::wrong, at});  // out of order
  grace.answer({"lab", 2, items, 1, Verdict::wrong, at});  // duplicate
  alan.answer({"lab", 3, PointedLink{"node", 5, 0, 0}, 1, Verdict::right, at});
  REQUIRE(within([&] { return teacher.status().answers == 5; }));
  const auto of = [&](const std::string& name, int question) {
    for (const Student& student : teacher.students())
      if (student.name == name) return student.answers.at({"lab", question});
    return Tries{};
  };
  CHECK(of("Ada", 0) == Tries{{drawn, 1, Verdict::open, at}});
  CHECK(of("Ada", 1) == Tries{{std::string("an option"), 1, Verdict::wrong, at}});
  CHECK(of("Grace", 2) == Tries{{items, 1, Verdict::wrong, at}, {items, 2, Verdict::right, "2026-11-24T10:01:00Z"}});
  CHECK(of("Alan", 3) == Tries{{PointedLink{"node", 5, 0, 0}, 1, Verdict::right, at}});
  ada.answer({"lab", 0, drawn, 1, Verdict::right, at});
  CHECK(within([&] { return of("Ada", 0).front().verdict == Verdict::right; }));
  CHECK(teacher.status().answers == 5);
  CHECK(teacher.status().garbage == 0);
}

TEST_CASE("answers that are damaged or too large are refused, and those of others are kept") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada");
  ada.answer(given(0, 20));
  Rude rude(teacher.join());
  REQUIRE(rude.handshake(teacher.join(), "Rude", Identity()).empty());
  rude.send(
      to_text(Answer{"lab", 0, std::vector<double>(most_points + 1, 1.0), 1, Verdict::right, "2026-11-24T10:00:00Z"}));
  REQUIRE(within([&] { return teacher.status().last_garbage == "a drawing has too many points"; }));
  rude.send(
      R"({"kind":"answer","lab":"lab","question":0,"question_kind":"draw","answer":[null],"try":1,"verdict":"right",)"
      R"("at":"2026-11-24T10:00:00Z"})");
  REQUIRE(within([&] { return teacher.status().last_garbage == "an answer has something in it that is no number"; }));
  rude.send(R"({"kind":"answer","lab":"lab","question":0,"guess":7})");  // from an older version's window
  REQUIRE(within([&] { return teacher.status().answers == 2; }));
  auto numbers = guesses(teacher, "lab", 0);
  std::sort(numbers.begin(), numbers.end());
  CHECK(numbers == std::vector<double>{7, 20});
}

TEST_CASE("a teacher's window that is opened again gets the answers again") {
  const Room room;
  auto teacher = std::make_unique<Teacher>(room.options());
  teacher->show(some_shared_view());
  StudentLine ada(teacher->join(), "Ada");
  ada.answer(given(0, 20));
  REQUIRE(within([&] { return guesses(*teacher, "lab", 0).size() == 1 && ada.shared(); }));
  teacher.reset();
  REQUIRE(within([&] { return !ada.status().connected; }, 15000));
  teacher = std::make_unique<Teacher>(room.options());
  teacher->show(some_shared_view());
  CHECK(within([&] { return guesses(*teacher, "lab", 0).size() == 1; }));
}

TEST_CASE("garbage is counted and changes nothing") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada");
  ada.answer(given(0, 20));
  Rude rude(teacher.join());
  rude.send("not a message");
  rude.send(to_text(some_shared_view()));  // a view that a student sends to the teacher
  REQUIRE(within([&] { return teacher.status().garbage >= 2; }));
  REQUIRE(within([&] { return guesses(teacher, "lab", 0).size() == 1; }));
  CHECK(teacher.students().size() == 1);  // a sender without a hello is not a student
  CHECK_FALSE(teacher.status().last_garbage.empty());
}

TEST_CASE("a student that floods the class with messages is ignored, and delays nobody") {
  const Room room;
  TeacherOptions options = room.options();
  options.limits.messages_a_second = 10;
  Teacher teacher(options);
  Rude rude(teacher.join());
  REQUIRE(rude.handshake(teacher.join(), "Rude", Identity()).empty());
  for (int i = 0; i < 500; ++i) rude.send(to_text(given(0, i, i % 60, i + 1)));
  REQUIRE(within([&] { return teacher.status().garbage >= 400; }));
  StudentLine ada(teacher.join(), "Ada");
  teacher.show(some_shared_view());
  CHECK(within([&] { return ada.shared() == some_shared_view(); }));
}

TEST_CASE("a class is full at its limit") {
  const Room room;
  TeacherOptions options = room.options();
  options.limits.students = 1;
  Teacher teacher(options);
  StudentLine ada(teacher.join(), "Ada");
  REQUIRE(within([&] { return teacher.status().students == 1; }));
  StudentLine grace(teacher.join(), "Grace");
  CHECK(within([&] { return grace.status().refused.find("the class is full") != std::string::npos; }));
  CHECK(teacher.students().size() == 1);
}

TEST_CASE("connections that answer and disconnect do not close the class") {
  const Room room;
  const bool same_key = GENERATE(true, false);
  TeacherOptions options = room.options();
  options.limits.students = 60;
  Teacher teacher(options);
  teacher.show(some_shared_view());
  const Identity one;
  for (int i = 0; i < 70; ++i) {
    Rude leaves(teacher.join());
    const std::string why =
        leaves.handshake(teacher.join(), "nobody " + std::to_string(i), same_key ? one : Identity());
    if (why.empty()) leaves.send(to_text(given(0, 99)));
  }
  StudentLine ada(teacher.join(), "Ada"), grace(teacher.join(), "Grace"), alan(teacher.join(), "Alan");
  for (StudentLine* student : {&ada, &grace, &alan}) {
    student->answer(given(1, 5));
    CHECK(within([&] { return student->shared() == some_shared_view(); }, 20000));
  }
  CHECK(within([&] { return guesses(teacher, "lab", 1).size() == 3; }));
  CHECK(teacher.students().size() <= options.limits.students);
  if (same_key) CHECK(guesses(teacher, "lab", 0).size() <= ClassLimits().names_a_key);
}

TEST_CASE("a name belongs to the key that used it first; the other student gets an error that says so") {
  const Room room;
  Teacher teacher(room.options());
  teacher.show(some_shared_view());
  const std::string key_file = room.directory + "/keys/student.key";
  const Identity kept(key_file);
  CHECK((std::filesystem::status(key_file).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  {
    StudentLine ada(teacher.join(), "Ada", kept);
    ada.answer(given(0, 20));
    REQUIRE(within([&] { return guesses(teacher, "lab", 0) == std::vector<double>{20}; }));
  }
  StudentLine mallory(teacher.join(), "Ada");
  mallory.answer(given(0, 99));
  REQUIRE(within([&] { return !mallory.status().refused.empty(); }));
  CHECK(mallory.status().refused == "the name 'Ada' belongs to another student of this class; choose another name");
  CHECK_FALSE(mallory.status().connected);
  CHECK_FALSE(mallory.shared());
  // The same key, read from the file, also in another window.
  StudentLine again(teacher.join(), "Ada", Identity(key_file)), further(teacher.join(), "Ada", Identity(key_file));
  REQUIRE(within([&] { return again.shared() && further.shared(); }));
  CHECK(teacher.students().size() == 1);
  again.answer(given(0, 21, 9, 2));
  CHECK(within([&] { return guesses(teacher, "lab", 0) == std::vector<double>{21}; }));
}

TEST_CASE("a proof is invalid for another name, key or connection") {
  const Room room;
  Teacher teacher(room.options());
  const Identity ada, mallory;
  Rude first(teacher.join()), second(teacher.join());
  first.send(to_text(classroom::Hello{"Ada", {}, {}}));
  second.send(to_text(classroom::Hello{"Ada", {}, {}}));
  const auto to_first = first.await<Challenge>(), to_second = second.await<Challenge>();
  REQUIRE((to_first && to_second));
  const std::string proof = ada.prove("", to_first->challenge, "Ada");
  second.send(to_text(classroom::Hello{"Ada", ada.public_key(), proof}));
  CHECK(second.await<Refused>());
  first.send(to_text(classroom::Hello{"Grace", ada.public_key(), proof}));
  CHECK(first.await<Refused>());
  first.send(to_text(classroom::Hello{"Ada", mallory.public_key(), proof}));
  CHECK(first.await<Refused>());
  first.send(to_text(given(0, 99)));
  CHECK(teacher.students().empty());
  first.send(to_text(classroom::Hello{"Ada", ada.public_key(), proof}));
  CHECK(first.await<Welcome>());
}

TEST_CASE("a student whose key is revoked leaves the class with all answers, and its name is free") {
  const Room room;
  TeacherOptions options = room.options();
  options.join_file = room.directory + "/class.join";
  options.endpoint = "tcp://127.0.0.1:*";
  options.secured = GENERATE(false, true);
  Teacher teacher(options);
  write_join_file(options.join_file, teacher.join());
  teacher.show(some_shared_view());
  StudentLine ada(teacher.join(), "Ada"), mallory(teacher.join(), "Mallory");
  ada.answer(given(0, 20));
  mallory.answer(given(0, 99));
  REQUIRE(within([&] {
    return guesses(teacher, "lab", 0).size() == 2 && std::filesystem::exists(names_list(options.join_file));
  }));
  REQUIRE(within([&] {
    try {
      return !revoke_key(options.join_file, "Mallory").empty();
    } catch (const JoinError&) {
      return false;  // the list is written four times a second
    }
  }));
  REQUIRE(within([&] { return guesses(teacher, "lab", 0) == std::vector<double>{20}; }));
  CHECK(within([&] { return mallory.status().refused.find("revoked") != std::string::npos; }));
  StudentLine other(teacher.join(), "Mallory");
  CHECK(within([&] { return other.shared() == some_shared_view(); }));
  CHECK(ada.status().connected);
  CHECK_THROWS_WITH(revoke_key(options.join_file, "Eve"), ContainsText("Ada"));
}

TEST_CASE("a class continues when its list of names cannot be written, and writes it as soon as it can") {
  const Room room;
  const std::string folder = room.directory + "/gone";
  TeacherOptions options = room.options();
  options.join_file = folder + "/class.join";
  Teacher teacher(options);
  teacher.show(some_shared_view());
  const StudentLine ada(teacher.join(), "Ada");
  REQUIRE(within([&] { return !teacher.status().unwritten.empty(); }));
  CHECK_THAT(teacher.status().unwritten, ContainsText(folder));
  CHECK(within([&] { return ada.shared() == some_shared_view(); }));
  std::filesystem::create_directory(folder);
  CHECK(within([&] { return std::filesystem::exists(names_list(options.join_file)); }));
  CHECK(within([&] { return teacher.status().unwritten.empty(); }));
}

TEST_CASE("when all places are taken, one address cannot keep another out") {
  ClassLimits limits;
  limits.students = 10;
  ClassRegister members(limits);
  const auto now = ClassRegister::Clock::now();
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    REQUIRE(members.admit("c" + n, "10.0.0.66", "key " + n, "name " + n, now).empty());
  }
  CHECK_FALSE(members.admit("c10", "10.0.0.66", "key 10", "name 10", now).empty());
  for (int i = 20; i < 25; ++i) {
    const std::string n = std::to_string(i);
    CHECK(members.admit("c" + n, "10.0.0." + n, "key " + n, "name " + n, now).empty());
  }
  CHECK(members.students(now).size() == 10);
  // A student who has left frees a place for any address.
  const auto later = now + std::chrono::seconds(6);
  CHECK(members.admit("c30", "10.0.0.66", "key 30", "name 30", later).empty());
}

TEST_CASE("beyond this machine a class needs keys, and a wrong one is rejected") {
  TeacherOptions open;
  open.endpoint = "tcp://0.0.0.0:*";
  CHECK_THROWS_AS(Teacher(open), JoinError);
  TeacherOptions secured;
  secured.endpoint = "tcp://127.0.0.1:*";
  secured.secured = true;
  Teacher teacher(secured);
  teacher.show(some_shared_view());
  REQUIRE(teacher.join().secured());
  StudentLine ada(parse_join(to_string(teacher.join())), "Ada");
  CHECK(within([&] { return ada.shared() == some_shared_view(); }));
  Join wrong = teacher.join();
  wrong.keys = new_curve_keys();
  StudentLine mallory(wrong, "Mallory");
  CHECK(within([&] { return teacher.status().rejected > 0; }));
  CHECK_FALSE(mallory.shared());
  CHECK(teacher.students().size() == 1);
}
