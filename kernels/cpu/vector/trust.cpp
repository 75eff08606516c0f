// The two passes of LARS and LAMB over a range of elements.
#include "kernels/cpu/vector/tables.hpp"
#include "kernels/cpu/vector/update.hpp"

namespace rankscope::kernels::cpu::RANKSCOPE_ISA {
namespace {

/// A sum of squares: in A at most a few terms per lane, so that a long range loses no precision.
template <class A>
class SquareSum {
 public:
  void take(const Vector<A>& v) {
    lanes_ += v * v;
    if (++terms_ == 16) empty();
  }
  double total() {
    empty();
    return total_;
  }

 private:
  void empty() {
    for (int k = 0; k < lanes<A>; ++k) total_ += lanes_[k];
    lanes_ = Vector<A>{};
    terms_ = 0;
  }
  Vector<A> lanes_ = {};
  double total_ = 0;
  int terms_ = 0;
};

template <class T>
void trust_measure(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step, double* squares) {
  using A = Scalar<T>;
  with_trust_rule<Math<A>>(rule, [&]<class Rule>(std::type_identity<Rule>) {
    const Rule own(step);
    const auto* parameter = static_cast<const T*>(stretch.parameter);
    const auto* master = static_cast<const A*>(stretch.master);
    const auto* gradient = static_cast<const A*>(stretch.gradient);
    A* const states[] = {static_cast<A*>(stretch.state[0]), static_cast<A*>(stretch.state[1])};
    SquareSum<A> of_parameter, of_measured;
    sweep<A>(n, [&](int64_t i, auto part) {
      const Vector<A> p = master ? load(master + i, part) : load(parameter + i, part);
      Vector<A> state[2] = {};
      for (int s = 0; s < Rule::states; ++s) state[s] = load(states[s] + i, part);
      of_parameter.take(p);
      of_measured.take(own.measured(p, load(gradient + i, part), state));
      if constexpr (Rule::measuring_writes)
        for (int s = 0; s < Rule::states; ++s) store(states[s] + i, state[s], part);
    });
    squares[0] = of_parameter.total();
    squares[1] = of_measured.total();
  });
}

template <class T>
void trust_descent(UpdateRule rule, const UpdateStretch& stretch, int64_t n, const UpdateStep& step, double ratio) {
  using A = Scalar<T>;
  with_trust_rule<Math<A>>(rule, [&]<class Rule>(std::type_identity<Rule>) {
    const Rule own(step);
    const A longer = static_cast<A>(ratio);
    auto* parameter = static_cast<T*>(stretch.parameter);
    auto* master = static_cast<A*>(stretch.master);
    const auto* gradient = static_cast<const A*>(stretch.gradient);
    A* const states[] = {static_cast<A*>(stretch.state[0]), static_cast<A*>(stretch.state[1])};
    sweep<T>(n, [&](int64_t i, auto part) {
      const Vector<T> p = master ? load(master + i, part) : load(parameter + i, part);
      Vector<T> state[2] = {};
      for (int s = 0; s < Rule::states; ++s) state[s] = load(states[s] + i, part);
      const Vector<T> next = own.next(p, load(gradient + i, part), state, longer);
      if constexpr (!Rule::measuring_writes)
        for (int s = 0; s < Rule::states; ++s) store(states[s] + i, state[s], part);
      if (master) store(master + i, next, part);
      store(parameter + i, next, part);
    });
  });
}

}  // namespace

template <class T>
void add_trust(Loops& loops) {
  set<trust_measure<T>>(loops.trust_measure);
  set<trust_descent<T>>(loops.trust_descent);
}
RANKSCOPE_FOR_ALL_TYPES(add_trust)

}  // namespace rankscope::kernels::cpu::RANKSCOPE_ISA
