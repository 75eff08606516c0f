// SPDX-License-Identifier: GPL-3.0-or-later
// The addresses of this machine for other machines.
#pragma once
#include <QStringList>

namespace rankscope::app {

/// Its IPv4 addresses on networks that are up, and last its name, which not every network knows.
QStringList own_addresses();

}  // namespace rankscope::app
