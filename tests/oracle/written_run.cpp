// Writes a whole run (whole_run.hpp) to a file for torch_*.py and make_references.py.
#include <iostream>

#include "engine/execute/checkpoint/safetensors.hpp"
#include "engine/plan/scenario/read.hpp"
#include "tests/oracle/whole_run.hpp"

using namespace rankscope;

/// Arguments: a scenario file, the file to write, then overrides "key=value".
int main(int argc, char** argv) try {
  if (argc < 3) throw std::runtime_error("usage: written_run SCENARIO OUT.safetensors [key=value …]");
  std::vector<Override> overrides;
  for (int i = 3; i < argc; ++i) overrides.push_back(parse_override(argv[i]));
  const oracle::WholeRun run = oracle::whole_run(read_scenario(argv[1], overrides));
  std::vector<NamedView> tensors;
  for (const auto& [name, tensor] : run.tensors) tensors.push_back({name, tensor.view()});
  write_safetensors(argv[2], tensors, run.metadata);
  return 0;
} catch (const std::exception& e) {
  std::cerr << "written_run: " << e.what() << std::endl;
  return 1;
}
