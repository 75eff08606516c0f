#include "kernels/cuda/refusals.hpp"

#include <vector>

namespace rankscope::kernels::cuda {
namespace {

std::string matrix(std::int64_t rows, std::int64_t columns, bool transposed) {
  std::string text = "[";
  text.append(std::to_string(rows)).append(" x ").append(std::to_string(columns)).append("]");
  if (transposed) text.append("ᵀ");
  return text;
}

const char* name_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none: break;
    case Epilogue::gelu: return "GELU";
    case Epilogue::gelu_slope: return "GELU's slope";
    case Epilogue::row_sums: return "the bias gradient";
  }
  return "";
}

}  // namespace

void Refusals::report(const std::string& line) {
  if (!notice_) return;
  {
    const std::lock_guard lock(mutex_);
    if (!reported_.insert(line).second) return;
  }
  notice_(line);
}

std::string words_of(const ProductSpec& spec) {
  std::string text = "the product of ";
  text.append(spec.a_transposed ? matrix(spec.k, spec.m, true) : matrix(spec.m, spec.k, false));
  text.append(" and ");
  text.append(spec.b_transposed ? matrix(spec.n, spec.k, true) : matrix(spec.k, spec.n, false));
  text.append(" in ").append(rankscope::name_of(spec.type));
  std::vector<const char*> with;
  if (spec.bias) with.push_back("bias");
  if (spec.residual) with.push_back("residual");
  if (spec.epilogue != Epilogue::none) with.push_back(name_of(spec.epilogue));
  for (std::size_t i = 0; i < with.size(); ++i)
    text.append(i == 0 ? ", with " : i + 1 < with.size() ? ", " : " and ").append(with[i]);
  text.append(spec.accumulate ? ", added to " : ", to ").append(matrix(spec.m, spec.n, false));
  text.append(" in ").append(rankscope::name_of(spec.result));
  return text;
}

std::string refusal_of(const ProductSpec& spec, const std::string& why) {
  std::string line = "cuBLASLt ";
  line.append(why).append(" for ").append(words_of(spec)).append("; used instead: ");
  if (spec.epilogue == Epilogue::none)
    line.append("the program's own kernel, which is many times slower");
  else
    line.append("the product without ").append(name_of(spec.epilogue)).append(", which a separate kernel computes");
  return line;
}

}  // namespace rankscope::kernels::cuda
