// Each loops file sets its part of the table for one element type.
#pragma once
#include "kernels/cpu/vector/vector.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {

/// The loops files by name: each has a function add_NAME.
// clang-format off
#define RANKSCOPE_LOOPS_FILES(each) \
  each(elementwise) each(gelu) each(swiglu) each(rotary) each(norm) each(batch_norm) each(windows) each(cross_entropy) each(embedding) \
  each(dropout) each(attention) each(update) each(adam8bit) each(adafactor) each(trust)
// clang-format on

#define RANKSCOPE_DECLARE(file) \
  template <class T>            \
  void add_##file(Loops& loops);
RANKSCOPE_LOOPS_FILES(RANKSCOPE_DECLARE)
#undef RANKSCOPE_DECLARE

/// A loop in the table: it takes typed pointers, and the table's entries untyped ones.
template <auto loop>
struct Untyped;
template <class Result, class... Typed, Result (*loop)(Typed...)>
struct Untyped<loop> {
  template <class... Given>
  static Result call(Given... given) {
    return loop(static_cast<Typed>(given)...);
  }
};
template <auto loop, class Result, class... Given>
void set(Result (*&entry)(Given...)) {
  entry = Untyped<loop>::template call<Given...>;
}

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA

/// Defines a loops file's part for all element types.
#define RANKSCOPE_FOR_ALL_TYPES(add) \
  template void add<double>(Loops&); \
  template void add<float>(Loops&);  \
  template void add<Bf16>(Loops&);   \
  template void add<F16>(Loops&);
