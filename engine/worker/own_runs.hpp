// `rankscope-engine validate --own`: Rankscope's own runs, repeated on this machine and compared with their simulation.
#pragma once
#include <string>

namespace rankscope {

struct OwnRunsRequest {
  int rounds = 1;      ///< runs of every row: a machine's own speed may vary by more than a prediction's error
  std::string folder;  ///< where to write the measurements, as measured/NAME.toml and in published/own-runs.toml;
                       ///< empty: nowhere
  std::string name = "here";  ///< NAME
  bool json = false;
};

/// Runs every row of the published table `own-runs`, measures this machine's ops at separate sizes (measure_ops)
/// before and after each, predicts the row with them, and prints a table of the same form. Over several rounds, means
/// are compared, and each row's error has its standard error. A run on the wall clock during which other machines and
/// programs used over 1/50 of the cores is repeated, up to three times; the quietest counts. Returns the exit status.
int validate_own(const OwnRunsRequest& request);

}  // namespace rankscope
