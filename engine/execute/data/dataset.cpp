#include "engine/execute/data/dataset.hpp"

#include <algorithm>
#include <vector>

#include "engine/execute/data/images.hpp"
#include "engine/execute/data/language.hpp"
#include "engine/execute/data/token_file.hpp"
#include "engine/plan/scenario/data_source.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

class SyntheticDataset : public Dataset {
 public:
  SyntheticDataset(int vocabulary, int context, std::uint64_t seed) : language_(vocabulary, seed), context_(context) {}

  void fill(std::int64_t first_sample, int samples, std::int32_t* tokens, std::int32_t* targets) const override {
    std::vector<std::int32_t> window(static_cast<std::size_t>(context_) + 1);
    for (int i = 0; i < samples; ++i) {
      language_.draw(first_sample + i, context_ + 1, window.data());
      std::copy(window.begin(), window.end() - 1, tokens + std::int64_t{i} * context_);
      std::copy(window.begin() + 1, window.end(), targets + std::int64_t{i} * context_);
    }
  }
  double entropy_nats() const override { return language_.floor(context_); }

 private:
  Language language_;
  int context_;
};

}  // namespace

std::unique_ptr<Dataset> open_dataset(const Scenario& scenario) {
  const ModelSpec& model = scenario.model;
  const DataSpec& data = scenario.data;
  if (model.is_collective()) return nullptr;
  if (model.is_resnet()) return std::make_unique<SyntheticImages>(model.image, model.classes, data.seed);
  const auto named = named_source(data);
  if (!named)
    throw DataError("data.source: unknown source '" + data.source +
                    "'; it is \"synthetic\", \"text:FILE\" or \"tokens:FILE\"");
  const auto from_file = [&](TokenFile::Coding coding) {
    return std::make_unique<TokenFile>(data_file(scenario), coding, model.context, model.vocabulary, data.seed);
  };
  switch (named->source) {
    case DataSource::synthetic: return std::make_unique<SyntheticDataset>(model.vocabulary, model.context, data.seed);
    case DataSource::text: return from_file(TokenFile::Coding::bytes);
    case DataSource::tokens:
      return from_file(data.token_bytes == 4 ? TokenFile::Coding::little_endian_32
                                             : TokenFile::Coding::little_endian_16);
  }
  return nullptr;
}

}  // namespace rankscope
