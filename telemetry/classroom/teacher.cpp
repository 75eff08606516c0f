#include "telemetry/classroom/teacher.hpp"

#include <atomic>
#include <mutex>
#include <thread>

#include "engine/host/threads.hpp"
#include "telemetry/classroom/socket_loop.hpp"
#include "telemetry/relay/zap.hpp"

namespace rankscope::classroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_labs = 64;  // whose answers are kept of one student
constexpr int longest_outbox = 8;      // of looks to one student: an older one is worth nothing
constexpr int longest_inbox = 1024;    // messages that wait to be read, over all students

struct Connection {
  Student student;
  Clock::time_point heard{}, second_began{}, told{};
  int this_second = 0;
  bool greeted = false;
};

}  // namespace

struct Teacher::State {
  TeacherOptions options;
  std::string endpoint;
  CurveKeys own, student_keys;
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::router};
  std::optional<ZapHandler> door;
  std::atomic<bool> ending{false};
  std::thread thread;

  mutable std::mutex mutex;
  std::map<std::string, Connection> connections;  // by identity
  Look look;
  bool has_look = false, changed = false;
  TeacherStatus counts;

  void open();
  void run();
  void read_one(const std::vector<std::string>& frames);
  void refuse(const std::string& why) {
    ++counts.garbage;
    counts.last_garbage = why;
  }
  void take(Connection& connection, const Message& message);
  void tell();
};

void Teacher::State::open() {
  check_publishable(options.endpoint, options.secured);
  if (options.secured) {
    own = new_curve_keys();
    student_keys = new_curve_keys();
    door.emplace(context, std::vector<AdmittedKey>{{student_keys.public_key, Role::viewer}});
  }
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::router_mandatory, true);  // a student that is gone is told from one that has no room
  socket.set(zmq::sockopt::sndhwm, longest_outbox);
  socket.set(zmq::sockopt::rcvhwm, longest_inbox);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(longest_message));
  socket.set(zmq::sockopt::ipv6, true);
  try {
    if (options.secured) {
      socket.set(zmq::sockopt::curve_server, true);
      socket.set(zmq::sockopt::curve_secretkey, own.secret_key);
      socket.set(zmq::sockopt::zap_domain, ZapHandler::domain);
    }
    socket.bind(options.endpoint);
    endpoint = socket.get(zmq::sockopt::last_endpoint);
  } catch (const zmq::error_t& error) {
    throw JoinError("the class cannot be opened at '" + options.endpoint + "': " + error.what());
  }
}

void Teacher::State::run() {
  std::vector<zmq::pollitem_t> items{{socket.handle(), 0, ZMQ_POLLIN, 0}};
  if (door) items.push_back({door->socket().handle(), 0, ZMQ_POLLIN, 0});
  while (!ending) {
    zmq::poll(items, loop_interval);
    if (door) door->answer();
    const std::lock_guard lock(mutex);
    if (door) counts.turned_away = door->turned_away();
    // So many at a time that looks are told in between, whatever comes in.
    for (int i = 0; i < longest_inbox; ++i) {
      const auto frames = receive_frames(socket, 2);
      if (!frames) break;
      read_one(*frames);
    }
    tell();
  }
}

void Teacher::State::read_one(const std::vector<std::string>& frames) {
  if (frames.empty()) return refuse("a message of another number of parts");
  const auto now = Clock::now();
  auto at = connections.find(frames[0]);
  if (at == connections.end()) {
    // Whoever was not heard of for long makes room for the next.
    if (connections.size() >= options.most_students)
      for (auto old = connections.begin(); old != connections.end(); ++old)
        if (now - old->second.heard > silence_limit && old->second.student.answers.empty()) {
          connections.erase(old);
          break;
        }
    if (connections.size() >= options.most_students) return refuse("there is no room for more students");
    at = connections.emplace(frames[0], Connection{}).first;
  }
  Connection& connection = at->second;
  if (now - connection.second_began > std::chrono::seconds(1)) {
    connection.second_began = now;
    connection.this_second = 0;
  }
  if (++connection.this_second > options.most_messages_a_second) return refuse("a student talks too much");
  std::string why;
  const auto message = parse(frames[1], &why);
  if (!message) return refuse(why);
  connection.heard = now;
  take(connection, *message);
}

void Teacher::State::take(Connection& connection, const Message& message) {
  if (const auto* hello = std::get_if<Hello>(&message)) {
    ++counts.messages;
    connection.student.name = hello->name;
    if (!connection.greeted) connection.told = {};  // it has not had the look yet
    connection.greeted = true;
  } else if (const auto* answer = std::get_if<Answer>(&message)) {
    auto& answers = connection.student.answers;
    const std::pair key{answer->lab, answer->question};
    if (answers.size() >= most_labs * most_questions && answers.count(key) == 0)
      return refuse("a student answers more than is asked");
    ++counts.messages;
    answers[key] = answer->guess;
  } else {
    refuse("a student that teaches");
  }
}

void Teacher::State::tell() {
  if (!has_look) return;
  const auto now = Clock::now();
  const bool all = std::exchange(changed, false);
  std::string text;
  for (auto& [identity, connection] : connections) {
    if (!connection.greeted || (!all && now - connection.told < look_interval)) continue;
    if (now - connection.heard > silence_limit) continue;
    if (text.empty()) text = to_text(look);
    connection.told = now;  // also where there is no room: it has older ones to read, and the next comes in a second
    if (send_frame(socket, identity, zmq::send_flags::sndmore)) send_frame(socket, text);
  }
}

Teacher::Teacher(TeacherOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  state_->open();
  state_->thread = start_thread("the class", [this] { state_->run(); });
}

Teacher::~Teacher() {
  state_->ending = true;
  state_->thread.join();
}

const std::string& Teacher::endpoint() const { return state_->endpoint; }

Join Teacher::join(const std::string& host) const {
  return {reachable_endpoint(state_->endpoint, host), state_->own.public_key, state_->student_keys};
}

void Teacher::show(const Look& look) {
  const std::lock_guard lock(state_->mutex);
  if (state_->has_look && state_->look == look) return;
  state_->look = look;
  state_->has_look = state_->changed = true;
}

std::vector<Student> Teacher::students() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Student> students;
  for (const auto& [identity, connection] : state_->connections) {
    if (!connection.greeted) continue;
    students.push_back(connection.student);
    students.back().here = Clock::now() - connection.heard < silence_limit;
  }
  return students;
}

std::vector<double> Teacher::guesses(const std::string& lab, int question) const {
  std::vector<double> guesses;
  for (const Student& student : students())
    if (const auto answer = student.answers.find({lab, question}); answer != student.answers.end())
      guesses.push_back(answer->second);
  return guesses;
}

TeacherStatus Teacher::status() const {
  TeacherStatus status;
  {
    const std::lock_guard lock(state_->mutex);
    status = state_->counts;
  }
  for (const Student& student : students()) status.students += student.here ? 1 : 0;
  return status;
}

}  // namespace rankscope::classroom
