// The optimizers' update of any number of parameters in one launch, or the number of launches that the rule needs.
#include "kernels/cuda/update.cuh"

#include <memory>

#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
UpdateTensor tensor_of(const UpdateOperand& o) {
  UpdateTensor tensor{o.parameter.data,       o.master.data, o.gradient.data, {o.states[0].data, o.states[1].data},
                      o.parameter.elements(), o.decays};
  tensor.packed = takes_packs<T>(tensor);
  return tensor;
}

Prepared<UpdateStep> update_elements(const UpdateSpec& spec) {
  Prepared<UpdateStep> prepared;
  with_type(spec.type, [&]<class T>(Tag<T>) {
    std::vector<UpdateTensor> tensors;
    std::vector<int64_t> blocks;
    for (const UpdateOperand& o : spec.tensors) {
      tensors.push_back(tensor_of<T>(o));
      blocks.push_back(blocks_of<T>(tensors.back()));
    }
    const auto written = std::make_shared<const WrittenTable<UpdateTensor>>(tensors, blocks);
    with_element_rule<Math<Arithmetic<T>>>(spec.rule, [&]<class Rule>(std::type_identity<Rule>) {
      prepared.launch = [written](const UpdateStep& step, const Stream& stream) {
        launch(update_tensors<T, Rule>, {grid_of(written->blocks()), dim3(update_threads)}, stream, written->table(),
               Rules<Rule>(step), step.gradient_scale.at);
      };
    });
  });
  return prepared;
}

/// Tensors with moments of one byte per element in one launch, the others in a second.
Prepared<UpdateStep> update_quantised_and_whole(const UpdateSpec& spec) {
  UpdateSpec quantised{spec.rule, spec.type, {}}, whole = quantised;
  for (const UpdateOperand& o : spec.tensors) (o.quantised() ? quantised : whole).tensors.push_back(o);
  return {0, [of_bytes = adam8bit_update(quantised), of_others = update_elements(whole)](const UpdateStep& step,
                                                                                         const Stream& stream) {
            of_bytes.launch(step, stream);
            of_others.launch(step, stream);
          }};
}

}  // namespace

Prepared<UpdateStep> update(const UpdateSpec& spec, const Options&) {
  if (spec.rule == UpdateRule::adafactor) return adafactor_update(spec);
  if (has_trust_ratio(spec.rule)) return trust_update(spec);
  if (spec.rule == UpdateRule::adam8bit) return update_quantised_and_whole(spec);
  return update_elements(spec);
}

}  // namespace rankscope::kernels::cuda
