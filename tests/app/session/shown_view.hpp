// SPDX-License-Identifier: GPL-3.0-or-later
// One view with its own session, shown without the window around it.
#pragma once
#include <QFile>
#include <QTemporaryDir>

#include "app/models/shared_state.hpp"
#include "app/session/session.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

namespace rankscope::app {

/// Before any widget.
struct WithApplication {
  WithApplication() { application(); }
};

template <class View>
struct ShownView : WithApplication {
  SharedState state;
  Session session;
  View view{state, session};
  QTemporaryDir folder;

  explicit ShownView(QSize size = {1100, 420}) {
    view.resize(size);
    view.show();
    QCoreApplication::processEvents();
  }
  /// Returns when the scenario is predicted.
  void open(const QByteArray& scenario) {
    QFile file(folder.filePath("scenario.toml"));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(scenario);
    file.close();
    session.open({SourceKind::scenario, file.fileName()});
    REQUIRE(wait_until([&] { return session.state() == SessionState::ready && session.settled(); }));
  }
};

}  // namespace rankscope::app
