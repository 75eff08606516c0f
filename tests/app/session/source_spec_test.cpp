// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/source_spec.hpp"

#include <QFile>
#include <QTemporaryDir>

#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope::app;

namespace {

QString write(const QTemporaryDir& folder, const char* name, const QByteArray& bytes) {
  QFile file(folder.filePath(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  return file.fileName();
}

std::string refusal(const QString& text) {
  try {
    classify_source(text);
  } catch (const SourceError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("A source is known by its scheme or its first bytes") {
  application();
  const QTemporaryDir folder;
  CHECK(classify_source("").kind == SourceKind::none);
  CHECK(classify_source("tcp://127.0.0.1:7447") == SourceSpec{SourceKind::endpoint, "tcp://127.0.0.1:7447"});
  CHECK(classify_source("ipc:///run/x").kind == SourceKind::endpoint);
  CHECK(classify_source(write(folder, "a.toml", "title = \"x\"")).kind == SourceKind::scenario);
  CHECK(classify_source(write(folder, "renamed", QByteArray("\x89MCAP0\r\n", 8) + "rest")).kind == SourceKind::trace);
  CHECK(classify_source(write(folder, "run.join", "rankscope://tcp/host:1#k")).kind == SourceKind::join_file);
  CHECK(classify_source(write(folder, "key", "rankscope://tcp/host:1#k\n")).kind == SourceKind::join_file);
}

TEST_CASE("A lab may be named without its folder") {
  application();
  const SourceSpec lab = classify_source("pipeline-gpipe");
  CHECK(lab.kind == SourceKind::scenario);
  CHECK(lab.text.endsWith("scenarios/labs/pipeline-gpipe.toml"));
  CHECK(default_lab().endsWith("pipeline-1f1b.toml"));
}

TEST_CASE("An invalid source is refused in one line with the correction") {
  application();
  const QTemporaryDir folder;
  CHECK(refusal("tcp://host").find("tcp://127.0.0.1:7447") != std::string::npos);
  CHECK(refusal("tcp://host:70000").find("port") != std::string::npos);
  CHECK(refusal("http://x:1").find("tcp://HOST:PORT") != std::string::npos);
  CHECK(refusal("/nowhere/a.toml").find("no such file") != std::string::npos);
  CHECK(refusal(folder.path()).find("folder") != std::string::npos);
  CHECK(refusal(write(folder, "notes.txt", "hello")).find("neither") != std::string::npos);
  CHECK(refusal("rankscope://tcp/host:1#secret").find("0600") != std::string::npos);
}
