// SPDX-License-Identifier: GPL-3.0-or-later
// Returns freed memory to the system. A live session receives messages of all sizes for hours or days, and free
// memory between live blocks would accumulate.
#pragma once

namespace rankscope::app {

/// Large pieces come from the system and go back to it one by one, from now on: the allocator's own limit grows with
/// what was freed, and then they leave holes between small ones. Opening a file is slower with it.
void keep_large_pieces_apart();

/// Returns free memory. Takes some milliseconds, on a background thread.
void give_back_freed_memory();

}  // namespace rankscope::app
