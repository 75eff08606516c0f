// The updates of optimizers whose elements are each on their own.
#include "kernels/cuda/update.cuh"

#include "kernels/cuda/ops.hpp"

namespace rankscope::kernels::cuda {
namespace {

/// Missing states are empty views.
template <template <class> class Rule>
void update_one(const UpdateSpec& spec, View parameter, View master, View first, View second, View gradient,
                const UpdateNumbers& numbers, const Stream& stream) {
  const UpdateTensor tensor{
      parameter.data, spec.master ? master.data : nullptr, gradient.data, {first.data, second.data}, spec.elements};
  with_type(spec.type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    update_all<T>(&tensor, 1, Rule<Arithmetic<T>>(numbers), numbers.gradient_scale_at, stream);
  });
}

template <class A>
using CoupledAdam = Adam<A, true>;
template <class A>
using DecoupledAdam = Adam<A, false>;

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

}  // namespace rankscope::kernels::cuda
