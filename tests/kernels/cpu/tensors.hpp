// Tensors of any element type, created from and read as doubles, and comparisons that report the worst element.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::test {

using Values = std::vector<double>;

/// Rounds to the nearest value of the type, like storing.
double rounded(double value, DType type);

/// Owns its memory, which begins at a multiple of 64 bytes, is NaN until it is written, and ends with a guard.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType type);
  Tensor(Shape shape, DType type, const Values& values);
  View view() const { return view_; }
  operator View() const { return view_; }
  Values values() const;
  void set(const Values& values);
  /// False if something was written after the end.
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

/// Allowed error of arithmetic for a result stored in `stored` and computed in fp64 or fp32.
double bound(DType computed, DType stored);

/// Memory that is not the host's, and a queue on it, where a set's launches run.
class Elsewhere {
 public:
  virtual ~Elsewhere() = default;
  /// Valid until release().
  virtual std::byte* reserve(std::int64_t bytes) = 0;
  virtual void release() = 0;
  virtual void put(std::byte* to, const void* from, std::int64_t bytes) = 0;
  /// Waits for all launched work; throws if it failed.
  virtual void get(void* to, const std::byte* from, std::int64_t bytes) = 0;
  virtual void* stream_handle() = 0;
  /// Bytes after a tensor that are copied with it, to check that they stay unchanged.
  virtual std::int64_t guard_bytes() const = 0;
  /// For a checker of uninitialised reads: unset tensors keep their memory as reserved, and workspaces are not read
  /// back.
  virtual bool leaves_unset() const { return false; }
};

/// The arguments of one launch, moved to the memory where it runs, and back.
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

/// A kernel set with its accuracy. `bound`: see above, or the limit for a set of another device.
class SetUnderTest : public KernelSet {
 public:
  explicit SetUnderTest(KernelSet set, Elsewhere* elsewhere = nullptr, double (*its_bound)(DType, DType) = test::bound,
                        bool in_model_sizes = false)
      : KernelSet(std::move(set)), elsewhere_(elsewhere), bound_(its_bound), in_model_sizes_(in_model_sizes) {}

  /// The sizes that a check covers: small ones, and those of models if the set is fast enough for them.
  template <class Size, std::size_t n>
  std::vector<Size> sizes(const Size (&small)[n], const std::vector<Size>& of_models) const {
    std::vector<Size> all(small, small + n);
    if (in_model_sizes_) all.insert(all.end(), of_models.begin(), of_models.end());
    return all;
  }

  double bound(DType computed, DType stored) const { return bound_(computed, stored); }

  /// Launches a prepared op with a workspace of exactly its size; checks that it does not write after its end.
  template <class... Arguments, class... Given>
  void launch(const Prepared<Arguments...>& op, const Given&... given) const {
    const Tensor workspace({op.workspace_bytes}, DType::u8);
    Stage stage(elsewhere_);
    const Stream stream{stage.enter_workspace(workspace.view()).as<std::byte>(), stage.stream_handle()};
    op.launch(stage.enter(static_cast<Arguments>(given))..., stream);
    stage.leave();
    check_guard(workspace);
  }

  /// Prepares and launches the op `update`, whose specification contains the tensors, in the memory where it runs.
  void update(UpdateSpec spec, const UpdateStep& step) const;

 private:
  static void check_guard(const Tensor& workspace);
  Elsewhere* elsewhere_;
  double (*bound_)(DType, DType);
  bool in_model_sizes_;
};

}  // namespace rankscope::kernels::test
