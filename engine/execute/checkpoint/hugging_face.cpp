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

nlohmann::ordered_json llama_config_of(const ModelSpec& model) {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", model.vocabulary},
          {"max_position_embeddings", model.context},
          {"hidden_size", model.width},
          {"intermediate_size", model.mlp_width()},
          {"num_hidden_layers", model.layers},
          {"num_attention_heads", model.heads},
          {"num_key_value_heads", model.heads_of_keys()},
          {"head_dim", model.width / model.heads},
          {"hidden_act", "silu"},
          {"rope_theta", model.rope_theta},
          {"rms_norm_eps", model.norm_epsilon},
          {"attention_bias", false},
          {"mlp_bias", false},
          {"tie_word_embeddings", model.tied},
          {"bos_token_id", nullptr},
          {"eos_token_id", nullptr},
          {"torch_dtype", "float32"}};
}

nlohmann::ordered_json config_of(const ModelSpec& model) {
  if (model.kind == ModelKind::llama) return llama_config_of(model);
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

/// Rows of a parameter of this engine under their name in the export.
struct Piece {
  std::string name;
  std::int64_t rows;
};

/// The parts of `name`, in which `joined` stands for several matrices on top of each other.
std::vector<Piece> cut(const std::string& name, const std::string& joined, std::vector<Piece> parts) {
  for (Piece& part : parts) part.name = std::string(name).replace(name.find(joined), joined.size(), part.name);
  return parts;
}

std::vector<Piece> pieces_of(const ParameterSpec& parameter, const ModelSpec& model) {
  const std::string& name = parameter.name;
  const std::int64_t depth = model.width / model.heads, keys = model.heads_of_keys() * depth;
  if (name.ends_with("qkv_proj.weight"))
    return cut(name, "qkv_proj", {{"q_proj", model.width}, {"k_proj", keys}, {"v_proj", keys}});
  if (name.ends_with("gate_up_proj.weight"))
    return cut(name, "gate_up_proj", {{"gate_proj", model.mlp_width()}, {"up_proj", model.mlp_width()}});
  const bool prefixed = model.kind == ModelKind::gpt && !name.starts_with("lm_head.");
  return {{prefixed ? "transformer." + name : name, parameter.whole[0]}};
}

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
           "be used elsewhere; export writes models of kind gpt and llama");
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
    float* next = values.back().data();
    for (const Piece& piece : pieces_of(parameter, alone.model)) {
      if (!is_transposed(parameter)) shape.extent[0] = piece.rows;
      tensors.push_back({piece.name, {next, DType::f32, shape}});
      next += shape.elements();
    }
    saved.parameters += elements;
  }
  try {
    fs::remove_all(partial);  // of an interrupted export
    fs::create_directories(partial);
    write_safetensors((partial / "model.safetensors").string(), tensors, {{"format", "pt"}});
    const nlohmann::ordered_json content = config_of(alone.model);
    saved.reader = content["architectures"][0];
    std::ofstream config(partial / "config.json");
    config << content.dump(2) << "\n";
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
