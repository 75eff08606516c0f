// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/freed_memory.hpp"

#include <QThreadPool>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace rankscope::app {

void keep_large_pieces_apart() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

void give_back_freed_memory() {
#ifdef __GLIBC__
  QThreadPool::globalInstance()->start([] { malloc_trim(0); });
#endif
}

}  // namespace rankscope::app
