// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/snapshot_source.hpp"

namespace rankscope {

SnapshotSource::~SnapshotSource() = default;

}  // namespace rankscope
