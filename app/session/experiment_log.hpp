// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments with one scenario: plans that were predicted or run, and other commands of the engine, each as a row
// that can be shown again. GUI thread only.
//
// A plan's row follows the session: while the session shows this plan, the row gets its figures. Rows of plans
// that ran keep their run, so that two of them can be compared.
#pragma once
#include <QObject>
#include <memory>
#include <vector>

#include "app/session/engine_child.hpp"
#include "app/session/other_run.hpp"
#include "app/session/session.hpp"

namespace rankscope::app {

struct ExperimentRow {
  enum class State : std::uint8_t { pending, done, failed };
  QString name;  ///< "micro_batches=16", a complete command; "the lesson's plan"
  State state = State::pending;
  Obtained obtained = Obtained::simulated;
  std::optional<Scenario> scenario;        ///< of a plan; empty for other commands
  std::shared_ptr<const Figures> figures;  ///< null: none yet
  SessionContent content;                  ///< to show it again
  KeptRun kept;                            ///< to compare it with another
  QString output;                          ///< what a command printed, or why it failed
  bool is_plan() const { return scenario.has_value(); }
};

class ExperimentLog : public QObject {
  Q_OBJECT
 public:
  explicit ExperimentLog(Session& session, QObject* parent = nullptr);
  ~ExperimentLog() override;

  /// Of the open scenario, the oldest first.
  const std::vector<ExperimentRow>& rows() const { return rows_; }
  /// From now on the session's plan is an experiment of that name.
  void note_plan(const QString& name);
  /// Runs `rankscope-engine` with these arguments, and keeps what it prints.
  void run_command(const QString& name, const QStringList& arguments);
  /// Stops a command in progress.
  void stop();
  bool busy() const { return child_ != nullptr; }

 signals:
  void changed();

 private:
  void take_figures();
  void take_refusal();
  ExperimentRow& add_row(const QString& name);
  void take_scenario();
  void take_end(bool ok, const QString& reason);
  ExperimentRow* row_of(const Scenario& scenario, Obtained obtained);

  Session& session_;
  QString file_;  ///< whose rows these are
  std::vector<ExperimentRow> rows_;
  std::unique_ptr<EngineChild> child_;
  std::optional<std::size_t> child_row_;  ///< none: its row was removed
  QStringList output_lines_;
};

}  // namespace rankscope::app
