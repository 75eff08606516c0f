// SPDX-License-Identifier: GPL-3.0-or-later
// `rankscope --screenshot` as a user would run it: exit status, the one line on standard error, and the content of each
// picture.
#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <algorithm>
#include <map>

#include "tests/catch.hpp"
#include "tests/places.hpp"

namespace {

struct Ended {
  int status = -1;
  QString errors;
};

/// A folder, and the program run with it as its session's folder.
class Person {
 public:
  Person() { REQUIRE(folder_.isValid()); }
  QString path(const QString& name) const { return folder_.filePath(name); }
  QString write(const QString& name, const QByteArray& content) const {
    QFile file(path(name));
    REQUIRE(file.open(QIODevice::WriteOnly));
    file.write(content);
    return file.fileName();
  }
  Ended run(const QStringList& arguments,
            const QString& program = QString::fromStdString(rankscope::test::program("rankscope"))) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("XDG_RUNTIME_DIR", folder_.path());
    environment.insert("XDG_CONFIG_HOME", folder_.path());
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    const bool in_time = process.waitForFinished(300'000);
    return {in_time && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
            QString::fromUtf8(process.readAllStandardError())};
  }
  /// The picture of one view, which did not exist before.
  QImage picture(const QString& source, const QStringList& further = {}) const {
    const QString file = path("picture.png");
    QFile::remove(file);
    const Ended ended = run(QStringList{source, "--screenshot", file} + further);
    INFO(further.join(' ').toStdString() << ": " << ended.errors.toStdString());
    CHECK(ended.status == 0);
    CHECK(ended.errors.isEmpty());
    const QImage image(file, "PNG");
    REQUIRE_FALSE(image.isNull());
    return image.convertToFormat(QImage::Format_RGB32);
  }
  /// A short run of a lab, recorded.
  QString recording(const QString& lab) const {
    const QString file = path(lab + ".mcap");
    const Ended ended = run({"run", lab, "--steps", "12", "--record", file},
                            QString::fromStdString(rankscope::test::program("rankscope-engine")));
    INFO(ended.errors.toStdString());
    REQUIRE(ended.status == 0);
    return file;
  }
  /// The names that the program itself lists.
  QStringList views() const {
    const QString errors = run({"--screenshot", path("a.png"), "--view", "nothing"}).errors;
    REQUIRE(errors.contains("known are "));
    return errors.section("known are ", 1).trimmed().split(", ");
  }

 private:
  QTemporaryDir folder_;
};

/// The amount of content in a picture.
struct Ink {
  int colours = 0;
  double most_common = 0;  ///< share of the pixels that have the most common colour
  double filled = 0;       ///< share of its 16 x 10 tiles that are not of one colour
  double lightness = 0;    ///< median
};

Ink ink_of(const QImage& image) {
  std::map<QRgb, int> count;
  std::vector<int> lightness;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      ++count[image.pixel(x, y)];
      lightness.push_back(image.pixelColor(x, y).lightness());
    }
  Ink ink;
  ink.colours = static_cast<int>(count.size());
  int most = 0;
  for (const auto& [colour, pixels] : count) most = std::max(most, pixels);
  ink.most_common = static_cast<double>(most) / (image.width() * image.height());
  std::nth_element(lightness.begin(), lightness.begin() + static_cast<long>(lightness.size() / 2), lightness.end());
  ink.lightness = lightness[lightness.size() / 2];
  constexpr int across = 16, down = 10;
  for (int ty = 0; ty < down; ++ty)
    for (int tx = 0; tx < across; ++tx) {
      const QRect tile(tx * image.width() / across, ty * image.height() / down, image.width() / across,
                       image.height() / down);
      const QRgb first = image.pixel(tile.topLeft());
      bool plain = true;
      for (int y = tile.top(); y <= tile.bottom() && plain; ++y)
        for (int x = tile.left(); x <= tile.right() && plain; ++x) plain = image.pixel(x, y) == first;
      ink.filled += plain ? 0.0 : 1.0 / (across * down);
    }
  return ink;
}

}  // namespace

TEST_CASE("the whole window is drawn at the size that was asked for, in both themes, from edge to edge") {
  const Person person;
  const QImage light = person.picture("pipeline-1f1b", {"--size", "1280x800", "--theme", "light"});
  const QImage dark = person.picture("pipeline-1f1b", {"--size", "1280x800", "--theme", "dark"});
  for (const QImage& image : {light, dark}) {
    CHECK(image.size() == QSize(1280, 800));
    const Ink ink = ink_of(image);
    INFO(ink.colours << " colours, " << ink.most_common << " of one, " << ink.filled << " of the tiles");
    CHECK(ink.colours > 100);
    CHECK(ink.filled > 0.5);
  }
  CHECK(ink_of(light).lightness > 200);
  CHECK(ink_of(dark).lightness < 80);
  // If a tile is mostly background, it has the theme's colour.
  int themed = 0, tiles = 0;
  for (int y = 0; y < 800; y += 50)
    for (int x = 0; x < 1280; x += 50, ++tiles) {
      const double l = ink_of(light.copy(x, y, 50, 50)).lightness, d = ink_of(dark.copy(x, y, 50, 50)).lightness;
      themed += l > d + 60;
    }
  INFO(themed << " of " << tiles << " tiles are lighter in the light theme");
  CHECK(themed > 0.9 * tiles);
}

TEST_CASE("every view that the program names draws a picture of its own of a recording") {
  const Person person;
  const QStringList views = person.views();
  for (const char* name : {"timeline", "memory", "range",   "collectives", "training",   "scaling", "search",
                           "roofline", "paths",  "formats", "puzzle",      "validation", "grid",    "topology",
                           "program",  "hang",   "compare", "experiments", "plan",       "lab"}) {
    INFO(name);
    CHECK(views.contains(QLatin1String(name)));
  }
  const QString recorded = person.recording("pipeline-gpipe"), other_run = person.recording("pipeline-1f1b");
  std::map<QString, QImage> pictures;
  for (const QString& view : views) {
    QStringList further{"--view", view, "--size", "800x500"};
    if (view == "compare") further += QStringList{"--compare", other_run};
    const QImage image = person.picture(recorded, further);
    const Ink ink = ink_of(image);
    INFO(view.toStdString() << ": " << ink.colours << " colours, " << ink.most_common << " of one, " << ink.filled
                            << " of the tiles");
    CHECK(image.size() == QSize(800, 500));
    CHECK(ink.colours > 100);     // letters are smoothed
    if (view != "experiments") {  // a recording is not an editable plan: the view states this, and no more
      CHECK(ink.most_common < 0.96);
      CHECK(ink.filled > 0.35);
    }
    for (const auto& [other, its] : pictures) {
      INFO("the same as " << other.toStdString());
      CHECK(image != its);
    }
    pictures[view] = image;
  }
  CHECK(person.picture(recorded, {"--view", "compare", "--size", "800x500"}) != pictures.at("compare"));
  const QString file = person.path("compared.csv");
  CHECK(person.run({recorded, "--compare", other_run, "--view", "compare", "--screenshot", file}).status == 0);
  QFile table(file);
  REQUIRE(table.open(QIODevice::ReadOnly));
  CHECK(table.readAll().contains("\nbubble,"));
}

TEST_CASE("a view's table is written if the file's name ends like a table's") {
  const Person person;
  const QString file = person.path("saddle.csv");
  CHECK(person.run({"pipeline-gpipe", "--surface", "saddle", "--screenshot", file, "--view", "paths"}).status == 0);
  QFile table(file);
  REQUIRE(table.open(QIODevice::ReadOnly));
  CHECK(table.readLine().trimmed() == "optimizer,rate,step,x,y,loss");
  CHECK(table.readAll().count('\n') > 100);
}

TEST_CASE("a picture that cannot be drawn is refused in one line, with status 2 for bad input, and no file remains") {
  const Person person;
  const QString bad = person.write("bad.toml", "[plan]\npipelin = 4\n");
  const QString junk = person.write("junk.mcap", "this is no recording");
  const QString picture = person.path("a.png");
  struct Case {
    QStringList arguments;
    int status;
    const char* words;
  };
  for (const Case& c :
       {Case{{bad, "--screenshot", picture}, 2, "bad.toml:2"},
        Case{{person.path("gone.toml"), "--screenshot", picture}, 2, "no such file"},
        Case{{"--screenshot", picture, "--view", "nothing"}, 2, "unknown; known are"},
        Case{{junk, "--run", "--screenshot", picture}, 2, "--run needs a scenario"},
        Case{{junk, "--screenshot", picture}, 1, "junk.mcap"},
        Case{{"pipeline-1f1b", "--screenshot", person.path("no/such/folder/a.png")}, 1, "could not be written"}}) {
    const Ended ended = person.run(c.arguments);
    INFO(c.arguments.join(' ').toStdString() << ": " << ended.errors.toStdString());
    CHECK(ended.status == c.status);
    CHECK(ended.errors.contains(QLatin1String(c.words)));
    CHECK(ended.errors.trimmed().count('\n') == 0);
    CHECK_FALSE(QFile::exists(picture));
  }
  CHECK(person.run({"--version"}).status == 0);
}
