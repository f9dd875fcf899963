// SPDX-License-Identifier: Apache-2.0
#include "fuzzer.h"
#include "kernel/netlink/rtnl.h"
#include "kernel/netlink/sock_diag.h"
#include "kernel/netlink/vf_limits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fabric::View8 message = std::as_bytes(std::span(data, size));
  (void)fabric::sock_diag::parse_session(message);
  (void)fabric::rtnl::parse_link(message);
  (void)fabric::rtnl::parse_vf_limits(message);
  (void)fabric::rtnl::parse_address(message);
  (void)fabric::rtnl::parse_route(message);
  (void)fabric::rtnl::parse_next_hop(message);
  (void)fabric::rtnl::parse_rule(message);
  (void)fabric::rtnl::parse_neighbor(message);
  (void)fabric::rtnl::parse_forwarding_entry(message);
  return 0;
}
