// Energy from fake counters of NVML and RAPL.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/execute/power/power.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"

using namespace rankscope;
namespace fs = std::filesystem;

namespace {

struct Environment {
  const char* name;
  Environment(const char* its_name, const char* value) : name(its_name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name); }
};

/// A powercap tree of a host with two packages; the memory's counter is below the first package.
class Powercap {
 public:
  Powercap() : root_(fs::temp_directory_path() / ("powercap_" + std::to_string(getpid()))) {
    fs::remove_all(root_);
    add("intel-rapl:0", "package-0", 1000, 999'999);
    add("intel-rapl:0:0", "core", 77, 999'999);  // part of the package: must not be counted twice
    add("intel-rapl:0:1", "dram", 500, 999'999);
    add("intel-rapl:1", "package-1", 2000, 999'999);
    add("intel-rapl-mmio:0", "package-0", 1000, 999'999);  // the same counter under another name
  }
  ~Powercap() { fs::remove_all(root_); }
  std::string root() const { return root_.string(); }
  void set(const std::string& zone, std::uint64_t microjoules) { write(root_ / zone / "energy_uj", microjoules); }
  /// Makes the counter unreadable, also for a process that has already opened it.
  void forbid(const std::string& zone) { fs::resize_file(root_ / zone / "energy_uj", 0); }

 private:
  void add(const std::string& zone, const std::string& name, std::uint64_t energy, std::uint64_t range) {
    fs::create_directories(root_ / zone);
    std::ofstream(root_ / zone / "name") << name << '\n';
    write(root_ / zone / "max_energy_range_uj", range);
    set(zone, energy);
  }
  static void write(const fs::path& file, std::uint64_t value) { std::ofstream(file) << value << '\n'; }
  fs::path root_;
};

}  // namespace

TEST_CASE("a step's energy on a GPU is the increase of NVML's counter since the previous step") {
  std::string why;
  auto meter = open_nvml_meter("0000:3b:00.0", &why, test::program("librankscope_fake_nvml.so"));
  INFO(why);
  REQUIRE(meter != nullptr);
  StepEnergy energy(std::move(meter));
  CHECK(energy.source() == PowerSource::nvml);
  const Environment more("FAKE_NVML_MORE", "2500");
  CHECK(energy.take().value() == Approx(2.5));
  CHECK(energy.take().value() == Approx(2.5));
  const Environment old("FAKE_NVML_OLD", "1");
  CHECK_FALSE(energy.take().has_value());
}

TEST_CASE("without NVML, a driver, the GPU or its counter the energy is unknown, with the reason") {
  std::string why;
  CHECK(open_nvml_meter("0000:3b:00.0", &why, "/nowhere/libnvidia-ml.so.1") == nullptr);
  CHECK_THAT(why, ContainsText("NVML was not found (/nowhere/libnvidia-ml.so.1"));
  CHECK(open_nvml_meter("0000:3b:00.0", &why, "libm.so.6") == nullptr);
  CHECK(why == "the GPU's energy is unknown: NVML has no counter of energy");
  CHECK(open_nvml_meter("0000:af:00.0", &why, test::program("librankscope_fake_nvml.so")) == nullptr);
  CHECK(why == "the GPU's energy is unknown: NVML, of 0000:af:00.0: Not Found");
  {
    const Environment driver("FAKE_NVML_NO_DRIVER", "1");
    CHECK(open_nvml_meter("0000:3b:00.0", &why, test::program("librankscope_fake_nvml.so")) == nullptr);
    CHECK(why == "the GPU's energy is unknown: NVML: Driver Not Loaded");
  }
  const Environment old("FAKE_NVML_OLD", "1");
  CHECK(open_nvml_meter("0000:3b:00.0", &why, test::program("librankscope_fake_nvml.so")) == nullptr);
  CHECK(why == "the GPU's energy is unknown: NVML, of 0000:3b:00.0: Not Supported");
}

TEST_CASE("processors' energy is that of packages and memory, each once, also when a counter wraps around") {
  Powercap powercap;
  std::string why;
  StepEnergy energy(open_rapl_meter(&why, powercap.root()));
  INFO(why);
  CHECK(energy.source() == PowerSource::rapl);
  CHECK(energy.take() == 0);
  powercap.set("intel-rapl:0", 501'000);
  powercap.set("intel-rapl:0:0", 300'000);
  powercap.set("intel-rapl:0:1", 100'500);
  powercap.set("intel-rapl:1", 252'000);
  powercap.set("intel-rapl-mmio:0", 501'000);
  CHECK(energy.take().value() == Approx(0.5 + 0.1 + 0.25));
  powercap.set("intel-rapl:0", 1'000);  // 500,000 µJ later it has wrapped around
  CHECK(energy.take().value() == Approx(0.5));
  powercap.forbid("intel-rapl:1");
  CHECK_FALSE(energy.take().has_value());
}

TEST_CASE("counters that are not there or not for this user to read leave the energy unknown") {
  std::string why;
  CHECK(open_rapl_meter(&why, "/nowhere") == nullptr);
  CHECK(why == "the processors' energy is unknown: /nowhere has no counters (RAPL)");
  Powercap powercap;
  powercap.forbid("intel-rapl:1");
  CHECK(open_rapl_meter(&why, powercap.root()) == nullptr);
  CHECK_THAT(why, ContainsText("intel-rapl:1/energy_uj is not for this user to read"));
  StepEnergy nothing(nullptr);
  CHECK(nothing.source() == PowerSource::none);
  CHECK_FALSE(nothing.take().has_value());
  StepEnergy shared = StepEnergy::reported_by_another();
  CHECK(shared.source() == PowerSource::none);
  CHECK(shared.take() == 0);
}
