// SPDX-License-Identifier: Apache-2.0
// Listening sockets: systemd's, or our own.
#pragma once

#include <vector>

#include "base/fd.h"
#include "exporter/http/http.h"

namespace fabric::exporter {

// Binds and listens. An IPv6 socket accepts IPv6 only, except for ":PORT", which is IPv4 on a kernel without IPv6.
Result<Fd> listen_on(const Address& address);
// The sockets that systemd passed (sd_listen_fds(3)), if any. A socket that does not listen is an error.
Result<std::vector<Fd>> inherited_listeners();

}  // namespace fabric::exporter
