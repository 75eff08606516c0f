// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/save_view.hpp"

#include <QBuffer>
#include <QPaintEngine>
#include <QPainter>
#include <QPixmap>
#include <QSaveFile>
#include <QSvgGenerator>

namespace rankscope::app {
namespace {

QByteArray as_png(QWidget& widget) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  widget.grab().save(&buffer, "PNG");
  return bytes;
}

QByteArray as_svg(QWidget& widget) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setResolution(widget.logicalDpiX());  // a logical pixel is a unit of the picture
  generator.setSize(widget.size());
  generator.setViewBox(widget.rect());
  generator.setTitle(widget.accessibleName().isEmpty() ? widget.window()->windowTitle() : widget.accessibleName());
  QPainter painter(&generator);
  widget.render(&painter);
  painter.end();
  return bytes;
}

}  // namespace

std::optional<SaveFormat> save_format_of(const QString& file) {
  const std::pair<const char*, SaveFormat> endings[] = {
      {".png", SaveFormat::png}, {".svg", SaveFormat::svg}, {".csv", SaveFormat::csv}};
  for (const auto& [ending, format] : endings)
    if (file.endsWith(QLatin1String(ending), Qt::CaseInsensitive)) return format;
  return std::nullopt;
}

QString save_view(QWidget& widget, const TableSource* table, const QString& file) {
  const auto format = save_format_of(file);
  if (!format) return QObject::tr("%1: the name must end in .png, .svg or .csv").arg(file);
  QByteArray bytes;
  switch (*format) {
    case SaveFormat::png: bytes = as_png(widget); break;
    case SaveFormat::svg: bytes = as_svg(widget); break;
    case SaveFormat::csv: {
      const ViewTable rows = table != nullptr ? table->table() : ViewTable{};
      if (rows.titles.isEmpty()) return QObject::tr("%1: this view has no table; use .png or .svg").arg(file);
      bytes = to_csv(rows);
    }
  }
  return write_whole(file, bytes);
}

QString write_whole(const QString& file, const QByteArray& bytes) {
  QSaveFile out(file);
  if (out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit()) return {};
  return QObject::tr("%1 could not be written: %2").arg(file, out.errorString());
}

bool paints_shapes(const QPainter& painter) {
  const QPaintEngine* engine = painter.paintEngine();
  return engine != nullptr && engine->type() == QPaintEngine::SVG;
}

}  // namespace rankscope::app
