// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/source_spec.hpp"

#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "engine/plan/scenario/resources.hpp"
#include "telemetry/import/import.hpp"

namespace rankscope::app {
namespace {

constexpr char mcap_magic[] = "\x89MCAP0\r\n";  // https://mcap.dev/spec, "Magic"
constexpr int mcap_magic_bytes = 8;

[[noreturn]] void refuse(const QString& message) { throw SourceError(message.toStdString()); }

bool is_endpoint(const QString& text) {
  return text.startsWith(QLatin1String("tcp://")) || text.startsWith(QLatin1String("ipc://"));
}

void check_endpoint(const QString& text) {
  if (!text.startsWith(QLatin1String("tcp://"))) return;
  const QString address = text.mid(6);
  const auto colon = address.lastIndexOf(QLatin1Char(':'));
  bool number = false;
  const int port = colon > 0 ? address.mid(colon + 1).toInt(&number) : 0;
  if (!number || port < 1 || port > 65535)
    refuse(QStringLiteral("%1: no host and port; an endpoint looks like tcp://127.0.0.1:7447").arg(text));
}

}  // namespace

bool SourceSpec::is_foreign() const { return kind == SourceKind::trace && import::may_be_traces(text.toStdString()); }

SourceSpec classify_source(const QString& text) {
  if (text.isEmpty()) return {};
  if (is_endpoint(text)) {
    check_endpoint(text);
    return {SourceKind::endpoint, text};
  }
  if (text.startsWith(QLatin1String("rankscope://")))
    refuse(QStringLiteral(
        "a join string contains a secret, and every user of this machine can read argument lists; put it "
        "into a file of mode 0600 and give that file"));
  if (text.contains(QLatin1String("://")))
    refuse(QStringLiteral("%1: unknown kind of endpoint; tcp://HOST:PORT and ipc://PATH are known").arg(text));

  QFileInfo info(text);
  if (!info.exists())
    if (const auto named = find_scenario(text.toStdString()); !named.empty())
      info = QFileInfo(QString::fromStdString(named.string()));
  if (!info.exists()) refuse(QStringLiteral("%1: no such file, and no lab of that name").arg(text));
  if (info.isDir()) {
    try {
      import::traces_at(info.absoluteFilePath().toStdString());
    } catch (const import::ImportError& error) {
      refuse(QString::fromStdString(error.what()));
    }
    return {SourceKind::trace, info.absoluteFilePath()};
  }

  QFile file(info.absoluteFilePath());
  if (!file.open(QIODevice::ReadOnly)) refuse(QStringLiteral("%1: %2").arg(text, file.errorString()));
  const QByteArray head = file.read(4096);
  if (head.startsWith(QByteArray(mcap_magic, mcap_magic_bytes)) || info.suffix() == QLatin1String("mcap"))
    return {SourceKind::trace, info.absoluteFilePath()};
  if (info.suffix() == QLatin1String("toml")) return {SourceKind::scenario, info.absoluteFilePath()};
  if (head.trimmed().startsWith("rankscope://") || info.suffix() == QLatin1String("join"))
    return {SourceKind::join_file, info.absoluteFilePath()};
  if (import::may_be_traces(info.filePath().toStdString())) return {SourceKind::trace, info.absoluteFilePath()};
  refuse(QStringLiteral("%1: neither a scenario (.toml), a recording (MCAP), a trace of PyTorch (.json, .json.gz) nor "
                        "a join file by its name or first bytes")
             .arg(text));
}

QString default_lab() {
  const auto files = resource_files("labs");
  const auto usual =
      std::find_if(files.begin(), files.end(), [](const auto& f) { return f.stem() == "pipeline-1f1b"; });
  if (usual != files.end()) return QString::fromStdString(usual->string());
  return files.empty() ? QString() : QString::fromStdString(files.front().string());
}

}  // namespace rankscope::app
