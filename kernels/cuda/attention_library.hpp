// Attention by a library, if any; the set's own kernels compute the rest. Internal to kernels/cuda.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/refusals.hpp"
#include "kernels/kernel_set.hpp"

namespace rankscope::kernels::cuda {

/// A prepared pass: forward or backward.
template <class Operands>
struct AttentionPass {
  std::int64_t workspace_bytes = 0;
  /// Enqueues it. False: the library returned an error, and nothing was enqueued. Operands at multiples of 16 bytes.
  std::function<bool(const Operands&, const Stream&)> run;
};

/// "attention of 4 samples of 1024 tokens in bf16, with 12 heads of 64"
std::string words_of(const AttentionSpec& spec);

/// For the calling thread's device when it was opened. Calls from any thread.
class AttentionLibrary {
 public:
  virtual ~AttentionLibrary() = default;
  /// Name, version and file: "cuDNN 9.19.0 (its file)".
  virtual std::string text() const = 0;
  /// For bf16 and fp16. The same operands give bit-identical results. None: the library has no kernel; reason in `why`.
  virtual std::optional<AttentionPass<ForwardOperands>> forward(const AttentionSpec& spec, std::string& why) = 0;
  virtual std::optional<AttentionPass<BackwardOperands>> backward(const AttentionSpec& spec, std::string& why) = 0;
};

/// Null if it is not available; `why` then contains what is missing, if the program was built for it.
std::unique_ptr<AttentionLibrary> find_attention_library(std::string& why);

/// Options::attention_library: the library of a set, and its reported refusals.
struct OpenedAttention {
  std::unique_ptr<AttentionLibrary> library;
  Refusals refusals;
};
/// A pass by the library if it has one. A refusal is reported once for each shape, and the caller computes the pass.
template <class Operands>
class LibraryFirst {
 public:
  using Find = std::optional<AttentionPass<Operands>> (AttentionLibrary::*)(const AttentionSpec&, std::string&);
  /// `direction`: "forward" or "backward".
  LibraryFirst(const AttentionSpec& spec, const Options& options, Find find, const char* direction)
      : opened_(std::static_pointer_cast<OpenedAttention>(options.attention_library)),
        what_(words_of(spec) + ", " + direction) {
    if (!opened_ || !options.fused_attention || bytes_of(spec.type) != 2 || spec.width / spec.heads % 8 != 0) return;
    std::string why;
    pass_ = (opened_->library.get()->*find)(spec, why);
    if (!pass_) report("has no kernel", why);
  }
  std::int64_t workspace_bytes() const { return pass_ ? pass_->workspace_bytes : 0; }
  /// True if the library has enqueued it. `aligned`: all operands begin at multiples of 16 bytes.
  bool run(const Operands& operands, bool aligned, const Stream& stream) const {
    if (!pass_ || !aligned || *refused_) return false;
    if (pass_->run(operands, stream)) return true;
    *refused_ = true;
    report("refused to run its kernel", "");
    return false;
  }

 private:
  void report(const char* answer, const std::string& why) const;

  std::shared_ptr<OpenedAttention> opened_;
  std::string what_;
  std::optional<AttentionPass<Operands>> pass_;
  std::shared_ptr<bool> refused_ = std::make_shared<bool>(false);  ///< it is not called again
};

/// Null if there is none; the missing part is reported.
std::shared_ptr<void> open_attention_library(const Options& options);
/// Its name, version and file; empty without one.
std::string attention_library_text(const Options& options);

}  // namespace rankscope::kernels::cuda
