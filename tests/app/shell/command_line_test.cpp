// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/command_line.hpp"

#include "tests/catch.hpp"

using namespace rankscope::app;

namespace {

CommandLine parse(QStringList arguments) {
  arguments.prepend("rankscope");
  return parse_command_line(arguments);
}

std::string refusal(const QStringList& arguments) {
  try {
    parse(arguments);
  } catch (const CommandLineError& error) {
    return error.what();
  }
  return {};
}

bool says(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("The command line names a source, a picture, a view, a size and a theme") {
  const CommandLine line =
      parse({"run.mcap", "--screenshot", "a.png", "--view", "memory", "--size", "1920x1080", "--theme", "light"});
  CHECK(line.source == "run.mcap");
  CHECK(line.screenshot == "a.png");
  CHECK(line.view == "memory");
  CHECK(line.size == QSize(1920, 1080));
  REQUIRE(line.theme);
  CHECK(*line.theme == rankscope::Theme::light);
  CHECK_FALSE(line.run);
}

TEST_CASE("The answers of a class are kept in a CSV file, by the teacher's window alone") {
  CHECK(parse({"--teach", "class.join", "--answers", "monday.csv"}).answers == "monday.csv");
  CHECK(says(refusal({"--answers", "monday.csv"}), "--teach FILE"));
  CHECK(says(refusal({"--teach", "class.join", "--answers", "monday.txt"}), "must end in .csv"));
}

TEST_CASE("Without arguments the window opens as the system looks") {
  const CommandLine line = parse({});
  CHECK(line.source.isEmpty());
  CHECK_FALSE(line.theme);
  CHECK(line.screenshot.isEmpty());
}

TEST_CASE("The option for a surface of optimizers' paths is read; without it nothing changes") {
  CHECK(parse({"--surface", "saddle"}).surface == "saddle");
  CHECK(parse({}).surface.isEmpty());
}

TEST_CASE("A class for other machines needs an address, a class for this machine does not") {
  const CommandLine beyond = parse({"--teach", "class.join", "--network", "10.0.0.1"});
  CHECK(beyond.teach == "class.join");
  CHECK(beyond.network == "10.0.0.1");
  CHECK(parse({"--teach", "class.join"}).network.isEmpty());
}

TEST_CASE("Bad arguments are refused in one line with the correction") {
  CHECK(says(refusal({"a.toml", "b.toml"}), "one source at a time"));
  CHECK(says(refusal({"--theme", "blue"}), "light, dark or contrast"));
  CHECK(says(refusal({"--language", "xx"}), "--language xx: unknown; give one of en"));
  CHECK(parse({"--language", "en"}).language == QStringLiteral("en"));
  CHECK(parse({}).language.isEmpty());
  CHECK(says(refusal({"--screenshot", "a.jpg"}), ".png"));
  CHECK(says(refusal({"--view", "memory"}), "--screenshot"));
  CHECK(says(refusal({"--size", "100x100"}), "--screenshot"));
  CHECK(says(refusal({"--screenshot", "a.png", "--view", "histogram"}), "timeline, memory"));
  CHECK(says(refusal({"--screenshot", "a.png", "--size", "10x10"}), "1280x800"));
  CHECK(says(refusal({"--screenshot", "a.png", "--size", "big"}), "WIDTHxHEIGHT"));
  CHECK(says(refusal({"--surface", "hill"}), "ravine, saddle, two-minima, rosenbrock, beale"));
  CHECK(says(refusal({"--no-such-option"}), "--help"));
  CHECK(says(refusal({"--network", "10.0.0.1"}), "needs --teach FILE"));
}
