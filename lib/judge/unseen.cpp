// SPDX-License-Identifier: Apache-2.0
#include "judge/unseen.h"

#include <limits>
#include <set>

#include "judge/platform_view.h"
#include "judge/rule.h"
#include "nic/capabilities.h"
#include "nic/counter_row.h"
#include "node/endpoints.h"

namespace fabric {

// Devices of containers: rdma system set netns exclusive; SR-IOV and RDMA CNI.

std::vector<std::string> devices_elsewhere(const Node& node) {
  std::vector<std::string> out;
  for (const Nic& nic : node.topology.nics)
    for (const std::string& device : nic.elsewhere) {
      const InventoryPart* part = node.inventory ? node.inventory->find(nic.pci) : nullptr;
      if (device != nic.pci) out.push_back(device + " (" + nic.pci + ")");
      else if (part != nullptr && part->rdma.size() == 1) out.push_back(part->rdma.front() + " (" + nic.pci + ")");
      else out.push_back(nic.pci);
    }
  return out;
}

namespace {

constexpr Limit kLargestMessage{
    kUnseenTrafficId,
    "largest_message",
    67'108'864,
    "bytes of a request (RDMA WRITE)",
    "ours: NCCL's buffers are 4 MiB (NCCL_BUFFSIZE); a job that registers its own sends up to 1 GiB",
    1e3,
    1e9};

constexpr std::string_view kInContainer =
    "Check each container as root, PID being one of its processes: fabric-agentctl check --root /proc/PID/root; or run "
    "fabric-agentctl check in the container. RDMA namespaces: rdma system show; lsns -t net";

constexpr std::string_view kOnHost =
    "Run fabric-agentctl check on the host, which names the devices of its containers. RDMA namespaces: rdma system "
    "show";

Finding unjudged(std::string subject, std::string observed, std::string expected, std::string meaning,
                 std::string remedy) {
  Finding out = bad(Status::ok, std::move(subject), std::move(observed), std::move(expected), std::move(meaning),
                    std::move(remedy));
  out.unjudged = true;
  return out;
}

std::optional<Finding> ask_other_namespaces(const View& view) {
  const std::vector<std::string> elsewhere = devices_elsewhere(view.now);
  std::set<std::string> here;
  std::vector<std::string> without_netdev, not_given;
  bool has_wire = false;  // one of them
  for (const Port& port : view.now.ports) {
    here.insert(port.rdma);
    if (is_endpoint(port) && !is_roce(port) && belongs_elsewhere(view.now, port)) not_given.push_back(port.id());
    const Nic* nic = nic_at(view.now.topology, port.pci);
    if (nic != nullptr && nic->netdev_elsewhere && port.netdev.empty() && port.link_layer == LinkLayer::ethernet &&
        !has_address_here(view.now, port))
      without_netdev.push_back(port.id()), has_wire = has_wire || !is_virtual(port);
  }
  for (const Nic& nic : view.now.topology.nics) here.insert(nic.rdma.begin(), nic.rdma.end());
  const std::string all = counted(here.size() + elsewhere.size(), "RDMA device");
  std::string expected = "none in other network namespaces";
  if (here.empty() && elsewhere.empty()) return std::nullopt;
  std::string observed, meaning;
  if (!elsewhere.empty()) {
    observed = std::to_string(elsewhere.size()) + " of " + all + " ";
    if (elsewhere.size() == 1) observed += "is in another network namespace and is not judged here: ";
    else observed += "are in other network namespaces and are not judged here: ";
    observed += joined(elsewhere);
    meaning = "Containers have these devices: their state, GIDs and counters are visible there alone.";
    if (is_container(view.now))
      meaning =
          "This is a container: the host or its other containers have these devices, and their state, GIDs and "
          "counters are visible there alone.";
  }
  if (!without_netdev.empty()) {
    std::string netdevs = "the netdevs of " + joined(without_netdev) + " are in other network namespaces";
    if (without_netdev.size() > 1)
      netdevs = "the netdevs of " + std::to_string(without_netdev.size()) + " of " +
                counted(view.now.ports.size(), "port") +
                " are in other network namespaces and are not judged here: " + joined(without_netdev);
    append_item(observed, netdevs, "; ");
    append_item(meaning,
                has_wire
                    ? "Settings, addresses, PFC counters and the cable of a port whose netdev is elsewhere are not "
                      "judged here."
                    : "Addresses, GIDs and counters of functions whose netdevs are elsewhere are not judged here.",
                " ");
  }
  if (!not_given.empty()) {
    if (observed.empty()) expected = "a device file of each port in /dev/infiniband";
    append_item(observed,
                std::to_string(not_given.size()) + " of " + counted(view.now.ports.size(), "port") +
                    (not_given.size() == 1 ? " has" : " have") + " no device file here: " + joined(not_given),
                "; ");
    append_item(meaning, "This container was not given them: no program in it can open their devices.", " ");
  }
  if (observed.empty()) return good(kHostSubject, all + ", all in this network namespace", expected);
  return unjudged(kHostSubject, observed, expected, meaning,
                  std::string(is_container(view.now) ? kOnHost : kInContainer));
}

}  // namespace

constexpr Rule kOtherNamespaces{
    .id = "other-namespaces",
    .group = group::device,
    .title = "RDMA devices are in other network namespaces",
    .meaning =
        "In the exclusive mode of RDMA (rdma system) a device belongs to one network namespace, which alone shows its "
        "state, GIDs and counters; in the shared mode only its netdev moves. The verdict does not cover them, and says "
        "so. Devices are named by their class infiniband_verbs, which has no namespace, else by the inventory, else by "
        "the PCI function. A port whose own netdev is elsewhere is judged by the GIDs of netdevs above it (macvlan) "
        "that "
        "are here. An InfiniBand or EFA device without a file in /dev/infiniband, where others have theirs, was not "
        "given "
        "to this container. Reading a container through /proc/PID/root requires root (CAP_SYS_PTRACE), so no service "
        "of "
        "fabric-agent does it.",
    .inspect = "rdma system show; lsns -t net; grep . /sys/class/infiniband_verbs/*/ibdev",
    .ask_host = ask_other_namespaces,
};

// Queue pairs that are not counted.

constexpr Limit kObservable{kUnseenTrafficId, "observable", 0.9, "of the RDMA bytes received", "ours", 0, 1};

std::optional<Observable> observable_rdma(const RulePolicy& policy, const Port& port, const Signals& signals) {
  if (!capabilities_of(port.kernel_driver).counts_by_queue_pair || !signals.requests) return std::nullopt;
  Observable out{.bytes = rise(signals.rx_bytes), .requests = *signals.requests};
  constexpr double kShareOfSent = 0.1;  // ours: fewer bytes may be answers to this port's own requests
  if (out.bytes < limit_of(policy, kMuchTraffic) || out.bytes < kShareOfSent * rise(signals.tx_bytes))
    return std::nullopt;
  out.ratio = std::min(1.0, out.requests * limit_of(policy, kLargestMessage) / out.bytes);
  return out;
}

namespace {

// Whether processes have registered memory on the device and the kernel knows no queue pair.
bool has_no_queue_pairs(const Port& port) {
  std::optional<uint64_t> memory, pairs;
  for (const ResourceCount& each : port.resources) {
    if (each.owner != "user") continue;
    if (each.kind == "mr") memory = each.count;
    if (each.kind == "qp") pairs = each.count;
  }
  return memory.value_or(0) > 0 && pairs == 0u;
}

std::optional<Finding> ask_unseen_traffic(const View& view, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || !is_endpoint(port) || !capabilities_of(port.kernel_driver).counts_by_queue_pair)
    return std::nullopt;
  const std::string expected = "RDMA received by queue pairs that are counted";
  const auto seen = observable_rdma(rule_policy(view), port, *signals);
  if (!seen) return good(port.id(), "little RDMA received, or no counter of requests", expected);
  if (seen->ratio >= limit_of(view, kObservable)) return good(port.id(), "RDMA requests are counted", expected);
  std::string observed = "of " + number_text(seen->bytes / 1e9) + " GB RDMA received, at most " + percent(seen->ratio) +
                         " belongs to queue pairs that are counted (" + number_text(seen->requests) + " requests)";
  std::string meaning =
      "The RDMA counters of loss, retransmission and RNR do not cover the rest: queue pairs that a library makes for "
      "GPUs (DEVX: NVSHMEM IBGDA, NCCL GIN, DeepEP, MORI) are not counted.";
  if (seen->requests == 0 && has_no_queue_pairs(port))
    observed += "; processes have registered memory, and no queue pair that the kernel knows";
  else
    meaning += " Sends, and READ responses of this host, are not counted as requests: they are counted if they fail.";
  return unjudged(port.id(), observed, expected, meaning,
                  "Judge this traffic by the port: PFC, discards and bytes by priority (fabric-agentctl counters), and "
                  "by the errors in the job's log (fabric-agentctl explain --log FILE). From Linux 6.15 on, "
                  "optional_counters in the policy count its bytes (rdma_rx_bytes, rdma_tx_bytes)");
}

constexpr Rule kUnseenTraffic{
    .id = kUnseenTrafficId,
    .group = group::counters,
    .title = "RDMA traffic is not covered by the RDMA counters",
    .meaning =
        "Compares the RDMA bytes that the port received with the requests that its hardware counters counted (mlx5). A "
        "queue pair that a library makes for GPUs through DEVX has no counter set: its loss, retransmissions and RNR "
        "are in no counter of this host. The verdict says how much of the traffic it covers at most.",
    .inspect = "fabric-agentctl counters; rdma resource show; rdma statistic show link RDMADEV/1",
    .limits = {&kObservable, &kLargestMessage, &kMuchTraffic},
    .ask_port = ask_unseen_traffic,
};

// Counters that have reached the end of their field.

// The greatest value of its field, at which a counter of ports/N/counters stops. Data and packets have 32 bits on a
// port without extended counters.
bool is_full(const Counter& counter) {
  if (counter.row == nullptr) return false;
  if (counter.bits < 64) return counter.value == (uint64_t{1} << counter.bits) - 1;
  return counter.value == std::numeric_limits<uint32_t>::max();
}

Finding full_finding(const Port& port) {
  const std::string expected = "no counter at the end of its field";
  std::string full;
  for (const Counter& counter : port.counters.pma)
    if (is_full(counter)) append_item(full, std::string(counter.name.text()) + " " + std::to_string(counter.value));
  if (full.empty()) return good(port.id(), "no counter is full", expected);
  std::string fix = "Note the values, then reset the counters of the port: ";
  if (port.link_layer == LinkLayer::infiniband)
    fix += "perfquery -R -C " + port.rdma + " -P " + std::to_string(port.number) +
           " (Omni-Path: opapmaquery -o clearportstatus)";
  else fix += "they start again when the driver is loaded again, with the next restart of the node";
  return unjudged(
      port.id(), "counters that are full and count no more, until they are reset: " + full, expected,
      "These counters stop at the greatest value of their field. Whether such events happen now is unknown: "
      "no new ones are counted, and the values are those of all time since the last reset.",
      std::move(fix));
}

// Whether data and packets of an InfiniBand port may stop at 32 bits. The kernel shows the counters of unicast packets
// only for a NIC with all of PortCountersExtended (get_counter_table() in drivers/infiniband/core/sysfs.c, Linux 6.12).
// A NIC with the part without them has the same files as one with neither, and only a greater value distinguishes them.
bool may_lack_extended_counters(const Port& port) {
  if (port.link_layer != LinkLayer::infiniband) return false;
  bool has_packets = false;
  for (const Counter& counter : port.counters.pma) {
    if (counter.row == nullptr) continue;
    const Metric* metric = counter.row->metric;
    if (metric == &metrics::kPortUnicast) return false;
    if (metric != &metrics::kPortPackets && metric != &metrics::kPortBytes) continue;
    if (counter.value > std::numeric_limits<uint32_t>::max()) return false;
    has_packets = true;
  }
  return has_packets;
}

void ask_counter_full(const View& view, Findings& findings) {
  std::string narrow;
  const Port* first = nullptr;
  for (const Port& port : view.now.ports) {
    if (!is_own_device(port) || port.counters.pma.empty()) continue;
    findings.push_back(full_finding(port));
    // A full counter is named with its port.
    if (findings.back().unjudged || !may_lack_extended_counters(port)) continue;
    append_item(narrow, port.id());
    if (first == nullptr) first = &port;
  }
  if (first == nullptr) return;
  findings.push_back(unjudged(
      kHostSubject, "counters of data and packets that may have 32 bits: " + narrow, "64 bits (PortCountersExtended)",
      "These NICs show no counters of unicast packets: they lack PortCountersExtended, or a part of it. With 32 bits, "
      "port_rcv_data and port_xmit_data stop after 17 GB, and the traffic of the port is not judged from then on.",
      "Ask a NIC whether it has them: perfquery -x -C " + first->rdma + " -P " + std::to_string(first->number)));
}

}  // namespace

constexpr Rule kCounterFull{
    .id = "counter-full",
    .group = group::counters,
    .title = "Counters of the port are full and count no more",
    .meaning =
        "The counters of ports/N/counters have 4, 8, 16 or 32 bits on InfiniBand (link_downed 8, symbol_error 16, "
        "port_xmit_wait 32), and stop at the greatest value. Then no new event of this kind is counted: diagnose and "
        "the checks of these counters cannot see it until the counter is reset. The verdict says which counters that "
        "are. A NIC without PortCountersExtended has 32 bits for data and packets, too: the verdict names its ports.",
    .inspect = "grep . /sys/class/infiniband/RDMADEV/ports/1/counters/*; perfquery -C RDMADEV -P 1",
    .ask = ask_counter_full,
};

constexpr Rule kTable[]{kOtherNamespaces, kUnseenTraffic, kCounterFull};
const std::span<const Rule> kUnseenRules = kTable;

}  // namespace fabric
