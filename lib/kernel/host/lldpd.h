// SPDX-License-Identifier: Apache-2.0
// The neighbours of a running lldpd, through its own library liblldpctl, which is looked for at run time and need not
// be there (Debian and Ubuntu: package lldpd).
#pragma once

#include <string>

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/neighbor.h"

namespace fabric::lldpd {

inline constexpr const char* kSocket = "/run/lldpd.socket";  // root and group _lldpd may open it

// Everybody it has heard by LLDP on any interface, and the interfaces it listens on, with how long it runs. lldpd tells
// when a neighbour's information last changed, not when it was last heard: that is `age`. DCBX TLVs, which it does not
// know, it passes on as they are. ENOENT: no lldpd runs here; ENOSYS: no liblldpctl.so.4; EACCES: its socket is not
// ours to open.
Result<Neighbors> neighbors(const Root& root, const std::string& socket = kSocket);

}  // namespace fabric::lldpd
