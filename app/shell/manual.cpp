// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/manual.hpp"

#include <QApplication>
#include <QDialog>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "engine/plan/scenario/resources.hpp"

namespace rankscope::app {
namespace {

constexpr QSize manual_size(820, 640);

/// The README beside the scenarios of a checkout, or where it was installed; empty if there is none.
QString manual_file() {
  for (const auto& scenarios : resource_folders())
    for (const char* beside : {"../README.md", "../../doc/Rankscope/README.md"})
      if (const QString file = QString::fromStdString((scenarios / beside).string()); QFile::exists(file)) return file;
  return {};
}

QString manual_text() {
  QFile file(manual_file());
  if (!file.open(QIODevice::ReadOnly))
    return QObject::tr("The manual is the file README.md of Rankscope. It is not installed here.");
  return QString::fromUtf8(file.readAll());
}

}  // namespace

QString about_text(const QString& engine_program) {
  return QObject::tr(
             "<h3>Rankscope %1</h3><p>A laboratory for distributed neural-network training.</p>"
             "<p>Apache-2.0; the window is GPL-3.0-or-later, because it uses Qt Charts.</p>"
             "<p>Made with Qt %2, ZeroMQ, FlatBuffers, zstd, oneDNN, OpenBLAS and Open MPI.</p>"
             "<p>Engine: %3</p>")
      .arg(QApplication::applicationVersion(), QLatin1String(qVersion()),
           engine_program.isEmpty() ? QObject::tr("not found") : engine_program.toHtmlEscaped());
}

void show_manual(QWidget* parent) {
  auto* window = new QDialog(parent);
  window->setAttribute(Qt::WA_DeleteOnClose);
  window->setWindowTitle(QObject::tr("Rankscope: the manual"));
  window->resize(manual_size);
  auto* text = new QTextBrowser(window);
  text->setAccessibleName(QObject::tr("Manual"));
  text->setOpenExternalLinks(true);
  text->setSearchPaths({QFileInfo(manual_file()).absolutePath()});
  text->setMarkdown(manual_text());
  auto* find = new QLineEdit(window);
  find->setPlaceholderText(QObject::tr("Find in the manual: Enter finds the next match"));
  find->setAccessibleName(QObject::tr("Find in the manual"));
  QObject::connect(find, &QLineEdit::returnPressed, text, [text, find] {
    if (text->find(find->text())) return;
    text->moveCursor(QTextCursor::Start);  // from the top again
    text->find(find->text());
  });
  auto* column = new QVBoxLayout(window);
  column->addWidget(find);
  column->addWidget(text, 1);
  window->show();
}

}  // namespace rankscope::app
