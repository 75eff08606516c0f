// Exports a checkpoint of two tensor ranks in which the value of each element is its position in the model.
#include "engine/execute/checkpoint/hugging_face.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/plan/model/part.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_directory.hpp"

using namespace rankscope;
using testing::TemporaryDirectory;

namespace {

Scenario two_tensor_ranks(bool tied) {
  Scenario scenario;
  scenario.model = {"gpt", 2, 8, 2, 4, 11, tied, 0.1};  // 11 words: the ranks' shares are padded
  scenario.plan.tensor = 2;
  return scenario;
}

/// Writes a checkpoint in which element i of the model has the value i, on whichever rank it is stored.
void write_numbered(const std::string& folder, const Scenario& scenario) {
  const Model model = make_model(scenario);
  for (int rank = 0; rank < 2; ++rank) {
    std::vector<std::vector<float>> values;
    std::vector<CheckpointTensor> tensors;
    for (std::size_t p = 0; p < model.parameters.size(); ++p) {
      const ParameterSpec& parameter = model.parameters[p];
      if (rank > 0 && parameter.split.axis < 0) continue;  // only the first rank writes replicated parameters
      const std::int64_t elements = parameter.shape.elements();
      std::vector<float>& value = values.emplace_back(static_cast<std::size_t>(elements));
      for (const ElementRun& run : element_runs(parameter, rank, 0, elements))
        for (std::int64_t i = 0; i < run.count && !run.is_padding(); ++i)
          value[static_cast<std::size_t>(run.local + i)] = static_cast<float>(parameter.global_offset + run.global + i);
      CheckpointTensor tensor;
      tensor.parameter = static_cast<int>(p);
      tensor.tensor = rank;
      tensor.view = {value.data(), DType::f32, {elements}};
      tensors.push_back(tensor);
    }
    write_checkpoint(folder, scenario, model, rank, 7, tensors);
  }
}

std::vector<float> read_whole(const SafetensorsFile& file, const std::string& name) {
  const auto& tensor = file.tensors().at(name);
  REQUIRE(tensor.type == DType::f32);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
  file.read(tensor, 0, tensor.shape.elements(), values.data());
  return values;
}

float offset_of(const Model& model, const std::string& name) {
  for (const ParameterSpec& parameter : model.parameters)
    if (parameter.name == name) return static_cast<float>(parameter.global_offset);
  FAIL("no parameter " << name);
  return 0;
}

}  // namespace

TEST_CASE("an exported model has GPT-2's names and shapes, and each element in its place") {
  const bool tied = GENERATE(true, false);
  const TemporaryDirectory folder;
  const std::string checkpoints = (folder.path() / "checkpoints").string(), out = (folder.path() / "gpt").string();
  const Scenario scenario = two_tensor_ranks(tied);
  write_numbered(checkpoints, scenario);
  const SavedModel saved = write_hugging_face(Checkpoint(checkpoints_in(checkpoints).back()), out);

  const SafetensorsFile file(out + "/model.safetensors");
  CHECK(file.metadata().at("format") == "pt");
  // Four names outside the blocks, and the head unless it is the token matrix; 12 in each of the two blocks.
  CHECK(file.tensors().size() == (tied ? 28 : 29));
  CHECK(file.tensors().count("lm_head.weight") == (tied ? 0 : 1));
  const std::int64_t block = 12 * 8 * 8 + 13 * 8;  // 12 w² of matrices, 13 w of vectors
  CHECK(saved.parameters == 2 * block + (tied ? 11 : 22) * 8 + 4 * 8 + 2 * 8);
  CHECK(saved.bytes == static_cast<std::int64_t>(std::filesystem::file_size(out + "/model.safetensors")));

  const Model model = make_model(scenario);
  struct Row {
    std::string there, here;
    Shape shape;
    bool transposed;
  };
  std::vector<Row> rows{{"transformer.wte.weight", "wte.weight", {11, 8}, false},
                        {"transformer.wpe.weight", "wpe.weight", {4, 8}, false},
                        {"transformer.h.1.ln_1.weight", "h.1.ln_1.weight", {8}, false},
                        {"transformer.h.1.attn.c_attn.weight", "h.1.attn.c_attn.weight", {8, 24}, true},
                        {"transformer.h.1.attn.c_attn.bias", "h.1.attn.c_attn.bias", {24}, false},
                        {"transformer.h.0.attn.c_proj.weight", "h.0.attn.c_proj.weight", {8, 8}, true},
                        {"transformer.h.0.mlp.c_fc.weight", "h.0.mlp.c_fc.weight", {8, 32}, true},
                        {"transformer.h.0.mlp.c_proj.weight", "h.0.mlp.c_proj.weight", {32, 8}, true},
                        {"transformer.ln_f.bias", "ln_f.bias", {8}, false}};
  if (!tied) rows.push_back({"lm_head.weight", "lm_head.weight", {11, 8}, false});
  for (const Row& row : rows) {
    INFO(row.there);
    CHECK(file.tensors().at(row.there).shape == row.shape);
    const std::vector<float> values = read_whole(file, row.there);
    const float first = offset_of(model, row.here);
    bool in_place = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::size_t place = i;
      if (row.transposed) {
        const auto in = static_cast<std::size_t>(row.shape[0]), out_ = static_cast<std::size_t>(row.shape[1]);
        place = i % out_ * in + i / out_;
      }
      in_place = in_place && values[i] == first + static_cast<float>(place);
    }
    CHECK(in_place);
  }

  const nlohmann::json config = nlohmann::json::parse(std::ifstream(out + "/config.json"));
  CHECK(config.at("model_type") == "gpt2");
  CHECK(config.at("vocab_size") == 11);
  CHECK(config.at("n_positions") == 4);
  CHECK(config.at("n_head") == 2);
  CHECK(config.at("tie_word_embeddings") == tied);
  CHECK(config.at("resid_pdrop") == 0.1);
}

TEST_CASE("an export does not change existing files, and leaves no folder when it fails") {
  const TemporaryDirectory folder;
  const std::string checkpoints = (folder.path() / "checkpoints").string();
  write_numbered(checkpoints, two_tensor_ranks(true));
  const Checkpoint checkpoint(checkpoints_in(checkpoints).back());
  const auto out = folder.path() / "gpt";
  std::filesystem::create_directory(out);
  write_hugging_face(checkpoint, out.string());  // an existing empty folder is accepted
  CHECK(std::filesystem::exists(out / "config.json"));
  CHECK_THROWS_WITH(write_hugging_face(checkpoint, out.string()), ContainsText("gpt: is there already, and not empty"));
  const auto file = folder.path() / "file";
  std::ofstream(file) << "x";
  CHECK_THROWS_WITH(write_hugging_face(checkpoint, file.string()), ContainsText("file: is there already"));
  CHECK_THROWS_WITH(write_hugging_face(checkpoint, (file / "gpt").string()), ContainsText("cannot be written"));
}
