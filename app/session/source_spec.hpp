// SPDX-License-Identifier: GPL-3.0-or-later
// Classifies user input (command line or open dialog): a scenario, a trace, a run's endpoint or a join file.
#pragma once
#include <QString>
#include <stdexcept>

namespace rankscope::app {

enum class SourceKind { none, scenario, trace, endpoint, join_file };

struct SourceSpec {
  SourceKind kind = SourceKind::none;
  QString text;  ///< absolute path, or the endpoint as given
  /// A run elsewhere, to which the window connects.
  bool connects() const { return kind == SourceKind::endpoint || kind == SourceKind::join_file; }
  /// A run of another program: traces that are imported.
  bool is_foreign() const;
  bool operator==(const SourceSpec&) const = default;
};

/// Bad input: one line with the error and the correction.
struct SourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Classifies `text`: endpoints by their scheme, files by their first bytes, not by their name
/// only. A folder must have traces of another program. The name of a lab ("pipeline-1f1b") means that lab's file.
/// Throws SourceError.
SourceSpec classify_source(const QString& text);

/// The lab that is opened when nothing was named: pipeline-1f1b, else the first; empty when none is installed.
QString default_lab();

}  // namespace rankscope::app
