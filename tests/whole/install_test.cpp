// Files installed by `cmake --install` work there, without the build tree.
#include <fstream>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/whole/process.hpp"

using namespace rankscope::test;

TEST_CASE("an installation has its programs and scenarios, and its labs are found by name") {
  const Folder folder;
  const std::filesystem::path prefix = folder / "prefix";
  const Ended installed =
      Process(folder, {RANKSCOPE_CMAKE, "--install", std::filesystem::path(program("..")).lexically_normal().string(),
                       "--prefix", prefix.string()})
          .wait(a_minute);
  INFO(installed.out << installed.err);
  REQUIRE(installed.status == 0);
  for (const char* program : {"rankscope-engine", "rankscope-trace"})
    CHECK(std::filesystem::is_regular_file(prefix / "bin" / program));
  CHECK(std::filesystem::is_regular_file(prefix / "bin" / "rankscope") == (RANKSCOPE_HAS_WINDOW != 0));

  // The lab of the installation, not of the source tree: it has another title, and a cluster that exists only here.
  const std::filesystem::path scenarios = prefix / "share" / "rankscope" / "scenarios";
  std::string lab = content_of(scenarios / "labs" / "data-parallel.toml");
  const std::string spec = "spec = \"laptop\"";
  REQUIRE(lab.find(spec) != std::string::npos);
  lab.replace(lab.find(spec), spec.size(), "spec = \"moved\"");
  std::ofstream(scenarios / "labs" / "data-parallel.toml") << lab;
  std::filesystem::rename(scenarios / "clusters" / "laptop.toml", scenarios / "clusters" / "moved.toml");

  const std::string program = (prefix / "bin" / "rankscope-engine").string();
  const Ended run = Process(folder, {program, "run", "data-parallel", "--steps", "2", "--json", "--set", "width=32",
                                     "--set", "layers=2"})
                        .wait(a_minute);
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(run.out.find("\"steps\"") != std::string::npos);
  const Ended plan = Process(folder, {program, "plan", "gpt2-124m", "--set", "cluster.spec=h100"}).wait(a_minute);
  INFO(plan.err);
  CHECK(plan.status == 0);

  const Ended unknown = Process(folder, {program, "plan", "no-such-lab"}).wait(a_minute);
  CHECK(unknown.status == 2);
  CHECK(unknown.err.find("no-such-lab") != std::string::npos);
}
