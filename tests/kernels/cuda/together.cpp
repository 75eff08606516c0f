#include "tests/kernels/cuda/together.hpp"

#include <cmath>
#include <cstring>

#include "kernels/device/host_tensor.hpp"
#include "kernels/update_numbers.hpp"
#include "tests/catch.hpp"
#include "tests/kernels/cpu/tensors.hpp"

namespace rankscope::kernels::test {
namespace {

constexpr int tensors = 24;

/// Lengths around those of packs and blocks; one is empty.
std::int64_t length_of(int tensor) { return tensor == 5 ? 0 : 1 + tensor * 97 % 2200; }

/// States of squares are positive, and of Adagrad that is the first.
Values positive(Values values) {
  for (double& v : values) v = std::abs(v) + 0.1;
  return values;
}

/// Tensors in the device's memory, with a gap behind each, so that not all begin at a pack.
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
    used_ = (used_ + 7) / 8 * 8;  // of the widest element
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

/// The tensors of an update. With `bytes` two moments of three are bytes.
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
      if (bytes && t % 3 != 1) {
        const std::int64_t blocks = (length_of(t) + quantised_block - 1) / quantised_block;
        o.first = put(codes(length_of(t), seed + 2));
        o.second = put(codes(length_of(t), seed + 3));
        o.first_scale = put(Tensor({blocks}, wide, positive(random_values(blocks, wide, seed + 2))));
        o.second_scale = put(Tensor({blocks}, wide, positive(random_values(blocks, wide, seed + 3))));
        continue;
      }
      o.first = put(Tensor({length_of(t)}, wide, positive(random_values(length_of(t), wide, seed + 2))));
      o.second = put(Tensor({length_of(t)}, wide, positive(random_values(length_of(t), wide, seed + 3))));
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
      const Shape shape{s.rows, s.columns};
      const Values held = random_values(shape.elements(), wide, seed += 5);
      AdafactorOperand& o = operands.emplace_back();
      o.parameter = put(Tensor(shape, type, held));
      if (master) o.master = put(Tensor(shape, wide, held));
      o.gradient = put(random_tensor(shape, wide, seed + 1));
      o.column = put(Tensor({s.columns}, wide, positive(random_values(s.columns, wide, seed + 2))));
      if (s.rows > 1) o.row = put(Tensor({s.rows}, wide, positive(random_values(s.rows, wide, seed + 3))));
      o.rows = s.rows;
      o.columns = s.columns;
      o.decays = s.rows > 2;
    }
  }
  std::vector<AdafactorOperand> operands;
};

struct Rule {
  UpdateRule rule;
  UpdateNumbers numbers;
  /// The same update of one tensor, by the op that is its specification.
  void (*one)(const KernelSet&, DType, const UpdateOperand&, double decay, const Stream&);
};

constexpr AdamStep adam_step(double decay) {
  return {.learning_rate = 0.1, .weight_decay = decay, .gradient_scale = 0.5, .t = 3};
}
constexpr SophiaStep sophia_step(double decay) {
  return {.learning_rate = 0.1, .weight_decay = decay, .gradient_scale = 0.5, .batch = 3};
}

template <auto op>
void adam_like(const KernelSet& set, DType type, const UpdateOperand& o, double decay, const Stream& stream) {
  set.prepare(op, {type, o.parameter.elements(), o.master.data != nullptr})
      .launch(o.parameter, o.master, o.first, o.second, o.gradient, adam_step(decay), stream);
}

std::vector<Rule> rules() {
  const double decay = 0.2;
  const SgdStep sgd{0.1, decay, 0.5};
  const MomentumStep momentum{0.1, decay, 0.7, true, 0.5};
  const AdagradStep adagrad{0.1, decay, 1e-3, 0.5};
  return {{UpdateRule::sgd, numbers_of(sgd),
           [](const KernelSet& set, DType type, const UpdateOperand& o, double of, const Stream& stream) {
             set.prepare(&KernelSet::sgd_update, {type, o.parameter.elements(), o.master.data != nullptr})
                 .launch(o.parameter, o.master, o.gradient, {0.1, of, 0.5}, stream);
           }},
          {UpdateRule::momentum, numbers_of(momentum),
           [](const KernelSet& set, DType type, const UpdateOperand& o, double of, const Stream& stream) {
             set.prepare(&KernelSet::momentum_update, {type, o.parameter.elements(), o.master.data != nullptr})
                 .launch(o.parameter, o.master, o.first, o.gradient, {0.1, of, 0.7, true, 0.5}, stream);
           }},
          {UpdateRule::adagrad, numbers_of(adagrad),
           [](const KernelSet& set, DType type, const UpdateOperand& o, double of, const Stream& stream) {
             set.prepare(&KernelSet::adagrad_update, {type, o.parameter.elements(), o.master.data != nullptr})
                 .launch(o.parameter, o.master, o.first, o.gradient, {0.1, of, 1e-3, 0.5}, stream);
           }},
          {UpdateRule::adam, numbers_of(adam_step(decay)), adam_like<&KernelSet::adam_update>},
          {UpdateRule::adamw, numbers_of(adam_step(decay)), adam_like<&KernelSet::adamw_update>},
          {UpdateRule::radam, numbers_of(adam_step(decay)), adam_like<&KernelSet::radam_update>},
          {UpdateRule::adam8bit, numbers_of(adam_step(decay)),
           [](const KernelSet& set, DType type, const UpdateOperand& o, double of, const Stream& stream) {
             if (o.first_scale.data == nullptr) return adam_like<&KernelSet::adamw_update>(set, type, o, of, stream);
             set.prepare(&KernelSet::adam8bit_update, {type, o.parameter.elements(), o.master.data != nullptr})
                 .launch(o.parameter, o.master, o.first, o.second, o.first_scale, o.second_scale, o.gradient,
                         adam_step(of), stream);
           }},
          {UpdateRule::sophia, numbers_of(sophia_step(decay)),
           [](const KernelSet& set, DType type, const UpdateOperand& o, double of, const Stream& stream) {
             set.prepare(&KernelSet::sophia_update, {type, o.parameter.elements(), o.master.data != nullptr})
                 .launch(o.parameter, o.master, o.first, o.second, o.gradient, sophia_step(of), stream);
           }}};
}

}  // namespace

namespace {

void check_adafactor_together(const KernelSet& set, Device& device, Queue& queue, DType type) {
  INFO("adafactor in " << name_of(type));
  const auto step = [](double decay) {
    return AdafactorStep{.learning_rate = 0.1, .weight_decay = decay, .epsilon = 1e-3, .gradient_scale = 0.5, .t = 3};
  };
  const FactoredSubjects together(device, queue, type), alone(device, queue, type);
  const std::vector<std::byte> before = together.bytes();
  const auto updates = set.prepare(&KernelSet::adafactor_updates, AdafactorsSpec{type, together.operands});
  const Memory workspace = device.reserve(updates.workspace_bytes);
  updates.launch(step(0.2), {workspace.get(), queue.handle()});
  for (const AdafactorOperand& o : alone.operands) {
    const AdafactorSpec spec{type, o.rows, o.columns, o.row.data != nullptr, o.master.data != nullptr};
    const auto update = set.prepare(&KernelSet::adafactor_update, spec);
    const Memory scratch = device.reserve(update.workspace_bytes);
    update.launch(o.parameter, o.master, o.row, o.column, o.gradient, step(o.decays ? 0.2 : 0),
                  {scratch.get(), queue.handle()});
    queue.mark()->wait();
  }
  CHECK(together.bytes() == alone.bytes());
  CHECK(together.bytes() != before);
}

}  // namespace

void check_together(const KernelSet& set, Device& device) {
  const auto queue = device.make_queue();
  const Stream stream{nullptr, queue->handle()};
  for (const DType type : {DType::f64, DType::f32, DType::bf16, DType::f16}) {
    for (const Rule& rule : rules()) {
      const bool bytes = rule.rule == UpdateRule::adam8bit;
      // The types differ in how they are loaded and stored, which all rules but this share.
      if (!bytes && rule.rule != UpdateRule::adamw && type != DType::f32) continue;
      INFO("rule " << static_cast<int>(rule.rule) << " in " << name_of(type));
      Subjects together(device, *queue, type, bytes), alone(device, *queue, type, bytes);
      const std::vector<std::byte> before = together.bytes();
      const auto updates = set.prepare(&KernelSet::updates, UpdatesSpec{rule.rule, type, together.operands});
      updates.launch(rule.numbers, stream);
      for (const UpdateOperand& o : alone.operands)
        rule.one(set, type, o, o.decays ? rule.numbers.weight_decay : 0, stream);
      CHECK(together.bytes() == alone.bytes());
      CHECK(together.bytes() != before);
    }

    check_adafactor_together(set, device, *queue, type);

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
