// SPDX-License-Identifier: Apache-2.0
// Environment variables of the libraries by which jobs use RDMA, from the topology, the GID tables and the policy. Each
// is a line NAME=VALUE below a comment with its reason and the source of the advice; a variable without evidence on
// this machine or in the policy is not set.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/output/table.h"
#include "ctl/topo/view.h"
#include "judge/cabling.h"
#include "judge/gid.h"
#include "judge/rails.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/port.h"
#include "node/topology.h"

namespace fabric::ctl {
namespace {

// The names of a library's variables, and its defaults without them.
struct Library {
  std::string_view name, manual;
  std::string_view ports, list_note;  // the list of ports, and a note for its reader
  std::string_view exact{};           // makes the names of the list exact
  std::string_view gid_index, own_index;
  std::string_view traffic_class, own_class;
  std::string_view service_level;
  std::string_view adaptive_routing{}, adaptive_value{}, own_routing{};
  std::string_view data_direct;    // names are those of the NICs with a Data Direct function
  std::string_view over_software;  // what it does with software RDMA: a sentence
  std::string_view off{};          // switches RDMA off; empty: without a list the library finds out by itself
};

constexpr Library kNccl{
    .name = "NCCL",
    .manual = "NCCL User Guide",
    .ports = "NCCL_IB_HCA",
    .list_note = "\"=\" matches names exactly; without it mlx5_1 also matches mlx5_10",
    .exact = "=",
    .gid_index = "NCCL_IB_GID_INDEX",
    .own_index =
        "NCCL 2.21 and later choose it for each port; for older versions assign the netdevs' addresses in the same "
        "order",
    .traffic_class = "NCCL_IB_TC",
    .own_class = "NCCL uses 0",
    .service_level = "NCCL_IB_SL",
    .adaptive_routing = "NCCL_IB_ADAPTIVE_ROUTING",
    .adaptive_value = "1",
    .own_routing = "NCCL's default is on for InfiniBand and off for RoCE",
    .data_direct =
        "NCCL shows them as NAME_dma in its log and in NCCL_NET_FORCE_MERGE; NCCL_IB_HCA has the names of "
        "the RDMA devices, without _dma (NCCL 2.30, src/transport/net_ib/init.cc)",
    .over_software =
        "NCCL copies through the memory of the host, at the speed of these CPUs; compare with TCP sockets "
        "(NCCL_IB_DISABLE=1)",
    .off = "NCCL_IB_DISABLE"};

constexpr Library kUcx{.name = "UCX",
                       .manual = "ucx_info -cf",
                       .ports = "UCX_NET_DEVICES",
                       .list_note = "UCX uses no other network device, so TCP is off",
                       .gid_index = "UCX_IB_GID_INDEX",
                       .own_index = "UCX chooses it for each port",
                       .traffic_class = "UCX_IB_TRAFFIC_CLASS",
                       .own_class = "UCX uses the port's traffic_class if it is set, else 106 (DSCP 26)",
                       .service_level = "UCX_IB_SL",
                       .adaptive_routing = "UCX_IB_AR_ENABLE",
                       .adaptive_value = "try",
                       .own_routing = "with try, UCX switches it on for its queue pairs if the NIC can",
                       .data_direct = "UCX uses it for GPU memory by itself (UCX_IB_DIRECT_NIC)",
                       .over_software = "UCX copies through the memory of the host, at the speed of these CPUs"};

constexpr Library kNvshmem{.name = "NVSHMEM",
                           .manual = "NVSHMEM API, Environment Variables",
                           .ports = "NVSHMEM_HCA_LIST",
                           .list_note = "names are matched exactly",
                           .gid_index = "NVSHMEM_IB_GID_INDEX",
                           .own_index = "NVSHMEM 3 and later choose it for each port",
                           .traffic_class = "NVSHMEM_IB_TRAFFIC_CLASS",
                           .own_class = "NVSHMEM uses 0",
                           .service_level = "NVSHMEM_IB_SL",
                           .data_direct = "NVSHMEM uses it by itself (NVSHMEM_DISABLE_DATA_DIRECT turns it off)",
                           .over_software = "NVSHMEM needs RDMA of GPU memory for its heap, and does not run over it"};

// The text of an environment file.
class EnvFile {
 public:
  EnvFile(const TopoView& view, std::string_view title) {
    remark(std::string(title) + " of " + host_title(view) + ", from its topology, GID tables and policy.");
    remark("For a shell: set -a; . FILE");
  }
  void remark(const std::string& text) { text_ += "# " + text + "\n"; }
  void set(std::string_view name, std::string_view value, const std::string& reason) {
    remark(reason);
    text_.append(name).append("=").append(value) += '\n';
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The NICs of the GPUs, and those of their ports that jobs can use.
struct JobPorts {
  std::vector<size_t> nics;
  std::vector<const Port*> active, roce;
  bool is_software = false;  // the ports are of software devices: the machine has no RDMA NIC
  std::map<std::string, std::vector<std::string>> left_out;  // by reason
};

std::string hca_name(const Port& port) { return port.rdma + ":" + std::to_string(port.number); }

// Names by hca_name(). A container may see hundreds of its host's functions, and a NIC may have a dozen ports: the
// names of each port number are ranges.
std::string left_out_text(std::vector<std::string> names) {
  constexpr size_t kMany = 8;
  if (names.size() <= kMany) return joined(names);
  std::ranges::sort(names, NaturalLess());
  std::ranges::stable_sort(names, NaturalLess(),
                           [](const std::string& name) { return name.substr(name.rfind(':') + 1); });
  for (std::string& name : names) std::ranges::replace(name, ':', '/');
  std::string text = names_text(names);
  std::ranges::replace(text, '/', ':');
  return text;
}

// The ports by which jobs use the NICs, in order.
std::vector<const Port*> ports_of(const TopoView& view, const std::vector<size_t>& nics) {
  std::vector<const Port*> out;
  for (const size_t index : nics)
    for (const Port* port : endpoints_of(view.node, view.topology.nics[index]))
      if (!contains(out, port)) out.push_back(port);
  return out;
}

// Why jobs must not use the port; empty: they may.
std::string why_left_out(const Node& node, const Port& port) {
  if (node.lacks_verbs) return "closed to every program: ib_uverbs is not loaded, or this container has no device file";
  if (is_roce(port) && belongs_elsewhere(node, port)) return "netdev in another network namespace";
  if (lacks_device_file(node, port)) return "without a device file in /dev/infiniband, so not given to this container";
  if (const std::string_view why = why_not_by_verbs(port); !why.empty()) return std::string(why);
  if (!is_active(port)) return std::string(link_word(port));
  if (!is_roce(port) || (port.gids.empty() && is_unread(port, PortPart::gids))) return {};
  const bool may_be_routable = std::ranges::any_of(port.gids, [&](const Gid& gid) {
    return (is_routable_v2(gid) && is_here(node, port, gid)) || gid.type.empty();  // empty: could not be read
  });
  return may_be_routable ? "" : "no routable RoCE v2 GID";
}

JobPorts job_ports(const TopoView& view) {
  std::set<size_t> paired;
  for (const Pair& pair : view.pairing.pairs) paired.insert(pair.nics.begin(), pair.nics.end());
  JobPorts out;
  std::vector<size_t> doubtful;
  if (!view.node.inventory) doubtful = doubtful_nics(view.topology, view.pairing);
  for (const size_t nic : doubtful) {
    paired.erase(nic);
    for (const Port* port : ports_of(view, {nic}))
      out.left_out
          ["in a slot of the CPU, while other GPUs have a NIC on their switch (for storage, or a GPU's own in the "
           "wrong slot: fabric-agentctl inventory accept, if it is right)"]
              .push_back(hca_name(*port));
  }
  out.nics.assign(paired.begin(), paired.end());
  if (out.nics.empty()) out.nics = view.compute;
  std::vector<const Port*> ports = ports_of(view, out.nics), known = ports_of(view, view.compute), software;
  for (const Port& port : view.node.ports)
    if (is_endpoint(port) && capabilities_of(port.kernel_driver).is_software) software.push_back(&port);
  out.is_software = known.empty() && !software.empty();
  if (out.is_software) ports = known = software;
  for (const Port* port : ports) {
    if (!why_left_out(view.node, *port).empty()) continue;
    out.active.push_back(port);
    if (is_roce(*port)) out.roce.push_back(port);
  }
  // The transport is that of the device, not of a port.
  const auto leave_out = [&](const Port& port, const std::string& why) {
    std::vector<std::string>& names = out.left_out[why];
    const std::string name = why_not_by_verbs(port).empty() ? hca_name(port) : port.rdma;
    if (!contains(names, name)) names.push_back(name);
  };
  for (const Port* port : ports_of(view, doubtful)) std::erase(known, port);
  for (const Port* port : known)
    if (const std::string why = why_left_out(view.node, *port); !why.empty()) leave_out(*port, why);
  // Without a list NCCL would take these too.
  for (const Port& port : view.node.ports) {
    if (!is_endpoint(port) || contains(known, &port)) continue;
    std::string why(why_not_by_verbs(port));
    if (why.empty() && contains(software, &port)) why = "software, not a NIC";
    if (!why.empty()) leave_out(port, why);
  }
  for (const size_t nic : view.compute)
    for (const Port& port : view.node.ports)
      if (contains(view.topology.nics[nic].rdma, port.rdma) && is_bare_uplink(port))
        out.left_out["E-Switch in switchdev mode, whose functions have the GIDs"].push_back(hca_name(port));
  return out;
}

// A fabric that jobs reach by libfabric and not by verbs.
enum class LibfabricOnly : uint8_t { efa, slingshot };

std::string name_of(LibfabricOnly fabric) { return fabric == LibfabricOnly::efa ? "EFA" : "Slingshot"; }

// The libfabric provider without verbs that the job's NICs need; nullopt: verbs reach all of them.
std::optional<LibfabricOnly> libfabric_only(const TopoView& view, const JobPorts& job) {
  for (const size_t nic : job.nics) {
    if (view.topology.nics[nic].vendor == kAmazon) return LibfabricOnly::efa;
    if (view.topology.nics[nic].vendor == kCray) return LibfabricOnly::slingshot;
  }
  return std::nullopt;
}

// Why no port is left for the list: a sentence.
std::string why_no_port(const TopoView& view, const JobPorts& job) {
  if (!job.left_out.empty()) return "no port is left.";
  if (std::ranges::any_of(view.topology.nics, &Nic::rdma_elsewhere))
    return "the RDMA devices are in other network namespaces.";
  if (view.node.ports.empty()) return "this machine has no RDMA device.";
  return "no port of the RDMA devices is for connections of jobs.";
}

void add_ports(EnvFile& out, const Library& library, const TopoView& view, const JobPorts& job) {
  std::string names, direct;
  for (const Port* port : job.active) append_item(names, hca_name(*port), ",");
  if (view.node.ports.empty())
    for (const size_t nic : job.nics)
      for (const std::string& rdma : view.topology.nics[nic].rdma) append_item(names, rdma, ",");
  for (const size_t nic : job.nics)
    if (view.topology.nics[nic].direct) append_item(direct, view.topology.nics[nic].name);
  for (const auto& [reason, ports] : job.left_out)
    out.remark("Left out, " + reason + ": " + left_out_text(ports) + ".");
  if (!direct.empty())
    out.remark("Data Direct: " + direct + " reach their GPUs by a second function. " +
               std::string(library.data_direct) + ".");
  if (names.empty()) {
    out.remark(std::string(library.ports) + " is not set: " + why_no_port(view, job));
    for (const Port& port : view.node.ports)
      if (const std::string command = roce_command(port); !command.empty())
        out.remark("The NIC of " + hca_name(port) + " can do RoCE. When no job runs: " + command);
    const bool takes_any = std::ranges::any_of(view.node.ports, [](const Port& port) {
      return is_endpoint(port) && is_active(port) && !why_not_by_verbs(port).empty();
    });
    if (takes_any && !library.off.empty())
      out.set(library.off, "1",
              std::string(library.name) +
                  " takes each port that is active, whatever its transport, and its first connection would fail: this "
                  "makes it use TCP sockets.");
    return;
  }
  if (job.is_software)
    out.remark("Software RDMA, not a NIC: the CPUs make and read every packet, and it has no access to GPU memory. " +
               std::string(library.over_software) + ".");
  const std::string_view which = job.is_software ? "The software devices. " : "The NICs paired with the GPUs. ";
  out.set(library.ports, std::string(library.exact) + names,
          std::string(which) + std::string(library.list_note) + " (" + std::string(library.manual) + ").");
}

// The index that all ports have: that of addresses of the ports themselves, else of netdevs above them (VLANs). `pin`:
// [expect] gid_index, used if all ports have it.
void add_gid_index(EnvFile& out, const Library& library, const Node& node, const JobPorts& job,
                   std::optional<unsigned> pin) {
  bool ipv4 = false;
  for (const Port* port : job.roce) ipv4 = ipv4 || !gid_indices(node, *port, true).empty();
  std::set<unsigned> common, of_others;
  std::set<std::string, NaturalLess> overlays;
  std::string each;
  for (const Port* port : job.roce) {
    const std::set<unsigned> indices = gid_indices(node, *port, ipv4);
    if (each.empty()) common = indices;
    std::erase_if(common, [&](unsigned index) { return !indices.contains(index); });
    for (const Gid& gid : port->gids) {
      if (!gid.netdev.empty() && gid.netdev != port->netdev) of_others.insert(gid.index);
      if (gid.overlay && is_routable_v2(gid)) overlays.insert(gid.netdev);
    }
    std::string names;
    for (const unsigned index : indices) append_item(names, std::to_string(index), "/");
    if (names.empty()) names = "none";
    append_item(each, hca_name(*port) + " " + names);
  }
  if (common.empty())
    return out.remark(std::string(library.gid_index) + " is not set: no index holds a routable RoCE v2 GID (" +
                      (ipv4 ? "IPv4" : "IPv6") + ") on all ports (" + each + "). " + std::string(library.own_index) +
                      " (" + std::string(library.manual) + ").");
  const auto own = std::ranges::find_if(common, [&](unsigned index) { return !of_others.contains(index); });
  unsigned index = own == common.end() ? *common.begin() : *own;
  if (pin && common.contains(*pin)) index = *pin;
  std::string reason = "Index of the routable RoCE v2 GID on all of these ports, by their GID tables";
  if (!overlays.empty())
    reason += ", without those of tunnels (" + joined(overlays) +
              "), which do not carry RoCE and which a library may choose by itself";
  out.set(library.gid_index, std::to_string(index), reason + ".");
}

// The traffic class and the service level, from the policy.
void add_class(EnvFile& out, const Library& library, const TopoView& view, const JobPorts& job) {
  const std::string unset = std::string(library.traffic_class) + " is not set: ",
                    own = "; " + std::string(library.own_class) + " (" + std::string(library.manual) + ").";
  if (view.policy == nullptr) return out.remark(unset + "the DSCP of RoCE data is not configured" + own);
  std::set<std::optional<unsigned>> classes;
  std::set<int> priorities;
  for (const Port* port : job.roce) {
    const PortPolicy* entry = policy_for(*view.policy, *port);
    if (entry == nullptr) {
      classes.insert(std::nullopt);
      continue;
    }
    classes.insert(roce_traffic_class(*entry));
    if (entry->want.trust != Trust::pcp) continue;
    const PrioSet roce = roce_priorities(*entry);
    for (int priority = 0; priority < kPriorities; ++priority)
      if (roce.has(static_cast<size_t>(priority))) priorities.insert(priority);
  }
  if (classes.size() == 1 && *classes.begin()) {
    const unsigned value = **classes.begin();
    out.set(library.traffic_class, std::to_string(value),
            "DSCP " + std::to_string(value >> 2U) +
                " of the policy as a traffic class: DSCP x 4 + 2; the 2 is ECT(0), so that switches can mark "
                "congestion.");
  } else {
    out.remark(unset + "the policy has no common DSCP of RoCE data for these ports" + own);
  }
  if (priorities.size() == 1)
    out.set(library.service_level, std::to_string(*priorities.begin()),
            "By the policy the ports trust the VLAN priority, which is set from the service level.");
}

// The text if switches choose the path of each packet, by the policy, for all of these ports; else empty.
std::string adaptive_routing_of(const TopoView& view, const JobPorts& job) {
  std::string where;
  for (const Port* port : job.roce) {
    const PortPolicy* entry = view.policy == nullptr ? nullptr : policy_for(*view.policy, *port);
    if (entry == nullptr || !entry->fabric.adaptive_routing) return {};
    where = entry->fabric_origin;
  }
  if (job.roce.empty()) return {};
  return where.empty() ? "[fabric] adaptive_routing of the policy" : "adaptive_routing of the policy (" + where + ")";
}

// The variables of every library.
void add_common(EnvFile& out, const Library& library, const TopoView& view, const JobPorts& job) {
  add_ports(out, library, view, job);
  std::optional<unsigned> pin;
  if (view.policy != nullptr) pin = view.policy->expect.gid_index;
  if (!job.roce.empty()) {
    add_gid_index(out, library, view.node, job, pin);
    add_class(out, library, view, job);
    const std::string adaptive = adaptive_routing_of(view, job);
    if (!adaptive.empty() && !library.adaptive_routing.empty())
      out.set(library.adaptive_routing, library.adaptive_value,
              adaptive + "; " + std::string(library.own_routing) + " (" + std::string(library.manual) + ").");
  } else if (contains(job.active, LinkLayer::infiniband, &Port::link_layer)) {
    out.remark("InfiniBand: " + std::string(library.gid_index) + " and " + std::string(library.traffic_class) +
               " are not needed.");
  }
}

// -- NCCL

// Whether the GPU's NICs are below the CPU, without a PCIe switch between.
bool is_far(const Pair& pair) { return pair.path && !is_on_switch(pair.path); }

// Facts about this machine that decide whether NCCL's variables have an effect.
void add_nccl_remarks(EnvFile& out, const TopoView& view) {
  std::string far;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    if (const Gpu& gpu = view.topology.gpus[g]; is_far(view.pairing.pairs[g]) && !has_c2c(gpu))
      append_item(far, gpu.name + " " + std::string(to_text(*view.pairing.pairs[g].path)));
  if (is_flattened(view.topology) && !view.topology_file.empty())
    out.set("NCCL_TOPO_FILE", view.topology_file,
            "The PCIe switches are hidden. This file of the provider has them, with all GPUs of this machine.");
  else if (hides_switches(view.topology))
    out.remark(
        "The PCIe switches are hidden: set NCCL_TOPO_FILE to the provider's file, or NCCL pairs GPUs and NICs "
        "arbitrarily.");
  else if (!view.topology.gpus.empty() && std::ranges::all_of(view.topology.gpus, is_geforce))
    out.remark(
        "The driver does not offer GPUDirect RDMA for GeForce GPUs, neither by nvidia_peermem nor by DMA-BUF: data "
        "goes through host memory.");
  else if (!far.empty())
    out.remark("No PCIe switch between GPU and NIC (" + far +
               "): NCCL_NET_GDR_LEVEL decides whether GPUDirect RDMA is used.");
  if (contains(view.topology.gpus, kAmd, &Gpu::vendor))
    out.remark("AMD GPUs: RCCL reads the same names, from the environment or rccl.conf.");
  if (contains(view.topology.gpus, kHabana, &Gpu::vendor))
    out.remark("Gaudi: HCCL uses the accelerators' own ports and ignores these variables.");
}

// NVLink-C2C brings the data of such NICs to the GPU as fast as a switch does.
void add_nccl_c2c(EnvFile& out, const TopoView& view) {
  std::string gpus;
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g)
    if (is_far(view.pairing.pairs[g]) && has_c2c(view.topology.gpus[g])) append_item(gpus, view.topology.gpus[g].name);
  if (!gpus.empty())
    out.set("NCCL_NET_GDR_C2C", "1",
            "GPUDirect RDMA over NVLink-C2C with the NICs of the CPU: " + gpus +
                ". The default since NCCL 2.27. Before 2.26 NCCL has NCCL_NET_GDR_LEVEL=SYS for it (NCCL User Guide).");
}

// A queue pair of a bond uses one of its members.
void add_nccl_queue_pairs(EnvFile& out, const TopoView& view, const JobPorts& job) {
  std::string bonds;
  size_t most = 0;
  for (const Port* port : job.roce) {
    // Without a RoCE LAG each port of the bond has an RDMA device, and a queue pair leaves by the port of its device.
    const bool has_lag = std::ranges::none_of(view.node.ports, [&](const Port& other) {
      return other.rdma != port->rdma && !other.is_member() && other.bond == port->bond;
    });
    if (port->role != PortRole::bond || !has_lag) continue;
    append_item(bonds, port->rdma);
    most = std::max<size_t>(most, std::ranges::count_if(view.node.ports, [&](const Port& member) {
                              return member.is_member() && member.bond == port->bond;
                            }));
  }
  if (bonds.empty()) return;
  out.set("NCCL_IB_QPS_PER_CONNECTION", std::to_string(std::max<size_t>(most, 2)),
          bonds +
              ": a queue pair of a bond uses one member, so that one queue pair for each is needed to use all "
              "(NVIDIA/nccl issue 1015).");
  out.set(
      "NCCL_IB_SPLIT_DATA_ON_QPS", "0",
      "Messages take the queue pairs in turn: the default since NCCL 2.20, not in 2.18 and 2.19 (NCCL User Guide).");
}

// Whether all ports of each GPU are joined at this distance, and none of different GPUs.
bool joins_only_own(const TopoView& view, PathClass level) {
  const auto& pairs = view.pairing.pairs;
  const auto are_joined = [&](size_t a, size_t b) {
    const auto path = path_class(static_cast<const PciDevice&>(view.topology.nics[a]), view.topology.nics[b]);
    return path && *path <= level;
  };
  for (size_t g = 0; g < pairs.size(); ++g)
    for (size_t h = g; h < pairs.size(); ++h)
      for (const size_t a : pairs[g].nics)
        for (const size_t b : pairs[h].nics)
          if (a != b && are_joined(a, b) != (g == h)) return false;
  return true;
}

// Whether each NIC of the GPU is another plane by [cabling] planes.
bool are_declared_planes(const TopoView& view, const Pair& pair) {
  if (view.policy == nullptr || view.policy->cabling.planes.empty()) return false;
  std::set<std::string> planes;
  for (const Port* port : ports_of(view, pair.nics)) planes.insert(rail_place(view.node, view.policy, *port).plane);
  return planes.size() == pair.nics.size() && !planes.contains("");
}

// NCCL takes the functions of one bus for one NIC: it compares only domain and bus of their addresses, as is right for
// virtual functions of one card (NCCL_IB_MERGE_VFS, on by default; ncclIbGetPciPath() in src/transport/net_ib). In a
// virtual machine cards of their own may be on one bus.
void add_nccl_functions(EnvFile& out, const TopoView& view, const JobPorts& job) {
  if (!view.topology.is_guest()) return;
  std::map<std::string, std::map<std::string, const Nic*, NaturalLess>> buses;  // the first NIC of each card
  for (const Port* port : job.active)
    if (const Nic* nic = nic_at(view.topology, port->pci); nic != nullptr)
      buses[nic->pci.substr(0, nic->pci.rfind(':'))].emplace(card_of(*nic), nic);
  for (const auto& [bus, cards] : buses) {
    if (cards.size() < 2) continue;
    std::string names;
    for (const auto& [card, nic] : cards) append_item(names, nic->name);
    return out.set("NCCL_IB_MERGE_VFS", "0",
                   "NICs of their own, which this guest shows on one PCI bus (" + bus + "): " + names +
                       ". Unless this is set NCCL joins functions of one bus into one NIC, as if they were virtual "
                       "functions of one card (ncclIbGetPciPath() in NCCL's net_ib).");
  }
}

// NCCL joins the ports of one PCI device into one NIC (level PORT, its default); wider levels join NICs of different
// devices (src/graph/topo.cc of 2.30, ncclTopoAutoMerge()).
void add_nccl_merging(EnvFile& out, const TopoView& view, const JobPorts& job) {
  constexpr size_t kMostJoined = 4;  // NCCL_NET_MAX_DEVS_PER_NIC
  std::map<std::string, std::set<size_t>> cards;
  std::map<size_t, std::set<size_t>> gpus_of;  // by NIC
  bool are_apart = false, are_planes = true;
  // The list has no port of such a NIC, so that NCCL does not see it.
  const auto is_left_out = [&](size_t nic) {
    const std::vector<const Port*> ports = ports_of(view, {nic});
    return !view.node.ports.empty() &&
           std::ranges::none_of(ports, [&](const Port* port) { return contains(job.active, port); });
  };
  for (size_t g = 0; g < view.pairing.pairs.size(); ++g) {
    const Pair& pair = view.pairing.pairs[g];
    std::set<std::string> own;
    for (const size_t nic : pair.nics) {
      if (is_left_out(nic)) continue;
      const std::string card = card_of(view.topology.nics[nic].pci);
      own.insert(card);
      cards[card].insert(nic);
      gpus_of[nic].insert(g);
    }
    are_apart = are_apart || own.size() > 1;
    are_planes = are_planes && pair.nics.size() <= kMostJoined && are_declared_planes(view, pair);
  }
  std::set<std::string, NaturalLess> shared, apart;
  for (const auto& [card, nics] : cards) {
    if (nics.size() < 2) continue;
    const auto& first = gpus_of[*nics.begin()];
    const bool is_shared = std::ranges::all_of(nics, [&](size_t nic) { return gpus_of[nic] == first; });
    (is_shared ? shared : apart).insert(joined(nics, " and ", [&](size_t nic) {
      return view.topology.nics[nic].name;
    }));
  }
  const std::string of_one = joined(shared), of_several = joined(apart);
  // A container with some of the NICs has some of the GPUs, and /sys shows all.
  const auto is_withheld = [&](size_t nic) { return is_closed(view.node, view.topology.nics[nic]); };
  if (!of_several.empty() && std::ranges::any_of(view.compute, is_withheld))
    return out.remark("NCCL_NET_MERGE_LEVEL is not set: its default, PORT, joins the ports of one card (" + of_several +
                      "). Set LOC if they serve different GPUs of this container.");
  if (!of_several.empty())
    return out.set("NCCL_NET_MERGE_LEVEL", "LOC",
                   "Ports of one card that serve different GPUs, so different rails: " + of_several +
                       ". Unless this is set NCCL joins them into one NIC (NCCL User Guide, NCCL_IB_MERGE_NICS and "
                       "NCCL_NET_MERGE_POLICY).");
  if (!of_one.empty())
    return out.remark("NCCL_NET_MERGE_LEVEL is not set: its default, PORT, joins the ports of one card (" + of_one +
                      ").");
  if (!are_apart) return;
  for (const PathClass level : {PathClass::PIX, PathClass::PXB})
    if (are_planes && joins_only_own(view, level))
      return out.set("NCCL_NET_MERGE_LEVEL", to_text(level),
                     "The NICs of each GPU are planes by [cabling] planes: this joins them into one NIC, and none of "
                     "different GPUs (RCCL environment variables, NCCL_NET_MERGE_LEVEL).");
  out.remark(
      "NCCL_NET_MERGE_LEVEL is not set: NICs on different cards stay separate; wider levels are for planes, "
      "which [cabling] planes names.");
}

// NCCL takes the P_Key at one index on all ports, by default the first one (src/transport/net_ib of 2.30, pkey_index).
// A limited member reaches full members only. UCX looks for a full membership by itself.
void add_nccl_partition(EnvFile& out, const TopoView& view, const JobPorts& job) {
  constexpr uint16_t kFullMember = 0x8000;  // and the number of a partition: lib/judge/partition.cpp, ask_partition()
  std::vector<const Port*> ports;
  std::vector<std::span<const uint16_t>> tables;
  for (const Port* port : job.active)
    if (const auto* keys = find_in(view.node.network.pkeys, port->id());
        keys != nullptr && !keys->empty() && port->link_layer == LinkLayer::infiniband) {
      ports.push_back(port);
      tables.emplace_back(*keys);
    }
  const auto other = std::ranges::find_if(tables, [](const auto& keys) { return keys.front() <= kFullMember; });
  if (other == tables.end()) return;
  const auto key_text = [](uint16_t key) {
    return "0x" + hex_digits(std::string{static_cast<char>(key >> 8), static_cast<char>(key & 0xff)});
  };
  const std::string why = "the first P_Key of " + hca_name(*ports[static_cast<size_t>(other - tables.begin())]) +
                          " is not a full membership (" + key_text(other->front()) + ")";
  const auto& first = tables.front();
  for (size_t index = 1; index < first.size(); ++index) {
    const uint16_t key = first[index];
    if (key <= kFullMember ||
        !std::ranges::all_of(tables, [&](const auto& keys) { return index < keys.size() && keys[index] == key; }))
      continue;
    return out.set("NCCL_IB_PKEY", std::to_string(index),
                   "The index of a P_Key, not its value: " + key_text(key) + " on all of these ports; " + why +
                       " (NCCL 2.30, src/transport/net_ib).");
  }
  out.remark("NCCL_IB_PKEY is not set: " + why +
             ", and no other index has the same full membership on all of these ports (fabric-agentctl check --only "
             "partition).");
}

}  // namespace

// NCCL and RCCL, for nccl.conf (NVIDIA "NCCL User Guide", Environment Variables; docs/userguide/source/env.rst of
// 2.30). Some values begin with "=".
std::string topo_nccl(const TopoView& view) {
  const JobPorts job = job_ports(view);
  EnvFile out(view, "nccl.conf");
  add_nccl_remarks(out, view);
  if (const auto fabric = libfabric_only(view, job)) {
    out.remark(
        name_of(*fabric) +
        ": NCCL uses its libfabric plugin (aws-ofi-nccl), which chooses the NICs; NCCL_IB_* has no effect and is "
        "left out.");
    for (const auto& [reason, ports] : job.left_out)
      out.remark("Ports that are " + reason + ": " + joined(ports) + ".");
    out.set(
        "NCCL_NET_PLUGIN", "ofi",
        "Loads libnccl-net-ofi.so, which NCCL does not look for by itself (aws-ofi-nccl). If it cannot be loaded, "
        "NCCL uses TCP and does not fail; with NCCL_NET set to the plugin's name, which its log shows after \"Using "
        "network\", it fails.");
  } else {
    add_common(out, kNccl, view, job);
    add_nccl_partition(out, view, job);
    add_nccl_queue_pairs(out, view, job);
    if (!adaptive_routing_of(view, job).empty() &&
        !contains(job.roce, PortRole::bond, [](const Port* port) { return port->role; }))
      out.set(
          "NCCL_IB_SPLIT_DATA_ON_QPS", "0",
          "The packets of one queue pair take all paths; splitting messages adds latency (NCCL User Guide). It is the "
          "default since NCCL 2.20. With several queue pairs compare with 1: NVIDIA's tests of GB300 were faster "
          "with it (NVIDIA/cluster-readiness-engine pull request 287).");
    add_nccl_functions(out, view, job);
    add_nccl_merging(out, view, job);
  }
  add_nccl_c2c(out, view);
  if (view.bootstrap.empty()) {
    out.remark("NCCL_SOCKET_IFNAME is not set: no default route, so the management interface is unknown.");
    return out.text();
  }
  std::string where = "away from the compute NICs";
  if (contains(job.active, view.bootstrap, &Port::netdev)) where = "which belongs to a compute NIC";
  out.set("NCCL_SOCKET_IFNAME", "=" + view.bootstrap,
          "Ranks bootstrap over the interface of the default route, " + where + " (NCCL User Guide).");
  return out.text();
}

// UCX (its options are in src/uct/ib/base/ib_iface.c and ib_md.c of 1.23, as `ucx_info -cf` prints them).
std::string topo_ucx(const TopoView& view) {
  const JobPorts job = job_ports(view);
  EnvFile out(view, "UCX environment");
  const auto fabric = libfabric_only(view, job);
  if (fabric == LibfabricOnly::slingshot) {
    out.remark("Slingshot: UCX has no transport for it; MPI and others use libfabric (FI_PROVIDER=cxi).");
    return out.text();
  }
  if (fabric == LibfabricOnly::efa)
    out.remark("EFA: UCX 1.19 and later have its transport (SRD); older versions use UD. Most programs use libfabric.");
  add_common(out, kUcx, view, job);
  return out.text();
}

// NVSHMEM (NVIDIA "NVSHMEM API", Environment Variables; src/modules/transport/common/env_defs.h of 3.6).
std::string topo_nvshmem(const TopoView& view) {
  const JobPorts job = job_ports(view);
  EnvFile out(view, "NVSHMEM environment");
  if (!view.topology.gpus.empty() && !contains(view.topology.gpus, kNvidia, &Gpu::vendor)) {
    out.remark("NVSHMEM is for NVIDIA GPUs, and this machine has none.");
    return out.text();
  }
  if (const auto fabric = libfabric_only(view, job)) {
    out.set("NVSHMEM_REMOTE_TRANSPORT", "libfabric",
            name_of(*fabric) +
                " is reached by libfabric; NVSHMEM_HCA_LIST and NVSHMEM_IB_* have no effect and are "
                "left out (" +
                std::string(kNvshmem.manual) + ").");
    out.set("NVSHMEM_LIBFABRIC_PROVIDER", *fabric == LibfabricOnly::efa ? "efa" : "cxi",
            "The provider of " + name_of(*fabric) + " (" + std::string(kNvshmem.manual) + ").");
    return out.text();
  }
  add_common(out, kNvshmem, view, job);
  // The IBGDA and IBDEVX transports look for "mlx5" in the name (src/modules/transport/ibgda/ibgda.cpp of 3.5).
  std::string prefix;
  bool renamed = false;
  for (const Port* port : job.active) {
    const bool is_nvidias = std::ranges::any_of(job.nics, [&](size_t nic) {
      return view.topology.nics[nic].vendor == kNvidiaNetworking && contains(view.topology.nics[nic].rdma, port->rdma);
    });
    if (!is_nvidias) continue;
    if (prefix.empty()) prefix = port->rdma;
    const auto end = std::ranges::mismatch(prefix, port->rdma).in1;
    prefix.erase(end, prefix.end());
    renamed = renamed || port->rdma.find("mlx5") == std::string::npos;
  }
  if (renamed && !prefix.empty())
    out.set("NVSHMEM_HCA_PREFIX", prefix,
            "IBGDA and IBDEVX use only devices with \"mlx5\" in their names unless this names another text (" +
                std::string(kNvshmem.manual) + ").");
  if (job.active.size() > 1)
    out.remark(
        "NVSHMEM_ENABLE_NIC_PE_MAPPING is not set: without it each process takes the NIC of the list that is nearest "
        "to its GPU. With 1 the processes take the devices in the order of libibverbs, wherever their GPUs are "
        "(NVSHMEM 3.5, src/host/transport/transport.cpp). The manual asks for 1 beside a list; the transports use the "
        "list without it (src/modules/transport/ibgda/ibgda.cpp).");
  return out.text();
}

}  // namespace fabric::ctl
