// SPDX-License-Identifier: Apache-2.0
#include "enforce/in_use.h"

#include <algorithm>

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

// Whose queue pairs RDMA netlink does not list: a guest has the function open (vfio_pci_core_enable() enables it), or
// the RDMA device is in a container's network namespace, and its folder looks empty.
bool is_used_elsewhere(const Root& root, const std::string& function) {
  if (root.link_name(function + "/driver").find("vfio") != std::string::npos)
    return root.number_in<uint32_t>(function + "/enable").value_or(1) > 0;
  return root.exists(function + "/infiniband") && root.names_in(function + "/infiniband").empty();
}

// A virtual function or subfunction of the port's function.
bool has_user_elsewhere(const Root& root, const std::string& pci) {
  const std::string folder = "sys/bus/pci/devices/" + pci + "/";
  return !pci.empty() && std::ranges::any_of(root.names_in(folder), [&](const std::string& name) {
    return (name.starts_with("virtfn") || name.find(".sf.") != std::string::npos) &&
           is_used_elsewhere(root, folder + name);
  });
}

// Queue pairs that mlx5's users make through DEVX (UCX, NVSHMEM's IBGDA, NCCL's device API, DPDK) are not listed: the
// kernel does not know what such an object is (drivers/infiniband/hw/mlx5/devx.c). The memory that they use is.
bool has_registered_memory(Netlink& rdma, uint32_t device) {
  constexpr std::chrono::seconds kPatience{2};
  const auto owners = nldev::owners(rdma, device, nldev::Object::mr, kPatience);
  if (owners) return owners->user > 0;
  return owners.error().code != EINVAL && owners.error().code != EOPNOTSUPP;
}

}  // namespace

bool is_in_use(Kernel& kernel, const Port& port) {
  if (kernel.rdma == nullptr || has_user_elsewhere(kernel.root, port.pci)) return true;
  const auto devices = nldev::devices(*kernel.rdma);
  if (!devices) return true;
  bool known = false;
  for (const nldev::Device& device : *devices) {
    const bool own = device.name == port.rdma;
    if (!own && !rides_on(kernel.root, device.name, port.pci)) continue;
    // First the memory: each queue pair that is listed costs the firmware a command, and a job has thousands.
    if (has_registered_memory(*kernel.rdma, device.index)) return true;
    const auto count = nldev::queue_pairs_in_use(*kernel.rdma, device.index, own ? port.number : 1);
    if (!count || *count > 0) return true;
    known = known || own;
  }
  return !known;
}

UseCheck ask_kernel(Kernel& kernel) {
  return [&kernel](const Port& port) { return is_in_use(kernel, port); };
}

}  // namespace fabric::qos
