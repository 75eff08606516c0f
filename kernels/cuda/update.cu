// The updates of optimizers whose elements are each on their own.
#include "kernels/cuda/update.cuh"

#include <memory>

#include "kernels/cuda/adam8bit.hpp"
#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

template <class T>
UpdateTensor tensor_of(View parameter, View master, View first, View second, View gradient, bool decays) {
  UpdateTensor tensor{parameter.data,       master.data, gradient.data, {first.data, second.data},
                      parameter.elements(), decays};
  tensor.packed = takes_packs<T>(tensor);
  return tensor;
}

/// Missing states are empty views.
template <template <class> class Rule>
void update_one(const UpdateSpec& spec, View parameter, View master, View first, View second, View gradient,
                const UpdateNumbers& numbers, const Stream& stream) {
  with_type(spec.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    UpdateTensor tensor = tensor_of<T>(parameter, spec.master ? master : View{}, first, second, gradient, true);
    tensor.elements = spec.elements;
    update_all<T, Rule<Arithmetic<T>>>(OneTensor<UpdateTensor>{tensor}, blocks_of<T>(tensor), numbers, stream);
  });
}

/// Of all tensors in one launch.
template <template <class> class Rule>
Prepared<UpdateNumbers> update_many(const UpdatesSpec& spec) {
  return with_type(spec.type, [&](auto tag) -> Prepared<UpdateNumbers> {
    using T = typename decltype(tag)::type;
    std::vector<UpdateTensor> tensors;
    std::vector<int64_t> blocks;
    for (const UpdateOperand& o : spec.tensors) {
      tensors.push_back(tensor_of<T>(o.parameter, o.master, o.first, o.second, o.gradient, o.decays));
      blocks.push_back(blocks_of<T>(tensors.back()));
    }
    return {0, [written = std::make_shared<const WrittenTable<UpdateTensor>>(tensors, blocks)](UpdateNumbers numbers,
                                                                                               const Stream& stream) {
              update_all<T, Rule<Arithmetic<T>>>(written->table(), written->blocks(), numbers, stream);
            }};
  });
}

template <class A>
using CoupledAdam = Adam<A, true>;
template <class A>
using DecoupledAdam = Adam<A, false>;

/// Tensors with moments of a byte an element in one launch, the others in a second.
Prepared<UpdateNumbers> update_quantised_and_whole(const UpdatesSpec& spec) {
  std::vector<UpdateOperand> quantised;
  UpdatesSpec whole{UpdateRule::adamw, spec.type, {}};
  for (const UpdateOperand& o : spec.tensors) (o.first_scale.data != nullptr ? quantised : whole.tensors).push_back(o);
  return {0, [of_bytes = adam8bit_updates(spec.type, quantised), of_others = update_many<DecoupledAdam>(whole)](
                 UpdateNumbers numbers, const Stream& stream) {
            of_bytes.launch(numbers, stream);
            of_others.launch(numbers, stream);
          }};
}

template <template <class> class Rule, class Step>
Prepared<View, View, View, View, View, Step> of_two_states(const UpdateSpec& spec) {
  return {0, [spec](View parameter, View master, View m, View v, View gradient, Step step, const Stream& stream) {
            update_one<Rule>(spec, parameter, master, m, v, gradient, numbers_of(step), stream);
          }};
}

template <template <class> class Rule, class Step>
Prepared<View, View, View, View, Step> of_one_state(const UpdateSpec& spec) {
  return {0, [spec](View parameter, View master, View state, View gradient, Step step, const Stream& stream) {
            update_one<Rule>(spec, parameter, master, state, View{}, gradient, numbers_of(step), stream);
          }};
}

}  // namespace

Prepared<View, View, View, SgdStep> sgd_update(const UpdateSpec& spec, const Options&) {
  return {0, [spec](View parameter, View master, View gradient, SgdStep step, const Stream& stream) {
            update_one<Sgd>(spec, parameter, master, View{}, View{}, gradient, numbers_of(step), stream);
          }};
}
Prepared<View, View, View, View, MomentumStep> momentum_update(const UpdateSpec& spec, const Options&) {
  return of_one_state<Momentum, MomentumStep>(spec);
}
Prepared<View, View, View, View, AdagradStep> adagrad_update(const UpdateSpec& spec, const Options&) {
  return of_one_state<Adagrad, AdagradStep>(spec);
}
Prepared<View, View, View, View, View, AdamStep> adam_update(const UpdateSpec& spec, const Options&) {
  return of_two_states<CoupledAdam, AdamStep>(spec);
}
Prepared<View, View, View, View, View, AdamStep> adamw_update(const UpdateSpec& spec, const Options&) {
  return of_two_states<DecoupledAdam, AdamStep>(spec);
}
Prepared<View, View, View, View, View, AdamStep> radam_update(const UpdateSpec& spec, const Options&) {
  return of_two_states<RAdam, AdamStep>(spec);
}
Prepared<View, View, View, View, View, SophiaStep> sophia_update(const UpdateSpec& spec, const Options&) {
  return of_two_states<Sophia, SophiaStep>(spec);
}

Prepared<UpdateNumbers> updates(const UpdatesSpec& spec, const Options&) {
  switch (spec.rule) {
    case UpdateRule::sgd: return update_many<Sgd>(spec);
    case UpdateRule::momentum: return update_many<Momentum>(spec);
    case UpdateRule::adagrad: return update_many<Adagrad>(spec);
    case UpdateRule::adam: return update_many<CoupledAdam>(spec);
    case UpdateRule::adamw: return update_many<DecoupledAdam>(spec);
    case UpdateRule::radam: return update_many<RAdam>(spec);
    case UpdateRule::sophia: return update_many<Sophia>(spec);
    case UpdateRule::adam8bit: return update_quantised_and_whole(spec);
  }
  throw Unsupported("an update by a rule that is none");
}

}  // namespace rankscope::kernels::cuda
