// The optimizers' updates of a range of elements, for rules that update each element independently.
#include "kernels/cpu/vector/update.hpp"

#include "kernels/cpu/vector/tables.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

template <class T>
void update(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step) {
  with_element_rule<Math<Scalar<T>>>(rule,
                                     [&]<class Rule>(std::type_identity<Rule>) { apply<T>(Rule(step), stretch, n); });
}

}  // namespace

template <class T>
void add_update(Loops& loops) {
  set<update<T>>(loops.update);
}
RANKSCOPE_FOR_ALL_TYPES(add_update)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
