// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "judge/platform_view.h"
#include "node/locality.h"

namespace fabric {
namespace {

constexpr uint16_t kRedirect = kAcsRequestRedirect | kAcsCompletionRedirect;

constexpr std::pair<uint16_t, std::string_view> kBits[] = {{kAcsSourceValidation, "SrcValid+"},
                                                           {kAcsRequestRedirect, "ReqRedir+"},
                                                           {kAcsCompletionRedirect, "CmpltRedir+"},
                                                           {kAcsUpstreamForwarding, "UpstreamFwd+"},
                                                           {kAcsDirectTranslated, "DirectTrans+"}};  // lspci's words

// A port where paths between GPUs and NICs turn.
struct Turn {
  uint16_t harmful = 0;              // redirect bits that send these paths upwards
  bool direct = false;               // to a Data Direct function
  std::vector<std::string> pairs{};  // "GPU0 and mlx5_0"
};

// Only pairs that share a switch: other traffic passes through the root complex anyway. A port redirects what would
// turn to another port of its own switch (PCI Express base specification 6.0, 6.12.1.1): a bridge on the board of a GPU
// or NIC, or a lower switch, sends it upwards in any case. Between a GPU and a Data Direct function, requests of that
// function and their completions turn; for all else ACS must stay on (compute_acs() in rdma_topo of rdma-core).
std::map<std::string, Turn> turns_of(const View& view) {
  std::map<std::string, Turn> out;
  for (const auto& [gpu, nic] : gpu_nic_pairs(view)) {
    const PciDevice& end = nearer_function(*gpu, *nic);
    for (const std::string& bridge : turning_ports(*gpu, end)) {
      Turn& turn = out[bridge];
      turn.direct = turn.direct || is_data_direct(end);
      turn.harmful |= !is_data_direct(end)             ? kRedirect
                      : contains(gpu->bridges, bridge) ? kAcsCompletionRedirect
                                                       : kAcsRequestRedirect;
      turn.pairs.push_back(gpu->name + " and " + nic->name);
    }
  }
  return out;
}

bool redirects(const PciSettings* published, const Turn& turn) {
  return published != nullptr && (published->acs.value_or(0) & turn.harmful) != 0;
}

// Of several such options the kernel heeds the last (drivers/pci/pci.c, pci_setup()); GRUB ends a command at ";".
std::string lasting_option(const std::vector<std::string>& redirecting) {
  return "pci=disable_acs_redir=" + joined(redirecting, ";") + " to the kernel command line" +
         (redirecting.size() > 1 ? " (one option for all these ports; in /etc/default/grub with \\; for ;)" : "");
}

Finding redirected(const Node& node, const std::string& bridge, uint16_t control, const Turn& turn,
                   const std::string& lasting) {
  std::string observed, expected;
  if ((turn.harmful & kAcsRequestRedirect) != 0) append_item(expected, "ReqRedir-", " ");
  if ((turn.harmful & kAcsCompletionRedirect) != 0) append_item(expected, "CmpltRedir-", " ");
  for (const auto& [bit, name] : kBits)
    if ((control & bit) != 0) append_item(observed, name, " ");
  if ((control & kAcsDirectTranslated) != 0)
    return good(bridge, observed + " (translated requests pass directly: ATS)", "no redirect, or direct translated");
  if (!node.topology.hypervisor.empty())
    return good(bridge, observed + " (a virtual bridge: the host controls the path)", "set by the host");
  const std::string meaning = "This switch port sends traffic between " + joined(turn.pairs) +
                              " through the root complex: GPUDirect loses half or more of its throughput.";
  if (turn.direct)
    return bad(Status::warning, bridge, observed, expected, meaning,
               "rdma_topo write-grub-acs (of rdma-core or DOCA), reboot, then rdma_topo check");
  return bad(Status::warning, bridge, observed, expected, meaning,
             "setpci -s " + bridge +
                 " ECAP_ACS+6.w=0000 && systemctl restart fabric-agent-pci; persistent: disable ACS in the firmware "
                 "setup, or add " +
                 lasting + ". Keep ACS if virtual machines get single devices.");
}

Finding not_read(const std::string& why) {
  return bad(Status::unknown, "host", "-", "no redirect on the bridges between GPUs and their NICs",
             "ACS redirect of GPUDirect traffic is unknown: " + why +
                 ". Reading it from PCI configuration space requires CAP_SYS_ADMIN.",
             "Refresh the PCI data: systemctl restart fabric-agent-pci");
}

void ask(const View& view, Findings& findings) {
  const Node& node = view.now;
  const std::map<std::string, Turn> bridges = turns_of(view);
  if (bridges.empty()) return;
  if (!node.pci_settings) {
    // A captured tree may contain devices without their bridges.
    const auto is_known = [&](const auto& each) { return function_of(node, each.first) != nullptr; };
    if (node.topology.hypervisor.empty() && std::ranges::any_of(bridges, is_known))
      findings.push_back(not_read("fabric-agent-pci.service has not run"));
    return;
  }
  size_t clear = 0;
  std::string unread;
  std::vector<std::string> redirecting;
  for (const auto& [bridge, turn] : bridges)
    if (!turn.direct && redirects(find_in(node.pci_settings->functions, bridge), turn)) redirecting.push_back(bridge);
  for (const auto& [bridge, turn] : bridges) {
    const PciSettings* published = find_in(node.pci_settings->functions, bridge);
    if (published == nullptr) unread = bridge + " was not read at " + node.pci_settings->updated;
    else if (redirects(published, turn))
      findings.push_back(redirected(node, bridge, *published->acs, turn, lasting_option(redirecting)));
    else if (!published->acs && !published->unread.empty()) unread = bridge + ": " + published->unread;
    else ++clear;
  }
  if (!unread.empty() && node.topology.hypervisor.empty()) findings.push_back(not_read(unread));
  else if (clear == bridges.size())
    findings.push_back(good("host", "no redirect on " + std::to_string(clear) + " bridges", "none"));
}

}  // namespace

extern const Check kAcsCheck{
    .id = "acs",
    .group = group::platform,
    .title = "ACS redirects traffic between a GPU and its NIC",
    .meaning =
        "ACS request and completion redirect on the downstream ports of a PCIe switch send every packet between GPU "
        "and NIC through the root complex. GPUDirect RDMA then loses half of its throughput or more, without any "
        "error. ACS redirect isolates devices that are passed to virtual machines; a kernel with an active IOMMU "
        "enables it at every boot, with iommu=pt too. Only the ports of the switch that a GPU and its NIC share are "
        "checked, as published by fabric-agent-pci.service. ACS redirect is harmless with direct translated P2P "
        "(DirectTrans+ and ATS). Between a GPU and a Data Direct function of ConnectX-8 (GB300), only request redirect "
        "of the NIC's port and completion redirect of the GPU's port harm, and rdma_topo sets the others.",
    .inspect = "lspci -vvv -s ADDRESS (ACSCtl); systemctl status fabric-agent-pci",
    .fix =
        "setpci -s ADDRESS ECAP_ACS+6.w=0000; systemctl restart fabric-agent-pci. To keep it off after a reboot, "
        "disable ACS in the firmware setup or add pci=disable_acs_redir=ADDRESS to the kernel command line.",
    .ask = ask,
};

}  // namespace fabric
