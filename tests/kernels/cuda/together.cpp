#include "tests/kernels/cuda/together.hpp"

#include <cmath>
#include <cstring>

#include "kernels/device/host_tensor.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

constexpr int tensors = 24;

/// Lengths near those of packs and blocks; one is empty.
std::int64_t length_of(int tensor) { return tensor == 5 ? 0 : 1 + tensor * 97 % 2200; }

/// States that are squares must be positive; Adagrad's first state is one.
Values positive(Values values) {
  for (double& v : values) v = std::abs(v) + 0.1;
  return values;
}

/// Tensors in the device's memory, with a gap after each, so that some do not begin at a multiple of a pack.
class Placed {
 public:
  Placed(Device& device, Queue& queue)
      : device_(device), queue_(queue), memory_(device.reserve(std::int64_t{tensors} * 5 * 2400 * 8)) {}

  View put(const Tensor& tensor) {
    const View from = tensor.view();
    View to{memory_.get() + used_, from.type, from.shape};
    const HostTensor here = HostTensor::to_write(device_, to);
    if (from.bytes() > 0) std::memcpy(here.view().data, from.data, static_cast<std::size_t>(from.bytes()));
    here.write_back(queue_);
    used_ += from.bytes() + bytes_of(from.type);
    used_ = (used_ + 7) / 8 * 8;  // the widest element
    return to;
  }

  /// Everything that an update may have changed.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(static_cast<std::size_t>(used_));
    const HostTensor here = HostTensor::read(device_, queue_, {memory_.get(), DType::u8, {used_}});
    std::memcpy(all.data(), here.view().data, all.size());
    return all;
  }

 private:
  Device& device_;
  Queue& queue_;
  Memory memory_;
  std::int64_t used_ = 0;
};

/// Tensors for a rule that updates elements, or blocks of them, independently. With `bytes`, two of three states are
/// bytes.
class Subjects : public Placed {
 public:
  Subjects(Device& device, Queue& queue, DType type, bool bytes) : Placed(device, queue) {
    const bool master = bytes_of(type) == 2;
    const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
    for (int t = 0; t < tensors; ++t) {
      const auto seed = static_cast<std::uint64_t>(5 * t);
      const Values held = random_values(length_of(t), wide, seed);
      UpdateOperand& o = operands.emplace_back();
      o.parameter = put(Tensor({length_of(t)}, type, held));
      if (master) o.master = put(Tensor({length_of(t)}, wide, held));
      o.gradient = put(random_tensor({length_of(t)}, wide, seed + 1));
      o.decays = t % 3 != 0;
      for (const std::size_t moment : {std::size_t{0}, std::size_t{1}}) {
        if (bytes && t % 3 != 1) {
          const std::int64_t blocks = (length_of(t) + quantised_block - 1) / quantised_block;
          o.states[moment] = put(codes(length_of(t), seed + 2 + moment));
          o.states[2 + moment] = put(Tensor({blocks}, wide, positive(random_values(blocks, wide, seed + 2 + moment))));
        } else {
          o.states[moment] =
              put(Tensor({length_of(t)}, wide, positive(random_values(length_of(t), wide, seed + 2 + moment))));
        }
      }
    }
  }

  std::vector<UpdateOperand> operands;

 private:
  static Tensor codes(std::int64_t count, std::uint64_t seed) {
    const Tensor tensor({count}, DType::u8);
    const Values values = random_values(count, DType::f64, seed, 128);
    for (std::size_t i = 0; i < values.size(); ++i)
      tensor.view().as<std::uint8_t>()[i] = static_cast<std::uint8_t>(values[i] + 128);
    return tensor;
  }
};

/// Matrices and vectors for LARS and LAMB; one tensor has several blocks.
class RelativeSubjects : public Placed {
 public:
  RelativeSubjects(Device& device, Queue& queue, DType type) : Placed(device, queue) {
    const bool master = bytes_of(type) == 2;
    const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
    std::uint64_t seed = 0;
    for (const Shape& shape :
         {Shape{3, 8}, Shape{300}, Shape{70, 64}, Shape{1}, Shape{130, 33}, Shape{2048}, Shape{2, 5000}}) {
      const Values held = random_values(shape.elements(), wide, seed += 5);
      UpdateOperand& o = operands.emplace_back();
      o.parameter = put(Tensor(shape, type, held));
      if (master) o.master = put(Tensor(shape, wide, held));
      o.gradient = put(random_tensor(shape, wide, seed + 1));
      o.states = {put(random_tensor(shape, wide, seed + 2)),
                  put(Tensor(shape, wide, positive(random_values(shape.elements(), wide, seed + 3))))};
      o.decays = shape.rank > 1;
    }
  }
  std::vector<UpdateOperand> operands;
};

/// Matrices and vectors for Adafactor.
class FactoredSubjects : public Placed {
 public:
  FactoredSubjects(Device& device, Queue& queue, DType type) : Placed(device, queue) {
    struct Size {
      std::int64_t rows, columns;
    };
    const bool master = bytes_of(type) == 2;
    const DType wide = type == DType::f64 ? DType::f64 : DType::f32;
    std::uint64_t seed = 0;
    for (const Size& s : {Size{3, 8}, {1, 300}, {70, 64}, {130, 33}, {1, 1}, {1, 2048}, {2, 500}}) {
      const Shape shape = s.rows > 1 ? Shape{s.rows, s.columns} : Shape{s.columns};
      const Values held = random_values(shape.elements(), wide, seed += 5);
      UpdateOperand& o = operands.emplace_back();
      o.parameter = put(Tensor(shape, type, held));
      if (master) o.master = put(Tensor(shape, wide, held));
      o.gradient = put(random_tensor(shape, wide, seed + 1));
      const View column = put(Tensor({s.columns}, wide, positive(random_values(s.columns, wide, seed + 2))));
      o.states = {column};
      if (s.rows > 1) o.states = {put(Tensor({s.rows}, wide, positive(random_values(s.rows, wide, seed + 3)))), column};
      o.decays = s.rows > 2;
    }
  }
  std::vector<UpdateOperand> operands;
};

UpdateStep step_of(double decay) {
  UpdateStep step;
  step.learning_rate = 0.1;
  step.weight_decay = decay;
  step.gradient_scale = 0.5;
  step.t = 3;
  step.batch = 3;
  step.momentum = 0.7;
  step.nesterov = true;
  step.epsilon = 1e-3;
  step.hessian_interval = 2;
  return step;
}

/// Updates the tensors of `together` at once, and those of `alone`, which are equal, one by one, each with its own
/// decay.
template <class Subjects>
void check_rule(const KernelSet& set, Device& device, Queue& queue, UpdateRule rule, DType type,
                const Subjects& together, const Subjects& alone) {
  const auto update = [&](const UpdateSpec& spec, const UpdateStep& step) {
    const auto op = set.prepare(&KernelSet::update, spec);
    const Memory workspace = device.reserve(op.workspace_bytes);
    op.launch(step, {workspace.get(), queue.handle()});
    queue.mark()->wait();
  };
  const std::vector<std::byte> before = together.bytes();
  update({rule, type, together.operands}, step_of(0.2));
  for (UpdateOperand o : alone.operands) {
    const double decay = o.decays ? 0.2 : 0;
    o.decays = true;
    update({rule, type, {o}}, step_of(decay));
  }
  CHECK(together.bytes() == alone.bytes());
  CHECK(together.bytes() != before);
}

}  // namespace

void check_together(const KernelSet& set, Device& device) {
  const auto queue = device.make_queue();
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    for (int r = 0; r < update_rule_count; ++r) {
      const auto rule = static_cast<UpdateRule>(r);
      INFO("rule " << r << " in " << name_of(type));
      if (rule == UpdateRule::adafactor) {
        const FactoredSubjects together(device, *queue, type), alone(device, *queue, type);
        check_rule(set, device, *queue, rule, type, together, alone);
        continue;
      }
      if (rule == UpdateRule::lars || rule == UpdateRule::lamb) {
        const RelativeSubjects together(device, *queue, type), alone(device, *queue, type);
        check_rule(set, device, *queue, rule, type, together, alone);
        continue;
      }
      const bool bytes = rule == UpdateRule::adam8bit;
      // Types differ only in loads and stores, which all rules except this one share.
      if (!bytes && rule != UpdateRule::adamw && type != DType::f32) continue;
      const Subjects together(device, *queue, type, bytes), alone(device, *queue, type, bytes);
      check_rule(set, device, *queue, rule, type, together, alone);
    }

    const Subjects subjects(device, *queue, type, false);
    SquareNormsSpec spec{subjects.operands.front().gradient.type, {}};
    double expected = 0;
    for (const UpdateOperand& o : subjects.operands) {
      spec.tensors.push_back(o.gradient);
      const HostTensor here = HostTensor::read(device, *queue, o.gradient);
      for (std::int64_t i = 0; i < o.gradient.elements(); ++i) {
        const double value = spec.type == DType::f64 ? here.view().as<double>()[i] : here.view().as<float>()[i];
        expected += value * value;
      }
    }
    const auto norms = set.prepare(&KernelSet::square_norms, spec);
    const Memory workspace = device.reserve(norms.workspace_bytes), out = device.reserve(sizeof(double));
    queue->fill(out.get(), 0xFF, sizeof(double));
    norms.launch(reinterpret_cast<double*>(out.get()), {workspace.get(), queue->handle()});
    const HostTensor told = HostTensor::read(device, *queue, {out.get(), DType::f64, {1}});
    CHECK(*told.view().as<double>() == Approx(expected).epsilon(1e-12));
  }
}

}  // namespace rankscope::kernels::test
