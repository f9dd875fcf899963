// SPDX-License-Identifier: Apache-2.0
// The NIC as a device: its transport, counters that do not count, devlink health reporters.
#include <cmath>
#include <set>

#include "base/find.h"
#include "judge/port_context.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "nic/vnic.h"
#include "node/counters.h"
#include "node/endpoints.h"
#include "node/vnic_state.h"

namespace fabric {

namespace {

using enum Measure;

// The number of counters in both readings. `moved` becomes true if one of them changed.
double count_common(const std::vector<Counter>& before, const std::vector<Counter>& now, bool& moved) {
  double counters = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const Counter* old = find_earlier(before, now, i);
    if (old == nullptr) continue;
    ++counters;
    moved = moved || old->value != now[i].value;
  }
  return counters;
}

// The port's counters include RDMA of other functions, which count it themselves: virtual functions, subfunctions, or
// a function of the same card in another slot (socket direct, multi-host).
bool shares_its_wire(const View& view, const Port& port) {
  const auto& nics = view.now.topology.nics;
  const bool is_bare_metal = !view.now.topology.is_guest();
  if (const Nic* own = nic_at(view.now.topology, port.pci); own != nullptr) {
    if (own->subfunctions) return true;
    for (const Nic& nic : nics) {
      if (nic.is_virtual_function() && nic.root == own->root && nic.bridges == own->bridges) return true;
      if (is_bare_metal && !nic.card.empty() && nic.card == own->card && card_of(nic.pci) != card_of(own->pci))
        return true;
    }
  }
  return std::ranges::any_of(view.now.ports, [&](const Port& other) {
    return is_virtual(other) && !port.pci.empty() && other.pci == port.pci;
  });
}

// The priorities with PFC; on a fabric without PFC the one of the policy.
PrioSet priorities_of_roce(const View& view, const Port& port) {
  if (port.qos.pfc && port.qos.pfc->bits != 0) return *port.qos.pfc;
  const PortPolicy* policy = policy_of(view, port);
  if (policy == nullptr || !policy->fabric.is_lossy() || !policy->traffic) return {};
  return PrioSet{static_cast<uint8_t>(1u << policy->traffic->priority)};
}

std::optional<Measured> read_frozen_counters(const View& view, const RuleWindow&, const Port& port) {
  constexpr double kEnoughCounters = 4;  // ours
  const Signals* signals = signals_of_port(view, port);
  const Port* before = port_before(view, port);
  if (signals == nullptr || before == nullptr || !is_own_device(port) || shares_its_wire(view, port))
    return std::nullopt;
  // RDMA needs a registered memory region. Without one, the bytes belong to other traffic, such as NVMe over TCP with
  // PFC.
  for (const ResourceCount& each : port.resources)
    if (each.kind == "mr" && each.owner.empty() && each.count == 0) return std::nullopt;
  bool moved = false;
  const double counters = count_common(before->counters.hw, port.counters.hw, moved) +
                          count_common(before->counters.pma, port.counters.pma, moved);
  if (counters < kEnoughCounters || (!signals->rx_bytes && !signals->tx_bytes)) return std::nullopt;
  // RoCE's bytes, by the port's own counters. Priority 0 carries all unclassified traffic and is left out.
  const PrioSet roce = priorities_of_roce(view, port);
  double bytes = 0;
  for (size_t i = 1; i < signals->priority.size(); ++i)
    if (roce.has(i)) bytes += signals->priority[i].rx_bytes.value_or(0) + signals->priority[i].tx_bytes.value_or(0);
  if (moved || bytes < limit_of(view, kMuchTraffic))
    return Measured{port.id(), 0, 0, number_text(counters) + " RDMA counters live"};
  return Measured{port.id(), 1, 0,
                  number_text(bytes / 1e6) + " MB on the priorities of RoCE, and none of " + number_text(counters) +
                      " RDMA counters moved"};
}

void read_stale_readings(const View& view, const RuleWindow& /*rule*/, MeasuredList& out) {
  if (view.health == nullptr) return;
  for (const auto& [port, age] : view.health->ages)
    out.push_back({port, age, 0, "last successful reading " + number_text(std::round(age)) + " s ago"});
}

std::optional<Measured> read_device_errors(const View& view, const RuleWindow&, const Port& port) {
  const Port* before = port_before(view, port);
  if (before == nullptr || !is_own_device(port) || port.reporters.empty()) return std::nullopt;
  Measured reading{port.id(), 0, window_of(view)};
  for (const HealthReporter& now : port.reporters)
    for (const HealthReporter& old : before->reporters)
      if (old.name == now.name && now.errors > old.errors) {
        reading.amount += static_cast<double>(now.errors - old.errors);
        append_item(
            reading.evidence,
            now.name + ": " + counted(now.errors - old.errors, "new error") + ", " +
                amount_text(std::to_string(now.recoveries - std::min(old.recoveries, now.recoveries)), "recoveries"));
      }
  if (reading.evidence.empty()) reading.evidence = "no new errors, " + counted(port.reporters.size(), "reporter");
  return reading;
}

std::optional<Measured> read_queue_faults(const View& view, const RuleWindow&, const Port& port) {
  const Port* before = port_before(view, port);
  if (before == nullptr || !state::has_counted_queues(port)) return std::nullopt;
  Measured reading{port.id(), 0, window_of(view)};
  std::string so_far;
  bool any = false;
  for (const HealthReporter& now : port.reporters)
    for (const HealthReporter& old : before->reporters)
      for (const VnicFault& fault : kVnicFaults) {
        const std::string text(fault.text);
        const auto* count = find_in(now.diagnosis, std::string(fault.counter));
        const auto* was = find_in(old.diagnosis, std::string(fault.counter));
        if (now.name != old.name || count == nullptr || was == nullptr) continue;
        any = true;
        if (*count > 0) append_item(so_far, std::to_string(*count) + " " + text);
        if (*count <= *was) continue;
        reading.amount += static_cast<double>(*count - *was);
        append_item(reading.evidence, std::to_string(*count - *was) + " " + text);
      }
  if (!any) return std::nullopt;
  if (reading.evidence.empty())
    reading.evidence = so_far.empty() ? "none" : "none now; since the driver loaded: " + so_far;
  return reading;
}

// The state of a reporter without a recovery means that there was an error, not that there still is one:
// devlink_health_report() sets it, and only a recovery or the driver itself resets it (net/devlink/health.c).
std::optional<Measured> read_device_state(const View&, const RuleWindow&, const Port& port) {
  if (!is_own_device(port) || port.reporters.empty()) return std::nullopt;
  Measured reading{port.id()};
  for (const HealthReporter& reporter : port.reporters) {
    if (reporter.healthy) continue;
    append_item(reading.evidence, reporter.name);
    if (reporter.recovers) {
      reading.amount = 2;
      continue;
    }
    reading.amount = std::max(reading.amount, 1.0);
    reading.evidence += " (until the driver is loaded again)";
  }
  if (reading.evidence.empty()) reading.evidence = counted(port.reporters.size(), "reporter") + " healthy";
  else reading.evidence = "in error: " + reading.evidence;
  return reading;
}

constexpr Limit kFullest{"rdma-resources", "fullest", 0.9, "share of the objects that the device can have",
                         "ours",           0.1,       1};

// The words of rdma-resource(8), as a reader of an application's error knows them.
constexpr std::pair<std::string_view, std::string_view> kObjects[]{{"qp", "queue pairs"},
                                                                   {"cq", "completion queues"},
                                                                   {"mr", "memory regions"},
                                                                   {"pd", "protection domains"},
                                                                   {"srq", "shared receive queues"}};

// The device's limits, at its first port.
void ask_rdma_resources(const View& view, Findings& findings) {
  std::set<std::string_view> seen;
  for (const Port& port : view.now.ports) {
    if (port.is_member() || !seen.insert(port.rdma).second) continue;
    std::string text, full, commands;
    for (const ResourceCount& each : port.resources) {
      if (!each.owner.empty() || !each.most || *each.most == 0) continue;
      const double share = static_cast<double>(each.count) / static_cast<double>(*each.most);
      const auto* known = find_where(kObjects, [&](const auto& object) { return object.first == each.kind; });
      const std::string line = (known != nullptr ? std::string(known->second) : each.kind) + " " +
                               number_text(std::floor(share * 100)) + " % used (" + std::to_string(each.count) +
                               " of " + std::to_string(*each.most) + ")";
      if (share >= limit_of(view, kFullest)) {
        append_item(full, line);
        append_item(commands, "rdma resource show " + each.kind + " dev " + port.rdma, "; ");
      } else if (text.empty() && each.kind == "qp") {
        text = line;
      }
    }
    const std::string expected = "less than " + number_text(limit_of(view, kFullest) * 100) + " %";
    if (!full.empty())
      findings.push_back(bad(Status::warning, port.id(), full, expected,
                             "When the device has no more of them, the next job fails with \"Cannot allocate memory\".",
                             "Find the processes that hold them: " + commands + ". End those of jobs that are over."));
    else if (!text.empty()) findings.push_back(good(port.id(), text, expected));
  }
}

constexpr Measurement kCountersFrozenWindows[]{
    {.window = {"frozen_counters", level, WindowLimits{1, kNever, 0, 30, 30},
                "1: RDMA traffic, and no RDMA counter moves", "ours", "RDMA counters move with the traffic"},
     .transport = true,
     .meaning = "RDMA traffic flows and no RDMA counter moves: findings that rely on this port's counters are void.",
     .remedy = {"Read the kernel log: journalctl -k -g {pci}. ",
                {Work::ends_jobs | Work::when_idle,
                 "Reload the driver when no job runs: devlink dev reload pci/{pci}"}},
     .read_port = read_frozen_counters},
    {.window = {"stale_readings", level, WindowLimits{60, kNever, 0, 0, 0}, "seconds since the last successful reading",
                "ours", "read within the last minute"},
     .meaning = "The port's counters cannot be read: the firmware hangs, or the driver waits for it.",
     .remedy = {"Read the kernel log: journalctl -k -g {pci}. ",
                {Work::ends_jobs | Work::when_idle,
                 "Reset the device when no job runs: devlink dev reload pci/{pci} action fw_activate"}},
     .read = read_stale_readings},
};

constexpr Measurement kDeviceHealthWindows[]{
    {.window = {"device_errors", count, WindowLimits{1, kNever, 10 * kMinute, 0, 0},
                "errors counted by devlink health reporters", "devlink-health(7)", "no new errors"},
     .transport = true,
     .meaning = "The NIC's driver reported errors of firmware or queues and recovered from them.",
     .remedy = {"Save the dump for the vendor: devlink health show pci/{pci}, then devlink health dump show pci/{pci} "
                "reporter NAME. ",
                {Work::ends_jobs | Work::when_idle, "Update the firmware when no job runs."}},
     .read_port = read_device_errors},
    {.window = {"queue_faults", count, WindowLimits{1, kNever, 10 * kMinute, 0, 0},
                "queues in error or overrun, as the devlink health reporter vnic counts them",
                "Documentation/networking/devlink/mlx5.rst of Linux 6.12", "none"},
     .transport = true,
     .meaning = "The NIC's firmware put queues into an error state: the queue pairs of a process stop.",
     .remedy =
         "Find the process: journalctl -k -g mlx5, and the log of the job. Completion queues overrun if a program "
         "creates them too small. Read the counts: devlink health diagnose pci/{pci} reporter vnic",
     .read_port = read_queue_faults},
    {.window = {"device_state", level, WindowLimits{1, 2, 0, 0, 0},
                "1: a devlink health reporter without a recovery is in state \"error\"; 2: a reporter with a recovery",
                "devlink-health(7)", "all reporters healthy"},
     .transport = true,
     .meaning = "The NIC's driver reported an error that it did not recover from, or that it has no recovery for.",
     .remedy = {"Save the dump for the vendor: devlink health dump show pci/{pci} reporter NAME. ",
                {Work::ends_jobs | Work::when_idle,
                 "Then recover when no job runs: devlink health recover pci/{pci} reporter NAME. "},
                "A reporter without a recovery refuses it and stays in error until the driver is loaded again; if its "
                "error is old: fabric-agentctl ack device-health"},
     .read_port = read_device_state},
};

constexpr Rule kCountersFrozen{
    .id = "counters-frozen",
    .group = group::counters,
    .title = "The RDMA counters do not count",
    .meaning =
        "Traffic passes on the priorities of RoCE and no RDMA counter moves, or the counters of the port can no "
        "longer be read. Every other check of this port is then unreliable. The cause is hung firmware, or a driver "
        "that waits for it.",
    .inspect =
        "journalctl -k -g 'mlx5|bnxt|timeout'; time cat /sys/class/infiniband/RDMADEV/ports/1/counters/port_xmit_data",
    .fix = "While no job runs: devlink dev reload pci/ADDRESS",
    .limits = {&kMuchTraffic},
    .windows = kCountersFrozenWindows,
};
constexpr Rule kDeviceHealth{
    .id = "device-health",
    .group = group::device,
    .title = "The NIC reports an internal error",
    .meaning =
        "The health reporters of devlink count errors of firmware, queues and the device. State error means that the "
        "device did not recover (critical). For a reporter without a recovery, such as mlx5's fw, it means that there "
        "was an error since the driver was loaded (warning). Compares the faults of queues that mlx5's firmware counts "
        "(reporter vnic) too, also of virtual functions and subfunctions: root reads them, others see those that "
        "fabric-agentd publishes once a minute.",
    .inspect = "devlink health show; devlink health dump show pci/ADDRESS reporter NAME (keep it for the vendor)",
    .fix =
        "While no job runs: devlink health recover pci/ADDRESS reporter NAME. If the error returns, update the "
        "firmware or replace the NIC. fabric-agentctl ack device-health acknowledges an old error.",
    .windows = kDeviceHealthWindows,
};

constexpr Rule kRdmaResources{
    .id = "rdma-resources",
    .group = group::device,
    .title = "The NIC runs out of queue pairs or memory regions",
    .meaning =
        "The RDMA objects in use (queue pairs, completion queues, memory regions, protection domains, shared receive "
        "queues) compared with the number that the device can have. Beyond it, ibv_create_qp() and ibv_reg_mr() fail. "
        "Processes of jobs that are over still hold theirs. Linux before 7.3 does not report the limits.",
    .inspect = "rdma resource show; rdma resource show qp dev RDMADEV",
    .fix = "End the processes of jobs that are over; else spread the job's connections over more NICs or fewer ranks.",
    .limits = {&kFullest},
    .ask = ask_rdma_resources,
};

// Only of ports that are ACTIVE: `port-state` reports the others.
std::optional<Finding> ask_rdma_transport(const View& view, const Port& port) {
  if (!is_active(port) || !is_endpoint(port)) return std::nullopt;
  const std::string expected = "InfiniBand or RoCE";
  if (const std::string why(why_not_by_verbs(port)); !why.empty()) {
    const std::string command = roce_command(port);
    std::string observed = why + ": NCCL, NVSHMEM and UCX use TCP sockets";
    if (!command.empty()) observed += "; the NIC can do RoCE: " + command;
    if (command.empty() || view.now.topology.gpus.empty() || has_other_purpose(view, port))
      return good(port.id(), observed, "any");
    return bad(Status::warning, port.id(), why, expected,
               "NCCL, RCCL, NVSHMEM and UCX cannot use the port, so that jobs use TCP sockets, or fail at their first "
               "connection if a library takes the port anyway. The NIC can do RoCE instead. Peers have to use the same "
               "transport.",
               {Work::ends_jobs | Work::when_idle, "When no job runs: " + command});
  }
  if (!capabilities_of(port.kernel_driver).is_software) return std::nullopt;
  std::string observed = "software (" + port.kernel_driver + ")";
  if (!port.netdev.empty()) observed += " over " + port.netdev;
  return good(port.id(), observed + ": the CPUs do the work, and the rate that the device reports means nothing",
              "any");
}

}  // namespace

constexpr Rule kRdmaTransport{
    .id = "rdma-transport",
    .group = group::device,
    .title = "GPU jobs cannot use the transport of an RDMA device",
    .meaning =
        "NCCL, NVSHMEM and UCX connect queue pairs by verbs alone, which InfiniBand and RoCE allow. Queue pairs of "
        "iWARP are connected by rdma_cm, and usNIC has no connections: jobs use TCP sockets there. Reported if the "
        "port would "
        "serve GPUs, and its NIC can change from iWARP to RoCE; listed else, and of software devices (rxe), which do "
        "RoCE by the CPUs.",
    .inspect = "cat /sys/class/infiniband/*/node_type; devlink dev param show",
    .fix =
        "While no job runs, change the NIC to RoCE. ice: devlink dev param set pci/ADDRESS name enable_roce value true "
        "cmode runtime, after enable_iwarp false; with Intel's own irdma: options irdma roce_ena=1 in /etc/modprobe.d.",
    .ask_port = ask_rdma_transport,
};

constexpr Rule kTable[]{kCountersFrozen, kDeviceHealth, kRdmaResources, kRdmaTransport};
const std::span<const Rule> kDeviceRules = kTable;

}  // namespace fabric
