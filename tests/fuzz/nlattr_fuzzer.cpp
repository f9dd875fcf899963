// SPDX-License-Identifier: Apache-2.0
#include "fuzzer.h"
#include "kernel/netlink/netlink.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fabric::View8 message = std::as_bytes(std::span(data, size));
  for (size_t skip = 0; skip < 8; ++skip)
    for (const fabric::Attr& attr : fabric::parse_attributes(message, skip)) {
      // A value outside of the message would be no part of it.
      if (!attr.value.empty() &&
          (attr.value.data() < message.data() || attr.value.data() + attr.value.size() > message.data() + size))
        abort();
      (void)attr.text();
      (void)attr.u64();
      (void)fabric::parse_attributes(attr.value);
    }
  return 0;
}
