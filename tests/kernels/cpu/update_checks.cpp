#include <algorithm>
#include <array>
#include <cmath>

#include "tests/catch.hpp"
#include "tests/kernels/cpu/checks.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

constexpr std::int64_t lengths[] = {1, 15, 40000};

/// A parameter during training: `held` is the tensor that is updated (the master of a bf16 parameter).
struct Subject {
  std::int64_t n;
  DType type;
  bool master;
  Tensor held, gradient, parameter, first, second;

  Subject(std::int64_t elements, DType its_type)
      : n(elements),
        type(its_type),
        master(bytes_of(type) == 2),
        held(random_tensor({n}, wide(type), 1)),
        gradient(random_tensor({n}, wide(type), 2)),
        parameter({n}, type, held.values()),
        first(random_tensor({n}, wide(type), 3)),
        second({n}, wide(type), positive(random_values(n, wide(type), 4))) {}

  static Values positive(Values values) {
    for (double& v : values) v = std::abs(v) + 0.1;
    return values;
  }
  UpdateSpec spec(UpdateRule rule, const std::array<View, 4>& states) const {
    return {rule, type, {{parameter, master ? held.view() : View{}, gradient, states}}};
  }

  void check(const SetUnderTest& set, const Values& expected) const {
    CHECK(difference(parameter.values(), expected) < set.bound(type, type));
    if (master) CHECK(difference(held.values(), expected) < set.bound(type, DType::f32));
    CHECK(parameter.guarded());
    CHECK(held.guarded());
  }
  void check_state(const SetUnderTest& set, const Tensor& state, const Values& expected) const {
    CHECK(difference(state.values(), expected) < set.bound(type, wide(type)));
    CHECK(state.guarded());
  }
};

UpdateStep usual_step(std::uint64_t t = 1) {
  UpdateStep step;
  step.learning_rate = 0.1;
  step.weight_decay = 0.2;
  step.gradient_scale = 0.5;
  step.momentum = 0.7;
  step.beta1 = 0.8;
  step.beta2 = 0.95;
  step.epsilon = 1e-3;
  step.t = t;
  return step;
}

/// Adam's family: `next` gives the new parameter from (p, corrected m, corrected v, t).
template <class Next>
void check_adam(const SetUnderTest& set, DType type, UpdateRule rule, bool coupled, Next next) {
  for (const std::int64_t n : set.sizes(lengths, {2'000'003}))
    for (const std::uint64_t t : {1, 5, 40}) {
      const Subject s(n, type);
      Values p = s.held.values(), m = s.first.values(), v = s.second.values();
      const Values g = s.gradient.values();
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double gradient = 0.5 * g[i] + (coupled ? 0.2 * p[i] : 0);
        m[i] = 0.8 * m[i] + 0.2 * gradient;
        v[i] = 0.95 * v[i] + 0.05 * gradient * gradient;
        const double step = static_cast<double>(t);
        p[i] = next(p[i], m[i] / (1 - std::pow(0.8, step)), v[i] / (1 - std::pow(0.95, step)), step);
      }
      set.update(s.spec(rule, {s.first, s.second}), usual_step(t));
      s.check(set, p);
      s.check_state(set, s.first, m);
      s.check_state(set, s.second, v);
    }
}

void check_sgd(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(lengths, {2'000'003})) {
    const Subject s(n, type);
    Values p = s.held.values();
    const Values g = s.gradient.values();
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.1 * (0.2 * p[i] + 0.5 * g[i]);
    set.update(s.spec(UpdateRule::sgd, {}), usual_step());
    s.check(set, p);
  }
}

void check_momentum(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(lengths, {2'000'003}))
    for (const bool nesterov : {false, true}) {
      const Subject s(n, type);
      Values p = s.held.values(), b = s.first.values();
      const Values g = s.gradient.values();
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double gradient = 0.5 * g[i] + 0.2 * p[i];
        b[i] = 0.7 * b[i] + gradient;
        p[i] -= 0.1 * (nesterov ? gradient + 0.7 * b[i] : b[i]);
      }
      UpdateStep step = usual_step();
      step.nesterov = nesterov;
      set.update(s.spec(UpdateRule::momentum, {s.first}), step);
      s.check(set, p);
      s.check_state(set, s.first, b);
    }
}

void check_adagrad(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(lengths, {2'000'003})) {
    const Subject s(n, type);
    Values p = s.held.values(), sum = s.second.values();
    const Values g = s.gradient.values();
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double gradient = 0.5 * g[i] + 0.2 * p[i];
      sum[i] += gradient * gradient;
      p[i] -= 0.1 * gradient / (std::sqrt(sum[i]) + 1e-3);
    }
    set.update(s.spec(UpdateRule::adagrad, {s.second}), usual_step());
    s.check(set, p);
    s.check_state(set, s.second, sum);
  }
}

void check_coupled_adam(const SetUnderTest& set, DType type) {
  check_adam(set, type, UpdateRule::adam, true,
             [](double p, double m, double v, double) { return p - 0.1 * m / (std::sqrt(v) + 1e-3); });
}

void check_adamw(const SetUnderTest& set, DType type) {
  check_adam(set, type, UpdateRule::adamw, false,
             [](double p, double m, double v, double) { return p - 0.1 * (m / (std::sqrt(v) + 1e-3) + 0.2 * p); });
}

void check_radam(const SetUnderTest& set, DType type) {
  // With beta2 = 0.95 the sixth step is the first one that is rectified.
  check_adam(set, type, UpdateRule::radam, true, [](double p, double m, double v, double t) {
    const double power = std::pow(0.95, t), longest = 2 / 0.05 - 1, length = longest - 2 * t * power / (1 - power);
    if (length <= 5) return p - 0.1 * m;
    const double r = std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length));
    const double root = std::sqrt(1 - power);
    return p - 0.1 * r * m * root / (std::sqrt(v) * root + 1e-3);
  });
}

void check_sophia(const SetUnderTest& set, DType type) {
  for (const std::int64_t n : set.sizes(lengths, {2'000'003}))
    for (const bool refresh : {false, true}) {
      const Subject s(n, type);
      Values p = s.held.values(), m = s.first.values(), h = s.second.values();
      const Values g = s.gradient.values();
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double gradient = 0.5 * g[i];
        m[i] = 0.8 * m[i] + 0.2 * gradient;
        if (refresh) h[i] = 0.95 * h[i] + 0.05 * 3 * gradient * gradient;
        p[i] -= 0.1 * (0.2 * p[i] + std::clamp(m[i] / std::max(0.9 * h[i], 0.3), -1.0, 1.0));
      }
      UpdateStep step = usual_step(refresh ? 11 : 12);
      step.gamma = 0.9;
      step.epsilon = 0.3;
      step.batch = 3;
      step.hessian_interval = 5;
      set.update(s.spec(UpdateRule::sophia, {s.first, s.second}), step);
      s.check(set, p);
      s.check_state(set, s.first, m);
      s.check_state(set, s.second, h);
    }
}

void check_adam8bit(const SetUnderTest& set, DType type) {
  // With zero states the step is AdamW's first step; the quantiser has its own tests (tests/engine/execute/optimizer).
  for (const std::int64_t n : {1, 255, 256, 257, 40000}) {
    const Subject s(n, type);
    const std::int64_t blocks = (n + quantised_block - 1) / quantised_block;
    Values p = s.held.values();
    const Values g = s.gradient.values();
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.1 * (0.5 * g[i] / (std::abs(0.5 * g[i]) + 1e-3) + 0.2 * p[i]);
    const Tensor m({n}, DType::u8), v({n}, DType::u8), m_scale({blocks}, wide(type)), v_scale({blocks}, wide(type));
    std::fill_n(m.view().as<std::uint8_t>(), n, std::uint8_t{0});
    std::fill_n(v.view().as<std::uint8_t>(), n, std::uint8_t{0});
    std::fill_n(m_scale.view().as<std::byte>(), m_scale.view().bytes(), std::byte{0});
    std::fill_n(v_scale.view().as<std::byte>(), v_scale.view().bytes(), std::byte{0});
    set.update(s.spec(UpdateRule::adam8bit, {m, v, m_scale, v_scale}), usual_step());
    s.check(set, p);
    Values greatest(static_cast<std::size_t>(blocks), 0.0), squares = greatest;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double first = 0.2 * 0.5 * g[i], second = 0.05 * 0.25 * g[i] * g[i];
      greatest[i / quantised_block] = std::max(greatest[i / quantised_block], std::abs(first));
      squares[i / quantised_block] = std::max(squares[i / quantised_block], second);
    }
    s.check_state(set, m_scale, greatest);
    s.check_state(set, v_scale, squares);
    CHECK(m.guarded());
    CHECK(v.guarded());
  }
}

void check_adafactor(const SetUnderTest& set, DType type) {
  struct Size {
    std::int64_t rows, columns;
    bool factored;
  };
  for (const Size& size : {Size{1, 1, false}, Size{1, 700, false}, Size{1, 9, true}, Size{9, 1, true},
                           Size{3, 17, true}, Size{130, 67, true}})
    for (const double clip : {0.1, 10.0}) {
      const Subject s(size.rows * size.columns, type);
      const Tensor row({size.rows}, wide(type), Subject::positive(random_values(size.rows, wide(type), 5)));
      const Tensor column({size.columns}, wide(type), Subject::positive(random_values(size.columns, wide(type), 6)));
      Values p = s.held.values(), r = row.values(), c = column.values();
      const Values g = s.gradient.values();
      const double t = 4, beta = 1 - std::pow(t, -0.7);
      const auto at = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * size.columns + j); };
      const auto square = [&](std::int64_t i, std::int64_t j) { return std::pow(0.5 * g[at(i, j)], 2) + 1e-2; };
      for (std::int64_t i = 0; size.factored && i < size.rows; ++i) {
        double mean = 0;
        for (std::int64_t j = 0; j < size.columns; ++j) mean += square(i, j) / static_cast<double>(size.columns);
        r[static_cast<std::size_t>(i)] = beta * r[static_cast<std::size_t>(i)] + (1 - beta) * mean;
      }
      for (std::int64_t j = 0; j < size.columns; ++j) {
        double mean = 0;
        for (std::int64_t i = 0; i < size.rows; ++i) mean += square(i, j) / static_cast<double>(size.rows);
        c[static_cast<std::size_t>(j)] = beta * c[static_cast<std::size_t>(j)] + (1 - beta) * mean;
      }
      double mean_row = 0, update_square = 0, parameter_square = 0;
      for (const double value : r) mean_row += value / static_cast<double>(size.rows);
      Values u(p.size());
      for (std::int64_t i = 0; i < size.rows; ++i)
        for (std::int64_t j = 0; j < size.columns; ++j) {
          const double second = size.factored
                                    ? r[static_cast<std::size_t>(i)] * c[static_cast<std::size_t>(j)] / mean_row
                                    : c[static_cast<std::size_t>(j)];
          u[at(i, j)] = 0.5 * g[at(i, j)] / std::sqrt(second);
          update_square += u[at(i, j)] * u[at(i, j)];
          parameter_square += p[at(i, j)] * p[at(i, j)];
        }
      const double n = static_cast<double>(p.size());
      const double step = std::max(0.3, std::sqrt(parameter_square / n)) * std::min(0.6, 1 / std::sqrt(t)) /
                          std::max(1.0, std::sqrt(update_square / n) / clip);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.6 * 0.2 * p[i] + step * u[i];
      UpdateSpec spec =
          s.spec(UpdateRule::adafactor, size.factored ? std::array<View, 4>{row, column} : std::array<View, 4>{column});
      if (size.factored) spec.tensors.front().parameter.shape = {size.rows, size.columns};
      UpdateStep its = usual_step(4);
      its.learning_rate = 0.6;
      its.epsilon = 1e-2;
      its.beta2_decay = 0.7;
      its.epsilon2 = 0.3;
      its.update_clip = clip;
      set.update(spec, its);
      s.check(set, p);
      if (size.factored) s.check_state(set, row, r);
      s.check_state(set, column, c);
    }
}

/// A matrix's step is relative to its norm, a vector's is not. `next` gives the new element from (p, ratio) and changes
/// the states; the ratio is computed here from the norms of the parameter and of `measured`.
struct TrustSubject {
  Subject s;
  bool matrix;
  TrustSubject(std::int64_t rows, std::int64_t columns, bool is_matrix, DType type)
      : s(rows * columns, type), matrix(is_matrix) {}
  UpdateSpec spec(UpdateRule rule, const std::array<View, 4>& states, std::int64_t rows) const {
    UpdateSpec spec = s.spec(rule, states);
    if (matrix) spec.tensors.front().parameter.shape = {rows, s.n / rows};
    return spec;
  }
  static double norm(const Values& values) {
    double square = 0;
    for (const double v : values) square += v * v;
    return std::sqrt(square);
  }
};

template <class Check>
void each_trust_subject(DType type, Check check) {
  struct Size {
    std::int64_t rows, columns;
    bool matrix;
  };
  for (const Size& size : {Size{1, 1, false}, Size{1, 700, false}, Size{1, 9, true}, Size{3, 17, true},
                           Size{130, 67, true}, Size{33, 2000, true}}) {
    INFO(size.rows << " by " << size.columns << (size.matrix ? ", a matrix" : ", a vector"));
    check(TrustSubject(size.rows, size.columns, size.matrix, type), size.rows);
  }
}

void check_lars(const SetUnderTest& set, DType type) {
  each_trust_subject(type, [&](const TrustSubject& subject, std::int64_t rows) {
    const Subject& s = subject.s;
    Values p = s.held.values(), b = s.first.values(), g = s.gradient.values();
    for (double& value : g) value *= 0.5;
    const double size = TrustSubject::norm(p);
    const double ratio = subject.matrix ? 0.03 * size / (TrustSubject::norm(g) + 0.2 * size) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      b[i] = 0.7 * b[i] + 0.1 * ratio * (g[i] + 0.2 * p[i]);
      p[i] -= b[i];
    }
    UpdateStep step = usual_step();
    step.trust = 0.03;
    set.update(subject.spec(UpdateRule::lars, {s.first}, rows), step);
    s.check(set, p);
    s.check_state(set, s.first, b);
  });
}

void check_lamb(const SetUnderTest& set, DType type) {
  each_trust_subject(type, [&](const TrustSubject& subject, std::int64_t rows) {
    const Subject& s = subject.s;
    Values p = s.held.values(), m = s.first.values(), v = s.second.values(), u(p.size());
    const Values g = s.gradient.values();
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = 0.8 * m[i] + 0.2 * 0.5 * g[i];
      v[i] = 0.95 * v[i] + 0.05 * 0.25 * g[i] * g[i];
      u[i] = m[i] / (1 - std::pow(0.8, 5)) / (std::sqrt(v[i] / (1 - std::pow(0.95, 5))) + 1e-3) + 0.2 * p[i];
    }
    const double ratio = subject.matrix ? TrustSubject::norm(p) / TrustSubject::norm(u) : 1;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.1 * ratio * u[i];
    set.update(subject.spec(UpdateRule::lamb, {s.first, s.second}, rows), usual_step(5));
    s.check(set, p);
    s.check_state(set, s.first, m);
    s.check_state(set, s.second, v);
  });
}

/// A tensor of zeros, or a gradient of zeros, has no ratio: the step is that of the rule.
void check_zero_norms(const SetUnderTest& set, DType type) {
  for (const bool zero_gradient : {false, true}) {
    const std::int64_t n = 12;
    const DType w = wide(type);
    const Values zeros(n, 0.0), ones(n, 1.0);
    const bool master = bytes_of(type) == 2;
    const Tensor parameter({n}, type, zero_gradient ? ones : zeros), held({n}, w, parameter.values()),
        gradient({n}, w, zero_gradient ? zeros : ones), buffer({n}, w, zeros);
    UpdateSpec spec{UpdateRule::lars, type, {{parameter, master ? held.view() : View{}, gradient, {buffer}}}};
    spec.tensors.front().parameter.shape = {3, 4};
    UpdateStep step = usual_step();
    step.weight_decay = 0;
    set.update(spec, step);
    // p - 0.1 · 1 · 0.5 · g
    CHECK(difference(parameter.values(), Values(n, zero_gradient ? 1.0 : -0.05)) < set.bound(type, type));
  }
}

/// Checks one rule; a new rule without a check is a compile error here.
void check_rule(const SetUnderTest& set, DType type, UpdateRule rule) {
  switch (rule) {
    case UpdateRule::sgd: return check_sgd(set, type);
    case UpdateRule::momentum: return check_momentum(set, type);
    case UpdateRule::adagrad: return check_adagrad(set, type);
    case UpdateRule::adam: return check_coupled_adam(set, type);
    case UpdateRule::adamw: return check_adamw(set, type);
    case UpdateRule::radam: return check_radam(set, type);
    case UpdateRule::adafactor: return check_adafactor(set, type);
    case UpdateRule::adam8bit: return check_adam8bit(set, type);
    case UpdateRule::sophia: return check_sophia(set, type);
    case UpdateRule::lars: check_zero_norms(set, type); return check_lars(set, type);
    case UpdateRule::lamb: return check_lamb(set, type);
  }
}

}  // namespace

void check_update(const SetUnderTest& set, DType type) {
  for (int rule = 0; rule < update_rule_count; ++rule) {
    INFO("rule " << rule);
    check_rule(set, type, static_cast<UpdateRule>(rule));
  }
}

}  // namespace rankscope::kernels::test
