#include "engine/explain/validate/validate.hpp"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/explain/validate/leave_one_out.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/places.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;

namespace {

std::vector<PublishedTable> tables() {
  std::vector<PublishedTable> all;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/scenarios/published"))
    all.push_back(read_published(entry.path()));
  return all;
}

PublishedTable table_of(const std::string& text) {
  const testing::TemporaryDirectory folder;
  const std::string file = folder / "table.toml";
  std::ofstream(file) << text;
  return read_published(file);
}

}  // namespace

TEST_CASE("Kendall's tau is 1 for the same order, -1 for the opposite one, and counts ties in neither") {
  const double up[] = {1, 2, 3, 4}, down[] = {9, 7, 5, 1}, swapped[] = {1, 3, 2, 4}, tied[] = {1, 1, 2, 3};
  CHECK(kendalls_tau(up, up) == 1);
  CHECK(kendalls_tau(up, down) == -1);
  CHECK(kendalls_tau(up, swapped) == Approx(4.0 / 6));
  CHECK(kendalls_tau(up, tied) == Approx(5 / std::sqrt(6.0 * 5)));
  CHECK(std::isnan(kendalls_tau(std::span(up, 1), std::span(up, 1))));
}

TEST_CASE("a row's error is that of the nearest prediction, and zero within the interval") {
  ValidatedRow row;
  row.published = 10;
  row.low = 9;
  row.high = 12;
  CHECK(row.error() == 0);
  CHECK(row.width() == 3);
  row.low = 11;
  CHECK(row.error() == Approx(0.1));
  row.low = row.high = 8;
  CHECK(row.error() == Approx(-0.2));
}

TEST_CASE("every published table says its source and its constants, and every row of it is predicted") {
  const auto all = tables();
  CHECK(all.size() >= 8);
  for (const PublishedTable& published : all) {
    INFO(published.file);
    CHECK(published.source.size() > 10);
    CHECK(published.constants.size() > 10);
    CHECK(!published.rows.empty());
    std::set<std::string> names;
    for (const PublishedRow& row : published.rows) CHECK(names.insert(row.name).second);
    const ValidatedTable table = validate(published);
    REQUIRE(table.rows.size() == published.rows.size());
    for (const ValidatedRow& row : table.rows) {
      INFO(row.name);
      CHECK(row.low > 0);
      CHECK(std::isfinite(row.high));
      // A large error means that the table was read wrongly. But DeepSpeed of 2021 gathered at a sixth of the network's
      // rate, for an unknown reason. Micro-batches are powers of two: the next one is an error of 100 %.
      const bool is_power = published.quantity == Quantity::fastest_micro_batch;
      CHECK(std::abs(row.error()) < (published.file == "zero-3-selene" ? 0.7 : is_power ? 1.01 : 0.5));
    }
    CHECK(table.worst_error >= table.mean_error);
  }
}

TEST_CASE("constants are fitted to at most six rows, and reproduce them") {
  int fitted = 0;
  for (const PublishedTable& published : tables())
    for (const ValidatedRow& row : validate(published).rows) {
      if (!row.fitted) continue;
      ++fitted;
      INFO(published.file << ", " << row.name);
      CHECK(std::abs(row.error()) < 0.05);
    }
  CHECK(fitted <= 6);
  CHECK(fitted > 0);
}

TEST_CASE("rows that a constant was fitted to are marked, and do not count in a table's errors") {
  PublishedTable published;
  for (const PublishedTable& table : tables())
    if (table.file == "all-reduce-a100") published = table;
  ValidatedTable table = validate(published);
  const double mean = table.mean_error;
  for (PublishedRow& row : published.rows)
    if (row.fitted) row.published *= 2;  // as if the fit had failed
  CHECK(validate(published).mean_error == mean);
  const auto json = to_json({table});
  CHECK(json["tables"][0]["rows"].size() == 77);
  CHECK(to_text({table}).find("fitted to") != std::string::npos);
}

TEST_CASE("only a row that was measured several times states the uncertainty of its error") {
  ValidatedTable table;
  table.rows = {{.name = "often", .published = 10, .low = 11, .high = 11, .uncertainty = 0.013},
                {.name = "once", .published = 10, .low = 12, .high = 12}};
  const std::string text = to_text({table});
  CHECK_THAT(text, ContainsText("+10.0 % ± 1.3 %\n"));
  CHECK_THAT(text, ContainsText("+20.0 %\n"));
  const auto rows = to_json({table})["tables"][0]["rows"];
  CHECK(rows[0]["uncertainty"] == 0.013);
  CHECK(rows[1]["uncertainty"].is_null());
}

TEST_CASE("the text states the unit of its figures") {
  ValidatedTable table;
  table.rows = {{.name = "one", .published = 10, .low = 11, .high = 11}};
  for (const auto& [unit, words] : std::map<std::string, std::string>{
           {"d", "  in d "}, {"x", "  a ratio "}, {"B", "  in billions "}, {"1000 MiB", "  in 1000 MiB "}}) {
    table.unit = unit;
    CHECK_THAT(to_text({table}), ContainsText(words));
    CHECK(to_json({table})["tables"][0]["unit"] == unit);
  }
}

TEST_CASE("choices that a source leaves open make an interval, and a wrong table is refused with its place") {
  const std::string head = "title = \"t\"\nsource = \"s\"\nconstants = \"c\"\nunit = \"us\"\n";
  const std::string quantity = "quantity = \"all_reduce_seconds\"\n";
  const std::string row =
      "rows = [{ name = \"a\", published = 50, bytes = 1e6, plan = { data = 2 }, train = { global_batch = 2 } }]\n";
  const std::string common = "[common]\ncluster = { spec = \"selene\" }\n";
  const ValidatedTable table = validate(
      table_of(head + quantity + "choices = [{ cluster = { ring_fill = 0 } }, { cluster = { ring_fill = 5 } }]\n" +
               row + common));
  CHECK(table.rows[0].width() > 1);
  CHECK_THROWS_WITH(table_of(head + row + common), ContainsText("'quantity' is missing"));
  CHECK_THROWS_WITH(table_of(head + "quantity = \"speed\"\n" + row + common), ContainsText(":5:"));
  CHECK_THROWS_WITH(table_of(head + quantity + "rows = [{ name = \"a\" }]\n"), ContainsText("number 'published'"));
  CHECK_THROWS_WITH(table_of(head + quantity + row + "[common]\nplan = { tensors = 2 }\n"), ContainsText("tensors"));
}

TEST_CASE(
    "step times that nothing was fitted to are within 4 % on average and 9 % at worst, except BLOOM's 104 heads") {
  for (const PublishedTable& published : tables()) {
    if (published.quantity != Quantity::step_seconds || !published.judged || published.held_out) continue;
    const ValidatedTable table = validate(published);
    INFO(table.title);
    CHECK(table.mean_error < 0.04);
    for (const ValidatedRow& row : table.rows) {
      INFO(row.name);
      // 104 heads took 14 % longer than 128 with the same products and kernels, and the source gives no reason. Each
      // head has 128 elements, as with 96 and 112 heads, whose batches of 48 and 56 matrices were as fast as predicted,
      // and its batch of 52 is a multiple of four, as the fused softmax requires.
      CHECK(std::abs(row.error()) < (row.name == "178 B, 104 heads" ? 0.15 : 0.09));
    }
  }
}

TEST_CASE("memory is within 5 % of what was published") {
  int rows = 0;
  for (const PublishedTable& published : tables()) {
    if (published.quantity != Quantity::peak_bytes && published.quantity != Quantity::reserved_bytes) continue;
    for (const ValidatedRow& row : validate(published).rows) {
      INFO(published.title << ", " << row.name);
      CHECK(std::abs(row.error()) < 0.05);
      ++rows;
    }
  }
  CHECK(rows == 57);
}

TEST_CASE("tables published after the constants are predicted as far as this software's kernels are known") {
  // Mean and worst error. Megatron-LM's are about as accurate as its tables that were known before. FlashAttention-2's
  // runs are 8 to 10 % slower than predicted on one node, and MPT's with 2,048 tokens 1 to 15 %, for unknown reasons;
  // one of MPT's rows on 64 GPUs of 40 GB is 35 % slower, and its memory was full. In the pipelines with large
  // vocabularies attention takes up to twice the time of FlashAttention-2: in the authors' list, 2.6 and 5.9 ms for the
  // forward of a block of 2,048 and of 4,096 tokens. One of the best micro-batches is missed by 0.1 % of a step's time.
  // FSDP's exchanges of OPT-175B cost more than predicted. Of a ResNet-50's step on a V100, 68 % are predicted to be
  // kernels that only move bytes, mainly batch norms; their tensors are much larger than those from which the devices'
  // share of bandwidth is known.
  struct Limits {
    double mean, worst;
    double tau = 0.85;
  };
  const std::map<std::string, Limits> limits{{"megatron-strong-scaling", {0.045, 0.075}},
                                             {"zero-bubble-steps", {0.04, 0.08}},
                                             {"zero-bubble-interleaved", {0.045, 0.08}},
                                             {"zero-bubble-spans", {0.04, 0.10}},
                                             {"vocabulary-steps", {0.09, 0.19}},
                                             {"flash-attention-2", {0.09, 0.105}},
                                             {"mpt-a100", {0.06, 0.15}},
                                             {"mpt-a100-40gb", {0.09, 0.36}},
                                             {"megatron-2019-scaling", {0.11, 0.15}},
                                             {"megatron-sc21-days", {0.02, 0.02}},
                                             {"megatron-sc21-gains", {0.045, 0.145, 0.75}},
                                             {"megatron-sc21-micro-batch", {0.51, 1.01}},
                                             {"opt", {0.25, 0.25}},
                                             {"resnet-50", {0.25, 0.44, 0.7}},
                                             {"gpu-hours", {0.155, 0.2}},
                                             {"checkpoints", {0.025, 0.025}},
                                             {"megatron-sc21-flops", {0.04, 0.04}},
                                             {"korthikanti-kept", {0.01, 0.01}},
                                             {"megatron-2019-flops", {0.085, 0.145}},
                                             {"zero-bubble-rates", {0.01, 0.045}},
                                             {"zero-states", {0.002, 0.025}},
                                             {"zero-largest-states", {0.006, 0.025}}};
  std::size_t seen = 0;
  for (const PublishedTable& published : tables()) {
    if (!published.held_out || !published.judged || published.quantity == Quantity::peak_bytes) continue;
    const ValidatedTable table = validate(published);
    INFO(published.file << ": mean " << table.mean_error << ", worst " << table.worst_error);
    REQUIRE(limits.count(published.file) == 1);
    CHECK(table.mean_error < limits.at(published.file).mean);
    CHECK(table.worst_error < limits.at(published.file).worst);
    CHECK_FALSE(table.tau < limits.at(published.file).tau);  // a table of one row has no tau
    for (const PublishedRow& row : published.rows) CHECK(!row.fitted);
    ++seen;
  }
  CHECK(seen == limits.size());
}

TEST_CASE("without a table the others of its device give nearly the same constants, and nearly the same errors") {
  const auto all = tables();
  const auto left_out = leave_one_out(all);
  CHECK(left_out.size() >= 5);
  for (const LeftOutTable& table : left_out) {
    INFO(table.file << ": " << table.product_efficiency << ", " << table.memory_efficiency << ", mean "
                    << table.mean_error << ", worst " << table.worst_error);
    CHECK(table.product_efficiency == Approx(0.870).margin(0.04));  // as in a benchmark of single products
    CHECK(table.memory_efficiency == Approx(0.599).margin(0.04));
    CHECK(table.mean_error < 0.05);
    CHECK(table.worst_error >= table.mean_error);
  }
  CHECK(to_json(left_out)["leave_one_out"].size() == left_out.size());
  CHECK(to_text(left_out).find("memory 0.") != std::string::npos);
}

TEST_CASE("efficiencies that a table was made with are recovered from the other tables") {
  // Two tables of one device; the published figures are the model's own, with other efficiencies.
  const auto made = [](const char* quantity, double product, double memory) {
    PublishedTable table = table_of(
        std::string("title = \"t\"\nsource = \"s\"\nconstants = \"c\"\nunit = \"s\"\nquantity = \"") + quantity +
        "\"\nrows = [{ name = \"a\", published = 1, plan = { tensor = 8 } }, { name = \"b\", published = 1, plan = { "
        "tensor = 2 } }]\n[common]\nmodel = { layers = 2, width = 4096, heads = 32, context = 2048, vocabulary = 51200 "
        "}\nplan = { precision = \"fp16\" }\ntrain = { global_batch = 2 }\ncluster = { spec = \"selene\" }\n");
    PublishedTable other = table;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      Scenario& scenario = other.rows[i].choices[0];
      scenario.cluster.product_efficiency = product;
      scenario.cluster.memory_efficiency = memory;
      table.rows[i].published = predict(scenario, table.quantity, table.rows[i]);
    }
    table.file = quantity;
    return table;
  };
  const auto left_out = leave_one_out({made("step_seconds", 0.83, 0.68), made("block_forward_seconds", 0.83, 0.68)});
  REQUIRE(left_out.size() == 2);
  for (const LeftOutTable& table : left_out) {
    CHECK(table.product_efficiency == Approx(0.83).epsilon(0.02));
    CHECK(table.memory_efficiency == Approx(0.68).epsilon(0.02));
    CHECK(table.worst_error < 0.01);
  }
}

TEST_CASE("device hours are computed from the step's seconds, the ranks and the tokens") {
  const PublishedTable table = table_of(
      "title = \"t\"\nsource = \"s\"\nconstants = \"c\"\nunit = \"h\"\nquantity = \"device_hours\"\n"
      "rows = [{ name = \"a\", published = 1, tokens = 8192.0, plan = { data = 2 }, train = { global_batch = 4 } }]\n"
      "[common]\nmodel = { layers = 2, width = 1024, heads = 8, context = 1024 }\ncluster = { spec = \"selene\" }\n");
  const Scenario& s = table.rows[0].choices[0];
  const double step = predict(s, Quantity::step_seconds, table.rows[0]);
  CHECK(validate(table).rows[0].predicted() == Approx(step * 2 * 2 / 3600));
}

TEST_CASE("shares of the peak are as accurate as the step times behind them, and days of 2019 are within 17 %") {
  int seen = 0;
  for (const PublishedTable& published : tables()) {
    const bool is_share = published.file == "korthikanti-mfu", is_days = published.file == "megatron-2019";
    if (!is_share && !is_days) continue;
    const ValidatedTable table = validate(published);
    INFO(published.file << ": mean " << table.mean_error << ", worst " << table.worst_error);
    CHECK(table.mean_error < (is_share ? 0.015 : 0.10));
    CHECK(table.worst_error < (is_share ? 0.035 : 0.17));
    ++seen;
  }
  CHECK(seen == 2);
}

TEST_CASE("model states with ZeRO are those of the paper's table to the printed digit") {
  for (const PublishedTable& published : tables()) {
    if (published.file != "zero-states") continue;
    CHECK(published.rows.size() == 54);
    for (const ValidatedRow& row : validate(published).rows) {
      INFO(row.name << ": " << row.predicted());
      // Three digits; whole gigabytes are truncated, fractions rounded.
      const double gigabytes = row.predicted(), digit = gigabytes >= 2 ? 0.1 : 0.01;
      const double printed =
          gigabytes >= 100 ? std::floor(gigabytes) : std::floor(gigabytes / digit + 0.5 + 1e-9) * digit;
      CHECK(printed == Approx(row.published).margin(1e-6));
    }
  }
}

TEST_CASE("bubbles from the zero-bubble paper's passes match its printed digits, except for interleaved 1F1B") {
  int exact = 0;
  for (const PublishedTable& published : tables()) {
    if (published.file != "zero-bubble-rates") continue;
    for (const ValidatedRow& row : validate(published).rows) {
      INFO(row.name << ": " << row.predicted());
      // The paper does not state how it counts the messages of interleaved 1F1B.
      const bool interleaved = row.name.find("1F1B-I") != std::string::npos;
      if (interleaved) CHECK(row.predicted() == Approx(row.published).margin(0.4));
      if (!interleaved) CHECK(std::round(row.predicted() * 100) / 100 == Approx(row.published).epsilon(1e-9));
      exact += !interleaved;
    }
  }
  CHECK(exact == 24);
}

namespace {

const char* const small_model =
    "[common]\nmodel = { layers = 2, width = 1024, heads = 8, context = 1024 }\nplan = { precision = \"fp16\" }\n"
    "cluster = { spec = \"selene\" }\n";

PublishedTable small_table(const std::string& quantity, const std::string& unit, const std::string& row) {
  return table_of("title = \"t\"\nsource = \"s\"\nconstants = \"c\"\nquantity = \"" + quantity + "\"\nunit = \"" +
                  unit + "\"\nrows = [{ name = \"a\", published = 1" + row + " }]\n" + small_model);
}

}  // namespace

TEST_CASE("a row relative to another scenario is their ratio, choice by choice") {
  const PublishedTable table = small_table("samples_per_device_second", "%",
                                           ", train = { global_batch = 8 }, choices = [{ plan = { data = 2 } }, { plan "
                                           "= { data = 4 } }], against = { plan = "
                                           "{ data = 1 } }");
  const PublishedRow& row = table.rows.front();
  REQUIRE(row.against.size() == 2);
  CHECK(row.choices[1].plan.data == 4);
  CHECK(row.against[1].plan.data == 1);
  const auto step = [&](const Scenario& s) { return predict(s, Quantity::step_seconds, row); };
  const ValidatedRow found = validate(table).rows.front();
  CHECK(found.high == Approx(100 * step(row.against[0]) / (2 * step(row.choices[0]))));
  CHECK(found.low == Approx(100 * step(row.against[1]) / (4 * step(row.choices[1]))));
  CHECK_THROWS_WITH(small_table("samples_per_second", "%",
                                ", choices = [{ plan = { data = 2 } }, { against = { plan = { tensor = 2 } } }]"),
                    ContainsText("or none"));
}

TEST_CASE("the fastest micro-batch is the one of the choice with most samples per second") {
  const PublishedTable table = small_table(
      "fastest_micro_batch", "samples",
      ", plan = { pipeline = 2 }, train = { global_batch = 32 }, choices = [{ plan = { micro_batches = 1 } }, { plan = "
      "{ micro_batches = 8 } }, { plan = { micro_batches = 32 } }]");
  const PublishedRow& row = table.rows.front();
  std::size_t fastest = 0;
  for (std::size_t i = 0; i < row.choices.size(); ++i)
    if (predict(row.choices[i], Quantity::step_seconds, row) <
        predict(row.choices[fastest], Quantity::step_seconds, row))
      fastest = i;
  CHECK(validate(table).rows.front().predicted() == row.choices[fastest].micro_batch_size());
}

TEST_CASE("the largest model fits its device, and a layer more does not") {
  const PublishedTable table = small_table("largest_parameters", "B", "");
  const PublishedRow& row = table.rows.front();
  Scenario s = row.choices.front();
  const double most = validate(table).rows.front().predicted() * 1e9;
  const auto parameters = [&](int layers) { return layers * (12.0 * 1024 + 13) * 1024 + (256 + 1024 + 2) * 1024; };
  s.model.layers = 1;
  while (parameters(s.model.layers) < most) ++s.model.layers;
  CHECK(parameters(s.model.layers) == most);
  CHECK(predict(s, Quantity::reserved_bytes, row) <= s.cluster.memory_bytes);
  ++s.model.layers;
  CHECK(predict(s, Quantity::reserved_bytes, row) > s.cluster.memory_bytes);
  // With states on the host, the host's memory is the limit: 12 bytes of states per parameter, 2 of a sum, 4 of a
  // gradient.
  s.plan.offload = "optimizer";
  s.cluster.software.host_gradients = true;
  s.cluster.host_memory_bytes = 1e9;
  s.cluster.host_bandwidth = s.cluster.host_memory_bandwidth = 1e9;
  const double on_host = predict(s, Quantity::largest_parameters, row) * 18;
  CHECK(on_host <= 1e9);
  CHECK(on_host + 18 * (12.0 * 1024 + 13) * 1024 > 1e9);
  s.cluster.memory_bytes = 1e9;  // less than the context
  CHECK(predict(s, Quantity::largest_parameters, row) == 0);
}

TEST_CASE("tables with unknown inputs, which are not judged, have the explained results") {
  // ZeRO-3's steps are predicted much too short, so the predicted gains over it are too small (zero-3-selene.toml).
  const std::map<std::string, double> worst{
      {"zero-offload", 0.06},     {"zero-offload-speed", 0.11}, {"zero-largest-measured", 0.14},
      {"gpipe-tpu", 0.13},        {"gpipe-gpu", 0.07},          {"frontier-strong-scaling", 0.11},
      {"korthikanti-hfu", 0.045}, {"megatron-sc21-zero", 0.45}, {"megatron-sc21-one-gpu", 0.19}};
  std::size_t seen = 0;
  for (const PublishedTable& published : tables()) {
    const auto limit = worst.find(published.file);
    if (limit == worst.end()) continue;
    const ValidatedTable table = validate(published);
    INFO(published.file << ": worst " << table.worst_error);
    CHECK(table.worst_error < limit->second);
    CHECK_FALSE(table.tau < 0.85);  // a table of one row has no tau
    ++seen;
  }
  CHECK(seen == worst.size());
}

TEST_CASE("days are computed from the step's seconds and the tokens, and a checkpoint is 14 bytes per parameter") {
  const PublishedTable days = small_table("training_seconds", "d", ", tokens = 81920.0, train = { global_batch = 4 }");
  const double step = predict(days.rows[0].choices[0], Quantity::step_seconds, days.rows[0]);
  CHECK(validate(days).rows[0].predicted() == Approx(20 * step / 86400));
  CHECK_THROWS_WITH(small_table("training_seconds", "d", ""), ContainsText("has tokens"));
  const PublishedTable checkpoint = small_table("checkpoint_bytes", "GB", ", plan = { tensor = 2 }");
  CHECK(validate(checkpoint).rows[0].predicted() ==
        Approx(14e-9 * (2 * (12.0 * 1024 + 13) * 1024 + (256 + 1024 + 2) * 1024)));
  CHECK_THROWS_WITH(small_table("state_bytes", "GB", ""), ContainsText("has parameters"));
  CHECK_THROWS_WITH(small_table("state_bytes", "TiB", ", parameters = 1e9"), ContainsText("TFLOP/s"));
}

TEST_CASE("our own runs are predicted within 5 % on the device clock, from ops measured on other sizes") {
  int device_rows = 0;
  for (const PublishedTable& published : tables()) {
    if (published.file != "own-runs") continue;
    const ValidatedTable table = validate(published);
    for (const ValidatedRow& row : table.rows) {
      INFO(row.name);
      const bool wall = row.name.find("wall clock") != std::string::npos;
      CHECK(std::abs(row.error()) < (wall ? 0.13 : 0.05));
      device_rows += !wall;
    }
    // None of these models has one of the measured sizes.
    for (const PublishedRow& row : published.rows) {
      CHECK(row.choices[0].model.width == 192);
      CHECK(row.choices[0].cluster.costs.size() > 100);
    }
  }
  CHECK(device_rows == 6);
}
