// SPDX-License-Identifier: Apache-2.0
#include "fuzzer.h"
#include "kernel/netlink/dcbnl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fabric::View8 message = std::as_bytes(std::span(data, size));
  (void)fabric::dcbnl::parse_ieee_config(message);
  (void)fabric::dcbnl::message_netdev(message);
  return 0;
}
