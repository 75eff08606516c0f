#include "engine/execute/checkpoint/hugging_face.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "kernels/kernel_set.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw CheckpointError(path.string() + ": " + why);
}

nlohmann::ordered_json config_of(const ModelSpec& model) {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"vocab_size", model.vocabulary},
          {"n_positions", model.context},
          {"n_embd", model.width},
          {"n_layer", model.layers},
          {"n_head", model.heads},
          {"activation_function", "gelu_new"},  // the tanh form
          {"layer_norm_epsilon", kernels::NormSpec{}.epsilon},
          {"embd_pdrop", model.dropout},
          {"resid_pdrop", model.dropout},
          {"attn_pdrop", 0.0},
          {"tie_word_embeddings", model.tied},
          // GPT-2's is token 50256, which a smaller vocabulary does not have.
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"torch_dtype", "float32"}};
}

/// A parameter of this engine under its name in the export.
std::string name_there(const std::string& name) { return name.starts_with("lm_head.") ? name : "transformer." + name; }

/// GPT-2's layers store their matrices for x·w, this engine for x·wᵀ; embeddings and the head are identical.
bool is_transposed(const ParameterSpec& parameter) {
  return parameter.whole.rank == 2 && parameter.name.starts_with("h.");
}

/// fp32 elements of [rows, columns] as [columns, rows].
std::vector<float> transposed(const std::vector<float>& matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<float> turned(matrix.size());
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) turned[c * rows + r] = matrix[r * columns + c];
  return turned;
}

}  // namespace

SavedModel write_hugging_face(const Checkpoint& checkpoint, const std::string& folder) {
  const fs::path complete = fs::absolute(folder).lexically_normal(), partial = complete.string() + ".partial";
  std::error_code error;
  if (fs::exists(complete, error) && !fs::is_empty(complete, error))
    refuse(folder, "is there already, and not empty; name another folder");

  if (checkpoint.scenario().model.is_resnet())
    refuse(checkpoint.directory(),
           "holds a resnet, whose batch norms have no running averages here, and could not "
           "be used elsewhere; export writes models of kind gpt");
  // With one rank no parameter is split.
  Scenario alone = checkpoint.scenario();
  alone.plan = PlanSpec{};
  const Model model = make_model(alone);
  SavedModel saved;
  std::vector<std::vector<float>> values;
  std::vector<NamedView> tensors;
  for (std::size_t p = 0; p < model.parameters.size(); ++p) {
    const ParameterSpec& parameter = model.parameters[p];
    const std::int64_t elements = parameter.whole.elements();
    std::vector<float> value(elements);
    CheckpointTensor wanted;
    wanted.parameter = static_cast<int>(p);
    wanted.view = {value.data(), DType::f32, {elements}};
    if (!checkpoint.read(wanted, model)) refuse(checkpoint.directory(), "has no weights of '" + parameter.name + "'");
    Shape shape = parameter.whole;
    if (is_transposed(parameter)) {
      value = transposed(value, shape[0], shape[1]);
      shape = {shape[1], shape[0]};
    }
    values.push_back(std::move(value));
    tensors.push_back({name_there(parameter.name), {values.back().data(), DType::f32, shape}});
    saved.parameters += elements;
  }
  try {
    fs::remove_all(partial);  // of an interrupted export
    fs::create_directories(partial);
    write_safetensors((partial / "model.safetensors").string(), tensors, {{"format", "pt"}});
    std::ofstream config(partial / "config.json");
    config << config_of(alone.model).dump(2) << "\n";
    config.close();
    if (!config) refuse(partial / "config.json", "cannot be written");
    saved.bytes = static_cast<std::int64_t>(fs::file_size(partial / "model.safetensors"));
    fs::remove(complete, error);  // an empty one
    fs::rename(partial, complete);
  } catch (const fs::filesystem_error& e) {
    refuse(partial, "cannot be written: " + e.code().message());
  }
  return saved;
}

}  // namespace rankscope
