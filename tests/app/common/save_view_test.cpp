// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/common/save_view.hpp"

#include <QDir>
#include <QFile>
#include <QHeaderView>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <cmath>

#include "app/views/common/rows_table.hpp"
#include "app/views/common/style.hpp"
#include "tests/app/session/qt_application.hpp"
#include "tests/catch.hpp"

using namespace rankscope;
using namespace rankscope::app;

namespace {

/// Paints one box with a word, and has one table row.
class Painted : public QWidget, public TableSource {
 public:
  ViewTable table() const override { return {{"what", "how much, bytes"}, {{"a \"quoted\", thing", "12"}, {"b", ""}}}; }
  mutable bool shapes = false;

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    shapes = paints_shapes(painter);
    painter.fillRect(rect(), Qt::white);
    painter.fillRect(QRect(10, 10, 50, 20), QColor(0x0d, 0x8a, 0xd7));
    painter.setPen(Qt::black);
    painter.drawText(QRect(70, 10, 120, 20), "forward");
  }
};

QByteArray content(const QString& file) {
  QFile in(file);
  REQUIRE(in.open(QIODevice::ReadOnly));
  return in.readAll();
}

}  // namespace

TEST_CASE("CSV follows RFC 4180: a header, quotes if needed, CRLF") {
  const ViewTable table{{"a", "b, in ms"}, {{"1", "x\"y"}, {"two\nlines", ""}}};
  CHECK(to_csv(table) == "a,\"b, in ms\"\r\n1,\"x\"\"y\"\r\n\"two\nlines\",\r\n");
}

TEST_CASE("Numbers in a file have all their digits, and unknown values are empty") {
  CHECK(plain(0.1) == "0.1");
  CHECK(plain(1.0 / 3).toDouble() == 1.0 / 3);
  CHECK(plain(std::nan("")).isEmpty());
  CHECK(plain(std::int64_t{1} << 40) == "1099511627776");
}

TEST_CASE("A view is saved by the name's ending: pixels, shapes and letters, or its table") {
  application();
  const QTemporaryDir folder;
  Painted view;
  view.resize(200, 40);
  const QString png = folder.filePath("a.png"), svg = folder.filePath("a.SVG"), csv = folder.filePath("a.csv");
  CHECK(save_view(view, &view, png).isEmpty());
  CHECK_FALSE(view.shapes);
  const QImage image(png);
  CHECK(image.size() == QSize(200, 40));
  CHECK(image.pixelColor(30, 20) == QColor(0x0d, 0x8a, 0xd7));

  CHECK(save_view(view, &view, svg).isEmpty());
  CHECK(view.shapes);
  const QByteArray drawing = content(svg);
  CHECK(drawing.contains("viewBox=\"0 0 200 40\""));
  CHECK(drawing.contains("#0d8ad7"));
  CHECK(drawing.contains(">forward</text>"));
  CHECK_FALSE(drawing.contains("<image"));

  CHECK(save_view(view, &view, csv).isEmpty());
  CHECK(content(csv) == "what,\"how much, bytes\"\r\n\"a \"\"quoted\"\", thing\",12\r\nb,\r\n");
}

TEST_CASE("A view that cannot be saved is refused in a line with the file's name, and no file remains") {
  application();
  const QTemporaryDir folder;
  Painted view;
  view.resize(20, 20);
  CHECK(save_view(view, &view, folder.filePath("a.gif")).contains(".png, .svg or .csv"));
  CHECK(save_view(view, nullptr, folder.filePath("a.csv")).contains("has no table"));
  CHECK(save_view(view, &view, folder.filePath("no/such/a.svg")).contains("could not be written"));
  CHECK(QDir(folder.path()).isEmpty());
}

TEST_CASE("A table's header is above its cells") {
  QApplication& app = application();
  app.setStyle("Fusion");
  app.setStyleSheet(style_sheet(palette_of(Theme::light)));
  RowsTable table({"MMM", "MMM"}, 1, "a table", nullptr);
  table.set_theme(Theme::light);
  table.set_rows({{{"MMM"}, {"MMM"}}});
  table.resize(300, 120);
  table.show();
  QCoreApplication::processEvents();
  const QImage image = table.grab().toImage();
  // The first and last column of ink in the header's line and in the first row's.
  const QColor ground = color(palette_of(Theme::light).ground);
  const auto ink = [&](int top, int bottom, int left, int right) {
    int first = -1, last = -1;
    for (int x = left; x < right; ++x)
      for (int y = top; y < bottom; ++y)
        if (std::abs(image.pixelColor(x, y).lightness() - ground.lightness()) > 60) {
          if (first < 0) first = x;
          last = x;
        }
    return std::pair{first, last};
  };
  const int header = table.horizontalHeader()->height(), row = table.rowHeight(0);
  const int split = table.columnWidth(0);
  const auto above = ink(2, header - 3, 0, split), under = ink(header + 2, header + row - 3, 0, split);
  REQUIRE(above.first > 0);
  CHECK(std::abs(above.first - under.first) <= 1);
  const auto right_above = ink(2, header - 3, split, split + table.columnWidth(1));
  const auto right_under = ink(header + 2, header + row - 3, split, split + table.columnWidth(1));
  REQUIRE(right_above.second > 0);
  CHECK(std::abs(right_above.second - right_under.second) <= 1);
  app.setStyleSheet({});
}
