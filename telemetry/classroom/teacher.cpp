#include "telemetry/classroom/teacher.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "engine/base/host/threads.hpp"
#include "telemetry/classroom/identity.hpp"
#include "telemetry/classroom/socket_loop.hpp"
#include "telemetry/relay/revoked_keys.hpp"
#include "telemetry/relay/zap.hpp"

namespace rankscope::classroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int longest_outbox = 8;                               // of looks to one student: older ones are useless
constexpr int longest_inbox = 1024;                             // messages that wait to be read, over all students
constexpr int most_proofs_a_second = 200;                       // to be checked, over all connections not admitted yet
constexpr auto list_interval = std::chrono::milliseconds(250);  // between two checks of revoked keys and names

}  // namespace

struct Teacher::State {
  explicit State(TeacherOptions given)
      : options(std::move(given)),
        revoked(options.join_file.empty() ? std::vector<std::string>{} : std::vector{options.join_file}),
        members(options.limits) {}
  ~State() {
    if (!options.join_file.empty()) unlink(names_list(options.join_file).c_str());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const TeacherOptions options;
  std::string endpoint;
  CurveKeys own, student_keys;
  RevokedKeys revoked;
  const Challenges challenges;
  zmq::context_t context{1};
  zmq::socket_t socket{context, zmq::socket_type::router};
  std::optional<ZapHandler> door;
  std::atomic<bool> ending{false};
  std::thread thread;
  Clock::time_point listed{}, second_began{};
  int proofs_this_second = 0;
  std::map<std::string, Clock::time_point> sent_at;  // by connection: when the look was last sent to it
  std::map<std::string, std::string> names_listed;

  mutable std::mutex mutex;
  ClassRegister members;
  SharedView shared;
  bool has_shared = false, changed = false;
  TeacherStatus counts;

  void open();
  void run();
  void read_one(const std::vector<std::string>& frames, const std::string& address);
  void handle_newcomer(const std::string& connection, const std::string& address, const Message& message);
  void handle_member(const std::string& connection, const Message& message);
  void reload_lists();
  void refuse(const std::string& why) {
    ++counts.garbage;
    counts.last_garbage = why;
  }
  void refuse_to(const std::string& connection, const std::string& why) {
    ++counts.refused;
    refuse(why);
    send_to(connection, Refused{why});
  }
  void send_to(const std::string& connection, const Message& message) { send_text(connection, to_text(message)); }
  void send_text(const std::string& connection, const std::string& text) {
    bool gone = false;
    if (send_frame(socket, connection, zmq::send_flags::sndmore, &gone)) send_frame(socket, text);
    if (gone) forget(connection);
  }
  void forget(const std::string& connection) {
    members.close(connection);
    sent_at.erase(connection);
  }
  void send_shared();
};

void Teacher::State::open() {
  check_publishable(options.endpoint, options.secured);
  if (options.secured) {
    own = new_curve_keys();
    student_keys = new_curve_keys();
    door.emplace(context, std::vector<AdmittedKey>{{student_keys.public_key, Role::viewer}}, revoked);
  }
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::router_mandatory, true);  // distinguishes a disconnected student from a full queue
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
    reload_lists();
    if (door) counts.rejected = door->rejected();
    // A limited number at a time, so that looks are sent in between.
    for (int i = 0; i < longest_inbox; ++i) {
      std::string address;
      const auto frames = receive_frames(socket, 2, &address);
      if (!frames) break;
      read_one(*frames, address);
    }
    send_shared();
  }
}

void Teacher::State::read_one(const std::vector<std::string>& frames, const std::string& address) {
  if (frames.empty()) return refuse("a message of another number of parts");
  const std::string& connection = frames[0];
  const bool is_member = members.knows(connection);
  if (is_member)
    if (const std::string why = members.handle(connection, Clock::now()); !why.empty()) return refuse(why);
  std::string why;
  const auto message = parse(frames[1], &why);
  if (!message) return refuse(why);
  if (is_member) {
    handle_member(connection, *message);
  } else {
    handle_newcomer(connection, address, *message);
  }
}

void Teacher::State::handle_newcomer(const std::string& connection, const std::string& address,
                                     const Message& message) {
  const auto* hello = std::get_if<Hello>(&message);
  if (hello == nullptr) return refuse("a message of a student without a name");
  if (!student_keys.empty() && revoked.contains(student_keys.public_key))
    return refuse_to(connection, "the teacher has revoked the key of this class");
  const std::string challenge = challenges.of(connection);
  if (hello->key.empty()) return send_to(connection, Challenge{challenge});
  const auto now = Clock::now();
  if (now - second_began > std::chrono::seconds(1)) {
    second_began = now;
    proofs_this_second = 0;
  }
  if (++proofs_this_second > most_proofs_a_second) return refuse("too many students at a time");
  if (revoked.contains(hello->key)) return refuse_to(connection, "the teacher has revoked this window's key");
  if (!is_proof(hello->key, hello->proof, own.public_key, challenge, hello->name))
    return refuse_to(connection, "this window does not have the key that it names");
  const std::string why = members.admit(connection, address, hello->key, hello->name, now);
  if (!why.empty()) return refuse_to(connection, why);
  ++counts.messages;
  sent_at.erase(connection);  // the look has not been sent to it yet
  send_to(connection, Welcome{});
}

void Teacher::State::handle_member(const std::string& connection, const Message& message) {
  if (const auto* answer = std::get_if<Answer>(&message)) {
    if (const std::string why = members.answer(connection, *answer); !why.empty()) return refuse(why);
  } else if (!std::holds_alternative<Hello>(message)) {
    return refuse("a message that only a teacher may send");
  }
  ++counts.messages;
}

void Teacher::State::reload_lists() {
  if (options.join_file.empty() || Clock::now() - listed < list_interval) return;
  listed = Clock::now();
  if (revoked.poll())
    for (const Student& student : members.students(listed)) {
      if (!revoked.contains(student.key)) continue;
      for (const std::string& connection : members.revoke(student.key))
        refuse_to(connection, "the teacher has revoked this window's key");
    }
  // The class's own key: includes all that joined with it.
  if (!student_keys.empty() && revoked.contains(student_keys.public_key))
    for (const Student& student : members.students(listed))
      for (const std::string& connection : members.revoke(student.key))
        refuse_to(connection, "the teacher has revoked the key of this class");
  if (members.names() == names_listed) return;
  std::string text;
  for (const auto& [name, key] : members.names()) text += name + "\t" + key + "\n";
  // Its folder may have been removed, or the disk may be full: the class continues, and the next check tries again.
  try {
    write_private_file(names_list(options.join_file), text);
    names_listed = members.names();
    counts.unwritten.clear();
  } catch (const JoinError& error) {
    counts.unwritten = error.what();
  }
}

void Teacher::State::send_shared() {
  if (!has_shared) return;
  const auto now = Clock::now();
  const bool all = std::exchange(changed, false);
  const std::string text = to_text(shared);
  for (const std::string& connection : members.present(now)) {
    auto& at = sent_at[connection];
    if (!all && now - at < look_interval) continue;
    at = now;  // also if the queue is full: the student has older ones to read, and the next is sent in a second
    send_text(connection, text);
  }
  std::erase_if(sent_at, [&](const auto& one) { return !members.knows(one.first); });
}

Teacher::Teacher(TeacherOptions options) : state_(std::make_unique<State>(std::move(options))) {
  state_->open();
  state_->thread = start_thread("the class", [this] { state_->run(); });
}

Teacher::~Teacher() {
  state_->ending = true;
  state_->thread.join();
}

const std::string& Teacher::endpoint() const { return state_->endpoint; }

Join Teacher::join(const std::string& host) const {
  return {reachable_endpoint(state_->endpoint, host), state_->own.public_key, state_->student_keys, {}};
}

void Teacher::show(const SharedView& shared) {
  const std::lock_guard lock(state_->mutex);
  if (state_->has_shared && state_->shared == shared) return;
  state_->shared = shared;
  state_->has_shared = state_->changed = true;
}

std::vector<Student> Teacher::students() const {
  const std::lock_guard lock(state_->mutex);
  return state_->members.students(Clock::now());
}

TeacherStatus Teacher::status() const {
  const std::lock_guard lock(state_->mutex);
  TeacherStatus status = state_->counts;
  status.students = static_cast<std::int64_t>(state_->members.here(Clock::now()));
  status.answers = static_cast<std::int64_t>(state_->members.answers());
  status.changes = state_->members.changes();
  return status;
}

}  // namespace rankscope::classroom
