// SPDX-License-Identifier: Apache-2.0
// Listening sockets: systemd's, or our own.
#pragma once

#include <vector>

#include "base/fd.h"
#include "exporter/http/http.h"

namespace fabric::exporter {

// Binds and listens. An IPv6 socket is for IPv6 alone, unless `dual` (given as ":PORT", and of a
// kernel without IPv6 it is IPv4).
Result<Fd> listen_on(const Address& address);
// The sockets that systemd passed (sd_listen_fds(3)), empty when it passed none. What does not listen is an error.
Result<std::vector<Fd>> inherited_listeners();

}  // namespace fabric::exporter
