// SPDX-License-Identifier: GPL-3.0-or-later
// The window's part in a class: a teacher's window sends its view and collects answers, a student's window follows and
// sends answers. GUI thread only; the sockets have their own threads.
#pragma once
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <memory>
#include <vector>

#include "app/models/shared_state.hpp"
#include "app/session/session.hpp"
#include "telemetry/classroom/class_register.hpp"

namespace rankscope {
class SessionDirectory;
}  // namespace rankscope

namespace rankscope::classroom {
class StudentLine;
class Teacher;
}  // namespace rankscope::classroom

namespace rankscope::app {

class ClassRoom : public QObject {
  Q_OBJECT
 public:
  ClassRoom(SharedState& state, Session& session, QObject* parent = nullptr);
  ~ClassRoom() override;

  /// Opens a class, and writes what students need into `join_file` (mode 0600). `address`: how students' machines reach
  /// this one, with keys; empty: students of this machine alone. Throws JoinError.
  void teach(const QString& join_file, const QString& address);
  /// Joins the class of that file. Throws JoinError.
  void attend(const QString& join_file, const QString& name);
  void leave();

  bool teaching() const { return teacher_ != nullptr; }
  bool attending() const { return student_ != nullptr; }
  /// A student may look at something else for a while.
  bool following() const { return following_; }
  void set_following(bool following);
  /// A student's: the teacher shows a run of the lab that is open here, where nothing ran yet though it could.
  bool run_is_due() const;
  /// One line for the status: who is there, or whether the teacher is.
  QString words() const;

  /// The teacher's: who is or was there, and all that they have answered.
  std::vector<classroom::Student> students() const;
  int student_count() const;
  /// The student's: told to the teacher, again with what is said of it once that is known. Empty, or why it is not.
  QString answer(const classroom::Answer& answer);
  /// The view in front, for the others to see too.
  void show_view(const QString& name);

 signals:
  void changed();  ///< who is there, what was said, in a class or not
  void ending();   ///< the teacher's class is about to be closed: its students can be asked for a last time
  void lab_wanted(const QString& name);
  void view_wanted(const QString& name);

 private:
  void poll();
  classroom::SharedView shared_view() const;
  void follow(const classroom::SharedView& shared);

  SharedState& state_;
  Session& session_;
  QTimer timer_;
  std::unique_ptr<classroom::Teacher> teacher_;
  std::unique_ptr<classroom::StudentLine> student_;
  classroom::SharedView followed_;
  std::unique_ptr<SessionDirectory> folder_;  ///< of the class's socket
  QString view_, words_;
  bool following_ = true, any_followed_ = false, was_due_ = false;
  std::uint64_t changes_ = 0;  ///< at the teacher's when it was looked at last
};

/// This machine for others: its IPv4 addresses on networks that are up, and last its name, which not every network
/// knows.
QStringList own_addresses();

}  // namespace rankscope::app
