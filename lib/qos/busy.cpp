// SPDX-License-Identifier: Apache-2.0
#include "qos/busy.h"

#include "sys/nldev.h"

namespace fabric::qos {

bool has_user_queue_pairs(Kernel& kernel, const Port& port) {
  if (kernel.rdma == nullptr) return true;
  const auto devices = nldev::devices(*kernel.rdma);
  if (!devices) return true;
  for (const nldev::Device& device : *devices) {
    if (device.name != port.rdma) continue;
    const auto count = nldev::user_queue_pairs(*kernel.rdma, device.index, port.number);
    return !count || *count > 0;
  }
  return true;
}

}  // namespace fabric::qos
