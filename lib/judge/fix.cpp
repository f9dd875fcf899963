// SPDX-License-Identifier: Apache-2.0
#include "judge/fix.h"

#include "base/parse.h"
#include "nic/capabilities.h"
#include "node/node.h"

namespace fabric {
namespace {

std::string text_of(const auto& steps) {
  std::string out;
  for (const auto& step : steps) out += step.text;
  return out;
}

// InfiniBand has no netdev: commands that need one, and the commands that show the same there.
constexpr std::pair<std::string_view, std::string_view> kInfinibandWords[] = {
    {"ethtool -m {netdev}", "mlxlink -d {device} -m"},
    {"ethtool -S {netdev}", "perfquery -x -C {device} -P {port}"},
    {"ethtool {netdev}", "ibportstate -C {device} -P {port} -D 0 {port} query"},
    {"ip link show dev {netdev}", "ibstat {device} {port}"},
    {"ip link set {netdev} up", "ibportstate -C {device} -P {port} -D 0 {port} enable"},
    {"ip link set {netdev}", "ip link set NETDEV"},
    {"dev {netdev}", "dev NETDEV"},
};

// A RoCE port whose netdev is missing or in another network namespace: the same by the RDMA device. Each command of
// this program takes the port.
constexpr std::pair<std::string_view, std::string_view> kWordsWithoutNetdev[] = {
    {"fabric-agentctl diagnose {netdev}", "fabric-agentctl diagnose {rdma}"},
    {"--port {netdev}", "--port {rdma}"},
    {"ip link show dev {netdev}", "rdma link show {rdma}"},
    {"ethtool {netdev}", "ibstat {device} {port}"},
    {"of {netdev}", "of {rdma}"},
    {"on {netdev}", "on {rdma}"},
    {"whether {netdev}", "whether {rdma}"},
};
constexpr std::string_view kModuleOfNetdev = "ethtool -m {netdev}";

constexpr std::string_view kReload = "devlink dev reload pci/{pci}", kActivate = " action fw_activate";

}  // namespace

std::string FixRow::text() const { return text_of(*this); }

Fix::Fix(Work work, std::string text) {
  if (!text.empty()) steps.emplace_back(work, std::move(text));
}

Fix& Fix::operator+=(Step step) {
  steps.push_back(std::move(step));
  return *this;
}

bool Fix::empty() const { return std::ranges::all_of(steps, &std::string::empty, &Step::text); }

std::string Fix::text() const { return text_of(steps); }

std::string fill_names(std::string_view text, const Port* port, const std::string& subject, const std::string& peer) {
  std::string out(text);
  // Its function is that of the NIC, whose reload would end the jobs of all others.
  if (port != nullptr && is_subfunction(*port)) replace_all(out, "pci/{pci}", "auxiliary/" + port->owner);
  if (port != nullptr && port->link_layer == LinkLayer::infiniband) {
    for (const auto& [ethernet, infiniband] : kInfinibandWords) replace_all(out, ethernet, infiniband);
    replace_all(out, "{device}", port->rdma);
    replace_all(out, "{port}", std::to_string(port->number));
  } else if (port == nullptr || port->netdev.empty()) {
    if (port != nullptr)
      if (const std::string_view command = capabilities_of(port->kernel_driver).module_command; !command.empty())
        replace_all(out, kModuleOfNetdev, command);
    for (const auto& [with, without] : kWordsWithoutNetdev)
      if (port != nullptr || without.find("{device}") == std::string_view::npos) replace_all(out, with, without);
    if (port != nullptr) replace_all(out, "{device}", port->rdma);
    if (port != nullptr) replace_all(out, "{port}", std::to_string(port->number));
    replace_all(out, "{netdev}", "NETDEV");
  }
  if (port != nullptr && !port->pci.empty() && !port->kernel_driver.empty() &&
      !capabilities_of(port->kernel_driver).devlink_reload) {
    const std::string rebind = rebind_commands(port->pci, port->kernel_driver);
    replace_all(out, std::string(kReload).append(kActivate), rebind);
    replace_all(out, kReload, rebind);
  }
  std::string netdev = subject, rdma = subject, pci = subject;
  if (port != nullptr) {
    netdev = port->netdev.empty() ? port->rdma : port->netdev;  // of InfiniBand, for the commands of this program
    rdma = port->rdma + "/" + std::to_string(port->number);
    pci = port->pci.empty() ? "PCI_ADDRESS" : port->pci;
  }
  replace_all(out, "{netdev}", netdev);
  replace_all(out, "{rdma}", rdma);
  replace_all(out, "{pci}", pci);
  replace_all(out, "{peer}", peer);
  return out;
}

Fix fix_of(const FixRow& row, const Port* port, const std::string& subject, const std::string& peer) {
  Fix out(row);
  for (Step& step : out.steps) step.text = fill_names(step.text, port, subject, peer);
  return out;
}

std::string rebind_commands(const std::string& pci, const std::string& driver) {
  const std::string folder = "/sys/bus/pci/drivers/" + (driver.empty() ? "DRIVER" : driver);
  // Not "&&": after a failed probe no driver is bound, and unbinding fails.
  return "echo " + pci + " > " + folder + "/unbind; echo " + pci + " > " + folder + "/bind";
}

Fix fix_of_suspension(const AgentState& agent) {
  if (agent.held_until_reload.empty()) return "End the suspension: " + agent.held;
  return {"End the suspension: " + agent.held_until_reload, {Work::service, kEnforceAnyway}};
}

}  // namespace fabric
