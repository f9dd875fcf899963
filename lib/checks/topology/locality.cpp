// SPDX-License-Identifier: Apache-2.0
#include "topology/locality.h"

#include <algorithm>
#include <optional>
#include <string>

#include "checks/agent/expect.h"
#include "checks/checks.h"
#include "checks/topology/pairing.h"
#include "model/finding.h"
#include "topology/platform.h"

namespace fabric {
namespace {

constexpr std::string_view kRemedy =
    "Run fabric-agentctl topo; see that every NIC is in its slot and on the PCI bus, and that the job pairs each GPU "
    "with its nearest NIC.";

std::string near_names(const Topology& topology, const Placement& placed, size_t gpu) {
  std::string names;
  for (const size_t nic : placed.compute)
    if (path_class(topology.gpus[gpu], topology.nics[nic]) == placed.path(gpu))
      names.append(names.empty() ? "" : " ").append(topology.nics[nic].name);
  return names;
}

// A socket of several NUMA nodes (SNC, NPS): SYS to one on the same socket is a way of nanoseconds, and how it was
// built.
bool stays_in_socket(const Topology& topology, const Placement& placed, const Gpu& gpu) {
  const auto socket = [&](const PciDevice& device) -> std::optional<int> {
    const auto found = device.numa ? topology.numa_socket.find(*device.numa) : topology.numa_socket.end();
    return found == topology.numa_socket.end() ? std::nullopt : std::optional<int>(found->second);
  };
  const auto mine = socket(gpu);
  return mine && std::any_of(placed.compute.begin(), placed.compute.end(),
                             [&](size_t nic) { return socket(topology.nics[nic]) == mine; });
}

// One card cannot be near to GPUs on both sockets.
bool any_near(const Topology& topology, const Placement& placed) {
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
    if (placed.path(gpu) < PathClass::SYS && placed.path(gpu)) return true;
  return std::any_of(topology.gpus.begin(), topology.gpus.end(),
                     [&](const Gpu& gpu) { return stays_in_socket(topology, placed, gpu); });
}

// The NIC that this GPU misses may be there, without RDMA or in another slot.
std::string strays(const Topology& topology, const Placement& placed) {
  if (placed.without_rdma) {
    const Nic& nic = topology.nics[*placed.without_rdma];
    return " " + nic.name + " (" + nic.pci +
           ") is of the NICs' model and has no RDMA device: see the kernel's log for it.";
  }
  std::string names;
  for (const size_t nic : placed.pairing.idle) {
    names.append(names.empty() ? " " : ", ").append(topology.nics[nic].name);
    if (topology.nics[nic].numa) names += " on NUMA node " + std::to_string(*topology.nics[nic].numa);
  }
  return names.empty() ? names : names + " serves no GPU and may sit in the wrong slot.";
}

Finding judge(const Topology& topology, const Placement& placed, size_t index) {
  const Gpu& gpu = topology.gpus[index];
  const auto path = placed.path(index);
  if (!path)
    return bad(Status::unknown, gpu.name, "-", "a NIC on the same PCIe switch or NUMA node",
               "The machine does not tell how far this GPU (" + gpu.pci +
                   ") is from any NIC: no bridge is shared and a NUMA node is unknown.",
               "Let the firmware report NUMA nodes of PCI devices, or the hypervisor pass the PCI tree through.");
  const std::string observed = std::string(to_text(*path)) + " to " + near_names(topology, placed, index);
  const std::string expected(to_text(placed.yardstick[index].value_or(*path)));
  if (placed.is_odd(index))
    return bad(Status::warning, gpu.name, observed, expected + ", as other GPUs here have",
               "This GPU's nearest NIC is farther away than that of the GPUs beside it, and the slowest pair sets the "
               "pace of a collective." +
                   strays(topology, placed),
               std::string(kRemedy));
  if (path > placed.yardstick[index]) return good(gpu.name, observed + ", the only one", expected + " or farther");
  if (path == PathClass::SYS && !stays_in_socket(topology, placed, gpu) &&
      (placed.cards > 1 || !any_near(topology, placed)))
    return bad(
        Status::warning, gpu.name, observed, "NODE or nearer",
        "Every byte between this GPU and its nearest NIC goes from one NUMA node to another, mostly over the link "
        "between CPU sockets.",
        std::string(kRemedy));
  return good(gpu.name, observed, expected);
}

}  // namespace

// By structure, not by a list of models: what the GPUs of this machine have in common is what each should have.
void ask_locality(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  const bool has_rdma =
      std::any_of(topology.nics.begin(), topology.nics.end(), [](const Nic& nic) { return !nic.rdma.empty(); });
  if (!has_rdma) return;  // port-state says that there is no RDMA device
  const Placement placed = placement(view.now);
  for (size_t i = 0; i < topology.gpus.size(); ++i)
    if (!misses_class(view, placed, i) && !is_given_away(view.now, topology.gpus[i].pci))
      findings.push_back(judge(topology, placed, i));
}

}  // namespace fabric
