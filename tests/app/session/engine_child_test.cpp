// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/engine_child.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope::app;

namespace {

EngineCommand shell(const char* script) { return {"/bin/sh", {"-c", script}}; }

struct Outcome {
  bool ended = false, ok = false;
  int status = 0;
  QString reason;
  QStringList lines, errors;
};

/// The outcome follows the child; both live as long as the test.
void follow(EngineChild& child, Outcome& outcome) {
  QObject::connect(&child, &EngineChild::line,
                   [&outcome](const QString& text, bool error) { (error ? outcome.errors : outcome.lines) << text; });
  QObject::connect(&child, &EngineChild::ended, [&outcome](bool ok, int status, const QString& reason) {
    outcome.ended = true;
    outcome.ok = ok;
    outcome.status = status;
    outcome.reason = reason;
  });
}

bool alive(pid_t pid) {
  if (kill(pid, 0) != 0) return false;
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  std::getline(stat, word);
  const auto state = word.rfind(')');
  return state != std::string::npos && word.size() > state + 2 && word[state + 2] != 'Z';
}

}  // namespace

TEST_CASE("An engine's output arrives line by line, the last one without its newline too") {
  application();
  EngineChild child(shell("echo one; echo two >&2; printf three"));
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK(outcome.ok);
  CHECK(outcome.lines == QStringList{"one", "three"});
  CHECK(outcome.errors == QStringList{"two"});
}

TEST_CASE("An engine that refuses its scenario ends with its own words as the reason") {
  application();
  EngineChild child(shell("echo 'lab.toml:3:1: no such key' >&2; exit 2"));
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.status == 2);
  CHECK(outcome.reason.contains("lab.toml:3:1: no such key"));
}

TEST_CASE("An engine ended by a signal from outside is a failure") {
  application();
  EngineChild child(shell("kill -9 $$"));
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.status == -1);
  CHECK(outcome.reason.contains("signal"));
}

TEST_CASE("A program that is not there says so instead of starting") {
  application();
  EngineChild child({"/nowhere/rankscope-engine", {}});
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.reason.contains("/nowhere/rankscope-engine"));
}

TEST_CASE("Stopping ends an engine in order, and is no failure") {
  application();
  EngineChild child(shell("trap 'echo tidy; exit 1' TERM; echo ready; while :; do sleep 0.05; done"));
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return !outcome.lines.isEmpty(); }));
  child.stop();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK(outcome.ok);
  CHECK(outcome.lines.contains("tidy"));
}

TEST_CASE("An engine that ignores being asked is killed, with all that it started") {
  application();
  EngineChild child(shell("trap '' TERM; sh -c 'echo $$; trap \"\" TERM; sleep 60' & wait; sleep 60"), 200);
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return !outcome.lines.isEmpty(); }));
  const auto grandchild = static_cast<pid_t>(outcome.lines.front().toLong());
  REQUIRE(alive(grandchild));
  child.stop();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  CHECK(wait_until([&] { return !alive(grandchild); }));
}

TEST_CASE("An engine runs at nice 10, in a process group of its own") {
  application();
  EngineChild child(shell("nice; echo $(ps -o pgid= -p $$) $$"));
  Outcome outcome;
  follow(child, outcome);
  child.start();
  REQUIRE(wait_until([&] { return outcome.ended; }));
  REQUIRE(outcome.lines.size() == 2);
  CHECK(outcome.lines[0].toInt() >= 10);
  const QStringList ids = outcome.lines[1].split(' ');
  CHECK(ids.first() == ids.last());
}

TEST_CASE("Destroying the child leaves no process behind") {
  application();
  pid_t pid = 0;
  {
    EngineChild child(shell("sleep 60"));
    child.start();
    REQUIRE(wait_until([&] { return child.running() && child.process_id() > 0; }));
    pid = static_cast<pid_t>(child.process_id());
    REQUIRE(alive(pid));
  }
  CHECK(wait_until([&] { return !alive(pid); }));
}

TEST_CASE("A window that is killed takes its engine with it") {
  application();
  int channel[2];
  REQUIRE(pipe(channel) == 0);
  const pid_t window = fork();
  REQUIRE(window >= 0);
  if (window == 0) {
    // A separate process with only a child started as EngineChild starts it.
    EngineChild child(shell("sleep 60"));
    child.start();
    const auto pid = static_cast<pid_t>(child.process_id());
    if (write(channel[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    pause();
    _exit(0);
  }
  pid_t engine = 0;
  REQUIRE(read(channel[0], &engine, sizeof engine) == static_cast<ssize_t>(sizeof engine));
  close(channel[0]);
  close(channel[1]);
  usleep(100'000);  // after fork, before which there is nothing to lose
  REQUIRE(alive(engine));
  kill(window, SIGKILL);
  waitpid(window, nullptr, 0);
  CHECK(wait_until([&] { return !alive(engine); }));
}
