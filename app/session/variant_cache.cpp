// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/variant_cache.hpp"

#include <QtConcurrent/QtConcurrentRun>

#include "engine/plan/scenario/read.hpp"

namespace rankscope::app {
namespace {

std::shared_ptr<const Prediction> predict_variant(const std::string& file, const std::vector<Override>& settings) {
  auto prediction = std::make_shared<Prediction>();
  try {
    *prediction = predict(read_scenario(file, settings));
  } catch (const std::exception& error) {
    prediction->refusal = error.what();
  }
  return prediction;
}

}  // namespace

// A running prediction owns all that it reads; its result is dropped.
VariantCache::~VariantCache() = default;

std::shared_ptr<const Prediction> VariantCache::get(const QString& file, const QStringList& settings) {
  const QStringList key = QStringList{file} + settings;
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  std::vector<Override> overrides;
  auto refused = std::make_shared<Prediction>();
  try {
    for (const QString& setting : settings) overrides.push_back(parse_override(setting.toStdString()));
  } catch (const ScenarioError& error) {
    refused->refusal = error.what();
    return made_[key] = refused;
  }
  made_[key] = nullptr;
  ++under_way_;
  QtConcurrent::run([file = file.toStdString(), overrides] {
    return predict_variant(file, overrides);
  }).then(this, [this, key](std::shared_ptr<const Prediction> prediction) {
    made_[key] = std::move(prediction);
    --under_way_;
    emit changed();
  });
  return nullptr;
}

}  // namespace rankscope::app
