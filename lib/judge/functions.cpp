// SPDX-License-Identifier: Apache-2.0
// Limits that the host sets for virtual functions of its NICs, and that harm RDMA in a pod or a virtual machine.
#include "node/functions.h"

#include "judge/finding.h"
#include "judge/rule.h"

namespace fabric {
namespace {

// The parts of a finding about one physical function.
struct FunctionFaults {
  Status status = Status::ok;
  std::string observed, meanings, commands;

  void add(const PhysicalFunction& physical, const VirtualFunction& function, Status severity, const std::string& what,
           std::string_view meaning, const std::string& arguments) {
    constexpr size_t kShown = 8;
    status = std::max(status, severity);
    const std::string number = "VF " + std::to_string(function.limits.number);
    if (++count_ <= kShown) {
      append_item(observed, number + user_of(function) + ": " + what, "; ");
      append_item(commands,
                  "ip link set " + physical.netdev + " vf " + std::to_string(function.limits.number) + " " + arguments,
                  "; ");
    } else if (count_ == kShown + 1) {
      append_item(observed, "...", "; ");
      append_item(commands, "...", "; ");
    }
    if (meanings.find(meaning) == std::string::npos) append_item(meanings, std::string(meaning), " ");
  }

 private:
  static std::string user_of(const VirtualFunction& function) {
    if (function.elsewhere) return " (of a pod)";
    if (function.given_away) return " (of a virtual machine)";
    return {};
  }

  size_t count_ = 0;
};

bool carries_jobs(const VirtualFunction& function) {
  return function.has_rdma || function.elsewhere || function.given_away;
}

std::optional<uint32_t> speed_of(const Port& port) {
  if (port.speed && *port.speed > 0) return port.speed;
  if (!port.rate || *port.rate <= 0) return std::nullopt;
  return static_cast<uint32_t>(*port.rate * 8 / 1e6);
}

// Whether the limits of all functions together fill the port: it is shared on purpose.
bool share_the_port(const PhysicalFunction& physical, uint32_t speed) {
  constexpr double kWhole = 0.9;  // no source; configured limits are round numbers
  double sum = 0;
  for (const VirtualFunction& each : physical.functions) {
    if (each.limits.max_tx_rate == 0) return false;
    sum += each.limits.max_tx_rate;
  }
  return physical.functions.size() > 1 && sum >= kWhole * speed;
}

// A function that waits on the host for a pod may be disabled until then (the SR-IOV CNI does so on InfiniBand), and
// port-state reports one that the host uses.
void add_link_state(const PhysicalFunction& physical, const VirtualFunction& each, FunctionFaults& faults) {
  if (each.limits.link_state != VfLinkState::disable || (!each.elsewhere && !each.given_away)) return;
  faults.add(physical, each, each.elsewhere ? Status::critical : Status::warning, "link state disable",
             "A function whose link state is \"disable\" has no link, also while its port has one.", "state auto");
}

void add_rate(const PhysicalFunction& physical, const VirtualFunction& each, const Port& port, FunctionFaults& faults) {
  // A virtual machine gets the share that was sold.
  if (!each.has_rdma && !each.elsewhere) return;
  const auto speed = speed_of(port);
  const uint32_t most = each.limits.max_tx_rate;
  if (!speed || most == 0 || most >= *speed || share_the_port(physical, *speed)) return;
  faults.add(physical, each, Status::warning,
             "at most " + std::to_string(most) + " of " + std::to_string(*speed) + " Mb/s",
             "The NIC sends no more than max_tx_rate for a function, RDMA included: collectives wait for it.",
             "max_tx_rate 0");
}

// The tag of a port VLAN replaces the priority that the function chose. It decides wherever tags are trusted.
void add_priority(const PhysicalFunction& physical, const VirtualFunction& each, const Port& port,
                  const std::optional<PrioSet>& lossless, FunctionFaults& faults) {
  const VfLimits& limits = each.limits;
  if (limits.vlan == 0 || port.qos.trust != Trust::pcp || !lossless || lossless->bits == 0 ||
      lossless->has(static_cast<int>(limits.vlan_priority)))
    return;
  int first = 0;
  while (!lossless->has(first)) ++first;
  faults.add(physical, each, Status::warning,
             "VLAN " + std::to_string(limits.vlan) + " with priority " + std::to_string(limits.vlan_priority) +
                 ", PFC on " + to_text(*lossless),
             "The port trusts the priority in the VLAN tag, and the VLAN of the host gives every frame of the function "
             "this priority: PFC does not protect its RoCE.",
             "vlan " + std::to_string(limits.vlan) + " qos " + std::to_string(first));
}

std::optional<Finding> ask_vf_limits(const View& view, const Port& port) {
  const PhysicalFunction* physical = find_in(view.now.network.physical_functions, port.pci);
  if (physical == nullptr || is_virtual(port)) return std::nullopt;
  // The other ports of the function have the same virtual ones.
  const Port* first =
      find_where(view.now.ports, [&](const Port& each) { return each.pci == port.pci && !is_virtual(each); });
  if (first != &port || physical->functions.empty()) return std::nullopt;
  std::optional<PrioSet> lossless = port.qos.pfc;
  if (const PortPolicy* policy = policy_of(view, port); !lossless && policy != nullptr) lossless = policy->want.pfc;
  FunctionFaults faults;
  size_t used = 0;
  for (const VirtualFunction& each : physical->functions) {
    if (!carries_jobs(each)) continue;
    ++used;
    add_link_state(*physical, each, faults);
    add_rate(*physical, each, port, faults);
    add_priority(*physical, each, port, lossless, faults);
  }
  const std::string expected = "no limit that slows or stops RDMA";
  if (faults.status == Status::ok)
    return good(port.id(),
                counted(physical->functions.size(), "virtual function") + ", " + std::to_string(used) +
                    " in use, without such a limit",
                expected);
  return bad(faults.status, port.id(), faults.observed, expected, faults.meanings,
             "Correct the limit in the configuration of the SR-IOV CNI or operator (link_state, max_tx_rate, vlan, "
             "vlanQoS), or in the script that creates the functions. Until then: " +
                 faults.commands);
}

}  // namespace

constexpr Rule kVfLimits{
    .id = "vf-limits",
    .group = group::link,
    .title = "The host stops or slows a virtual function that carries RDMA",
    .meaning =
        "Reads on the host the limits (`ip link set PF vf N`) of each virtual function that has an RDMA device here, "
        "is in a pod, or belongs to a virtual machine. Reported: link state \"disable\" of a function that was passed "
        "on; "
        "max_tx_rate of a function of this host or of a pod below the speed of the port, unless the limits of all "
        "functions together fill the port; a VLAN "
        "whose priority has no PFC, while the port trusts the priority in the tag. Pods and virtual machines cannot "
        "see any of these.",
    .inspect = "ip -details link show NETDEV",
    .fix = "ip link set NETDEV vf N state auto max_tx_rate 0, or the same in the configuration of the SR-IOV CNI.",
    .ask_port = ask_vf_limits,
};

constexpr Rule kTable[]{kVfLimits};
const std::span<const Rule> kFunctionRules = kTable;

}  // namespace fabric
