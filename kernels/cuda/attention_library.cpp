#include "kernels/cuda/attention_library.hpp"

namespace rankscope::kernels::cuda {

std::string words_of(const AttentionSpec& spec) {
  std::string text = "attention of ";
  text.append(std::to_string(spec.samples)).append(spec.samples == 1 ? " sample of " : " samples of ");
  text.append(std::to_string(spec.context)).append(" tokens in ").append(rankscope::name_of(spec.type));
  text.append(", with ").append(std::to_string(spec.heads)).append(spec.heads == 1 ? " head of " : " heads of ");
  return text.append(std::to_string(spec.width / spec.heads));
}

template <class Operands>
void LibraryFirst<Operands>::report(const char* answer, const std::string& why) const {
  std::string line = "cuDNN ";
  line.append(answer).append(" for ").append(what_);
  if (!why.empty()) line.append(" (").append(why).append(")");
  opened_->refusals.report(line.append("; used instead: the program's own kernel"));
}
template class LibraryFirst<ForwardOperands>;
template class LibraryFirst<BackwardOperands>;

std::shared_ptr<void> open_attention_library(const Options& options) {
  std::string why;
  std::unique_ptr<AttentionLibrary> library = find_attention_library(why);
  if (!library) {
    if (options.notice && !why.empty())
      options.notice("cuDNN does not compute attention here: " + why + "; used instead: the program's own kernels");
    return nullptr;
  }
  return std::shared_ptr<OpenedAttention>(new OpenedAttention{std::move(library), Refusals(options.notice)});
}

std::string attention_library_text(const Options& options) {
  const auto* opened = static_cast<const OpenedAttention*>(options.attention_library.get());
  return opened == nullptr ? "" : opened->library->text();
}

}  // namespace rankscope::kernels::cuda
