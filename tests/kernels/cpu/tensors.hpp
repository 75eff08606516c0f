// Tensors of any element type, made from and read as doubles, and comparisons that fail with the worst element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

using Values = std::vector<double>;

/// Rounds to the nearest value of the type, as storing does.
double rounded(double value, DType type);

/// Owns its memory, which begins at a multiple of 64 bytes, is NaN until it is written, and is followed by a guard.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType type);
  Tensor(Shape shape, DType type, const Values& values);
  View view() const { return view_; }
  operator View() const { return view_; }
  Values values() const;
  void set(const Values& values);
  /// False when something was written behind the end.
  bool guarded() const;

 private:
  std::vector<std::byte> memory_;
  View view_;
};

/// Values in [-size, size), the same for the same seed, already rounded to the type.
Values random_values(std::int64_t count, DType type, std::uint64_t seed, double size = 1);
Tensor random_tensor(Shape shape, DType type, std::uint64_t seed, double size = 1);
Tensor integers(const std::vector<std::int32_t>& values);

/// Largest error over the largest expected magnitude (tests/comparison.hpp); reports the worst element.
double difference(const Values& actual, const Values& expected);

/// What arithmetic in this type may be off by: of a result stored in `stored`, computed in fp64 or fp32.
double bound(DType computed, DType stored);

/// Memory that is not the host's, and a queue on it: where a set's launches run.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  /// Valid until release().
  virtual std::byte* reserve(std::int64_t bytes) = 0;
  virtual void release() = 0;
  virtual void put(std::byte* to, const void* from, std::int64_t bytes) = 0;
  /// After all that was launched is done; throws what went wrong in it.
  virtual void get(void* to, const std::byte* from, std::int64_t bytes) = 0;
  virtual void* stream_handle() = 0;
  /// Bytes behind a tensor that are copied with it, to see whether they are left alone.
  virtual std::int64_t guard_bytes() const = 0;
  /// For a checker that looks for reads of what was never written: tensors that were not set stay as they are reserved,
  /// and nobody reads back a workspace.
  virtual bool leaves_unset() const { return false; }
};

/// The arguments of one launch, moved to where it runs and back again.
class Stage {
 public:
  explicit Stage(Elsewhere* elsewhere) : elsewhere_(elsewhere) {}
  View enter(const View& view);
  View enter_workspace(const View& view);
  const double* enter(const double* number) { return enter(const_cast<double*>(number)); }
  double* enter(double* number) { return enter(View{number, DType::f64, {1}}, 0).as<double>(); }
  template <class Value>
  Value enter(const Value& value) {
    return value;
  }
  void leave();
  void* stream_handle() { return elsewhere_ ? elsewhere_->stream_handle() : nullptr; }

 private:
  View enter(const View& view, std::int64_t guard_bytes, bool comes_back = true);
  struct Moved {
    void* home;
    std::int64_t bytes;
    std::byte* away;
    bool comes_back;
  };
  Elsewhere* elsewhere_;
  std::vector<Moved> moved_;
};

/// A kernel set with what is asked of its numbers. `bound`: see above, or what a set of another machine is held to.
class SetUnderTest : public KernelSet {
 public:
  explicit SetUnderTest(KernelSet set, Elsewhere* elsewhere = nullptr, double (*its_bound)(DType, DType) = test::bound,
                        bool in_model_sizes = false)
      : KernelSet(std::move(set)), elsewhere_(elsewhere), bound_(its_bound), in_model_sizes_(in_model_sizes) {}

  /// The sizes that a check covers: small ones, and those of models where the set is fast enough for them.
  template <class Size, std::size_t n>
  std::vector<Size> sizes(const Size (&small)[n], const std::vector<Size>& of_models) const {
    std::vector<Size> all(small, small + n);
    if (in_model_sizes_) all.insert(all.end(), of_models.begin(), of_models.end());
    return all;
  }

  double bound(DType computed, DType stored) const { return bound_(computed, stored); }

  /// Launches a prepared op with a workspace of exactly its size; checks that it stays inside.
  template <class... Arguments, class... Given>
  void launch(const Prepared<Arguments...>& op, const Given&... given) const {
    const Tensor workspace({op.workspace_bytes}, DType::u8);
    Stage stage(elsewhere_);
    const Stream stream{stage.enter_workspace(workspace.view()).as<std::byte>(), stage.stream_handle()};
    op.launch(stage.enter(static_cast<Arguments>(given))..., stream);
    stage.leave();
    check_guard(workspace);
  }

  /// The op `update`, whose specification has the tensors: prepared and launched where they are moved to.
  void update(UpdateSpec spec, const UpdateStep& step) const;

 private:
  static void check_guard(const Tensor& workspace);
  Elsewhere* elsewhere_;
  double (*bound_)(DType, DType);
  bool in_model_sizes_;
};

}  // namespace rankscope::kernels::test
