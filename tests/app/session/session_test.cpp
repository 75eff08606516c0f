// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/session.hpp"

#include <QFile>
#include <QTemporaryDir>
#include <algorithm>

#include "tests/app/session/qt_application.hpp"
#include "tests/app/session/recording.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// A folder with a scenario, an engine made of shell script, and a recording.
struct Place {
  QTemporaryDir folder;
  QString write(const char* name, const QByteArray& bytes, bool program = false) const {
    QFile file(folder.filePath(name));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    file.close();
    if (program) file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file.fileName();
  }
  QString scenario() const { return write("small.toml", QByteArray::fromStdString(to_toml(small_scenario()))); }
  SessionOptions engine(const QByteArray& script, int start_limit_ms = 60'000) const {
    SessionOptions options;
    options.engine = write("engine", "#!/bin/sh\n" + script, true);
    options.start_limit_ms = start_limit_ms;
    options.stop_grace_ms = 500;
    return options;
  }
};

bool becomes(Session& session, SessionState state) {
  return wait_until([&] { return session.state() == state; });
}

QString record(const Place& place, const char* name, int steps) {
  return app::record(place.folder.filePath(name), small_scenario(), steps);
}

}  // namespace

TEST_CASE("A scenario is predicted when it is opened, and can then be run") {
  application();
  const Place place;
  Session session;
  CHECK(session.state() == SessionState::empty);
  CHECK(session.label() == SourceLabel::none);
  session.open({SourceKind::scenario, place.scenario()});
  CHECK(session.state() == SessionState::opening);
  REQUIRE(becomes(session, SessionState::ready));
  CHECK(session.can_run());
  CHECK(session.label() == SourceLabel::simulated);
  CHECK(session.view()->hello()->ranks == 2);
  CHECK(session.prediction() == nullptr);
  REQUIRE(wait_until([&] { return session.settled() && session.figures().latest()->predicted; }));
  // Two stages and four micro-batches: (p - 1) / (m + p - 1) = 1/5.
  CHECK(session.figures().latest()->predicted->bubble.ideal == Approx(0.2).margin(1e-6));
}

TEST_CASE("A scenario that cannot be read fails with the file's position") {
  application();
  const Place place;
  Session session;
  session.open({SourceKind::scenario, place.write("bad.toml", "[model]\nlayerz = 3\n")});
  CHECK(session.state() == SessionState::failed);
  CHECK(session.failure().contains("bad.toml:2"));
  CHECK_FALSE(session.can_run());
}

TEST_CASE("A plan that cannot run is refused with a reason, and Run is disabled until it is corrected") {
  application();
  const Place place;
  Session session;
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  Scenario plan = *session.scenario();
  plan.plan.micro_batches = 5;  // does not divide 16 samples
  session.edit(plan);
  REQUIRE(wait_until([&] { return !session.refusal().isEmpty(); }));
  CHECK(session.refusal().contains("16"));
  CHECK_FALSE(session.can_run());
  CHECK(session.edited());
  session.revert();
  REQUIRE(wait_until([&] { return session.refusal().isEmpty() && session.can_run(); }));
  CHECK_FALSE(session.edited());
}

TEST_CASE("More micro-batches shrink the predicted bubble as soon as the plan is edited") {
  application();
  const Place place;
  Session session;
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  Scenario plan = *session.scenario();
  plan.plan.micro_batches = 16;
  session.edit(plan);
  REQUIRE(wait_until([&] {
    const auto figures = session.figures().latest();
    return figures->predicted && figures->predicted->plan.micro_batches == 16;
  }));
  CHECK(session.figures().latest()->predicted->bubble.ideal == Approx(1.0 / 17).margin(1e-6));
}

TEST_CASE("An engine that dies before its first message fails the run, and the prediction is shown again") {
  application();
  const Place place;
  Session session(place.engine("echo 'no such device' >&2; exit 1"));
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  session.run();
  CHECK(session.state() == SessionState::starting);
  CHECK(session.can_stop());
  REQUIRE(becomes(session, SessionState::failed));
  CHECK(session.failure().contains("no such device"));
  CHECK(session.label() == SourceLabel::simulated);
  CHECK(session.can_run());
}

TEST_CASE("An engine that reports nothing is ended after the time limit") {
  application();
  const Place place;
  Session session(place.engine("sleep 600", 1500));
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  session.run();
  REQUIRE(becomes(session, SessionState::failed));
  CHECK(session.failure().contains("has not answered"));
}

TEST_CASE("The engine receives the edited plan") {
  application();
  const Place place;
  Session session(place.engine("echo \"$@\"; exit 0"));
  QStringList lines;
  QObject::connect(&session, &Session::log, [&](const QString& text, bool) { lines << text; });
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  Scenario plan = *session.scenario();
  plan.plan.micro_batches = 8;
  plan.plan.schedule = "1f1b";
  session.edit(plan);
  REQUIRE(wait_until([&] { return session.can_run() && session.settled(); }));
  session.run();
  REQUIRE(wait_until([&] { return session.state() != SessionState::starting; }));
  const QString all = lines.join('\n');
  CHECK(all.contains("--set plan.micro_batches=8"));
  CHECK(all.contains("--set plan.schedule=1f1b"));
  CHECK_FALSE(all.contains("plan.pipeline="));
}

TEST_CASE("A run that has not reported yet can be stopped") {
  application();
  const Place place;
  Session session(place.engine("sleep 60"));
  session.open({SourceKind::scenario, place.scenario()});
  REQUIRE(becomes(session, SessionState::ready));
  session.run();
  REQUIRE(session.can_stop());
  session.stop();
  CHECK(session.state() == SessionState::stopping);
  CHECK(wait_until([&] { return session.state() == SessionState::ended; }));
}

TEST_CASE("A recording opens with its numbers and its prediction") {
  application();
  const Place place;
  const QString path = record(place, "run.mcap", 5);
  Session session;
  session.open({SourceKind::trace, path});
  REQUIRE(becomes(session, SessionState::ended));
  CHECK(session.label() == SourceLabel::recorded);
  CHECK(session.view()->steps(Obtained::measured).size() == 5);
  REQUIRE(wait_until([&] { return session.prediction() != nullptr && session.figures().latest()->run; }));
  REQUIRE(wait_until([&] { return session.settled() && session.figures().latest()->forecast; }));
  const auto figures = session.figures().latest();
  REQUIRE(figures->run->steps.size() == 5);
  CHECK(figures->run->steps[4].loss == Approx(3.0));
  CHECK(figures->run->steps[4].grad_norm == Approx(5.0));  // sqrt(9 + 16)
  // The run received the prediction itself: no difference is left to explain.
  REQUIRE(figures->step);
  CHECK(figures->step->seconds() == Approx(figures->forecast->seconds()).epsilon(0.01));
}

TEST_CASE("A folder of PyTorch's traces opens as a run, with who takes part in its exchanges and their sizes") {
  application();
  const QTemporaryDir folder;
  for (const int rank : {0, 1}) {
    const QString name = QStringLiteral("fsdp2_rank%1.json.gz").arg(rank);
    REQUIRE(QFile::copy(
        QString::fromStdString(rankscope::test::source_folder() + "/tests/telemetry/import/samples/") + name,
        folder.filePath(name)));
  }
  const SourceSpec spec = classify_source(folder.path());
  CHECK(spec.kind == SourceKind::trace);
  Session session;
  session.open(spec);
  REQUIRE(becomes(session, SessionState::ended));
  CHECK(session.recording().isEmpty());  // nothing was recorded: marks have no place
  REQUIRE(wait_until([&] { return session.settled() && session.figures().latest()->linked; }));
  const auto figures = session.figures().latest();
  CHECK(figures->run->is_imported);
  CHECK(figures->run->ranks == 2);
  REQUIRE(figures->linked->members.size() > 0);
  for (const ExchangeFacts& exchange : figures->linked->exchanges) CHECK(exchange.bytes > 0);
}

TEST_CASE("A missing recording and an invalid one fail in one line") {
  application();
  const Place place;
  Session session;
  session.open({SourceKind::trace, place.folder.filePath("gone.mcap")});
  REQUIRE(becomes(session, SessionState::failed));
  CHECK(session.failure().contains("gone.mcap"));
  session.open({SourceKind::trace, place.write("junk.mcap", QByteArray(3000, 'x'))});
  REQUIRE(becomes(session, SessionState::failed));
  CHECK(session.failure().contains("junk.mcap"));
  CHECK_FALSE(session.failure().contains('\n'));
}

TEST_CASE("A truncated recording opens with its readable part, and reports that it was cut") {
  application();
  const Place place;
  QFile whole(record(place, "run.mcap", 40));
  REQUIRE(whole.open(QIODevice::ReadOnly));
  const QByteArray bytes = whole.readAll();
  Session session;
  QStringList lines;
  QObject::connect(&session, &Session::log, [&](const QString& text, bool) { lines << text; });
  session.open({SourceKind::trace, place.write("half.mcap", bytes.left(bytes.size() * 3 / 4))});
  REQUIRE(
      wait_until([&] { return session.state() == SessionState::ended || session.state() == SessionState::failed; }));
  CHECK(lines.join('\n').contains("half.mcap"));
}

TEST_CASE("A loss that is not finite is a notice, once") {
  application();
  const Place place;
  const QString path = app::record(place.folder.filePath("nan.mcap"), small_scenario(), 5, [](Event& event) {
    auto* summary = std::get_if<StepSummary>(&event);
    if (summary != nullptr) summary->loss_not_finite = summary->step >= 2;
  });
  Session session;
  QStringList lines;
  QObject::connect(&session, &Session::log, [&](const QString& text, bool bad) {
    if (bad) lines << text;
  });
  session.open({SourceKind::trace, path});
  REQUIRE(becomes(session, SessionState::ended));
  CHECK(lines == QStringList{"The loss is not finite since step 2"});
}

TEST_CASE("Opening another scenario closes the previous one") {
  application();
  const Place place;
  Session session;
  session.open({SourceKind::trace, record(place, "run.mcap", 3)});
  REQUIRE(becomes(session, SessionState::ended));
  session.open({SourceKind::scenario, place.scenario()});
  CHECK(session.view()->steps(Obtained::measured).empty());
  REQUIRE(becomes(session, SessionState::ready));
  CHECK(session.recording().isEmpty());
  CHECK(wait_until([&] { return session.settled() && !session.figures().latest()->run; }));
}
