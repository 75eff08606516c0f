// `rankscope-engine peak`: the stored peak of this machine, that MFU is a share of; checked, and measured again on
// request.
#pragma once
#include <string>
#include <vector>

namespace rankscope {

struct PeakRequest {
  std::vector<std::string> precisions = {"fp32", "bf16"};
  int threads = 1;     ///< of a rank
  bool again = false;  ///< measures it, whatever is stored
  bool json = false;
};

/// Prints it. Throws ScenarioError for a precision that there is not. The exit status.
int print_peaks(const PeakRequest& request);

}  // namespace rankscope
