// `rankscope-engine validate --own`: Rankscope's own runs, repeated on this machine and compared with their simulation.
#pragma once
#include <string>

namespace rankscope {

struct OwnRunsRequest {
  int rounds = 1;      ///< times that every row runs: a machine's own pace may vary by more than a prediction errs
  std::string folder;  ///< where to write what was measured, as measured/NAME.toml and in published/own-runs.toml;
                       ///< empty: nowhere
  std::string name = "here";  ///< NAME
  bool json = false;
};

/// Runs every row of the published table `own-runs`, measures this machine's ops on sizes of their own (measure_ops)
/// before and after each, predicts the row with them, and prints a table of the same form. Of several rounds the means
/// are compared, and each row's error comes with its standard error. A run on the wall beside which other machines and
/// programs had more than a fiftieth of the cores is repeated, up to three times; the quietest counts. The exit status.
int validate_own(const OwnRunsRequest& request);

}  // namespace rankscope
