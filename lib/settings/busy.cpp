// SPDX-License-Identifier: Apache-2.0
#include "settings/busy.h"

#include "kernel/rdma/infiniband.h"
#include "kernel/rdma/nldev.h"

namespace fabric::qos {
namespace {

// A virtual function or subfunction of the port's function (Documentation/ABI/testing/sysfs-bus-pci, auxiliary bus
// devices below the function): its traffic goes by the same link.
bool rides_on(const Root& root, const std::string& device, const std::string& function) {
  if (function.empty()) return false;
  const std::string folder = std::string(infiniband::kClass) + "/" + device + "/device";
  if (const auto physical = root.resolve(folder + "/physfn")) return physical->ends_with("/" + function);
  const auto place = root.resolve(folder);
  return place && place->find("/" + function + "/") != std::string::npos;
}

}  // namespace

bool has_user_queue_pairs(Kernel& kernel, const Port& port) {
  if (kernel.rdma == nullptr) return true;
  const auto devices = nldev::devices(*kernel.rdma);
  if (!devices) return true;
  bool known = false;
  for (const nldev::Device& device : *devices) {
    const bool own = device.name == port.rdma;
    if (!own && !rides_on(kernel.root, device.name, port.pci)) continue;
    const auto count = nldev::user_queue_pairs(*kernel.rdma, device.index, own ? port.number : 1);
    if (!count || *count > 0) return true;
    known = known || own;
  }
  return !known;
}

}  // namespace fabric::qos
