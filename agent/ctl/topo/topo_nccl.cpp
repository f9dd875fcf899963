// SPDX-License-Identifier: Apache-2.0
// `topo --format nccl`: variables of NCCL and RCCL, from the topology, the GID tables and the policy (NVIDIA "NCCL User
// Guide", Environment Variables). A line is NAME=VALUE; some values begin with "=".

#include "judge/network.h"
#include "ctl/topo/topo.h"
#include "judge/finding.h"

namespace fabric::ctl {
namespace {

std::vector<const Port*> ports_of(const TopoView& view, const std::vector<size_t>& nics, bool active) {
  std::vector<const Port*> out;
  for (const size_t index : nics)
    for (const Port& port : view.node.ports) {
      const auto& rdma = view.topology.nics[index].rdma;
      const bool mine = contains(rdma, port.rdma);
      // Only the function's own device: subfunctions and representors belong to containers and guests.
      const auto is_own = [&](const Port& each) { return !each.virtual_function && contains(rdma, each.rdma); };
      if (mine && port.virtual_function && std::ranges::any_of(view.node.ports, is_own)) continue;
      if (mine && (port.state == kPortActive) == active && !contains(out, &port)) out.push_back(&port);
    }
  return out;
}

std::string hca_name(const Port& port) { return port.rdma + ":" + std::to_string(port.number); }

std::string hcas(const TopoView& view, const std::vector<size_t>& nics, const std::vector<const Port*>& ports) {
  std::vector<std::string> names;
  for (const Port* port : ports) names.push_back(hca_name(*port));
  if (view.node.ports.empty())
    for (const size_t nic : nics)
      names.insert(names.end(), view.topology.nics[nic].rdma.begin(), view.topology.nics[nic].rdma.end());
  std::string out;
  for (const Port* port : ports_of(view, view.compute, false))
    out += "# " + hca_name(*port) + " is left out: not active.\n";
  if (names.empty()) return out + "# NCCL_IB_HCA is not set: no RDMA port for the GPUs is active.\n";
  return "# The NICs paired with the GPUs. \"=\" matches names exactly; without it mlx5_1 also matches mlx5_10.\n" +
         out + "NCCL_IB_HCA==" + joined(names, ",") + "\n";
}

std::string indices_text(const std::set<unsigned>& indices) {
  return indices.empty() ? "none" : joined(indices, "/", [](unsigned index) { return std::to_string(index); });
}

// `pin` is [expect] gid_index; used if all ports have it.
std::string gid_index(const std::vector<const Port*>& ports, std::optional<unsigned> pin) {
  const bool ipv4 = std::ranges::any_of(ports, [](const Port* port) { return !gid_indices(*port, true).empty(); });
  std::set<unsigned> common;
  std::vector<std::string> each;
  for (const Port* port : ports) {
    const std::set<unsigned> mine = gid_indices(*port, ipv4);
    if (each.empty()) common = mine;
    std::erase_if(common, [&](unsigned index) { return !mine.contains(index); });
    each.push_back(hca_name(*port) + " " + indices_text(mine));
  }
  if (!common.empty())
    return "# Index of the routable RoCE v2 GID on all of these ports.\nNCCL_IB_GID_INDEX=" +
           std::to_string(pin && common.count(*pin) != 0 ? *pin : *common.begin()) + "\n";
  return std::string("# NCCL_IB_GID_INDEX is not set: no index holds a routable RoCE v2 GID (") +
         (ipv4 ? "IPv4" : "IPv6") + ") on all ports (" + joined(each) +
         ").\n# NCCL 2.21 and later choose it for each port; for older versions assign the netdevs' addresses in the "
         "same "
         "order.\n";
}

// The DSCP of RoCE data as a traffic class byte, with ECT(0), so that switches can mark.
std::optional<unsigned> traffic_class(const PortPolicy& entry) {
  if (entry.want.traffic_class && entry.want.traffic_class->value) return *entry.want.traffic_class->value;
  if (entry.want.roce_tos) return *entry.want.roce_tos;
  if (entry.traffic) return entry.traffic->dscp * 4U + 2U;
  if (!entry.want.dscp_map || !entry.want.pfc) return std::nullopt;
  for (const auto& [dscp, priority] : *entry.want.dscp_map)
    if (entry.want.pfc->has(priority)) return dscp * 4U + 2U;
  return std::nullopt;
}

std::string class_lines(const TopoView& view, const std::vector<const Port*>& ports) {
  if (view.policy == nullptr) return "# NCCL_IB_TC is not set: the DSCP of RoCE data is not configured.\n";
  std::map<std::optional<unsigned>, std::vector<std::string>> values;
  std::set<int> priorities;
  for (const Port* port : ports) {
    const PortPolicy* entry = policy_for(*view.policy, *port);
    values[entry != nullptr ? traffic_class(*entry) : std::nullopt].push_back(hca_name(*port));
    if (entry != nullptr && entry->want.trust == Trust::pcp && entry->want.pfc)
      for (int priority = 0; priority < kPriorities; ++priority)
        if (entry->want.pfc->has(priority)) priorities.insert(priority);
  }
  std::string out;
  if (values.size() == 1 && values.begin()->first) {
    const unsigned value = *values.begin()->first;
    out = "# DSCP " + std::to_string(value >> 2U) +
          " of the policy as a traffic class: DSCP x 4 + 2; the 2 is ECT(0), so that switches can mark congestion.\n"
          "NCCL_IB_TC=" +
          std::to_string(value) + "\n";
  } else {
    out = "# NCCL_IB_TC is not set: the policy has no common DSCP of RoCE data for these ports.\n";
  }
  if (priorities.size() == 1)
    out += "# The ports trust the VLAN priority, which is set from the service level.\nNCCL_IB_SL=" +
           std::to_string(*priorities.begin()) + "\n";
  return out;
}

std::string bootstrap(const TopoView& view, const std::vector<const Port*>& ports) {
  if (view.bootstrap.empty())
    return "# NCCL_SOCKET_IFNAME is not set: no default route, so the management interface is unknown.\n";
  const bool compute = contains(ports, view.bootstrap, &Port::netdev);
  return std::string("# Ranks bootstrap over the interface of the default route") +
         (compute ? ", which belongs to a compute NIC.\n" : ", away from the compute NICs.\n") +
         "NCCL_SOCKET_IFNAME==" + view.bootstrap + "\n";
}

std::string remarks(const TopoView& view, const std::vector<size_t>& nics) {
  std::string out;
  std::vector<std::string> far;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    if (view.pairing.pairs[g].path && *view.pairing.pairs[g].path > PathClass::PXB)
      far.push_back(view.topology.gpus[g].name + " " + std::string(to_text(*view.pairing.pairs[g].path)));
  if (!far.empty() && !is_flattened(view.topology))
    out += "# No PCIe switch between GPU and NIC (" + joined(far) +
           "): NCCL_NET_GDR_LEVEL decides whether GPUDirect RDMA is used.\n";
  if (is_flattened(view.topology))
    out +=
        "# The PCIe switches are hidden: set NCCL_TOPO_FILE to the provider's file, or NCCL pairs GPUs "
        "and NICs arbitrarily.\n";
  if (contains(view.topology.gpus, kAmd, &Gpu::vendor))
    out += "# AMD GPUs: RCCL reads the same names, from the environment or rccl.conf.\n";
  if (contains(view.topology.gpus, kHabana, &Gpu::vendor))
    out += "# Gaudi: HCCL uses the accelerators' own ports and ignores these variables.\n";
  for (const size_t nic : nics) {
    const uint16_t vendor = view.topology.nics[nic].vendor;
    if (vendor != kAmazon && vendor != kCray) continue;
    out += std::string("# ") + (vendor == kAmazon ? "EFA" : "Slingshot") +
           ": NCCL uses its libfabric plugin (aws-ofi-nccl), which chooses the NICs; NCCL_IB_* has no effect.\n";
    break;
  }
  return out;
}

}  // namespace

std::string topo_nccl(const TopoView& view) {
  std::set<size_t> paired;
  for (const Pair& pair : view.pairing.pairs) paired.insert(pair.nics.begin(), pair.nics.end());
  const std::vector<size_t> nics = paired.empty() ? view.compute : std::vector(paired.begin(), paired.end());
  const std::vector<const Port*> ports = ports_of(view, nics, true);
  std::string out = "# nccl.conf of " +
                    (view.node.hostname.empty() ? std::string("this machine") : view.node.hostname) +
                    ", from its topology, GID tables and policy.\n# For a shell: set -a; . FILE\n";
  out += remarks(view, nics) + hcas(view, nics, ports);
  std::vector<const Port*> roce;
  for (const Port* port : ports)
    if (is_roce(*port)) roce.push_back(port);
  if (!roce.empty())
    out += gid_index(roce, view.policy != nullptr ? view.policy->expect.gid_index : std::nullopt) +
           class_lines(view, roce);
  else if (contains(ports, LinkLayer::infiniband, &Port::link_layer))
    out += "# InfiniBand: NCCL_IB_GID_INDEX and NCCL_IB_TC are not needed.\n";
  return out + bootstrap(view, ports);
}

}  // namespace fabric::ctl
