#include "telemetry/classroom/student.hpp"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "engine/base/host/threads.hpp"
#include "telemetry/classroom/socket_loop.hpp"
#include "telemetry/stream/link.hpp"

namespace rankscope::classroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int longest_backlog = 16;
constexpr std::size_t most_answers = 64 * most_questions;

/// At most this many bytes, only complete characters.
std::string cut(std::string text, std::size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0) == 0x80) --longest;
  return text.substr(0, longest);
}

}  // namespace

struct StudentLine::State {
  std::string name, class_key;
  Identity identity;
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::dealer};
  std::atomic<bool> ending{false};
  std::thread thread;

  mutable std::mutex mutex;
  std::optional<SharedView> shared;
  using Key = std::tuple<std::string, int, std::string, int>;  // lab, question, time and number of the try
  std::map<Key, Answer> answers;
  std::deque<Key> unsaid;  // answers that the teacher may lack; sent one at a time
  StudentStatus counts;
  Clock::time_point last_received{}, last_sent{};
  bool admitted = false;

  void run();
  void read();
  bool handle(const Message& message);
  void send();
  void send_all_again();
};

void StudentLine::State::run() {
  std::vector<zmq::pollitem_t> items{{socket.handle(), 0, ZMQ_POLLIN, 0}};
  while (!ending) {
    zmq::poll(items, loop_interval);
    const std::lock_guard lock(mutex);
    read();
    send();
  }
}

void StudentLine::State::read() {
  for (int i = 0; i < longest_backlog; ++i) {
    const auto frames = receive_frames(socket, 1);
    if (!frames) return;
    std::string why = "a message of several parts";
    const auto message = frames->empty() ? std::nullopt : parse(frames->front(), &why);
    if (message && handle(*message)) {
      last_received = Clock::now();
      continue;
    }
    ++counts.garbage;
    counts.last_garbage = message ? "a message that is not for students" : why;
  }
}

// False: the message is not for students.
bool StudentLine::State::handle(const Message& message) {
  if (const auto* shared_message = std::get_if<SharedView>(&message)) {
    ++counts.looks;
    shared = *shared_message;
  } else if (const auto* challenge = std::get_if<Challenge>(&message)) {
    admitted = false;
    send_frame(socket,
               to_text(Hello{name, identity.public_key(), identity.prove(class_key, challenge->challenge, name)}));
  } else if (std::holds_alternative<Welcome>(message)) {
    admitted = true;
    counts.refused.clear();
    send_all_again();  // a restarted teacher has no data of this student
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    admitted = false;
    counts.refused = refused->why;
  } else {
    return false;
  }
  return true;
}

void StudentLine::State::send_all_again() {
  unsaid.clear();
  for (const auto& [key, one] : answers) unsaid.push_back(key);
}

// Hello is also the heartbeat.
void StudentLine::State::send() {
  const auto now = Clock::now();
  if (now - last_sent > look_interval && send_frame(socket, to_text(Hello{name, {}, {}}))) last_sent = now;
  if (admitted && !unsaid.empty() && send_frame(socket, to_text(answers.at(unsaid.front())))) unsaid.pop_front();
}

StudentLine::StudentLine(const Join& join, const std::string& name, Identity identity)
    : state_(std::make_unique<State>()) {
  state_->name = cut(name, longest_name);
  state_->class_key = join.server_key;
  state_->identity = std::move(identity);
  try {
    link::set_up_client(state_->socket, join);
    state_->socket.set(zmq::sockopt::sndhwm, static_cast<int>(most_answers));
    state_->socket.set(zmq::sockopt::rcvhwm, longest_backlog);
    state_->socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(longest_message));
    state_->socket.connect(join.endpoint);
  } catch (const zmq::error_t& error) {
    throw JoinError("'" + join.endpoint + "' cannot be reached: " + error.what());
  }
  state_->thread = start_thread("the class", [this] { state_->run(); });
}

StudentLine::~StudentLine() {
  state_->ending = true;
  state_->thread.join();
}

std::optional<SharedView> StudentLine::shared() const {
  const std::lock_guard lock(state_->mutex);
  return state_->shared;
}

void StudentLine::answer(const Answer& answer) {
  const std::lock_guard lock(state_->mutex);
  const State::Key key{answer.lab, answer.question, answer.at, answer.number};
  if (state_->answers.size() >= most_answers && state_->answers.count(key) == 0) return;
  // In a live run the right value changes with every step, but the verdict seldom does.
  if (const auto before = state_->answers.find(key); before != state_->answers.end() &&
                                                     before->second.attempt == answer.attempt &&
                                                     before->second.verdict == answer.verdict)
    return;
  state_->answers[key] = answer;
  state_->unsaid.push_back(key);
}

StudentStatus StudentLine::status() const {
  const std::lock_guard lock(state_->mutex);
  StudentStatus status = state_->counts;
  status.connected = status.refused.empty() && state_->last_received != Clock::time_point{} &&
                     Clock::now() - state_->last_received < silence_limit;
  return status;
}

}  // namespace rankscope::classroom
