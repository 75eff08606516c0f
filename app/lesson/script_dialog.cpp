// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/script_dialog.hpp"

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "app/views/common/parts.hpp"
#include "app/views/common/save_view.hpp"
#include "app/views/common/style.hpp"

namespace rankscope::app {
namespace {

constexpr QSize usual_size(760, 560);

}  // namespace

void show_script(QWidget* parent, const QString& title, const QString& script, const QString& name) {
  auto* dialog = new QDialog(parent);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->resize(usual_size);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(
      make_label(QDialog::tr("The same model, weights, samples and optimizer in PyTorch, over gloo. Its first "
                             "lines show how to start it."),
                 "dim", dialog));
  auto* text = new QPlainTextEdit(script, dialog);
  text->setReadOnly(true);
  text->setLineWrapMode(QPlainTextEdit::NoWrap);
  text->setFont(number_font());
  text->setAccessibleName(QDialog::tr("The script"));
  column->addWidget(text, 1);
  auto* trouble = make_label({}, "bad", dialog);
  trouble->hide();
  column->addWidget(trouble);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
  auto* copy = buttons->addButton(QDialog::tr("Copy"), QDialogButtonBox::ActionRole);
  auto* keep = buttons->addButton(QDialog::tr("Save…"), QDialogButtonBox::ActionRole);
  QObject::connect(copy, &QPushButton::clicked, dialog, [script] { QGuiApplication::clipboard()->setText(script); });
  QObject::connect(keep, &QPushButton::clicked, dialog, [dialog, trouble, script, name] {
    const QString file =
        QFileDialog::getSaveFileName(dialog, QDialog::tr("Save the script"), name, QDialog::tr("Python (*.py)"));
    if (file.isEmpty()) return;
    const QString why = write_whole(file, script.toUtf8());
    trouble->setText(why);
    trouble->setVisible(!why.isEmpty());
  });
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  column->addWidget(buttons);
  dialog->show();
}

}  // namespace rankscope::app
