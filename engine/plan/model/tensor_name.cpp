#include "engine/op/word_list.hpp"
#include "engine/plan/model/model.hpp"

namespace rankscope {

constexpr auto tensor_name_names =
    word_list("tokens", "targets", "residual", "mean1", "rstd1", "norm1", "qkv", "softmax", "attended", "middle",
              "mean2", "rstd2", "norm2", "pre_gelu", "activated", "output", "logits", "loss", "embedded",
              "embedded_sum", "norm1_all", "projected", "projected_sum", "norm2_all", "contracted", "contracted_sum",
              "statistics", "statistics_all", "images", "convolved1", "convolved2", "convolved3", "shortcut", "mean3",
              "rstd3", "mean_shortcut", "rstd_shortcut", "pooled_from", "pooled", "gate_up");
static_assert(tensor_name_names.size() == static_cast<int>(TensorName::gate_up) + 1);
std::string_view name_of(TensorName name) { return word_at(tensor_name_names, name); }

}  // namespace rankscope
