// SPDX-License-Identifier: Apache-2.0
// The platform between GPUs and NICs: ACS, IOMMU, BARs, GPUDirect, power saving and tuning of PCI devices.
#include <bit>

#include "judge/platform_view.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "node/topology.h"

namespace fabric {

namespace {

constexpr uint16_t kRedirect = kAcsRequestRedirect | kAcsCompletionRedirect;

constexpr std::pair<uint16_t, std::string_view> kBits[] = {{kAcsSourceValidation, "SrcValid+"},
                                                           {kAcsRequestRedirect, "ReqRedir+"},
                                                           {kAcsCompletionRedirect, "CmpltRedir+"},
                                                           {kAcsUpstreamForwarding, "UpstreamFwd+"},
                                                           {kAcsDirectTranslated, "DirectTrans+"}};  // lspci's words

// write-grub-acs adds pci=config_acs= to the kernel command line.
constexpr const char* kSetAcsOfDataDirect =
    "rdma_topo write-grub-acs (of rdma-core or DOCA), reboot, then rdma_topo check";

// A port at which paths between GPUs and NICs, or between GPUs, turn.
struct Turn {
  uint16_t harmful = 0;              // redirect bits that send these paths upwards
  bool direct = false;               // to a Data Direct function
  bool to_nic = false;               // one of the paths is between a GPU and a NIC
  std::vector<std::string> pairs{};  // "GPU0 and mlx5_0"
};

// Whether NVIDIA's GPU reaches its equals by PCIe alone, as far as its name and its class say: a card without a
// connector for NVLink. AMD's GPUs with the class of accelerators have links of their own.
bool has_pcie_alone(const Gpu& gpu) {
  constexpr uint32_t k3d = 0x0302;
  if (gpu.vendor != kNvidia && gpu.vendor != kAmd) return false;
  if (is_geforce(gpu)) return false;
  if (is_vga(gpu)) return true;
  if (gpu.class_code >> 8 != k3d || gpu.vendor != kNvidia) return false;
  constexpr std::string_view kCards[]{"PCIe", "RTX", "L4",  "L40",  "L40S", "L20",
                                      "T4",   "A2",  "A10", "A10G", "A16",  "A40"};
  return std::ranges::any_of(words(gpu.model), [&](std::string_view word) { return contains(kCards, word); });
}

// Across root ports NCCL lets GPUs write to each other on AMD's CPUs alone: with those of Intel, Zhaoxin and Arm it
// uses host memory if two GPUs share no switch (ncclTopoCheckP2p() in src/graph/paths.cc).
bool crosses_root_ports(const Node& node) { return node.host && is_amd(node.host->cpu); }

// The ports at which the path between two GPUs turns: those of the switch that they share, else their root ports.
std::vector<std::string> turning_ports_of_gpus(const Node& node, const Gpu& a, const Gpu& b) {
  if (below_shared(a, b)) return turning_ports(a, b);
  if (!crosses_root_ports(node) || a.bridges.empty() || b.bridges.empty()) return {};
  return {a.bridges.back(), b.bridges.back()};
}

void add_turns_between_gpus(const View& view, std::map<std::string, Turn>& turns) {
  const Topology& topology = view.now.topology;
  if (topology.is_guest()) return;
  for (const Gpu& gpu : topology.gpus) {
    std::map<std::string, std::vector<std::string>> others;  // by the port of this GPU
    for (const Gpu& other : topology.gpus) {
      if (&other == &gpu || !has_pcie_alone(gpu) || !are_of_one_model(gpu, other)) continue;
      if (is_given_away(view.now, gpu.pci) || is_given_away(view.now, other.pci)) continue;
      for (const std::string& port : turning_ports_of_gpus(view.now, gpu, other))
        if (contains(gpu.bridges, port)) others[port].push_back(other.name);
    }
    for (const auto& [port, names] : others) {
      Turn& turn = turns[port];
      turn.harmful |= kRedirect;
      turn.pairs.push_back(gpu.name + " and " +
                           (names.size() > 3 ? counted(names.size(), "other GPU") : joined(names)));
    }
  }
}

// Only pairs that share a switch: other traffic passes through the root complex anyway. A port redirects the traffic
// that would turn to another port of its own switch (PCI Express base specification 6.0, 6.12.1.1): a bridge on the
// board of a GPU or NIC, or a lower switch, sends it upwards in any case. Between a GPU and a Data Direct function,
// requests of that function and their completions turn; for all else ACS must stay on (compute_acs() in rdma_topo of
// rdma-core).
std::map<std::string, Turn> turns_of(const View& view) {
  std::map<std::string, Turn> out;
  for (const auto& [gpu, nic] : gpu_nic_pairs(view)) {
    const PciDevice& end = nearer_function(*gpu, *nic);
    for (const std::string& bridge : turning_ports(*gpu, end)) {
      Turn& turn = out[bridge];
      turn.to_nic = true;
      turn.pairs.push_back(gpu->name + " and " + nic->name);
      if (!is_data_direct(end)) {
        turn.harmful |= kRedirect;
        continue;
      }
      turn.direct = true;
      turn.harmful |= contains(gpu->bridges, bridge) ? kAcsCompletionRedirect : kAcsRequestRedirect;
    }
  }
  add_turns_between_gpus(view, out);
  return out;
}

bool redirects(const PciSettings* published, const Turn& turn) {
  return published != nullptr && (published->acs.value_or(0) & turn.harmful) != 0;
}

// `persistent`: the kernel option for all bridges.
Finding redirect_finding(const Node& node, const std::string& bridge, uint16_t control, const Turn& turn,
                         const std::string& persistent) {
  std::string observed, expected;
  if ((turn.harmful & kAcsRequestRedirect) != 0) append_item(expected, "ReqRedir-", " ");
  if ((turn.harmful & kAcsCompletionRedirect) != 0) append_item(expected, "CmpltRedir-", " ");
  for (const auto& [bit, name] : kBits)
    if ((control & bit) != 0) append_item(observed, name, " ");
  if ((control & kAcsDirectTranslated) != 0)
    return good(bridge, observed + " (translated requests pass directly: ATS)", "no redirect, or direct translated");
  if (node.topology.is_guest())
    return good(bridge, observed + " (a virtual bridge: the host controls the path)", "set by the host");
  Fix fix{Work::ends_jobs, kSetAcsOfDataDirect};
  if (!turn.direct)
    fix = {"setpci -s " + bridge + " ECAP_ACS+6.w=0000",
           {Work::service, " && systemctl restart fabric-agent-pci"},
           {Work::in_machine, "; persistent: disable ACS in the firmware setup, or add " + persistent},
           ". Keep ACS if virtual machines get single devices."};
  const std::string pairs = joined(turn.pairs);
  std::string meaning = "This switch port sends traffic between " + pairs +
                        " through the root complex: GPUDirect loses half or more of its throughput.";
  if (!turn.to_nic)
    meaning = "This port sends the requests that one GPU makes of another (" + pairs +
              ") to the IOMMU of the root complex: peer-to-peer transfers are slow, and with the IOMMU active a "
              "collective of NCCL can hang. Until it is off: NCCL_P2P_DISABLE=1.";
  Finding out = bad(Status::warning, bridge, observed, expected, std::move(meaning), std::move(fix));
  out.about = pairs;
  return out;
}

Finding unread_finding(const std::string& why) {
  return bad(Status::unknown, kHostSubject, "-", "no redirect on the bridges between GPUs and their NICs",
             "ACS redirect of GPUDirect traffic is unknown: " + why +
                 ". Reading it from PCI configuration space requires CAP_SYS_ADMIN.",
             {Work::service, "Refresh the PCI data: systemctl restart fabric-agent-pci"});
}

// The bridges of the host, which decide, are not in a guest's tree, and the NIC's function there does not show whether
// it translates addresses.
Finding guest_finding(const std::string& hypervisor, const std::vector<GpuNic>& pairs) {
  const std::string names =
      joined(pairs, ", ", [](const GpuNic& pair) { return pair.gpu->name + "-" + pair.nic->name; });
  return good(kHostSubject,
              "not visible in a guest (" + hypervisor + "), for " + names +
                  ": ACS of the host's bridges and ATS of its NICs. On the host, bridges with ACS redirect need "
                  "DirectTrans+ and the NICs ATS (ATS_ENABLED=1 of mlxconfig): ask its operator",
              "direct translated, on the host");
}

// On machines like GB300, the DMA of a NIC reaches the GPU by a Data Direct function that is nearer than the NIC
// itself. NVIDIA's driver gives GPU memory to that function only if both are in one IOMMU group
// (nv_pci_is_valid_topology_for_direct_pci() in kernel-open/nvidia/nv-pci.c, 580): ACS of the ports above them decides.
// On other machines the driver does not compare the groups. Later drivers accept a function without a group below the
// GPU's switch. Returns the pairs in different groups, by root port.
std::map<std::string, std::string> split_groups(const View& view) {
  std::map<std::string, std::string> out;
  for (const auto& [gpu, nic] : gpu_nic_pairs(view)) {
    const PciDevice& end = nearer_function(*gpu, *nic);
    if (!is_data_direct(end) || gpu->bridges.empty()) continue;
    const PlatformFunction *mine = function_of(view.now, gpu->pci), *direct = function_of(view.now, end.pci);
    if (mine == nullptr || direct == nullptr || mine->iommu_group == direct->iommu_group) continue;
    if (mine->iommu_group.empty() || direct->iommu_group.empty()) continue;
    append_item(out[gpu->bridges.back()],
                gpu->name + " in group " + mine->iommu_group + ", Data Direct function " + end.pci + " of " +
                    nic->name + " in group " + direct->iommu_group,
                "; ");
  }
  return out;
}

void add_split_groups(const View& view, Findings& findings) {
  for (const auto& [port, observed] : split_groups(view)) {
    findings.push_back(bad(Status::warning, port, observed, "one IOMMU group",
                           "ACS of the ports below this root port puts the GPU and the Data Direct function of its NIC "
                           "into different IOMMU groups. NVIDIA's driver then rejects DMA-BUF of GPU memory "
                           "(ENOTSUPP), and GPUDirect RDMA works only with nvidia_peermem.",
                           {Work::ends_jobs, kSetAcsOfDataDirect}));
    findings.back().about = observed;
  }
}

void ask_acs(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.topology.is_guest()) add_split_groups(view, findings);
  if (node.topology.is_guest())
    if (const auto pairs = gpu_nic_pairs(view); !pairs.empty())
      findings.push_back(guest_finding(node.topology.hypervisor, pairs));
  const std::map<std::string, Turn> bridges = turns_of(view);
  if (bridges.empty()) return;
  if (!node.pci_settings) {
    if (node.topology.is_guest()) return;
    // A captured tree may contain devices without their bridges.
    bool any_known = false;
    for (const auto& [bridge, turn] : bridges)
      any_known = any_known || (turn.to_nic && function_of(node, bridge) != nullptr);
    if (any_known) findings.push_back(unread_finding("fabric-agent-pci.service has not run"));
    return;
  }
  std::vector<std::string> redirecting;
  for (const auto& [bridge, turn] : bridges)
    if (!turn.direct && redirects(find_in(node.pci_settings->functions, bridge), turn)) redirecting.push_back(bridge);
  // If there are several such options, the kernel uses the last (drivers/pci/pci.c, pci_setup()). GRUB ends a command
  // at ";".
  std::string persistent = "pci=disable_acs_redir=" + joined(redirecting, ";") + " to the kernel command line";
  if (redirecting.size() > 1) persistent += " (one option for all these ports; in /etc/default/grub with \\; for ;)";

  size_t clear = 0;
  std::string unread;
  for (const auto& [bridge, turn] : bridges) {
    const PciSettings* published = find_in(node.pci_settings->functions, bridge);
    if (published == nullptr) unread = bridge + " was not read at " + node.pci_settings->updated;
    else if (redirects(published, turn))
      findings.push_back(redirect_finding(node, bridge, *published->acs, turn, persistent));
    else if (!published->acs && !published->unread.empty()) unread = bridge + ": " + published->unread;
    else ++clear;
  }
  if (!unread.empty() && !node.topology.is_guest()) findings.push_back(unread_finding(unread));
  else if (clear == bridges.size() && !node.topology.is_guest())
    findings.push_back(good(kHostSubject, "no redirect on " + counted(clear, "bridge"), "none"));
}

constexpr Rule kAcs{
    .id = "acs",
    .group = group::platform,
    .title = "ACS redirects traffic between a GPU and its NIC, or between GPUs",
    .meaning =
        "ACS request and completion redirect on the downstream ports of a PCIe switch send every packet between GPU "
        "and NIC through the root complex. GPUDirect RDMA then loses half of its throughput or more, without any "
        "error. ACS redirect isolates devices that are passed to virtual machines; a kernel with an active IOMMU "
        "enables it at every boot, with iommu=pt too. The ports of the switch that a GPU and its NIC share are "
        "checked, and those between GPUs that have no NVLink as far as their model says (also the root ports, if the "
        "CPU is AMD's, where NCCL uses peer-to-peer transfers across them), as published by fabric-agent-pci.service. "
        "ACS redirect is harmless with direct translated P2P "
        "(DirectTrans+ and ATS). Between a GPU and a Data Direct function of ConnectX-8 (GB300), only request redirect "
        "of the NIC's port and completion redirect of the GPU's port harm, and rdma_topo sets the others; both "
        "functions must be in one IOMMU group, or NVIDIA's driver rejects DMA-BUF.",
    .inspect = "lspci -vvv -s ADDRESS (ACSCtl); systemctl status fabric-agent-pci",
    .fix =
        "setpci -s ADDRESS ECAP_ACS+6.w=0000; systemctl restart fabric-agent-pci. To keep it off after a reboot, "
        "disable ACS in the firmware setup or add pci=disable_acs_redir=ADDRESS to the kernel command line.",
    .ask = ask_acs,
};

std::string size_text(uint64_t bytes) {
  constexpr uint64_t kGiB = 1ull << 30, kMiB = 1ull << 20;
  if (bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
  if (bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MiB";
  return std::to_string(bytes) + " bytes";
}

// A NIC reaches GPU memory through the largest prefetchable BAR (NVIDIA: BAR1).
const Bar* memory_bar(const Node& node, const std::string& pci) {
  const PlatformFunction* function = function_of(node, pci);
  const Bar* largest = nullptr;
  if (function == nullptr) return largest;
  for (const Bar& bar : function->bars)
    if (bar.prefetchable && (largest == nullptr || bar.size > largest->size)) largest = &bar;
  return largest;
}

// `siblings`: the largest such BAR of a GPU of the same model.
Finding gpu_bar_finding(const Gpu& gpu, const Bar& bar, uint64_t siblings) {
  const std::string observed = "BAR" + std::to_string(bar.number) + " of " + size_text(bar.size);
  const std::string like_others = "equal to others of its model";
  constexpr uint64_t kSmall = 256ull << 20;  // if the firmware has no space for a larger one
  uint64_t possible = 0;
  std::string expected;
  if (bar.size < siblings) {
    possible = siblings;
    expected = size_text(possible) + ", " + like_others;
  } else if (bar.size <= kSmall && bar.resizable && *bar.resizable != 0) {
    // Bit N of the mask is 2^N MiB (Documentation/ABI/testing/sysfs-bus-pci, resourceN_resize).
    if (const auto bits = std::bit_width(*bar.resizable); bits <= 44) possible = uint64_t{1} << (bits + 19);
    expected = size_text(possible) + ", which the GPU offers (Resizable BAR)";
  }
  if (possible <= bar.size) return good(gpu.name, observed, like_others);
  return bad(
      Status::warning, gpu.name, observed, expected,
      "NICs reach the memory of this GPU (" + gpu.pci +
          ") through this BAR. Registering memory beyond it for GPUDirect fails.",
      {{Work::in_machine,
        "Enable Above 4G Decoding and Resizable BAR in the firmware setup, with 64-bit MMIO space for all GPUs. "},
       "Verify: lspci -vv -s " + gpu.pci});
}

// GPUs with a NIC.
void ask_gpu_bar(const View& view, Findings& findings) {
  const Gpu* last = nullptr;  // the pairs of a GPU are adjacent
  for (const auto& [gpu, nic] : gpu_nic_pairs(view)) {
    const Bar* bar = memory_bar(view.now, gpu->pci);
    if (bar == nullptr || gpu == last) continue;
    last = gpu;
    uint64_t largest = 0;
    for (const Gpu& other : view.now.topology.gpus) {
      if (!are_of_one_model(other, *gpu)) continue;
      if (const Bar* each = memory_bar(view.now, other.pci); each != nullptr) largest = std::max(largest, each->size);
    }
    findings.push_back(gpu_bar_finding(*gpu, *bar, largest));
  }
}

constexpr Rule kGpuBar{
    .id = "gpu-bar",
    .group = group::platform,
    .title = "The BAR of a GPU does not cover its memory",
    .meaning =
        "A NIC reaches GPU memory through the largest prefetchable BAR of the GPU (NVIDIA: BAR1). If this BAR is "
        "smaller than that of other GPUs, or 256 MiB although the GPU offers more, the firmware had no address space "
        "for it.",
    .inspect = "lspci -vv -s ADDRESS (Region, Physical Resizable BAR); nvidia-smi -q -d MEMORY (BAR1)",
    .fix = "Enable Above 4G Decoding and Resizable BAR in the firmware setup, or update the firmware.",
    .ask = ask_gpu_bar,
};

constexpr const char* kNoGpuDirect =
    "The RDMA driver cannot access GPU memory: collectives go through host memory, at a fraction of the rate of the "
    "network.";

bool has_peer(const GpuDirect& has, std::string_view name) {
  return std::ranges::any_of(has.memory_peers, [&](const std::string& peer) { return peer.starts_with(name); });
}

bool has_gpu(const std::vector<GpuNic>& pairs, uint16_t vendor) {
  return std::ranges::any_of(pairs, [&](const GpuNic& pair) { return pair.gpu->vendor == vendor; });
}

// EFA has an interface of its own, which nvidia_peermem does not know. Without a provider in it, dma-buf is left (efa
// since Linux 5.16). With the closed module there is a provider on older kernels, or by the module efa_nv_peermem.
Finding efa_gpudirect(const GpuDirect& has) {
  std::string ways;
  for (const std::string& peer : has.memory_peers)
    if (peer.starts_with("NVIDIA")) append_item(ways, "provider of EFA: " + peer);
  if (contains(has.peer_modules, std::string("efa_nv_peermem"))) append_item(ways, "efa_nv_peermem");
  if (has.nvidia_open == true) append_item(ways, "dma-buf (open kernel module)");
  const std::string driver = "NVIDIA driver " + has.nvidia_driver, expected = "NVIDIA's open kernel modules";
  if (!ways.empty()) return good(kHostSubject, driver + ": " + ways, expected);
  return bad(
      Status::warning, kHostSubject, driver + ", closed kernel module: efa has no provider of GPU memory (p2p)",
      expected,
      "The driver of EFA cannot access GPU memory: it may not use the functions of a closed module. NCCL over EFA "
      "fails, or copies through host memory. EFA does not use nvidia_peermem.",
      {Work::ends_jobs,
       "Install NVIDIA's open kernel modules, with the EFA installer 1.29.0 or later, and reboot. With a driver "
       "that has no open modules: the module efa_nv_peermem of the EFA installer."});
}

// The dies of Intel's processors for clients, by family and model of CPUID (arch/x86/include/asm/intel-family.h of
// Linux, which marks server dies with _X and _D). The brand does not show the die: Core X-series have that of a server,
// Xeon E and Xeon W-1200 that of a client. They forward writes between two root ports, and no reads, without any PCIe
// error (NVIDIA's answer in the issue 1253 of open-gpu-kernel-modules); none of their host bridges is among those that
// Linux trusts with peer-to-peer DMA (pci_p2pdma_whitelist of drivers/pci/p2pdma.c).
struct CpuDie {
  unsigned family = 0, model = 0;
};
constexpr CpuDie kClientDies[]{
    {6, 0x2a}, {6, 0x3a},                        // Sandy Bridge, Ivy Bridge
    {6, 0x3c}, {6, 0x45}, {6, 0x46},             // Haswell
    {6, 0x3d}, {6, 0x47},                        // Broadwell
    {6, 0x4e}, {6, 0x5e}, {6, 0x8e}, {6, 0x9e},  // Skylake, Kaby Lake, Coffee Lake
    {6, 0xa5}, {6, 0xa6},                        // Comet Lake
    {6, 0x7d}, {6, 0x7e}, {6, 0xa7},             // Ice Lake, Rocket Lake
    {6, 0x8c}, {6, 0x8d},                        // Tiger Lake
    {6, 0x97}, {6, 0x9a},                        // Alder Lake
    {6, 0xb7}, {6, 0xba}, {6, 0xbf}, {6, 0xd7},  // Raptor Lake, Bartlett Lake
    {6, 0xaa}, {6, 0xac},                        // Meteor Lake
    {6, 0xb5}, {6, 0xc5}, {6, 0xc6},             // Arrow Lake
    {6, 0xbd}, {6, 0xcc},                        // Lunar Lake, Panther Lake
};

bool is_client_die(const HostCpu& cpu) {
  return is_intel(cpu) && std::ranges::any_of(kClientDies, [&](const CpuDie& die) {
           return die.family == cpu.family && die.model == cpu.model_number;
         });
}

// nullopt: the processor is of another kind, or each GPU shares a root port with its NIC.
std::optional<Finding> client_processor_finding(const Node& node, const std::vector<GpuNic>& pairs,
                                                const std::string& observed) {
  if (!node.host || !is_client_die(node.host->cpu) || node.topology.is_guest()) return std::nullopt;
  const std::string& model = node.host->cpu.model;
  std::string across;
  for (const auto& [gpu, nic] : pairs)
    if (!below_shared(*gpu, nearer_function(*gpu, *nic))) append_item(across, gpu->name + " and " + nic->name);
  if (across.empty()) return std::nullopt;
  return bad(Status::warning, kHostSubject, observed + "; " + across + " below different root ports of " + model,
             "GPU and NIC below one PCIe switch",
             "Processors for clients forward writes between root ports and no reads: the NIC can write GPU memory and "
             "not read it. Programs that send from GPU memory by GPUDirect RDMA (perftest, UCX, NVSHMEM, NIXL) get "
             "completions with errors, and no PCIe error is logged. NCCL copies through host memory at this distance, "
             "unless NCCL_NET_GDR_LEVEL allows it.",
             {{Work::in_machine, "Put GPU and NIC below one PCIe switch. "},
              "Until then: NCCL_NET_GDR_LEVEL unset or LOC, UCX_IB_GPU_DIRECT_RDMA=no"});
}

// With GPUs of both vendors, NVIDIA is checked.
std::optional<Finding> ask_gpudirect(const View& view) {
  const GpuDirect& has = view.now.platform.gpudirect;
  const auto pairs = gpu_nic_pairs(view);
  if (!has.nvidia_driver.empty() && has_gpu(pairs, kNvidia)) {
    if (std::ranges::all_of(pairs, [](const GpuNic& pair) { return is_geforce(*pair.gpu); }))
      return good(kHostSubject, "GeForce: the driver does not offer GPUDirect RDMA", "any");
    if (std::ranges::all_of(pairs, [](const GpuNic& pair) { return pair.nic->vendor == kAmazon; }))
      return efa_gpudirect(has);
    // The same evidence as NCCL uses (src/transport/net_ib.cc).
    std::string ways = joined(has.peer_modules);
    if (has_peer(has, "nv_mem")) append_item(ways, "peer memory client nv_mem");
    // For the open modules' dma-buf distributions enable this option; a kernel without it may refuse the mapping.
    const std::string lacks = has.pci_p2pdma == false ? "kernel without CONFIG_PCI_P2PDMA" : "";
    if (has.nvidia_open == true) {
      append_item(ways, "dma-buf (open kernel module)");
      if (!lacks.empty() && has.peer_modules.empty()) append_item(ways, lacks + ": GDRDMA in NCCL's log decides");
    }
    const std::string driver = "NVIDIA driver " + has.nvidia_driver;
    const std::string expected = "nvidia_peermem, or dma-buf of the open kernel module";
    if (!ways.empty()) {
      if (auto finding = client_processor_finding(view.now, pairs, driver + ": " + ways)) return finding;
      return good(kHostSubject, driver + ": " + ways, expected);
    }
    std::string observed = driver + ", closed kernel module, without nvidia_peermem", kernel;
    if (!lacks.empty()) {
      append_item(observed, lacks);
      kernel =
          " This kernel has no CONFIG_PCI_P2PDMA, which the dma-buf of the open modules may need: then boot one that "
          "has it.";
    }
    return bad(
        Status::warning, kHostSubject, std::move(observed), expected, kNoGpuDirect,
        "modprobe nvidia_peermem && echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf; or install "
        "NVIDIA's open kernel modules, which need no nvidia_peermem. modprobe answers \"Invalid argument\" if the "
        "RDMA drivers have no peer memory interface (grep ib_register_peer_memory_client /proc/kallsyms): those "
        "of NVIDIA (DOCA-OFED) and of Ubuntu have it." +
            kernel);
  }
  if (!has.amdgpu || !has_gpu(pairs, kAmd)) return std::nullopt;
  // RCCL uses dma-buf if the kernel has both options (rccl, src/misc/rocmwrap.cc), else OFED's peer memory.
  const auto offered = [&](const std::string& way) {
    if (auto finding = client_processor_finding(view.now, pairs, way)) return *finding;
    return good(kHostSubject, way, "peer memory, or dma-buf");
  };
  if (has_peer(has, "amdkfd")) return offered("peer memory client amdkfd");
  if (!has.pci_p2pdma || !has.dmabuf_move_notify) return std::nullopt;
  if (*has.pci_p2pdma && *has.dmabuf_move_notify) return offered("dma-buf (PCI_P2PDMA, DMABUF_MOVE_NOTIFY)");
  const std::string missing = *has.pci_p2pdma ? "CONFIG_DMABUF_MOVE_NOTIFY" : "CONFIG_PCI_P2PDMA";
  return bad(
      Status::warning, kHostSubject, "kernel without " + missing + ", no peer memory client",
      "CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY, or OFED's peer memory", kNoGpuDirect,
      {Work::ends_jobs,
       "Boot a kernel built with both options. Or install the RDMA stack of the NIC vendor with peer memory, and "
       "load amdgpu after it."});
}

constexpr Rule kGpudirect{
    .id = "gpudirect",
    .group = group::platform,
    .title = "The RDMA driver cannot access GPU memory",
    .meaning =
        "GPUDirect RDMA requires nvidia_peermem (or the older nv_peer_mem), or dma-buf: NVIDIA's open kernel modules; "
        "for AMD a kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY; for EFA the open modules, or a "
        "provider that its driver names in the file p2p. Otherwise NCCL and RCCL copy through host memory. GeForce "
        "GPUs have no GPUDirect RDMA. Between root ports of Intel's processors for clients a NIC cannot read GPU "
        "memory. With "
        "NCCL_DEBUG=INFO, NCCL logs GDRDMA when it is in use.",
    .inspect = "cat /proc/driver/nvidia/version; lsmod | grep peer",
    .fix = "modprobe nvidia_peermem; echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf",
    .ask_host = ask_gpudirect,
};

// The devices that collectives run on: the GPUs of gpu_nic_pairs(), and all RDMA NICs except virtual functions.
struct InUse {
  const PciDevice* device = nullptr;
  std::string name;
  bool nic = false;
};
std::vector<InUse> devices_in_use(const View& view) {
  std::vector<InUse> out;
  for (const GpuNic& pair : gpu_nic_pairs(view))  // the pairs of a GPU are adjacent
    if (out.empty() || out.back().device != pair.gpu) out.push_back({pair.gpu, pair.gpu->name, false});
  for (const Nic& nic : view.now.topology.nics)
    if (carries_rdma(nic) && !nic.is_virtual_function() && !is_given_away(view.now, nic.pci))
      out.push_back({&nic, nic.name, true});
  return out;
}

// The kernel's names of the default domain of a group (drivers/iommu/iommu.c, iommu_group_show_type).
constexpr const char* kPassThrough = "identity";
const std::map<std::string, std::string> kModes{{"DMA", "translate, strict (DMA)"},
                                                {"DMA-FQ", "translate, lazy (DMA-FQ)"},
                                                {kPassThrough, "pass-through (identity)"}};

// iommu=pt is for x86, iommu.passthrough=1 for arm64 (Documentation/admin-guide/kernel-parameters.txt of Linux 6.12);
// on Grace, too (NVIDIA Grace Performance Tuning Guide, "OS Settings").
constexpr FixRow kRemedy{
    Work::ends_jobs,
    "Add iommu=pt to the kernel command line (arm64, also NVIDIA Grace from Linux 6.11 on: iommu.passthrough=1), run "
    "update-grub and reboot."};

// Without an RDMA NIC, several GPUs of a vendor exchange data by peer-to-peer.
std::vector<InUse> gpus_without_nic(const Node& node) {
  std::map<uint16_t, std::vector<InUse>> by_vendor;
  for (const Gpu& gpu : node.topology.gpus)
    if (!is_given_away(node, gpu.pci)) by_vendor[gpu.vendor].push_back({&gpu, gpu.name, false});
  std::vector<InUse> out;
  for (const auto& [vendor, gpus] : by_vendor)
    if (gpus.size() > 1) out.insert(out.end(), gpus.begin(), gpus.end());
  return out;
}

// Empty: unknown.
std::string group_type_of(const Node& node, const std::string& pci) {
  const PlatformFunction* function = function_of(node, pci);
  const auto* type = function == nullptr ? nullptr : find_in(node.platform.iommu_groups, function->iommu_group);
  return type == nullptr ? std::string{} : *type;
}

std::string command_line_text(const Platform& platform) {
  return platform.command_line.empty() ? "" : "; kernel command line: " + joined(platform.command_line);
}

// GPUs on NVLink-C2C use the page tables of the CPU, for which the IOMMU needs a PASID of each process. nullopt: the
// machine has no such GPUs, or its kernel gives PASIDs in pass-through, too.
std::optional<Finding> address_translation_finding(const Node& node) {
  std::vector<std::string> passing, translated;
  for (const Gpu& gpu : node.topology.gpus) {
    if (!has_c2c(gpu) || is_given_away(node, gpu.pci)) continue;
    const std::string type = group_type_of(node, gpu.pci);
    if (type == kPassThrough) passing.push_back(gpu.name);
    else if (!type.empty()) translated.push_back(gpu.name);
  }
  if (!node.platform.identity_without_pasid || (passing.empty() && translated.empty())) return std::nullopt;
  if (passing.empty())
    return good(kHostSubject, "translates, as " + joined(translated) + " on NVLink-C2C need it before Linux 6.11",
                "iommu.passthrough=0, or Linux 6.11");
  return bad(Status::warning, kHostSubject,
             "pass-through (identity) with a kernel before 6.11: " + joined(passing) + command_line_text(node.platform),
             "iommu.passthrough=0, or Linux 6.11",
             "Before Linux 6.11 a device in pass-through can have no PASID, which the address translation (ATS) of a "
             "GPU on NVLink-C2C needs. No program can create a CUDA context: GPUs are reported as busy. A kernel whose "
             "vendor has backported the change is not affected.",
             {Work::ends_jobs,
              "Write iommu.passthrough=0 on the kernel command line, or install Linux 6.11 or later, and reboot."});
}

// Whether the links of a NIC are below 100 Gb/s: such a NIC is assumed to keep up with an IOMMU that translates (ours).
// False for a rate that is not known.
bool is_slow(const Node& node, const InUse& device) {
  constexpr double kSlow = 100e9 / 8;  // bytes per second
  bool has_rate = false;
  for (const Port& port : node.ports) {
    if (port.pci != device.device->pci || !port.rate) continue;
    if (*port.rate >= kSlow) return false;
    has_rate = true;
  }
  return device.nic && has_rate;
}

// Devices whose jobs lose nothing when the IOMMU translates: slow NICs, and GeForce GPUs, which no NIC reaches. The NIC
// of another GPU reads and writes its memory through the IOMMU, however slow its link is.
bool keeps_up(const Node& node, const InUse& device) {
  const auto is_reached = [](const Gpu& gpu) { return !is_geforce(gpu); };
  if (std::ranges::any_of(node.topology.gpus, is_reached)) return false;
  return !device.nic || is_slow(node, device);
}

// In a guest the host decides, and nothing is reported.
std::optional<Finding> ask_iommu(const View& view) {
  const Node& node = view.now;
  const Platform& platform = node.platform;
  if (node.topology.is_guest()) return std::nullopt;
  auto devices = devices_in_use(view);
  const bool has_nic = std::ranges::any_of(devices, &InUse::nic);
  if (!has_nic) devices = gpus_without_nic(node);
  if (auto finding = address_translation_finding(node)) return finding;
  std::map<std::string, std::vector<std::string>> by_mode;
  bool translates = false, is_felt = false;
  for (const InUse& each : devices) {
    const std::string type = group_type_of(node, each.device->pci);
    if (!kModes.contains(type)) continue;
    by_mode[kModes.at(type)].push_back(each.name);
    if (type == kPassThrough) continue;
    translates = true;
    is_felt = is_felt || !has_nic || !keeps_up(node, each);
  }
  std::string observed;
  for (const auto& [mode, names] : by_mode) append_item(observed, mode + ": " + joined(names), "; ");
  const auto& gpus = node.topology.gpus;
  if (translates && !gpus.empty() &&
      std::ranges::all_of(gpus, [&](const Gpu& gpu) { return is_given_away(node, gpu.pci); }))
    return good(kHostSubject, observed + " (no job runs here: virtual machines have all GPUs)", "any mode");
  if (translates && !is_felt)
    return good(kHostSubject, observed + " (links below 100 Gb/s, and no GPU that NICs reach)", "any mode");
  if (translates) {
    observed += command_line_text(platform);
    return bad(Status::warning, kHostSubject, observed, "pass-through (iommu=pt) or off",
               has_nic ? "The IOMMU translates every DMA of these devices: small messages take longer, and throughput "
                         "drops when the IOTLB is too small."
                       : "The IOMMU translates every DMA of these GPUs: peer-to-peer transfers between them over PCIe "
                         "are slow or hang.",
               kRemedy);
  }
  if (!by_mode.empty()) return good(kHostSubject, observed, "pass-through or off");
  if (platform.iommu == false && !devices.empty()) return good(kHostSubject, "off", "pass-through or off");
  return std::nullopt;
}

constexpr Rule kIommu{
    .id = "iommu",
    .group = group::platform,
    .title = "The IOMMU translates DMA of a GPU or RDMA NIC",
    .meaning =
        "A translating IOMMU looks up every DMA address. Small messages take longer, throughput drops when the IOTLB "
        "is too small for the working set, and peer-to-peer traffic redirected by ACS is translated as well. Two or "
        "more GPUs are checked without an RDMA NIC, too: their peer-to-peer transfers are slow or hang. On GPUs with "
        "NVLink-C2C (GH200, GB200) pass-through needs Linux 6.11: before, CUDA does not work with it. Not checked in "
        "virtual machines, nor on a host whose GPUs are all passed to them, nor if all NICs have links below 100 Gb/s "
        "and "
        "no GPU takes part (none, or GeForce).",
    .inspect =
        "cat /proc/cmdline; cat /sys/kernel/iommu_groups/*/type (DMA strict, DMA-FQ lazy, identity pass-through)",
    .fix =
        "Add iommu=pt to the kernel command line (arm64: iommu.passthrough=1; with devices passed to virtual machines "
        "also intel_iommu=on or amd_iommu=on), run update-grub and reboot.",
    .ask_host = ask_iommu,
};

// A NIC without an active port may sleep. Devices without a driver are not checked.
void ask_pci_power(const View& view, Findings& findings) {
  const Node& node = view.now;
  size_t awake = 0;
  for (const InUse& each : devices_in_use(view)) {
    const PlatformFunction* function = function_of(node, each.device->pci);
    if (function == nullptr || function->power_state.empty() || function->kernel_driver.empty()) continue;
    if (!function->power_state.starts_with("D3")) {
      ++awake;
      continue;
    }
    // By default amdgpu and xe suspend an idle GPU (amdgpu_driver_load_kms() and xe_pm_runtime_init(), Linux 6.12).
    if (!each.nic && (each.device->vendor == kAmd || each.device->vendor == kIntel)) continue;
    const bool used = std::ranges::any_of(
        node.ports, [&](const Port& port) { return is_active(port) && (!each.nic || port.pci == each.device->pci); });
    if (!used) continue;
    std::string observed = function->power_state;
    if (!function->power_control.empty()) observed += ", power/control " + function->power_control;
    findings.push_back(
        bad(Status::warning, each.name, std::move(observed), "D0, power/control on",
            "The kernel suspended this device. The first access wakes it up, takes up to seconds and can fail.",
            "echo on > /sys/bus/pci/devices/" + each.device->pci +
                "/power/control; then remove the tool or udev rule that set it to auto (powertop, TLP, tuned)."));
  }
  if (awake > 0)
    findings.push_back(good(kHostSubject, "GPUs and NICs awake: " + std::to_string(awake), "D0 while in use"));
}

constexpr Rule kPciPower{
    .id = "pci-power",
    .group = group::platform,
    .title = "A GPU or NIC in use is not in power state D0",
    .meaning =
        "A function in D3 wakes up on its first access, which takes up to seconds and can fail. On a server only a "
        "laptop tool (powertop, TLP) suspends a GPU or NIC in use. Idle GPUs of AMD and Intel may sleep: amdgpu and xe "
        "suspend them.",
    .inspect = "cat /sys/bus/pci/devices/ADDRESS/power_state /sys/bus/pci/devices/ADDRESS/power/control",
    .fix =
        "echo on > /sys/bus/pci/devices/ADDRESS/power/control, and remove the tool or udev rule that set it to auto.",
    .ask = ask_pci_power,
};

constexpr Limit kLeastMrrs{"pci-tuning",
                           "least_mrrs",
                           512,
                           "bytes of MRRS of a NIC that serves GPUs",
                           "the default of NICs; smaller reads need more outstanding requests than they have",
                           128,
                           4096};

struct JudgedNic {
  const Nic* nic = nullptr;
  const PciSettings* has = nullptr;
  bool for_gpus = false;
  std::optional<bool> link_sleeps{};
};

const PciSettings* settings_of(const Node& node, const std::string& pci) {
  if (!node.pci_settings) return nullptr;
  const PciSettings* found = find_in(node.pci_settings->functions, pci);
  if (found == nullptr || !found->mrrs) return nullptr;
  return found;
}

std::string flag_text(const std::optional<bool>& value) {
  if (!value) return "-";
  return *value ? "on" : "off";
}

constexpr size_t kRows = 5, kAspmRow = 4;
std::array<std::pair<std::string, std::string>, kRows> values(const JudgedNic& subject) {
  const PciSettings& has = *subject.has;
  return {{{"MRRS", std::to_string(*has.mrrs)},
           {"MPS", has.max_payload ? std::to_string(*has.max_payload) : "-"},
           {"relaxed ordering", flag_text(has.relaxed_ordering)},
           {"10-bit tags", flag_text(has.ten_bit_tags)},
           {"ASPM L1", flag_text(subject.link_sleeps)}}};
}

// NICs that should be equal: model, and whether they serve GPUs.
using EqualNics = std::pair<PciModel, bool>;
EqualNics kind_of(const JudgedNic& subject) { return {model_of(*subject.nic), subject.for_gpus}; }

// Number of NICs of a kind per value, row by row.
using Tally = std::map<EqualNics, std::array<std::map<std::string, size_t>, kRows>>;

// The setting mrrs checks a value in the policy.
bool has_mrrs_in_policy(const View& view, const Nic& nic) {
  for (const Port& port : view.now.ports) {
    if (port.pci != nic.pci) continue;
    const PortPolicy* entry = policy_of(view, port);
    if (entry != nullptr && entry->want.mrrs) return true;
  }
  return false;
}

Finding pci_tuning_finding(const View& view, const Tally& tally, const JudgedNic& subject) {
  std::string observed, differing, expected;
  const auto own = values(subject);
  const bool mrrs_wanted = has_mrrs_in_policy(view, *subject.nic);
  for (size_t row = 0; row < kRows; ++row) {
    const auto& [name, value] = own[row];
    const auto others = majority(tally.at(kind_of(subject))[row]);
    if (row == kAspmRow && (value != "on" || others != "off")) continue;  // only saving power is a fault
    append_item(observed, name + " " + value);
    if (!others || *others == value || (row == 0 && mrrs_wanted)) continue;
    append_item(differing, name);
    append_item(expected, name + " " + *others);
  }
  // The smaller payload size of the two ends limits the packets.
  for (const std::string& bridge : subject.nic->bridges) {
    const PciSettings* above = settings_of(view.now, bridge);
    if (above == nullptr || !above->max_payload || !subject.has->max_payload) continue;
    if (above->max_payload == subject.has->max_payload) continue;
    observed += " (" + bridge + " above it: MPS " + std::to_string(*above->max_payload) + ")";
    break;
  }
  const std::string& pci = subject.nic->pci;
  if (differing == own[kAspmRow].first)
    return bad(
        Status::warning, subject.nic->name, observed, expected + ", equal to others of its model",
        "The PCIe link of this NIC sleeps between packets, and takes microseconds to wake up: small messages wait "
        "for it (ASPM L1).",
        "echo 0 > /sys/bus/pci/devices/" + pci +
            "/link/l1_aspm; for each start: pcie_aspm.policy=performance on the kernel command line, or ASPM off "
            "in the firmware setup. Verify: lspci -vv -s " +
            pci + " (LnkCtl)");
  if (!differing.empty())
    return bad(Status::warning, subject.nic->name, observed, expected + ", equal to others of its model",
               "PCIe settings differ from those of the other NICs of this model (" + differing +
                   "): this NIC will be the slow one in a collective.",
               {{Work::in_machine,
                 "Set MRRS with mrrs in fabric-agent.toml, relaxed ordering in the NIC firmware, MPS in the firmware "
                 "setup (or pci=pcie_bus_safe)"},
                {Work::in_machine | Work::service, ", then systemctl restart fabric-agent-pci"},
                {Work::in_machine, ". "},
                "Compare with lspci -vv -s " + pci});
  if (subject.for_gpus && *subject.has->mrrs < limit_of(view, kLeastMrrs) && !mrrs_wanted)
    return bad(Status::warning, subject.nic->name, observed,
               "MRRS " + number_text(limit_of(view, kLeastMrrs)) + " or more (4096 is common)",
               "Small read requests keep the NIC from reading memory at the rate of the network.",
               {"Set mrrs = 4096 for this port in fabric-agent.toml",
                {Work::service, ", then systemctl restart fabric-agent-pci"}});
  return good(subject.nic->name, observed, "equal to others of its model");
}

// fabric-agent-pci.service publishes the values.
void ask_pci_tuning(const View& view, Findings& findings) {
  const Node& node = view.now;
  std::vector<JudgedNic> all;
  Tally tally;
  const auto built = built_of(view);
  for (size_t i = 0; i < node.topology.nics.size(); ++i) {
    const Nic& nic = node.topology.nics[i];
    const PciSettings* has = settings_of(node, nic.pci);
    if (has == nullptr || nic.rdma.empty() || nic.is_virtual_function() || is_given_away(node, nic.pci)) continue;
    const PlatformFunction* function = function_of(node, nic.pci);
    all.push_back({&nic, has, built->serves_gpu(i), function == nullptr ? std::nullopt : function->link_sleeps});
    const auto own = values(all.back());
    for (size_t row = 0; row < kRows; ++row) ++tally[kind_of(all.back())][row][own[row].second];
  }
  for (const JudgedNic& subject : all) findings.push_back(pci_tuning_finding(view, tally, subject));
}

}  // namespace

constexpr Rule kPciTuning{
    .id = "pci-tuning",
    .group = group::platform,
    .title = "PCIe settings of a NIC are too small or differ from those of equal NICs",
    .meaning =
        "Compares maximum read request (MRRS), maximum payload (MPS), relaxed ordering and 10-bit tags of each RDMA "
        "NIC, and whether its link sleeps between packets (ASPM L1), with those of its model. A NIC that differs is "
        "the slow one in a collective. An MRRS below 512 bytes "
        "limits a NIC that serves GPUs. fabric-agent-pci.service publishes the values.",
    .inspect = "lspci -vv -s ADDRESS (DevCtl, DevCtl2); systemctl restart fabric-agent-pci reads again",
    .fix =
        "Set MRRS with mrrs in the policy, relaxed ordering in the NIC firmware (mlxconfig PCI_WR_ORDERING, niccli "
        "pcie_relaxed_ordering), MPS in the firmware setup.",
    .limits = {&kLeastMrrs},
    .ask = ask_pci_tuning,
};

constexpr Rule kTable[]{kAcs, kGpuBar, kGpudirect, kIommu, kPciPower, kPciTuning};
const std::span<const Rule> kPlatformRules = kTable;

}  // namespace fabric
