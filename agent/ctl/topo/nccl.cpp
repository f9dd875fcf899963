// SPDX-License-Identifier: Apache-2.0
#include "ctl/topo/nccl.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "judge/finding.h"
#include "judge/network.h"
#include "node/port.h"
#include "node/topology.h"

namespace fabric::ctl {
namespace {

// The ports of the NICs, in order. Only those of the function's own device: subfunctions and representors belong to
// containers and guests.
std::vector<const Port*> ports_of(const TopoView& view, const std::vector<size_t>& nics) {
  std::vector<const Port*> out;
  for (const size_t index : nics) {
    std::vector<const Port*> own, all;
    for (const Port& port : view.node.ports) {
      if (!contains(view.topology.nics[index].rdma, port.rdma)) continue;
      all.push_back(&port);
      if (!is_virtual(port)) own.push_back(&port);
    }
    if (own.empty()) own = all;
    for (const Port* port : own)
      if (!contains(out, port)) out.push_back(port);
  }
  return out;
}

std::string hca_name(const Port& port) { return port.rdma + ":" + std::to_string(port.number); }

// NCCL_IB_GID_INDEX: the index that all ports have. `pin`: [expect] gid_index, used if all ports have it.
std::string gid_index_lines(const std::vector<const Port*>& ports, std::optional<unsigned> pin) {
  bool ipv4 = false;
  for (const Port* port : ports) ipv4 = ipv4 || !gid_indices(*port, true).empty();
  std::set<unsigned> common;
  std::string each;
  for (const Port* port : ports) {
    const std::set<unsigned> indices = gid_indices(*port, ipv4);
    if (each.empty()) common = indices;
    std::erase_if(common, [&](unsigned index) { return !indices.contains(index); });
    std::string names;
    for (const unsigned index : indices) append_item(names, std::to_string(index), "/");
    if (names.empty()) names = "none";
    append_item(each, hca_name(*port) + " " + names);
  }
  if (common.empty()) {
    std::string family = "IPv6";
    if (ipv4) family = "IPv4";
    return "# NCCL_IB_GID_INDEX is not set: no index holds a routable RoCE v2 GID (" + family + ") on all ports (" +
           each +
           ").\n# NCCL 2.21 and later choose it for each port; for older versions assign the netdevs' addresses in "
           "the same order.\n";
  }
  unsigned index = *common.begin();
  if (pin && common.contains(*pin)) index = *pin;
  return "# Index of the routable RoCE v2 GID on all of these ports.\nNCCL_IB_GID_INDEX=" + std::to_string(index) +
         "\n";
}

// NCCL_IB_TC and NCCL_IB_SL, from the policy.
std::string class_lines(const TopoView& view, const std::vector<const Port*>& ports) {
  if (view.policy == nullptr) return "# NCCL_IB_TC is not set: the DSCP of RoCE data is not configured.\n";
  std::set<std::optional<unsigned>> classes;
  std::set<int> priorities;
  for (const Port* port : ports) {
    const PortPolicy* entry = policy_for(*view.policy, *port);
    if (entry == nullptr) {
      classes.insert(std::nullopt);
      continue;
    }
    classes.insert(roce_traffic_class(*entry));
    if (entry->want.trust != Trust::pcp || !entry->want.pfc) continue;
    for (int priority = 0; priority < kPriorities; ++priority)
      if (entry->want.pfc->has(priority)) priorities.insert(priority);
  }
  std::string out = "# NCCL_IB_TC is not set: the policy has no common DSCP of RoCE data for these ports.\n";
  if (classes.size() == 1 && *classes.begin()) {
    const unsigned value = **classes.begin();
    out = "# DSCP " + std::to_string(value >> 2U) +
          " of the policy as a traffic class: DSCP x 4 + 2; the 2 is ECT(0), so that switches can mark congestion.\n"
          "NCCL_IB_TC=" +
          std::to_string(value) + "\n";
  }
  if (priorities.size() == 1)
    out += "# The ports trust the VLAN priority, which is set from the service level.\nNCCL_IB_SL=" +
           std::to_string(*priorities.begin()) + "\n";
  return out;
}

// Facts about this machine that decide whether the variables have an effect.
std::string remarks(const TopoView& view, const std::vector<size_t>& nics) {
  std::string out, far;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g) {
    const auto path = view.pairing.pairs[g].path;
    if (path && *path > PathClass::PXB)
      append_item(far, view.topology.gpus[g].name + " " + std::string(to_text(*path)));
  }
  if (is_flattened(view.topology))
    out +=
        "# The PCIe switches are hidden: set NCCL_TOPO_FILE to the provider's file, or NCCL pairs GPUs "
        "and NICs arbitrarily.\n";
  else if (!far.empty())
    out += "# No PCIe switch between GPU and NIC (" + far +
           "): NCCL_NET_GDR_LEVEL decides whether GPUDirect RDMA is used.\n";
  if (contains(view.topology.gpus, kAmd, &Gpu::vendor))
    out += "# AMD GPUs: RCCL reads the same names, from the environment or rccl.conf.\n";
  if (contains(view.topology.gpus, kHabana, &Gpu::vendor))
    out += "# Gaudi: HCCL uses the accelerators' own ports and ignores these variables.\n";
  for (const size_t nic : nics) {
    std::string kind;
    if (view.topology.nics[nic].vendor == kAmazon) kind = "EFA";
    if (view.topology.nics[nic].vendor == kCray) kind = "Slingshot";
    if (kind.empty()) continue;
    out += "# " + kind +
           ": NCCL uses its libfabric plugin (aws-ofi-nccl), which chooses the NICs; NCCL_IB_* has no effect.\n";
    break;
  }
  return out;
}

}  // namespace

std::string topo_nccl(const TopoView& view) {
  std::set<size_t> paired;
  for (const Pair& pair : view.pairing.pairs) paired.insert(pair.nics.begin(), pair.nics.end());
  std::vector<size_t> nics(paired.begin(), paired.end());
  if (nics.empty()) nics = view.compute;
  std::vector<const Port*> active, roce;
  for (const Port* port : ports_of(view, nics)) {
    if (!is_active(*port)) continue;
    active.push_back(port);
    if (is_roce(*port)) roce.push_back(port);
  }
  std::string out = "# nccl.conf of " + host_title(view) +
                    ", from its topology, GID tables and policy.\n# For a shell: set -a; . FILE\n" +
                    remarks(view, nics);

  std::string names;  // for NCCL_IB_HCA
  for (const Port* port : active) append_item(names, hca_name(*port), ",");
  if (view.node.ports.empty())
    for (const size_t nic : nics)
      for (const std::string& rdma : view.topology.nics[nic].rdma) append_item(names, rdma, ",");
  if (!names.empty())
    out += "# The NICs paired with the GPUs. \"=\" matches names exactly; without it mlx5_1 also matches mlx5_10.\n";
  for (const Port* port : ports_of(view, view.compute))
    if (!is_active(*port)) out += "# " + hca_name(*port) + " is left out: not active.\n";
  if (names.empty()) out += "# NCCL_IB_HCA is not set: no RDMA port for the GPUs is active.\n";
  else out += "NCCL_IB_HCA==" + names + "\n";

  std::optional<unsigned> pin;
  if (view.policy != nullptr) pin = view.policy->expect.gid_index;
  if (!roce.empty()) out += gid_index_lines(roce, pin) + class_lines(view, roce);
  else if (contains(active, LinkLayer::infiniband, &Port::link_layer))
    out += "# InfiniBand: NCCL_IB_GID_INDEX and NCCL_IB_TC are not needed.\n";

  if (view.bootstrap.empty())
    return out + "# NCCL_SOCKET_IFNAME is not set: no default route, so the management interface is unknown.\n";
  if (contains(active, view.bootstrap, &Port::netdev))
    out += "# Ranks bootstrap over the interface of the default route, which belongs to a compute NIC.\n";
  else out += "# Ranks bootstrap over the interface of the default route, away from the compute NICs.\n";
  return out + "NCCL_SOCKET_IFNAME==" + view.bootstrap + "\n";
}

}  // namespace fabric::ctl
