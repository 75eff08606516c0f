#include "app/models/snapshot_source.hpp"

namespace rankscope {

SnapshotSource::~SnapshotSource() = default;

}  // namespace rankscope
