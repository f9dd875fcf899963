// SPDX-License-Identifier: Apache-2.0
// Any bytes as an RDMA netlink payload.
#include "fuzzer.h"
#include "kernel/rdma/nldev.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto payload = std::as_bytes(std::span(data, size));
  (void)fabric::nldev::parse_device(payload).ok();
  (void)fabric::nldev::parse_port(payload).ok();
  (void)fabric::nldev::parse_statistics(payload).size();
  (void)fabric::nldev::parse_counter_status(payload).size();
  (void)fabric::nldev::parse_resources(payload).size();
  (void)fabric::nldev::parse_owners(payload, fabric::nldev::Object::qp, 1).ok();
  for (auto kind : {fabric::nldev::Object::qp, fabric::nldev::Object::cq, fabric::nldev::Object::mr})
    (void)fabric::nldev::parse_owners(payload, kind).ok();
  return 0;
}
