// SPDX-License-Identifier: GPL-3.0-or-later
// The window's part in a class: a teacher's window sends its view and collects answers; a student's window follows and
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

  /// Opens a class, and writes what students need to `join_file` (mode 0600). `address`: how students' machines connect
  /// to this one, with keys; empty: only students on this machine. Throws JoinError.
  void teach(const QString& join_file, const QString& address);
  /// Joins the class of that file. Throws JoinError.
  void attend(const QString& join_file, const QString& name);
  void leave();

  bool teaching() const { return teacher_ != nullptr; }
  bool attending() const { return student_ != nullptr; }
  /// False while a student looks at something else.
  bool following() const { return following_; }
  void set_following(bool following);
  /// A student's: the teacher shows a run of the lab that is open here, where nothing has run yet though it could.
  bool run_is_due() const;
  /// One line for the status: the number of students, or whether the teacher is connected.
  QString words() const;

  /// The teacher's: all students, present or not, and all their answers.
  std::vector<classroom::Student> students() const;
  int student_count() const;
  /// The student's: sent to the teacher, and again with its result when that is known. Empty, or why it was not sent.
  QString answer(const classroom::Answer& answer);
  /// The view in front, sent to the students.
  void show_view(const QString& name);

 signals:
  void changed();  ///< who is present, the answers, in a class or not
  void ending();   ///< the teacher's class is about to be closed: students() can be called a last time
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
  std::uint64_t changes_ = 0;  ///< at the teacher's at the last look
};

/// This machine's addresses for others: its IPv4 addresses on networks that are up, and last its name, which not every
/// network can resolve.
QStringList own_addresses();

}  // namespace rankscope::app
