// SPDX-License-Identifier: GPL-3.0-or-later
// What the process keeps of the memory it has freed. A live session takes messages of all sizes for hours or days; what
// lies free between those that stay would add up.
#pragma once

namespace rankscope::app {

/// Large pieces come from the system and go back to it one by one, from now on: the allocator's own limit grows with
/// what was freed, and then they leave holes between small ones. Opening a file is slower with it.
void keep_large_pieces_apart();

/// Gives back what lies free. Some milliseconds, on a thread that nobody waits for.
void give_back_freed_memory();

}  // namespace rankscope::app
