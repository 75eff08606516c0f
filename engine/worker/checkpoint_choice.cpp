#include "engine/worker/checkpoint_choice.hpp"

#include <iostream>

namespace rankscope {

void report_choice(const WholeCheckpoint& found) {
  for (const std::string& damage : found.passed_over)
    std::cerr << "rankscope-engine: passed over a damaged checkpoint: " << damage << std::endl;
  if (found.checkpoint && !found.checkpoint->has_checked_headers())
    std::cerr << "rankscope-engine: " << found.checkpoint->directory()
              << ": written before manifests had the headers' crc32: tensors' bytes are checked, their names and places "
                 "are not verified"
              << std::endl;
}

}  // namespace rankscope
