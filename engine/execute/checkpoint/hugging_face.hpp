// Exports a trained model as a folder in Hugging Face's format, which its libraries open without this program.
#pragma once
#include <string>

#include "engine/execute/checkpoint/checkpoint.hpp"

namespace rankscope {

struct SavedModel {
  std::int64_t parameters = 0;  ///< each counted once
  std::int64_t bytes = 0;       ///< of model.safetensors
  std::string reader;           ///< transformers' class that reads it
};

/// Writes config.json and model.safetensors (fp32; from masters if the run had them) into `folder`, which is then
/// complete or does not exist. Names and shapes are those of transformers' GPT2LMHeadModel, whose layers' matrices are
/// [in, out] there and [out, in] here, or LlamaForCausalLM, which has separate matrices where here several lie on top
/// of each other. There is no tokenizer: a token is a byte of a text, or a word of the synthetic language. Throws
/// CheckpointError, also if the folder is not empty.
SavedModel write_hugging_face(const Checkpoint& checkpoint, const std::string& folder);

}  // namespace rankscope
