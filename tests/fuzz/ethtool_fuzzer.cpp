// SPDX-License-Identifier: Apache-2.0
#include "fuzzer.h"
#include "kernel/netlink/ethtool.h"
#include "kernel/netlink/ethtool_ioctl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fabric::View8 message = std::as_bytes(std::span(data, size));
  (void)fabric::ethtool::parse_family(message);
  (void)fabric::ethtool::parse_pause(message);
  (void)fabric::ethtool::parse_private_flags(message);
  (void)fabric::ethtool::parse_rings(message);
  (void)fabric::ethtool::parse_channels(message);
  (void)fabric::ethtool::parse_fec(message);
  const uint64_t values[] = {1, 2, 3};
  (void)fabric::ethtool::pair_statistics(message, values);
  return 0;
}
