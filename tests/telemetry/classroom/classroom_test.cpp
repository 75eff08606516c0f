#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>
#include <zmq.hpp>

#include "telemetry/classroom/student.hpp"
#include "telemetry/classroom/teacher.hpp"
#include "telemetry/stream/link.hpp"
#include "tests/catch.hpp"
#include "tests/wait_until.hpp"

using namespace rankscope;
using namespace rankscope::classroom;

namespace {

/// A directory of mode 0700, gone with the test.
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

Look some_look() {
  Look look;
  look.lab = "pipeline-1f1b";
  look.view = "memory";
  look.step = 3;
  look.begin_ns = -100;
  look.end_ns = 5000;
  look.step_ns = 9000;
  look.rank = 2;
  look.op = "B:c2:m1";
  return look;
}

/// A socket that says what it likes.
struct Rude {
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  explicit Rude(const Join& join) {
    link::set_up_client(socket, join);
    socket.set(zmq::sockopt::immediate, false);
    socket.connect(join.endpoint);
  }
  void say(const std::string& bytes) { socket.send(zmq::buffer(bytes), zmq::send_flags::none); }
};

}  // namespace

TEST_CASE("what the windows of a class say survives being written and read") {
  const auto look = parse(to_text(some_look()));
  REQUIRE(look);
  CHECK(std::get<classroom::Look>(*look) == some_look());
  Look nothing;
  CHECK(std::get<classroom::Look>(*parse(to_text(nothing))) == nothing);
  const auto answer = parse(to_text(Answer{"data-parallel", 2, 31.5}));
  REQUIRE(answer);
  CHECK(std::get<Answer>(*answer).guess == 31.5);
  CHECK(std::get<Answer>(*answer).question == 2);
}

TEST_CASE("whatever is no message of a class is refused with a reason") {
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

TEST_CASE("students see what the teacher looks at, also those who come later") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine early(teacher.join(), "Ada");
  teacher.show(some_look());
  REQUIRE(within([&] { return early.look() == some_look(); }));
  StudentLine late(teacher.join(), "Grace");
  REQUIRE(within([&] { return late.look() == some_look(); }));
  Look next = some_look();
  next.step = 4;
  teacher.show(next);
  REQUIRE(within([&] { return early.look() == next && late.look() == next; }));
  REQUIRE(within([&] { return teacher.status().students == 2; }));
  CHECK(early.status().connected);
  CHECK(early.status().garbage == 0);
  CHECK(teacher.status().garbage == 0);
}

TEST_CASE("the teacher has each student's last answer to each question") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada"), grace(teacher.join(), "Grace");
  ada.answer({"lab", 0, 20});
  grace.answer({"lab", 0, 30});
  grace.answer({"lab", 1, 7});
  REQUIRE(within([&] { return teacher.guesses("lab", 0).size() == 2 && teacher.guesses("lab", 1).size() == 1; }));
  ada.answer({"lab", 0, 25});
  REQUIRE(within([&] {
    auto guesses = teacher.guesses("lab", 0);
    std::sort(guesses.begin(), guesses.end());
    return guesses == std::vector<double>{25, 30};
  }));
  CHECK(teacher.guesses("another", 0).empty());
}

TEST_CASE("a teacher's window that is opened again gets the answers again") {
  const Room room;
  auto teacher = std::make_unique<Teacher>(room.options());
  teacher->show(some_look());
  StudentLine ada(teacher->join(), "Ada");
  ada.answer({"lab", 0, 20});
  REQUIRE(within([&] { return teacher->guesses("lab", 0).size() == 1 && ada.look(); }));
  teacher.reset();
  REQUIRE(within([&] { return !ada.status().connected; }, 15000));
  teacher = std::make_unique<Teacher>(room.options());
  teacher->show(some_look());
  CHECK(within([&] { return teacher->guesses("lab", 0).size() == 1; }));
}

TEST_CASE("garbage is counted and changes nothing") {
  const Room room;
  Teacher teacher(room.options());
  StudentLine ada(teacher.join(), "Ada");
  ada.answer({"lab", 0, 20});
  Rude rude(teacher.join());
  rude.say("not a message");
  rude.say(to_text(some_look()));  // nobody teaches the teacher
  REQUIRE(within([&] { return teacher.status().garbage >= 2; }));
  REQUIRE(within([&] { return teacher.guesses("lab", 0).size() == 1; }));
  CHECK(teacher.students().size() == 1);  // who has not said hello is none
  CHECK_FALSE(teacher.status().last_garbage.empty());
}

TEST_CASE("a student that never stops talking is not listened to, and holds nobody up") {
  const Room room;
  TeacherOptions options = room.options();
  options.most_messages_a_second = 10;
  Teacher teacher(options);
  Rude rude(teacher.join());
  for (int i = 0; i < 500; ++i) rude.say(to_text(Answer{"lab", 0, static_cast<double>(i)}));
  REQUIRE(within([&] { return teacher.status().garbage >= 400; }));
  StudentLine ada(teacher.join(), "Ada");
  teacher.show(some_look());
  CHECK(within([&] { return ada.look() == some_look(); }));
}

TEST_CASE("a class is full at its limit") {
  const Room room;
  TeacherOptions options = room.options();
  options.most_students = 1;
  Teacher teacher(options);
  StudentLine ada(teacher.join(), "Ada");
  REQUIRE(within([&] { return teacher.status().students == 1; }));
  StudentLine grace(teacher.join(), "Grace");
  CHECK(within([&] { return teacher.status().last_garbage.find("no room") != std::string::npos; }));
  CHECK(teacher.students().size() == 1);
}

TEST_CASE("beyond this machine a class needs keys, and a wrong one is turned away") {
  TeacherOptions open;
  open.endpoint = "tcp://0.0.0.0:*";
  CHECK_THROWS_AS(Teacher(open), JoinError);
  TeacherOptions secured;
  secured.endpoint = "tcp://127.0.0.1:*";
  secured.secured = true;
  Teacher teacher(secured);
  teacher.show(some_look());
  REQUIRE(teacher.join().secured());
  StudentLine ada(parse_join(to_string(teacher.join())), "Ada");
  CHECK(within([&] { return ada.look() == some_look(); }));
  Join wrong = teacher.join();
  wrong.keys = new_curve_keys();
  StudentLine mallory(wrong, "Mallory");
  CHECK(within([&] { return teacher.status().turned_away > 0; }));
  CHECK_FALSE(mallory.look());
  CHECK(teacher.students().size() == 1);
}
