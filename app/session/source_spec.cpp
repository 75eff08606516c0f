// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/source_spec.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace rankscope {
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

QString folder_above(const QString& start) {
  QDir folder(start);
  for (int level = 0; level < 6; ++level) {
    if (folder.exists(QStringLiteral("scenarios/labs")))
      return folder.absoluteFilePath(QStringLiteral("scenarios/labs"));
    if (!folder.cdUp()) break;
  }
  return {};
}

}  // namespace

SourceSpec classify_source(const QString& text, const QString& labs_folder) {
  if (text.isEmpty()) return {};
  if (is_endpoint(text)) {
    check_endpoint(text);
    return {SourceKind::endpoint, text};
  }
  if (text.contains(QLatin1String("://")))
    refuse(QStringLiteral("%1: unknown kind of endpoint; tcp://HOST:PORT and ipc://PATH are known").arg(text));

  QFileInfo info(text);
  if (!info.exists() && !labs_folder.isEmpty() && !text.contains(QLatin1Char('/'))) {
    const QFileInfo lab(QDir(labs_folder).filePath(text + QStringLiteral(".toml")));
    if (lab.exists()) info = lab;
  }
  if (!info.exists()) refuse(QStringLiteral("%1: there is no such file, and no lab of that name").arg(text));
  if (info.isDir())
    refuse(QStringLiteral("%1: this is a folder; name a scenario (.toml) or a trace (.mcap)").arg(text));

  QFile file(info.absoluteFilePath());
  if (!file.open(QIODevice::ReadOnly)) refuse(QStringLiteral("%1: %2").arg(text, file.errorString()));
  const QByteArray head = file.read(4096);
  if (head.startsWith(QByteArray(mcap_magic, mcap_magic_bytes)) || info.suffix() == QLatin1String("mcap"))
    return {SourceKind::trace, info.absoluteFilePath()};
  if (info.suffix() == QLatin1String("toml")) return {SourceKind::scenario, info.absoluteFilePath()};
  if (head.trimmed().startsWith("rankscope:") || head.contains("tcp://") || info.suffix() == QLatin1String("join"))
    return {SourceKind::join_file, info.absoluteFilePath()};
  refuse(QStringLiteral("%1: neither a scenario (.toml), a trace (MCAP) nor a join file by its name or first bytes")
             .arg(text));
}

QString find_labs_folder() {
  const QDir program(QCoreApplication::applicationDirPath());
  const QString installed = program.filePath(QStringLiteral("../share/rankscope/scenarios/labs"));
  if (QDir(installed).exists()) return QDir(installed).absolutePath();
  for (const QString& start : {QDir::currentPath(), program.absolutePath()})
    if (const QString found = folder_above(start); !found.isEmpty()) return found;
#ifdef RANKSCOPE_CHECKOUT
  if (const QString found = folder_above(QStringLiteral(RANKSCOPE_CHECKOUT)); !found.isEmpty()) return found;
#endif
  return {};
}

}  // namespace rankscope
