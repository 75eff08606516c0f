#include "tests/kernels/cpu/tensors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>

#include "kernels/tensor/element.hpp"
#include "kernels/tensor/random.hpp"
#include "tests/catch.hpp"
#include "tests/comparison.hpp"

namespace rankscope::kernels::test {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xA5}, not_set{0xFF};

/// All NaN, for floating-point types: no element was set.
bool is_unset(const View& view) {
  const auto* data = view.as<std::byte>();
  return view.type != DType::i32 && std::all_of(data, data + view.bytes(), [](std::byte b) { return b == not_set; });
}

}  // namespace

double rounded(double value, DType type) {
  std::uint64_t memory = 0;
  const View one{&memory, type, {1}};
  set_element(one, 0, value);
  return element(one, 0);
}

Tensor::Tensor(Shape shape, DType type) {
  const auto bytes = static_cast<std::size_t>(shape.elements() * bytes_of(type));
  memory_.assign(bytes + guard_bytes + 64, guard);
  void* begin = memory_.data();
  std::size_t space = memory_.size();
  begin = std::align(64, bytes + guard_bytes, begin, space);
  view_ = {begin, type, shape};
  std::memset(begin, static_cast<int>(not_set), bytes);
}

Tensor::Tensor(Shape shape, DType type, const Values& values) : Tensor(shape, type) { set(values); }

void Tensor::set(const Values& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == view_.elements());
  for (std::size_t i = 0; i < values.size(); ++i) set_element(view_, static_cast<std::int64_t>(i), values[i]);
}

Values Tensor::values() const {
  Values values(static_cast<std::size_t>(view_.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(view_, static_cast<std::int64_t>(i));
  return values;
}

bool Tensor::guarded() const {
  const auto* end = view_.as<std::byte>() + view_.bytes();
  return std::all_of(end, end + guard_bytes, [](std::byte b) { return b == guard; });
}

Values random_values(std::int64_t count, DType type, std::uint64_t seed, double size) {
  Values values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = rounded((2 * uniform(seed, 0, i) - 1) * size, type);
  return values;
}

Tensor random_tensor(Shape shape, DType type, std::uint64_t seed, double size) {
  return Tensor(shape, type, random_values(shape.elements(), type, seed, size));
}

Tensor integers(const std::vector<std::int32_t>& values) {
  Tensor tensor({static_cast<std::int64_t>(values.size())}, DType::i32);
  std::copy(values.begin(), values.end(), tensor.view().as<std::int32_t>());
  return tensor;
}

double difference(const Values& actual, const Values& expected) {
  REQUIRE(actual.size() == expected.size());
  const rankscope::test::Comparison compared =
      rankscope::test::compare(std::span<const double>(actual), std::span<const double>(expected));
  const std::size_t at = compared.error.at();
  if (!actual.empty())
    UNSCOPED_INFO("worst at " << at << " of " << actual.size() << ": " << actual[at] << ", expected " << expected[at]);
  return compared.relative();
}

double bound(DType computed, DType stored) {
  // One rounding when stored, and several dozen roundings in sums.
  const double storing = stored == DType::f64   ? 0
                         : stored == DType::f32 ? 0x1p-24
                         : stored == DType::f16 ? 0x1p-11
                                                : 0x1p-8;
  return storing + (computed == DType::f64 ? 1e-13 : 4e-6);
}

View Stage::enter(const View& view) { return enter(view, elsewhere_ ? elsewhere_->guard_bytes() : 0); }

View Stage::enter_workspace(const View& view) {
  if (elsewhere_ == nullptr) return view;
  return enter(view, elsewhere_->guard_bytes(), !elsewhere_->leaves_unset());
}

View Stage::enter(const View& view, std::int64_t guard_bytes, bool comes_back) {
  if (elsewhere_ == nullptr || view.data == nullptr) return view;
  REQUIRE(guard_bytes <= static_cast<std::int64_t>(test::guard_bytes));
  // One tensor may be several arguments.
  for (const Moved& m : moved_)
    if (m.home == view.data) {
      REQUIRE(m.bytes == view.bytes() + guard_bytes);
      return {m.away, view.type, view.shape};
    }
  const Moved m{view.data, view.bytes() + guard_bytes, elsewhere_->reserve(view.bytes() + guard_bytes), comes_back};
  if (!elsewhere_->leaves_unset() || !is_unset(view)) elsewhere_->put(m.away, m.home, m.bytes);
  moved_.push_back(m);
  return {m.away, view.type, view.shape};
}

void Stage::leave() {
  for (const Moved& m : moved_)
    if (m.comes_back) elsewhere_->get(m.home, m.away, m.bytes);
  if (elsewhere_) elsewhere_->release();
}

void SetUnderTest::update(UpdateSpec spec, const UpdateStep& step) const {
  Stage stage(elsewhere_);
  for (UpdateOperand& o : spec.tensors) {
    for (View* view : {&o.parameter, &o.master, &o.gradient}) *view = stage.enter(*view);
    for (View& state : o.states) state = stage.enter(state);
  }
  const auto op = prepare(&KernelSet::update, spec);
  const Tensor workspace({op.workspace_bytes}, DType::u8);
  op.launch(step, {stage.enter_workspace(workspace.view()).as<std::byte>(), stage.stream_handle()});
  stage.leave();
  check_guard(workspace);
}

void SetUnderTest::check_guard(const Tensor& workspace) { REQUIRE(workspace.guarded()); }

}  // namespace rankscope::kernels::test
