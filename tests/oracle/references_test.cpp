// Compares the engine with stored results of PyTorch, torchvision and transformers: references/, written by
// make_references.py. The tests of *.sh compare with the libraries themselves, if they are installed.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/execute/checkpoint/safetensors.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"
#include "tests/oracle/fingerprint.hpp"
#include "tests/oracle/whole_run.hpp"
#include "tests/places.hpp"
#include "tests/whole/json.hpp"

using namespace rankscope;
using namespace rankscope::test;
using oracle::Fingerprint;

namespace {

std::string here(const std::string& name) { return source_folder() + "/tests/oracle/" + name; }

json reference(const std::string& name) {
  std::ifstream file(here("references/" + name + ".json"));
  REQUIRE(file);
  json content = json::parse(file);
  // The versions that made the reference are recorded.
  for (const char* version : {"torch", "torchvision", "transformers", "script"})
    REQUIRE(content["made_by"][version].is_string());
  return content;
}

Fingerprint fingerprint_of(const json& entry) {
  Fingerprint f;
  f.elements = entry["elements"];
  f.norm = entry["norm"];
  REQUIRE(entry["sums"].size() == Fingerprint::sums);
  for (std::size_t k = 0; k < Fingerprint::sums; ++k) f.sum[k] = entry["sums"][k];
  return f;
}

/// The true gradient of the key's bias is zero, and AdamW makes whole steps of its rounding: it counts as zero.
Fingerprint fingerprint_of(const std::string& name, const View& tensor) {
  const std::int64_t third = tensor.elements() / 3;
  if (name.ends_with("attn.c_attn.bias")) return oracle::fingerprint(tensor, third, 2 * third);
  return oracle::fingerprint(tensor);
}

/// The largest error of the run's tensors whose names begin with `prefix`, and the name of that tensor.
std::pair<LargestError, std::string> errors_of(const oracle::WholeRun& run, const std::string& prefix,
                                               const json& expected, double least_share) {
  double largest = 0;
  for (const auto& [name, entry] : expected.items()) largest = std::max(largest, entry["norm"].get<double>());
  LargestError worst;
  std::string of;
  for (const auto& [name, entry] : expected.items()) {
    const auto found = run.tensors.find(prefix + name);
    INFO(prefix + name);
    REQUIRE(found != run.tensors.end());
    const double error =
        oracle::error_of(fingerprint_of(name, found->second.view()), fingerprint_of(entry), least_share * largest);
    const double before = worst.value();
    worst.add(error);
    if (worst.value() > before) of = name;
  }
  return {worst, of};
}

struct Limits {
  double given, losses, gradients, weights;
};
constexpr Limits fp64{1e-12, 1e-9, 1e-9, 1e-9};
// AdamW makes whole steps of the rounding in the smallest gradients.
constexpr Limits fp32{1e-6, 1e-5, 1e-4, 1e-2};

void check_run(const std::string& name, const std::string& plan, const Limits& limits) {
  INFO(name << " with " << plan);
  const json expected = reference(name);
  std::vector<Override> overrides;
  for (const auto& key : expected["overrides"])
    if (plan.empty() || key.get<std::string>().starts_with("model.")) overrides.push_back(parse_override(key));
  std::istringstream words(plan);
  for (std::string key; words >> key;) overrides.push_back(parse_override(key));
  const oracle::WholeRun run = oracle::whole_run(read_scenario(here(expected["scenario"]), overrides));

  // The run must have the oracle's initial weights and data.
  {
    INFO("the reference was made from other initial weights or data: make it again with make_references.py");
    json data, initial;
    for (const auto& [tensor, entry] : expected["given"].items())
      (tensor == "tokens" || tensor == "targets" ? data : initial)[tensor] = entry;
    REQUIRE(data.size() == 2);
    REQUIRE(errors_of(run, "", data, 0).first.value() == 0);
    REQUIRE(errors_of(run, "initial.", initial, 1e-3).first.value() < limits.given);
    std::size_t parameters = 0;
    for (const auto& [tensor, held] : run.tensors) parameters += tensor.starts_with("initial.");
    REQUIRE(parameters == initial.size());
    REQUIRE(expected["gradients"].size() == parameters);
    REQUIRE(expected["weights"].size() == parameters);
  }

  const View losses = run.tensors.at("losses").view();
  REQUIRE(losses.elements() == static_cast<std::int64_t>(expected["losses"].size()));
  LargestError worst_loss;
  for (std::size_t s = 0; s < expected["losses"].size(); ++s)
    worst_loss.add(relative_error(losses.as<double>()[s], expected["losses"][s]));
  const auto [gradients, worst_gradient] = errors_of(run, "gradient.", expected["gradients"], 1e-3);
  const auto [weights, worst_weight] = errors_of(run, "final.", expected["weights"], 1e-6);
  INFO("losses " << worst_loss.value() << " (step " << worst_loss.at() << "), gradients " << gradients.value() << " ("
                 << worst_gradient << "), weights " << weights.value() << " (" << worst_weight << ")");
  CHECK(worst_loss.value() < limits.losses);
  CHECK(gradients.value() < limits.gradients);
  CHECK(weights.value() < limits.weights);
}

}  // namespace

TEST_CASE("a GPT's losses, first gradients and final weights are PyTorch's") {
  check_run("gpt", "", fp64);
  check_run("gpt", "plan.data=2 plan.pipeline=2 plan.micro_batches=4 plan.recompute=blocks", fp64);
  check_run("gpt-untied", "", fp64);
  check_run("gpt", "plan.micro_batches=1 plan.precision=fp32", fp32);
}

TEST_CASE("a Llama's losses, first gradients and final weights are PyTorch's") {
  check_run("llama", "", fp64);
  check_run("llama", "plan.data=2 plan.pipeline=3 plan.micro_batches=4 plan.recompute=blocks", fp64);
  check_run("llama-untied", "", fp64);
  check_run("llama", "plan.micro_batches=1 plan.precision=fp32", fp32);
}

TEST_CASE("a ResNet's losses, first gradients and final weights are torchvision's") {
  check_run("resnet", "", fp64);
  check_run("resnet-micro-batches-of-2", "plan.data=2 plan.pipeline=2 plan.micro_batches=2", fp64);
}

TEST_CASE("a planted fault is found by the comparison with PyTorch") {
  const json expected = reference("gpt");
  const auto faulty = [&](const char* fault) {
    return oracle::whole_run(read_scenario(here("gpt.toml"), {parse_override("plan.micro_batches=2"),
                                                              parse_override(std::string("fault.plant=") + fault)}));
  };
  CHECK(errors_of(faulty("gradient_scale"), "gradient.", expected["gradients"], 1e-3).first.value() > 0.1);
  CHECK(errors_of(faulty("dropped_micro_batch"), "final.", expected["weights"], 1e-6).first.value() > 1e-3);
}

TEST_CASE("an exported model has the tensors that transformers read, whatever plan trained it") {
  const auto [name, plan] = GENERATE(table<std::string, std::vector<std::string>>(
      {{"hugging-face", {"plan.tensor=2", "plan.pipeline=2", "plan.micro_batches=2"}},
       {"hugging-face-untied", {"model.tied=false", "plan.data=2", "plan.zero=3"}},
       {"hugging-face-llama", {"plan.tensor=2", "plan.sequence_parallel=true", "plan.micro_batches=2"}}}));
  const json expected = reference(name);
  const Folder folder;
  const std::string checkpoints = folder / "checkpoints", model = folder / "model";
  std::vector<std::string> arguments{"run",       here(expected["scenario"]), "--checkpoint",
                                     checkpoints, "--checkpoint-every",       "20"};
  for (const std::string& key : plan) arguments.insert(arguments.end(), {"--set", key});
  const Ended trained = engine(folder, arguments);
  INFO(trained.err);
  REQUIRE(trained.status == 0);
  const Ended exported = engine(folder, {"export", checkpoints, model});
  INFO(exported.err);
  REQUIRE(exported.status == 0);
  const SafetensorsFile file(model + "/model.safetensors");
  REQUIRE(file.tensors().size() == expected["tensors"].size());
  for (const auto& [tensor, entry] : expected["tensors"].items()) {
    INFO(name << ": " << tensor);
    const auto found = file.tensors().find(tensor);
    REQUIRE(found != file.tensors().end());
    const SafetensorsFile::Tensor& header = found->second;
    REQUIRE(entry["shape"].size() == static_cast<std::size_t>(header.shape.rank));
    for (std::size_t d = 0; d < entry["shape"].size(); ++d) CHECK(entry["shape"][d] == header.shape[d]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(header.end - header.begin));
    const View view{bytes.data(), header.type, header.shape};
    file.read(header, 0, header.shape.elements(), bytes.data());
    // Compared in fp64, except the key's bias, whose updates are only rounding.
    Fingerprint ours = oracle::fingerprint(view), theirs = fingerprint_of(entry);
    if (tensor.ends_with("attn.c_attn.bias"))
      CHECK(std::isfinite(ours.norm));
    else
      CHECK(oracle::error_of(ours, theirs, 1e-6) < 1e-6);
  }
}

TEST_CASE("optimizers' paths on surfaces are PyTorch's within 1e-10") {
  const json expected = reference("paths");
  const int steps = expected["steps"], every = expected["every"];
  REQUIRE(expected["paths"].size() == 32);
  const Folder folder;
  for (const json& path : expected["paths"]) {
    INFO(path["surface"] << " " << path["optimizer"] << " " << path["settings"]);
    std::vector<std::string> arguments{"paths",   path["surface"],       "--optimizer", path["optimizer"],
                                       "--steps", std::to_string(steps), "--json"};
    for (const auto& key : path["settings"]) arguments.insert(arguments.end(), {"--set", key});
    const json ours = only_object(engine(folder, arguments))["paths"][0];
    REQUIRE(ours["rate"] == path["rate"]);
    for (const char* what : {"x", "y", "losses"}) {
      REQUIRE(ours[what].size() == static_cast<std::size_t>(steps) + 1);
      std::vector<double> values, wanted = path[what];
      for (int t = 0; t <= steps; t += every) values.push_back(ours[what][static_cast<std::size_t>(t)]);
      INFO(what);
      CHECK(largest_relative_error(values, wanted) < 1e-10);
    }
  }
}
