#include "engine/plan/model/model.hpp"

namespace rankscope {

std::string_view name_of(TensorName name) {
  switch (name) {
    case TensorName::tokens: return "tokens";
    case TensorName::targets: return "targets";
    case TensorName::residual: return "residual";
    case TensorName::mean1: return "mean1";
    case TensorName::rstd1: return "rstd1";
    case TensorName::norm1: return "norm1";
    case TensorName::qkv: return "qkv";
    case TensorName::softmax: return "softmax";
    case TensorName::attended: return "attended";
    case TensorName::middle: return "middle";
    case TensorName::mean2: return "mean2";
    case TensorName::rstd2: return "rstd2";
    case TensorName::norm2: return "norm2";
    case TensorName::pre_gelu: return "pre_gelu";
    case TensorName::activated: return "activated";
    case TensorName::output: return "output";
    case TensorName::logits: return "logits";
    case TensorName::loss: return "loss";
    case TensorName::embedded: return "embedded";
    case TensorName::embedded_sum: return "embedded_sum";
    case TensorName::norm1_all: return "norm1_all";
    case TensorName::projected: return "projected";
    case TensorName::projected_sum: return "projected_sum";
    case TensorName::norm2_all: return "norm2_all";
    case TensorName::contracted: return "contracted";
    case TensorName::contracted_sum: return "contracted_sum";
    case TensorName::statistics: return "statistics";
    case TensorName::statistics_all: return "statistics_all";
    case TensorName::images: return "images";
    case TensorName::convolved1: return "convolved1";
    case TensorName::convolved2: return "convolved2";
    case TensorName::convolved3: return "convolved3";
    case TensorName::shortcut: return "shortcut";
    case TensorName::mean3: return "mean3";
    case TensorName::rstd3: return "rstd3";
    case TensorName::mean_shortcut: return "mean_shortcut";
    case TensorName::rstd_shortcut: return "rstd_shortcut";
    case TensorName::pooled_from: return "pooled_from";
    case TensorName::pooled: return "pooled";
  }
  return "?";
}

}  // namespace rankscope
