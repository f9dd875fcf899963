// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checks/checks.h"
#include "model/finding.h"
#include "topology/pcie_path.h"
#include "topology/platform.h"

namespace fabric {
namespace {

constexpr uint16_t kRedirect = kAcsRequestRedirect | kAcsCompletionRedirect;

std::string control_text(uint16_t control) {
  constexpr std::pair<uint16_t, std::string_view> kBits[] = {{kAcsSourceValidation, "SrcValid+"},
                                                             {kAcsRequestRedirect, "ReqRedir+"},
                                                             {kAcsCompletionRedirect, "CmpltRedir+"},
                                                             {kAcsUpstreamForwarding, "UpstreamFwd+"},
                                                             {kAcsDirectTranslated, "DirectTrans+"}};  // lspci's words
  std::string out;
  for (const auto& [bit, name] : kBits)
    if ((control & bit) != 0) out.append(out.empty() ? "" : " ").append(name);
  return out.empty() ? "off" : out;
}

// The bridges on the way of each pair that shares a switch, and the pairs on it: "GPU0 and mlx5_0".
std::map<std::string, std::vector<std::string>> bridges_of_pairs(const Node& node) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [gpu, nic] : gpu_nic_pairs(node))
    for (const std::string& bridge : bridges_between(*gpu, *nic))
      out[bridge].push_back(gpu->name + " and " + nic->name);
  return out;
}

Finding redirected(const Node& node, const std::string& bridge, uint16_t control,
                   const std::vector<std::string>& pairs) {
  const std::string observed = control_text(control);
  if ((control & kAcsDirectTranslated) != 0)
    return good(bridge, observed + " (translated requests pass directly: ATS)", "no redirect, or direct translated");
  if (!node.topology.hypervisor.empty())
    return good(bridge, observed + " (a virtual bridge: the host decides which way traffic takes)",
                "as the host has it");
  return bad(
      Status::warning, bridge, observed, "ReqRedir- CmpltRedir-",
      "This switch port sends what passes between " + joined(pairs) +
          " up to the root complex and back instead of directly: GPUDirect loses a half or more of its throughput.",
      "Switch it off with setpci -s " + bridge +
          " ECAP_ACS+6.w=0000 and at every boot (firmware setup, or pci=disable_acs_redir= on the kernel's command "
          "line), "
          "then systemctl restart fabric-agent-pci; only a machine that gives single devices to virtual machines needs "
          "it.");
}

Finding not_read(const std::string& why) {
  return bad(Status::unknown, "host", "-", "no redirect on the bridges between GPUs and their NICs",
             "Whether ACS redirects GPUDirect traffic is not known: " + why +
                 ". It stands in PCI configuration space, which takes CAP_SYS_ADMIN to read.",
             "Let the privileged reader look: systemctl restart fabric-agent-pci.");
}

// A captured tree may hold devices and nothing more of them.
bool knows_bridges(const Node& node, const std::map<std::string, std::vector<std::string>>& bridges) {
  for (const auto& [bridge, pairs] : bridges)
    if (function_of(node, bridge) != nullptr) return true;
  return false;
}

}  // namespace

// Only where GPU and NIC share a switch: everything else passes through the root complex anyway.
void ask_acs(const View& view, Findings& findings) {
  const Node& node = view.now;
  const auto bridges = bridges_of_pairs(node);
  if (bridges.empty()) return;
  if (!node.pci_settings) {
    if (node.topology.hypervisor.empty() && knows_bridges(node, bridges))
      findings.push_back(not_read("fabric-agent-pci.service has not run"));
    return;
  }
  size_t clear = 0;
  std::string unread;
  for (const auto& [bridge, pairs] : bridges) {
    const auto published = node.pci_settings->functions.find(bridge);
    if (published == node.pci_settings->functions.end()) {
      unread = bridge + " is not among what it read at " + node.pci_settings->updated;
    } else if (published->second.acs.value_or(0) & kRedirect) {
      findings.push_back(redirected(node, bridge, *published->second.acs, pairs));
    } else if (!published->second.acs && !published->second.unread.empty()) {
      unread = bridge + ": " + published->second.unread;
    } else {
      ++clear;
    }
  }
  if (!unread.empty() && node.topology.hypervisor.empty()) findings.push_back(not_read(unread));
  else if (clear == bridges.size())
    findings.push_back(good("host", "no redirect on " + std::to_string(clear) + " bridges", "none"));
}

}  // namespace fabric
