// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/class_room.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <QFileInfo>
#include <QStandardPaths>
#include <array>
#include <cmath>
#include <utility>

#include "engine/op/op_id.hpp"
#include "telemetry/classroom/student.hpp"
#include "telemetry/classroom/teacher.hpp"
#include "telemetry/stream/join.hpp"
#include "telemetry/stream/session_directory.hpp"

namespace rankscope::app {
namespace {

constexpr int check_interval_ms = 60;

/// The key that proves, in every class, that this user's names belong to this user. If no file can be written, the key
/// is valid for this window only.
classroom::Identity student_identity() {
  const QString file = QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation);
  try {
    return classroom::Identity((file + QStringLiteral("/student.key")).toStdString());
  } catch (const JoinError&) {
    return {};
  }
}

}  // namespace

ClassRoom::ClassRoom(SharedState& state, Session& session, QObject* parent)
    : QObject(parent), state_(state), session_(session) {
  timer_.setInterval(check_interval_ms);
  connect(&timer_, &QTimer::timeout, this, &ClassRoom::poll);
}

ClassRoom::~ClassRoom() {
  blockSignals(true);  // receivers may be partly destroyed already
  leave();
}

void ClassRoom::teach(const QString& join_file, const QString& address) {
  leave();
  classroom::TeacherOptions options;
  options.secured = !address.isEmpty();
  if (options.secured) {
    options.endpoint = "tcp://0.0.0.0:*";
  } else {
    folder_ = std::make_unique<SessionDirectory>();
    options.endpoint = "ipc://" + (folder_->path() / "class").string();
  }
  options.join_file = join_file.toStdString();
  auto teacher = std::make_unique<classroom::Teacher>(options);
  write_join_file(join_file.toStdString(), teacher->join(address.toStdString()));
  teacher_ = std::move(teacher);
  timer_.start();
  poll();
  emit changed();
}

void ClassRoom::attend(const QString& join_file, const QString& name) {
  leave();
  student_ = std::make_unique<classroom::StudentLine>(read_join_file(join_file.toStdString()), name.toStdString(),
                                                      student_identity());
  following_ = true;
  timer_.start();
  poll();
  emit changed();
}

void ClassRoom::leave() {
  timer_.stop();
  const bool was = teacher_ || student_;
  if (teacher_) emit ending();
  teacher_.reset();
  student_.reset();
  any_followed_ = false;
  changes_ = 0;
  words_.clear();
  folder_.reset();
  if (was) emit changed();
}

void ClassRoom::set_following(bool following) {
  if (following == following_) return;
  following_ = following;
  any_followed_ = false;
  poll();
  emit changed();
}

void ClassRoom::show_view(const QString& name) { view_ = name; }

QString ClassRoom::words() const { return words_; }

int ClassRoom::student_count() const { return teacher_ ? static_cast<int>(teacher_->status().students) : 0; }

std::vector<classroom::Student> ClassRoom::students() const {
  return teacher_ ? teacher_->students() : std::vector<classroom::Student>{};
}

QString ClassRoom::answer(const classroom::Answer& answer) {
  if (!student_) return {};
  if (const std::string why = classroom::why_not_sendable(answer); !why.empty())
    return tr("The teacher does not get this answer: %1").arg(QString::fromStdString(why));
  student_->answer(answer);
  return {};
}

classroom::SharedView ClassRoom::shared_view() const {
  classroom::SharedView shared;
  if (session_.spec().kind == SourceKind::scenario)
    shared.lab = QFileInfo(session_.spec().text).completeBaseName().toStdString();
  shared.view = view_.toStdString();
  shared.ran = !shared.lab.empty() && (is_watched(session_.label()) || session_.label() == SourceLabel::ended);
  const auto range = state_.step() ? session_.view()->step_range(state_.shown(), *state_.step()) : std::nullopt;
  if (!range) return shared;
  shared.step = state_.step();
  shared.begin_ns = state_.visible().begin_ns - range->begin_ns;
  shared.end_ns = state_.visible().end_ns - range->begin_ns;
  shared.step_ns = range->length();
  if (const auto selected = state_.selected()) {
    shared.rank = selected->rank;
    shared.op = to_token(selected->op);
  }
  return shared;
}

bool ClassRoom::run_is_due() const {
  if (!student_ || !session_.can_run() || session_.label() != SourceLabel::simulated) return false;
  const auto shared = student_->shared();
  return shared && shared->ran && !shared->lab.empty() &&
         QString::fromStdString(shared->lab) == QFileInfo(session_.spec().text).completeBaseName();
}

void ClassRoom::poll() {
  QString words;
  bool has_changed = false;
  if (teacher_) {
    teacher_->show(shared_view());
    const auto status = teacher_->status();
    const std::int64_t answers = status.answers;
    has_changed = std::exchange(changes_, status.changes) != status.changes;
    words = tr("Teaching: %1, %2")
                .arg(status.students == 1 ? tr("1 student") : tr("%1 students").arg(status.students),
                     answers == 1 ? tr("1 answer") : tr("%1 answers").arg(answers));
    if (status.rejected > 0) words += tr(", %1 with a wrong key").arg(status.rejected);
    if (status.refused > 0) words += tr(", %1 refused").arg(status.refused);
    if (status.garbage > status.refused) words += tr(", %1 unreadable messages").arg(status.garbage - status.refused);
    if (!status.unwritten.empty())
      words += tr(", the list of names cannot be written: %1").arg(QString::fromStdString(status.unwritten));
  } else if (student_) {
    const auto status = student_->status();
    words = !status.refused.empty() ? tr("Not in the class: %1").arg(QString::fromStdString(status.refused))
            : !status.connected     ? tr("In a class: looking for the teacher…")
            : following_            ? tr("In a class: following the teacher")
                                    : tr("In a class: not following");
    if (const auto shared = student_->shared(); shared && following_ && (!any_followed_ || !(*shared == followed_)))
      follow(*shared);
  }
  const bool due = run_is_due();
  if (words == words_ && due == was_due_ && !has_changed) return;
  words_ = words;
  was_due_ = due;
  emit changed();
}

void ClassRoom::follow(const classroom::SharedView& shared) {
  const QString lab = QString::fromStdString(shared.lab);
  const QString here = QFileInfo(session_.spec().text).completeBaseName();
  if (!lab.isEmpty() && lab != here) {
    emit lab_wanted(lab);
    if (QFileInfo(session_.spec().text).completeBaseName() != lab)
      return;  // not installed here: it is tried again at the next look
  }
  // The step can be chosen once the lab's prediction, or its run, is loaded.
  const bool ready = session_.state() != SessionState::opening && session_.state() != SessionState::starting;
  if (!ready) return;
  any_followed_ = true;
  followed_ = shared;
  if (!shared.view.empty() && QString::fromStdString(shared.view) != view_) {
    view_ = QString::fromStdString(shared.view);
    emit view_wanted(view_);
  }
  if (!shared.step) return;
  const auto view = session_.view();
  std::uint32_t step = *shared.step;
  auto range = view->step_range(state_.shown(), step);
  if (!range) {
    // This run has fewer steps than the teacher's: its last step is shown.
    const auto steps = view->steps(state_.shown());
    if (steps.empty()) return;
    step = steps.back();
    range = view->step_range(state_.shown(), step);
    if (!range) return;
  }
  state_.hold();
  state_.set_step(step);
  const double pace =
      shared.step_ns > 0 ? static_cast<double>(range->length()) / static_cast<double>(shared.step_ns) : 1;
  const auto of_own = [&](std::int64_t ns) { return range->begin_ns + std::llround(static_cast<double>(ns) * pace); };
  state_.set_visible({of_own(shared.begin_ns), of_own(shared.end_ns)});
  std::optional<SpanRef> selected;
  if (const auto op = shared.rank >= 0 ? parse_token(shared.op) : std::nullopt;
      op && view->find(shared.rank, step, *op, state_.shown()))
    selected = SpanRef{shared.rank, step, *op, state_.shown()};
  state_.set_selected(selected);
}

QStringList own_addresses() {
  QStringList addresses;
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) == 0) {
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
      const bool reachable = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
      if (!reachable || each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
      std::array<char, INET_ADDRSTRLEN> text{};
      const void* address = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
      if (inet_ntop(AF_INET, address, text.data(), text.size()) != nullptr)
        addresses << QString::fromLatin1(text.data());
    }
    freeifaddrs(first);
  }
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) addresses << QString::fromLocal8Bit(name.data());
  addresses.removeDuplicates();
  return addresses;
}

}  // namespace rankscope::app
