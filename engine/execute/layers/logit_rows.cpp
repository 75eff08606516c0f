#include "engine/execute/layers/logit_rows.hpp"

#include <utility>

namespace rankscope {

using kernels::KernelSet;

LogitGradients::LogitGradients(Binding& binding, kernels::LinearSpec linear, bool adds) {
  const std::int64_t all = linear.rows, at_once = rows_of_product(binding.kernels.options, linear.out, all);
  for (std::int64_t first = 0; first < all; first += at_once) {
    Rows rows{first, std::min(at_once, all - first), {}, {}};
    linear.rows = rows.count;
    if (binding.half.input) {
      linear.result_type = binding.model.type;
      linear.accumulate = false;
      rows.input_gradient = binding.prepare(&KernelSet::linear_input_gradient, linear);
    }
    if (binding.half.weight) {
      linear.result_type = accumulation_type(binding.model.type);
      linear.accumulate = adds || first > 0;
      rows.weight_gradient = binding.prepare(&KernelSet::linear_weight_gradient, linear);
    }
    blocks_.push_back(std::move(rows));
  }
}

void LogitGradients::input(View dx, View dlogits, View w, const kernels::Stream& stream) const {
  for (const Rows& rows : blocks_)
    rows.input_gradient.launch(rows_of(dx, rows.first, rows.count), rows_of(dlogits, rows.first, rows.count), w,
                               stream);
}

void LogitGradients::weight(View dw, View dlogits, View x, const kernels::Stream& stream) const {
  for (const Rows& rows : blocks_)
    rows.weight_gradient.launch(dw, View{}, rows_of(dlogits, rows.first, rows.count),
                                rows_of(x, rows.first, rows.count), stream);
}

}  // namespace rankscope
