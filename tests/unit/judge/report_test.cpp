// SPDX-License-Identifier: Apache-2.0
// The verdict of a report, its JSON, and its fixes, which fit the machine: a guest, a captured tree, a node with jobs.
// The verdict lists subjects that are not judged: RDMA devices in other network namespaces, and queue pairs that no
// counter counts. Traffic without PFC is reported before it is lost.
#include "judge/report.h"

#include <regex>

#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "judge/engine.h"
#include "judge/finding.h"
#include "judge/health_state.h"
#include "judge/lines.h"
#include "judge/remedy.h"
#include "judge/rule.h"
#include "judge/unseen.h"
#include "node/endpoints.h"
#include "node/node.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace test;

Report of(std::vector<Status> statuses) {
  Report report;
  for (Status status : statuses) report.findings.push_back({"id", "subject", status, "o", "e", "", ""});
  return report;
}

TEST(Report, StatusesRankAsInMonitoringPlugins) {
  EXPECT_EQ(worst(Report{}), Status::ok);
  EXPECT_EQ(worst(of({Status::ok, Status::unknown})), Status::unknown);
  EXPECT_EQ(worst(of({Status::unknown, Status::warning})), Status::warning);
  EXPECT_EQ(worst(of({Status::warning, Status::critical, Status::unknown})), Status::critical);
  EXPECT_EQ(static_cast<int>(Status::warning), 1);
  EXPECT_EQ(static_cast<int>(Status::critical), 2);
  EXPECT_EQ(static_cast<int>(Status::unknown), 3);
}

TEST(Report, JsonKeepsTheContract) {
  const Report report{{{"pfc", "mlx5_0/1", Status::critical, "none", "3", "why", "what"}}};
  EXPECT_EQ(to_json(report).dump(),
            R"({"verdict":"critical","checks":[{"id":"pfc","subject":"mlx5_0/1","status":"critical",)"
            R"("observed":"none","expected":"3","meaning":"why","remedy":"what"}],"not_judged":[]})");
}

// Limits of the verdict are shown with it, and do not change it.
TEST(Report, WhatIsNotJudgedIsSaidWithTheVerdict) {
  Report report = of({Status::ok, Status::ok});
  report.findings[1].observed = "3 of 8 devices";
  report.findings[1].unjudged = true;
  EXPECT_EQ(worst(report), Status::ok);
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 not judged");
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].finding, &report.findings[1]);
  const Json json = to_json(report);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["not_judged"].dump(), R"([{"id":"id","subject":"subject","observed":"3 of 8 devices"}])");
  EXPECT_FALSE(json["checks"][0].contains("judged"));
  EXPECT_EQ(json["checks"][1]["judged"], false);
  report.findings[1].acknowledged = true;
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 acknowledged");
  EXPECT_TRUE(to_json(report)["not_judged"].empty());
}

// One fault of several ports is one entry of a text, although each fix names its own netdev.
TEST(Report, FindingsThatDifferOnlyInTheNamesOfTheirPortAreOne) {
  const auto of_port = [](int number, const std::string& netdev) {
    const std::string rdma = "mlx5_" + std::to_string(number), pci = "0000:1" + std::to_string(number) + ":00.0";
    Finding out{"link-errors",
                rdma + "/1",
                Status::warning,
                "bad bits on " + netdev,
                "none",
                "why",
                "ethtool -m " + netdev + "; lspci -s " + pci};
    out.names = {netdev, pci, out.subject, rdma};
    return out;
  };
  Report report{{of_port(1, "eth1"), of_port(10, "eth10"), of_port(2, "eth2")}};
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].subjects, (std::vector<std::string>{"mlx5_1/1", "mlx5_10/1", "mlx5_2/1"}));
  EXPECT_EQ(groups[0].likewise, (std::vector<std::string>{"eth10 (0000:110:00.0)", "eth2 (0000:12:00.0)"}));
  EXPECT_TRUE(groups[0].observed.empty());
  report.findings[1].remedy = "ethtool -m eth1";  // about another port than its own
  EXPECT_EQ(group_findings(report).size(), 2u);
  report.findings[2].names.clear();
  EXPECT_EQ(group_findings(report).size(), 3u);
}

// The switch ports of several pairs of GPU and NIC, and the members of a bond, which all name the same list of ports.
TEST(Report, OneFaultOfSeveralPairsIsOne) {
  const auto of_bridge = [](const std::string& bridge, const std::string& pair) {
    Finding out{"acs", bridge, Status::warning, "ReqRedir+", "ReqRedir-", pair + " are slow", "setpci -s " + bridge};
    out.names = {"", bridge, "", ""};
    out.about = pair;
    return out;
  };
  Report report{{of_bridge("0008:02:00.0", "GPU0 and mlx5_0"), of_bridge("0009:02:00.0", "GPU1 and mlx5_1")}};
  std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].subjects, (std::vector<std::string>{"0008:02:00.0", "0009:02:00.0"}));
  EXPECT_EQ(groups[0].likewise, std::vector<std::string>{"GPU1 and mlx5_1 (0009:02:00.0)"});
  report.findings[1].observed = "CmpltRedir+";
  groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].observed,
            (std::vector<std::string>{"GPU0 and mlx5_0: ReqRedir+", "GPU1 and mlx5_1: CmpltRedir+"}));
  EXPECT_EQ(groups[0].likewise, std::vector<std::string>{"GPU1 and mlx5_1 (0009:02:00.0)"});

  for (Finding& each : report.findings) {
    each = {"gid", "mlx5_0/1", Status::critical, "on mlx5_0/1, mlx5_1/1", "a GID of its own", "why", "for both"};
    each.names = {"", "", each.subject, ""};
  }
  report.findings[1].subject = report.findings[1].names[2] = "mlx5_1/1";
  groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].likewise.empty());

  for (Finding& each : report.findings) each.observed = "on " + each.subject;  // the subjects say it
  groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_TRUE(groups[0].likewise.empty());
}

// The observation of each port and its start are a line; the meaning and the fix are printed once.
TEST(Report, OneFaultWithItsOwnCountOnEachPortIsOne) {
  const auto of_port = [](int number, const std::string& count, const std::string& since) {
    Finding out{"discards", "mlx5_" + std::to_string(number) + "/1", Status::warning, count, "0", "why", "what"};
    out.since = since;
    return out;
  };
  Report report{{of_port(0, "12 drops", ""), of_port(1, "40 drops", "2026-01-02T03:04:05Z")}};
  std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].observed,
            (std::vector<std::string>{"mlx5_0/1: 12 drops", "mlx5_1/1: 40 drops, since 2026-01-02T03:04:05Z"}));
  report.findings[1].observed = report.findings[0].observed;
  groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].observed.size(), 2u) << "it began at another time";
  report.findings[1].since.clear();
  EXPECT_TRUE(group_findings(report).front().observed.empty());
  report.findings[1].status = Status::critical;
  EXPECT_EQ(group_findings(report).size(), 2u);
}

TEST(Report, WhatCouldNotBeReadOfTheMachineIsNamed) {
  Node node;
  node.unseen = {"acknowledgements: EIO"};
  node.topology_unread = "no bus";
  node.rdma_unread = "no class";
  node.agent_unread = "no state";
  const std::vector<std::string> lines{"GPUs and NICs: no bus", "RDMA devices: no class", "acknowledgements: EIO",
                                       "the agent's state: no state"};
  EXPECT_EQ(unseen_lines(node), lines);
  std::vector<std::string> reasons;
  for (const UnseenLine& line : merged_unseen(node)) reasons.push_back(line.reason);
  EXPECT_EQ(reasons, lines);
}

TEST(Report, WhatCouldNotBeReadIsOneLineForAllPorts) {
  Node node;
  node.unseen = {"acknowledgements: EIO"};
  node.ports.resize(3);
  for (size_t i = 0; i < node.ports.size(); ++i) {
    node.ports[i].rdma = "mlx5_" + std::to_string(i);
    node.ports[i].unread = {{.why = "ethtool statistics: EPERM"}};
  }
  node.ports[1].unread.push_back({PortPart::gids, "gids: EIO"});
  const auto lines = merged_unseen(node);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].reason, "ethtool statistics: EPERM");
  EXPECT_EQ(lines[1].subjects.size(), 3u);
  EXPECT_EQ(lines[2].subjects.size(), 1u);
}

// A reason often has a path, and a path the name of its port. That of one port alone is shown as it is.
TEST(Report, AReasonWithTheNameOfItsPortIsOneLineForAllPorts) {
  Node node;
  node.ports.resize(12);
  const auto path = [](const Port& port, const char* file) {
    return "sys/class/infiniband/" + port.rdma + "/ports/1/" + file + ": ENOENT";
  };
  for (size_t i = 0; i < node.ports.size(); ++i) {
    Port& port = node.ports[i];
    port.rdma = "mlx5_" + std::to_string(i);
    port.netdev = "eth" + std::to_string(i);
    port.pci = "0000:" + std::to_string(10 + i) + ":00.0";
    port.unread = {{PortPart::gids, "gids: " + path(port, "gids")},
                   {PortPart::settings, "settings of " + port.netdev + " (" + port.pci + "): EIO"}};
  }
  node.ports[10].unread.push_back({PortPart::rate, "rate: " + path(node.ports[10], "rate")});
  const auto lines = merged_unseen(node);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].reason, "gids: sys/class/infiniband/RDMADEV/ports/1/gids: ENOENT");
  EXPECT_EQ(lines[1].reason, "settings of NETDEV (ADDRESS): EIO");
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(lines[i].subjects.size(), 12u) << lines[i].reason;
  EXPECT_EQ(lines[2].reason, "rate: " + path(node.ports[10], "rate"));
}

TEST(Report, AByteOfAMarkInAReasonIsNoMark) {
  Node node;
  node.ports.resize(2);
  for (size_t i = 0; i < node.ports.size(); ++i) {
    node.ports[i].rdma = "mlx5_" + std::to_string(i);
    node.ports[i].unread = {{.why = node.ports[i].rdma + ": odd \x01\x7f and \x01"}};
  }
  const auto lines = merged_unseen(node);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].reason, "RDMADEV: odd \x01\x7f and \x01");
}

// A reason of the node may name an RDMA device: 32 devices without ports are one line.
TEST(Report, AReasonWithTheNameOfADeviceIsOneLineForAllDevices) {
  Node node;
  node.topology.nics.resize(12);
  node.unseen = {"acknowledgements: EIO"};
  for (size_t i = 0; i < node.topology.nics.size(); ++i) {
    const std::string rdma = "rdmap" + std::to_string(i) + "s0";
    node.topology.nics[i].rdma = {rdma};
    node.unseen.push_back("the ports of " + rdma + ": sys/class/infiniband/" + rdma + "/ports: ENOENT");
  }
  node.unseen.emplace_back("the links of rdmap3s0: EIO");
  const auto lines = merged_unseen(node);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].subjects.empty());
  EXPECT_EQ(lines[1].reason, "the ports of RDMADEV: sys/class/infiniband/RDMADEV/ports: ENOENT");
  EXPECT_EQ(lines[1].subjects.size(), 12u);
  EXPECT_EQ(lines[2].reason, "the links of rdmap3s0: EIO");
  EXPECT_TRUE(lines[2].subjects.empty());
}

// Like an acknowledgement, but of the site: counted, listed with its reason, and apart from acknowledgements.
TEST(Report, ASuppressedFindingIsListedAndDoesNotCount) {
  Report report = of({Status::critical, Status::ok});
  report.findings[0].suppressed = true;
  report.findings[0].suppression = "until 2027-01-31: new switches";
  EXPECT_EQ(worst(report), Status::ok);
  EXPECT_EQ(count_findings(report, Status::critical), 0u);
  EXPECT_EQ(counts_text(report, true), "1 ok, 1 suppressed");
  const std::vector<FindingGroup> groups = group_findings(report);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].finding, &report.findings[0]);
  const Json json = to_json(report);
  EXPECT_EQ(json["verdict"], "ok");
  EXPECT_EQ(json["checks"][0]["status"], "critical");
  EXPECT_EQ(json["checks"][0]["suppressed"], "until 2027-01-31: new switches");
  EXPECT_FALSE(json["checks"][0].contains("acknowledged"));
  EXPECT_FALSE(json["checks"][1].contains("suppressed"));
}

// The operator knows them: what is new comes first, whatever its status.
TEST(Report, SilencedFindingsAreTheLast) {
  Report report = of({Status::critical, Status::warning, Status::warning, Status::unknown});
  for (size_t i = 0; i < report.findings.size(); ++i) report.findings[i].id = std::to_string(i);
  report.findings[0].suppressed = report.findings[2].acknowledged = true;
  report.findings[0].suppression = report.findings[2].acknowledgement = "until 2027-01-31";
  std::string order;
  for (const FindingGroup& group : group_findings(report)) order += group.finding->id;
  EXPECT_EQ(order, "1302");
}

// -- Subjects that are not judged

const Finding* finding_of(const Report& report, std::string_view id, std::string_view subject) {
  return find_where(report.findings,
                    [&](const Finding& finding) { return finding.id == id && finding.subject == subject; });
}

// The RDMA devices of the last `count` NICs move to containers.
void move_to_containers(Healthy& node, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    Nic& nic = node.now.topology.nics[node.now.topology.nics.size() - 1 - i];
    nic.elsewhere = nic.rdma;
    nic.rdma_elsewhere = nic.netdev_elsewhere = true;
    nic.rdma.clear();
    nic.netdevs.clear();
    node.now.ports.pop_back();
    node.before.ports.pop_back();
  }
}

TEST(Unseen, DevicesOfOtherNamespacesAreCountedAndNamed) {
  Healthy node(8);
  const std::vector<std::string> only{"other-namespaces"};
  EXPECT_FALSE(run_rules(node.view(), only).findings.at(0).unjudged);
  move_to_containers(node, 3);
  node.now.topology.nics[7].elsewhere = {node.now.topology.nics[7].pci};  // a kernel that does not show the name
  const Report report = run_rules(node.view(), only);
  EXPECT_EQ(worst(report), Status::ok);
  const Finding& finding = report.findings.at(0);
  EXPECT_TRUE(finding.unjudged);
  EXPECT_TRUE(
      finding.observed.starts_with("3 of 8 RDMA devices are in other network namespaces and are not judged here: "))
      << finding.observed;
  EXPECT_TRUE(has(finding.observed, "mlx5_5 (" + node.now.topology.nics[5].pci + ")")) << finding.observed;
  EXPECT_TRUE(finding.observed.ends_with(", " + node.now.topology.nics[7].pci)) << finding.observed;
  EXPECT_TRUE(has(finding.remedy, "--root /proc/PID/root"));

  // The exporter's report, which the line for schedulers is made of.
  const auto published = parse_report(published_text(PublishedReport{report, 1}), "report.json");
  ASSERT_TRUE(published.ok());
  EXPECT_TRUE(published->report.findings.at(0).unjudged);
  EXPECT_EQ(published->report.findings.at(0).observed, finding.observed);

  Inventory inventory;
  inventory.parts.push_back({.pci = node.now.topology.nics[7].pci, .rdma = {"mlx5_7"}});
  node.now.inventory = inventory;
  EXPECT_TRUE(has(joined(devices_elsewhere(node.now)), "mlx5_7 (" + node.now.topology.nics[7].pci + ")"));
}

// Shared mode: the RDMA device stays, and its netdev is a container's.
TEST(Unseen, NetdevsOfOtherNamespacesAreNamed) {
  Healthy node;
  node.now.topology.nics[2].netdev_elsewhere = true;
  node.now.topology.nics[2].netdevs.clear();
  node.now.network.interfaces.erase(node.now.ports[2].netdev);
  node.now.ports[2].netdev.clear();
  node.now.ports[2].role = PortRole::netdev_elsewhere;
  const Report report = run_rules(node.view(), std::vector<std::string>{"other-namespaces"});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(report.findings[0].unjudged);
  EXPECT_EQ(report.findings[0].observed, "the netdevs of mlx5_2/1 are in other network namespaces");
  EXPECT_TRUE(has(report.findings[0].meaning, "cable"));

  // Virtual functions of other containers: they are counted, and have no cable.
  node.now.ports[2].role = PortRole::guest_function;
  node.now.topology.nics[3].netdev_elsewhere = true;
  node.now.network.interfaces.erase(node.now.ports[3].netdev);
  node.now.ports[3].netdev.clear();
  node.now.ports[3].role = PortRole::guest_function;
  const Report guests = run_rules(node.view(), std::vector<std::string>{"other-namespaces"});
  EXPECT_EQ(guests.findings.at(0).observed,
            "the netdevs of 2 of 4 ports are in other network namespaces and are not judged here: mlx5_2/1, mlx5_3/1");
  EXPECT_FALSE(has(guests.findings.at(0).meaning, "cable")) << guests.findings.at(0).meaning;
}

// A pod with the device files of four NICs, and the netdevs of three.
TEST(Unseen, APodThatLacksOneOfItsNetworks) {
  Healthy node;
  const auto lose_netdev = [&](size_t i) {
    node.now.topology.nics[i].netdev_elsewhere = true;
    node.now.topology.nics[i].netdevs.clear();
    node.now.network.interfaces.erase(node.now.ports[i].netdev);
    for (Gid& gid : node.now.ports[i].gids) gid.netdev = "of_the_host";
    node.now.ports[i].netdev.clear();
  };
  const auto said_of = [&] {
    std::string out;
    for (const Finding& each : run_rules(node.view(), std::vector<std::string>{"gid"}).findings)
      if (is_fault(each.status)) out += each.subject + ": " + each.observed + "\n";
    return out;
  };
  node.now.has_container_processes = true;
  for (const Port& port : node.now.ports) node.now.verbs_files[port.rdma] = {"uverbs0", 0666};
  lose_netdev(3);
  EXPECT_EQ(said_of(), "mlx5_3/1: none in this network namespace: its netdev is in another\n");
  node.now.verbs_files.erase("mlx5_3");
  EXPECT_EQ(said_of(), "") << "the pod was not given it";
  node.now.verbs_files["mlx5_3"] = {"uverbs3", 0666};
  node.now.has_container_processes = false;
  EXPECT_EQ(said_of(), "") << "a host whose container has it";
  node.now.has_container_processes = true;
  lose_netdev(2);
  EXPECT_EQ(said_of(), "") << "a mount of the host's /dev/infiniband";
}

TEST(Unseen, ContainersAreRecognizedInOnePlace) {
  Healthy node;
  EXPECT_FALSE(is_container(node.now));
  node.now.has_container_processes = true;
  EXPECT_TRUE(is_container(node.now));
  node.now.has_container_processes = false;
  for (Nic& nic : node.now.topology.nics) node.now.platform.functions[nic.pci].kernel_driver = "vfio-pci";
  EXPECT_FALSE(is_container(node.now)) << "a host that gave all its NICs to virtual machines";
  node.now.topology.nics[0].netdev_elsewhere = true;
  EXPECT_TRUE(is_container(node.now));
  node.now.platform.functions[node.now.topology.nics[1].pci].kernel_driver = "mlx5_core";
  EXPECT_FALSE(is_container(node.now)) << "a host whose container has a netdev";
  node.now.ports[1].role = PortRole::guest_function;
  EXPECT_FALSE(is_container(node.now)) << "a virtual machine does not see the physical function";
  node.now.ports[1].owner = "0000:2a:00.0";
  EXPECT_TRUE(is_container(node.now)) << "a pod sees it";
}

// InfiniBand needs no netdev: the files show what a container was given.
TEST(Unseen, InfiniBandDevicesWithoutAFileWereNotGiven) {
  Healthy node;
  for (Port& port : node.now.ports) port.link_layer = LinkLayer::infiniband;
  node.now.verbs_files = {{"mlx5_0", {"uverbs0", 0666}}, {"mlx5_2", {"uverbs2", 0666}}};
  node.now.has_container_processes = true;
  const Report report = run_rules(node.view(), std::vector<std::string>{"other-namespaces"});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(report.findings[0].unjudged);
  EXPECT_EQ(report.findings[0].observed, "2 of 4 ports have no device file here: mlx5_1/1, mlx5_3/1");
  EXPECT_EQ(report.findings[0].expected, "a device file of each port in /dev/infiniband");
  node.now.ports[1].state = 1;
  EXPECT_EQ(worst(run_rules(node.view(), std::vector<std::string>{"port-state"})), Status::ok);
  node.now.has_container_processes = false;
  EXPECT_NE(worst(run_rules(node.view(), std::vector<std::string>{"port-state"})), Status::ok)
      << "a host has all devices, also one without a file";
  node.now.has_container_processes = true;
  node.now.ports[2].state = 1;
  EXPECT_NE(worst(run_rules(node.view(), std::vector<std::string>{"port-state"})), Status::ok);
  node.now.ports[2].state = 4;
  node.now.has_container_processes = false;
  EXPECT_NE(worst(run_rules(node.view(), std::vector<std::string>{"port-state"})), Status::ok)
      << "on a host a missing file does not make the port another one's";
}

// The netdevs of all NICs move to the host, as a pod sees it in the shared mode of RDMA.
void become_pod(Healthy& node) {
  for (Nic& nic : node.now.topology.nics) {
    nic.netdev_elsewhere = true;
    nic.netdevs.clear();
  }
  node.now.network.interfaces.clear();
  for (Port& port : node.now.ports) {
    port.netdev.clear();
    port.role = PortRole::netdev_elsewhere;
  }
}

// A macvlan of the pod on each NIC: the ports are judged by its GIDs.
TEST(Unseen, APortWithGidsOfNetdevsAboveItIsJudged) {
  Healthy node;
  become_pod(node);
  for (Port& port : node.now.ports)
    for (Gid& gid : port.gids) {
      gid.netdev = "net" + std::to_string(&port - node.now.ports.data());
      node.now.network.interfaces[gid.netdev];
    }
  const Report report = run_rules(node.view(), std::vector<std::string>{"other-namespaces", "gid"});
  for (const Finding& finding : report.findings)
    EXPECT_TRUE(finding.status == Status::ok && !finding.unjudged) << finding.id << " " << finding.observed;
}

// A pod on the default network alone: no GID exists for it.
TEST(Unseen, AContainerWithoutAnyGidCannotUseItsPorts) {
  const std::vector<std::string> only{"gid"};
  Healthy node;
  become_pod(node);
  for (Port& port : node.now.ports) port.gids.clear();
  Report report = run_rules(node.view(), only);
  ASSERT_EQ(report.findings.size(), 4u);
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.status, Status::warning) << finding.observed;
    EXPECT_TRUE(has(finding.remedy, "macvlan") && has(finding.remedy, "virtual function")) << finding.remedy;
  }
  // The host, which has a netdev for its management.
  Healthy host = node;
  host.now.topology.nics.emplace_back().netdevs = {"eno1"};
  EXPECT_EQ(worst(run_rules(host.view(), only)), Status::ok);
  // A pod that has EFA devices as well.
  Healthy efa = node;
  efa.now.ports[3].link_layer = LinkLayer::unknown;
  EXPECT_EQ(worst(run_rules(efa.view(), only)), Status::ok);
  // The GID tables were not read.
  for (Port& port : node.now.ports) port.unread = {{PortPart::gids, "gids: Permission denied (EACCES)"}};
  EXPECT_EQ(worst(run_rules(node.view(), only)), Status::ok);
}

// The GIDs of other pods and of the host fill the tables. Their types and netdevs cannot be read here (EINVAL).
TEST(Unseen, AFullGidTableHasNoEntryForAPod) {
  const std::vector<std::string> only{"gid"};
  Healthy node;
  become_pod(node);
  for (Port& port : node.now.ports) {
    port.gids.clear();
    for (unsigned i = 0; i < 128; ++i) port.gids.push_back({i, "0000:0000:0000:0000:0000:ffff:0a01:0001", "", ""});
    port.full_gid_table = 128;
  }
  const Report report = run_rules(node.view(), only);
  ASSERT_EQ(report.findings.size(), 4u);
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.status, Status::warning);
    EXPECT_TRUE(has(finding.observed, "all 128 entries are taken, none by an address of this network namespace"))
        << finding.observed;
    EXPECT_TRUE(has(finding.remedy, "rdmaHcaMax of the RDMA shared device plugin at most 63")) << finding.remedy;
  }
  // A function of the pod's own beside them: the tables are the host's business.
  Healthy own = node;
  Port function = Healthy().now.ports[0];
  function.rdma = "mlx5_9";
  function.role = PortRole::guest_function;
  own.now.ports.push_back(function);
  for (const Finding& finding : run_rules(own.view(), only).findings)
    EXPECT_FALSE(has(finding.observed, "full")) << finding.subject << finding.observed;
  for (Port& port : node.now.ports) port.full_gid_table = 0;
  for (const Finding& finding : run_rules(node.view(), only).findings)
    EXPECT_FALSE(has(finding.observed, "full")) << finding.observed;

  Healthy host;
  Port& port = host.now.ports[1];
  port.full_gid_table = 128;
  EXPECT_EQ(worst(run_rules(host.view(), only)), Status::ok) << "each address has its GID";
  host.now.network.interfaces[port.netdev].addresses->push_back({*parse_ip("10.9.0.1"), 24});
  const auto found = complaints_of(host.view(), only);
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].status, Status::critical);
  EXPECT_TRUE(has(found[0].observed, "none by 10.9.0.1")) << found[0].observed;
  port.full_gid_table = 16;
  EXPECT_EQ(worst(run_rules(host.view(), only)), Status::ok) << "a small table may be full";
}

// Bytes of RDMA between the two readings, requests counted, and the share of the bytes on priority 3.
struct Traffic {
  double received = 300e9, sent = 300e9;
  uint64_t requests = 100'000;
  double on_priority_3 = 1;
};
void carry(Healthy& node, size_t index, const Traffic& traffic) {
  const auto bytes = [](double value) { return static_cast<uint64_t>(value); };
  Port &before = node.before.ports[index], &now = node.now.ports[index];
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, uint64_t>>{
           {"rx_vport_rdma_unicast_bytes", bytes(traffic.received)},
           {"tx_vport_rdma_unicast_bytes", bytes(traffic.sent)},
           {"rx_prio3_bytes", bytes(traffic.received * traffic.on_priority_3)},
           {"tx_prio3_bytes", bytes(traffic.sent * traffic.on_priority_3)},
           {"rx_prio0_bytes", bytes(traffic.received * (1 - traffic.on_priority_3))},
           {"tx_prio0_bytes", bytes(traffic.sent * (1 - traffic.on_priority_3))}}) {
    before.counters.ethtool.push_back({name, 1000});
    now.counters.ethtool.push_back({name, 1000 + value});
  }
  before.counters.hw.push_back({"rx_write_requests", 50});
  now.counters.hw.push_back({"rx_write_requests", 50 + traffic.requests});
}

std::optional<Finding> unseen_traffic(const Healthy& node) {
  const Report report = run_rules(node.view(), std::vector<std::string>{"unseen-traffic"});
  const Finding* found = finding_of(report, "unseen-traffic", "mlx5_1/1");
  if (found == nullptr || !found->unjudged) return std::nullopt;
  return *found;
}

TEST(Unseen, QueuePairsThatAreNotCounted) {
  struct {
    const char* what;
    Traffic traffic;
    const char* says;  // empty: nothing
  } const rows[]{
      {"a job whose queue pairs are counted", {}, ""},
      {"messages of 60 MB", {.requests = 5'000}, ""},
      {"the queue pairs of GPUs alone", {.requests = 0}, "at most 0 %"},
      {"those of GPUs, and a few of the CPU", {.requests = 450}, "at most 10.1 %"},
      {"a host that only sends, and receives acknowledgements", {.received = 2e9, .requests = 0}, ""},
      {"little traffic", {.received = 50e6, .sent = 50e6, .requests = 0}, ""},
  };
  for (const auto& row : rows) {
    Healthy node;
    carry(node, 1, row.traffic);
    const auto found = unseen_traffic(node);
    EXPECT_EQ(found.has_value(), *row.says != '\0') << row.what;
    if (found) {
      EXPECT_TRUE(has(found->observed, row.says)) << row.what << ": " << found->observed;
    }
  }
  Healthy node;
  carry(node, 1, {.requests = 0});
  node.now.ports[1].resources = {{"mr", "user", 12}, {"qp", "user", 0}};
  const auto found = unseen_traffic(node);
  ASSERT_TRUE(found);
  EXPECT_TRUE(has(found->observed, "no queue pair that the kernel knows")) << found->observed;
  EXPECT_FALSE(has(found->meaning, "Sends")) << found->meaning;
  for (Node* each : {&node.before, &node.now}) each->ports[1].kernel_driver = "bnxt_en";
  EXPECT_FALSE(unseen_traffic(node)) << "the driver counts all of them";
}

// InfiniBand's counters stop at the greatest value of their field.
TEST(Unseen, CountersThatAreFull) {
  const std::vector<std::string> only{"counter-full"};
  Healthy node;
  Port& port = node.now.ports[1];
  port.link_layer = LinkLayer::infiniband;
  port.counters.pma = {{"link_downed", 254}, {"port_rcv_errors", 65'534}, {"port_rcv_data", 255}, {"unknown", 65'535}};
  const auto found = [&]() -> std::optional<Finding> {
    const Report report = run_rules(node.view(), only);
    const Finding* each = finding_of(report, "counter-full", "mlx5_1/1");
    if (each == nullptr || !each->unjudged) return std::nullopt;
    return *each;
  };
  EXPECT_FALSE(found());
  port.counters.pma = {{"link_downed", 255},
                       {"port_xmit_wait", 0xffff'ffff},
                       {"port_rcv_data", 0xffff'ffff},
                       {"excessive_buffer_overrun_errors", 15},
                       {"symbol_error", 3}};
  const auto full = found();
  ASSERT_TRUE(full);
  EXPECT_TRUE(
      full->observed.ends_with("link_downed 255, port_xmit_wait 4294967295, port_rcv_data 4294967295, "
                               "excessive_buffer_overrun_errors 15"))
      << full->observed;
  EXPECT_TRUE(has(full->remedy, "perfquery -R -C mlx5_1 -P 1")) << full->remedy;
}

// port_rcv_data of a NIC without PortCountersExtended; with a part of it the kernel shows the same files.
TEST(Unseen, PortsThatMayHaveNarrowCountersAreNamedOnce) {
  const std::vector<std::string> only{"counter-full"};
  Healthy node;
  const auto narrow = [&]() -> std::string {
    const Report report = run_rules(node.view(), only);
    const Finding* each = finding_of(report, "counter-full", kHostSubject);
    return each != nullptr && each->unjudged ? each->observed : "none";
  };
  const auto set = [&](uint64_t data) {
    for (size_t i : {size_t{1}, size_t{2}}) {
      node.now.ports[i].link_layer = LinkLayer::infiniband;
      node.now.ports[i].counters.pma = {{"port_rcv_data", data}, {"port_rcv_packets", 7}, {"port_xmit_wait", 0}};
    }
  };
  set(0xffff'fffe);
  EXPECT_EQ(narrow(), "counters of data and packets that may have 32 bits: mlx5_1/1, mlx5_2/1");
  const Report asked = run_rules(node.view(), only);
  ASSERT_NE(finding_of(asked, "counter-full", kHostSubject), nullptr);
  EXPECT_TRUE(has(finding_of(asked, "counter-full", kHostSubject)->remedy, "perfquery -x -C mlx5_1 -P 1"));
  set(uint64_t{1} << 32);
  EXPECT_EQ(narrow(), "none") << "64 bits";
  set(0xffff'ffff);
  EXPECT_EQ(narrow(), "none") << "the finding of the port says it";
  set(3);
  for (size_t i : {size_t{1}, size_t{2}}) node.now.ports[i].counters.pma.push_back({"unicast_rcv_packets", 1});
  EXPECT_EQ(narrow(), "none") << "PortCountersExtended";
  set(3);
  node.now.ports[1].link_layer = node.now.ports[2].link_layer = LinkLayer::ethernet;
  EXPECT_EQ(narrow(), "none");
}

TEST(Unseen, TrafficWithoutPfcIsReportedBeforeItIsLost) {
  Healthy node;
  carry(node, 1, {.on_priority_3 = 0.02});
  const auto found = complaints_of(node.view(), {"unprotected-traffic"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_EQ(found[0].status, Status::warning);
  EXPECT_EQ(found[0].subject, "mlx5_1/1");
  EXPECT_TRUE(has(found[0].observed, "98 % used no priority with PFC (3); priority 0 carried as much"))
      << found[0].observed;
  EXPECT_TRUE(has(found[0].remedy, "NCCL_IB_TC=106") && has(found[0].remedy, "DSCP 26 is 104")) << found[0].remedy;
}

// Enforcement would move the traffic, or protect its priority.
TEST(CheckAudit, TrafficWhosePriorityThePolicyWouldChangeIsSilent) {
  const std::vector<std::string> only{"unprotected-traffic"};
  for (const char* setting : {"pfc", "trust", "dscp_map"}) {
    SCOPED_TRACE(setting);
    Healthy node;
    carry(node, 1, {.on_priority_3 = 0.02});
    node.policy.mode = Mode::audit;
    node.now.agent->mode = Mode::audit;
    EXPECT_EQ(complaints_of(node.view(), only).size(), 1u) << "the settings are those of the policy: the job's fault";
    node.change("mlx5_0/1", setting).outcome = Outcome::differs;
    EXPECT_EQ(complaints_of(node.view(), only).size(), 1u) << "another port's";
    node.change("mlx5_1/1", setting).outcome = Outcome::differs;
    if (setting == std::string_view("dscp_map")) node.now.ports[1].qos.dscp_map = DscpMap{{26, 0}};
    const Report report = run_rules(node.view(), only);
    const Finding* found = finding_of(report, "unprotected-traffic", "mlx5_1/1");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->status, Status::ok) << describe(*found);
    EXPECT_TRUE(is_audited(*found)) << "listed";
    EXPECT_TRUE(has(found->meaning, "Audit mode: not written.")) << found->meaning;
    node.policy.mode = Mode::enforce;
    node.now.agent->mode = Mode::enforce;
    EXPECT_EQ(complaints_of(node.view(), only).size(), 1u);
  }
}

// The map of other DSCPs is not the reason, and the driver's global traffic class is not repeated as a fix.
TEST(CheckAudit, ADscpMapThatServesRoceExplainsNoUnprotectedTraffic) {
  const auto found = [](uint8_t priority_of_roce, std::optional<uint32_t> global = {}) {
    Healthy node;
    carry(node, 1, {.on_priority_3 = 0.02});
    node.policy.mode = Mode::audit;
    node.now.agent->mode = Mode::audit;
    node.change("mlx5_1/1", "dscp_map").outcome = Outcome::differs;
    node.now.ports[1].qos.dscp_map = DscpMap{{0, 5}, {26, priority_of_roce}};
    if (global) node.now.ports[1].qos.traffic_class = OrNone{global};
    const std::vector<std::string> only{"unprotected-traffic"};
    const Report report = run_rules(node.view(), only);
    const Finding* out = finding_of(report, "unprotected-traffic", "mlx5_1/1");
    return out == nullptr ? Finding{} : *out;
  };
  EXPECT_TRUE(is_audited(found(0))) << "the map is the reason";
  EXPECT_EQ(found(3).status, Status::warning) << "DSCP 26 has its priority";
  EXPECT_TRUE(has(found(3).remedy, "NCCL_IB_TC=106")) << found(3).remedy;
  EXPECT_TRUE(has(found(3, 96).remedy, "NCCL_IB_TC=106")) << "another DSCP: " << found(3, 96).remedy;
  const std::string remedy = found(3, 104).remedy;
  EXPECT_TRUE(has(remedy, "global traffic class is 104 (DSCP 26, priority 3) already") &&
              has(remedy, "NCCL_IB_TC=104") && has(remedy, "DEVX"))
      << remedy;
  EXPECT_FALSE(has(remedy, "in the policy")) << remedy;
}

TEST(Unseen, TrafficThatPfcProtectsIsSilent) {
  for (const double share : {1.0, 0.8}) {
    Healthy node;
    carry(node, 1, {.on_priority_3 = share});
    EXPECT_EQ(said(node.view(), {"unprotected-traffic"}), "") << share;
  }
  // RDMA that loops back inside the NIC has no priority; TCP uses priority 0.
  Healthy loop;
  carry(loop, 1, {.on_priority_3 = 0});
  for (Counter& counter : loop.now.ports[1].counters.ethtool)
    if (counter.name.text().find("prio0") != std::string_view::npos) counter.value = 2'000'000'000;
  EXPECT_EQ(said(loop.view(), {"unprotected-traffic"}), "");
}

// The bytes by priority are those of the wire, and the RDMA bytes those of each function.
TEST(Unseen, TrafficOfFunctionsIsReportedAtTheirWire) {
  const auto functions = [](double on_priority_3, double rdma_of_function) {
    Healthy node;
    carry(node, 0, {.on_priority_3 = on_priority_3});
    carry(node, 1, {.received = rdma_of_function, .sent = rdma_of_function});
    for (Counter& counter : node.now.ports[0].counters.ethtool)
      if (has(std::string(counter.name.text()), "vport_rdma")) counter.value = 1000;  // none of its own
    for (Node* each : {&node.before, &node.now}) {
      each->ports[0].role = PortRole::switchdev_uplink;
      each->ports[0].switchdev = true;
      each->ports[1].role = PortRole::virtual_function;
      each->ports[1].owner = each->ports[0].pci;
      each->ports[1].qos.pfc.reset();
    }
    return node;
  };
  Healthy node = functions(0.02, 300e9);
  for (const PortRole role : {PortRole::switchdev_uplink, PortRole::physical}) {
    for (Node* each : {&node.before, &node.now}) {
      each->ports[0].role = role;
      each->ports[0].switchdev = role == PortRole::switchdev_uplink;
    }
    const auto found = complaints_of(node.view(), {"unprotected-traffic"});
    ASSERT_EQ(found.size(), 1u) << describe(found);
    EXPECT_EQ(found[0].subject, "mlx5_0/1");
    EXPECT_TRUE(has(found[0].observed, "(with mlx5_1/1), 98 % used no priority with PFC (3)")) << found[0].observed;
  }
  EXPECT_EQ(said(functions(0, 0).view(), {"unprotected-traffic"}), "") << "TCP on priority 0";
  EXPECT_EQ(said(functions(0.5, 100e9).view(), {"unprotected-traffic"}), "") << "TCP beside RDMA with PFC";
  EXPECT_EQ(said(functions(1, 300e9).view(), {"unprotected-traffic"}), "");
  // A function whose bytes are not readable here.
  node = functions(0.02, 300e9);
  for (Node* each : {&node.before, &node.now}) each->ports[1].counters = {};
  EXPECT_EQ(said(node.view(), {"unprotected-traffic"}), "");
  const Report report = run_rules(node.view(), std::vector<std::string>{"unprotected-traffic"});
  const Finding* found = finding_of(report, "unprotected-traffic", "mlx5_0/1");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(has(found->observed, "cannot be known here")) << found->observed;
}

// Only the peers use another traffic class.
TEST(Unseen, TrafficThatArrivesWithoutPfcIsThatOfTheSenders) {
  Healthy node;
  carry(node, 1, {.on_priority_3 = 0});
  for (Counter& counter : node.now.ports[1].counters.ethtool) {
    if (counter.name == std::string_view("tx_prio3_bytes")) counter.value = 300'000'001'000;
    if (counter.name == std::string_view("tx_prio0_bytes")) counter.value = 1000;
  }
  const auto found = complaints_of(node.view(), {"unprotected-traffic"});
  ASSERT_EQ(found.size(), 1u) << describe(found);
  EXPECT_TRUE(has(found[0].meaning, "the senders")) << found[0].meaning;
}

TEST(Unseen, TrafficClassFollowsFromThePolicyElseFromThePort) {
  Healthy node;
  Port& port = node.now.ports[0];
  const auto text = [&] { return traffic_class_text(node.view(), port); };
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=106 "));
  node.policy.ports[0].want.dscp_map = DscpMap{{40, 3}};
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=162 ") && has(text(), "DSCP 40 is 160")) << text();
  node.policy.ports.clear();
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=106 ")) << "DSCP 26 of the port's map";
  port.qos.dscp_map = DscpMap{{10, 3}, {48, 6}};
  EXPECT_TRUE(has(text(), "NCCL_IB_TC=42 ")) << text();
  port.qos.trust = Trust::pcp;
  EXPECT_TRUE(has(text(), "NCCL_IB_SL")) << text();
  EXPECT_TRUE(has(text(), "no GID of a VLAN") && has(text(), "trust = \"dscp\""))
      << "a service level alone: " << text();
  // With a VLAN, and where the GIDs do not show the tags, the service level is enough.
  port.gids.push_back({5, "0000:0000:0000:0000:0000:ffff:0a02:0001", "RoCE v2", "ens0.300", true});
  EXPECT_FALSE(has(text(), "VLAN:")) << text();
  port.gids.clear();
  EXPECT_FALSE(has(text(), "no GID of a VLAN")) << text();
}

// -- Fixes

std::string adapted(const View& view, Fix fix, std::string subject = "mlx5_1/1") {
  Finding finding = bad(Status::warning, std::move(subject), "observed", "expected", "It is wrong.", std::move(fix));
  adapt_remedy(finding, view);
  return finding.remedy;
}

TEST(Remedy, StepsAreJoinedAsSentences) {
  EXPECT_EQ(joined_steps({"Read the module.", "ethtool -m ens0", "Then swap it."}),
            "Read the module. ethtool -m ens0. Then swap it.");
  EXPECT_EQ(joined_steps({"ethtool -m ens0", "lspci", "NCCL_IB_TC=106", "Compare:", "Look."}),
            "ethtool -m ens0; lspci; NCCL_IB_TC=106. Compare: Look.");
  EXPECT_EQ(joined_steps({}), "");
}

TEST(Remedy, ARowIsTheTextOfItsSteps) {
  constexpr FixRow kRow{"Read the log; ", {Work::at_link, "then swap {rdma}."}};
  static_assert(!kRow.empty() && FixRow().empty());
  EXPECT_EQ(kRow.text(), "Read the log; then swap {rdma}.");
  EXPECT_EQ(Fix(kRow).steps, (std::vector<Step>{"Read the log; ", {Work::at_link, "then swap {rdma}."}}));
  EXPECT_EQ(Fix(FixRow(Work::in_machine, "Move it.")).steps.front().work, Work::at_machine | Work::ends_jobs);
  EXPECT_TRUE(Fix("").empty() && Fix(FixRow()).empty());
}

TEST(Remedy, AGuestHasNoHandsAtTheHardware) {
  Healthy node;
  node.now.topology.hypervisor = "Amazon EC2";
  const std::string report =
      "This is a virtual machine (Amazon EC2): report it to the operator of the host, who has the hardware.";
  EXPECT_EQ(adapted(node.view(), {{Work::in_machine, "Turn it round. "}, "Errors: journalctl -k -g aer"}),
            "Errors: journalctl -k -g aer. " + report);
  EXPECT_EQ(adapted(node.view(), {"journalctl -k -g aer; ", {Work::in_machine, "then turn it round."}}),
            "journalctl -k -g aer. " + report);
  EXPECT_EQ(adapted(node.view(), {{Work::at_link, "Polish it. "}, "Read the log."}), "Read the log. " + report);
  EXPECT_EQ(adapted(node.view(), {"Look at it (ip link)", {Work::at_link, ", then polish it."}}),
            "Look at it (ip link). " + report);
  EXPECT_EQ(adapted(node.view(), {"Read its state", {Work::at_link, ", then the cable"}, ": ethtool ens1"}),
            "Read its state: ethtool ens1. " + report);
  EXPECT_EQ(adapted(node.view(), {"Compare:\nlspci; ", {Work::at_machine, "then look at the fans."}}),
            report + " Compare:\nlspci");
  EXPECT_EQ(adapted(node.view(), {Work::at_link | Work::when_idle, "Polish it when no job runs."}), report);
  // The kind of a step decides, not its words.
  EXPECT_EQ(adapted(node.view(), "ip link set ens1 up; see reseat(8)"), "ip link set ens1 up; see reseat(8)");
  EXPECT_EQ(adapted(node.view(), {Work::ends_jobs, "Reboot."}), "Drain the node first. Reboot.");
}

// EFA, MANA and eRDMA are in clouds only. Without DMI no hypervisor is known.
TEST(Remedy, ATenantOfACloudHasNoHandsAtTheHardware) {
  const Fix fix{"journalctl -k; ", {Work::in_machine, "then reseat it."}};
  for (const uint16_t vendor : std::initializer_list<uint16_t>{0x1d0f, 0x1414, 0x1ded, 0x15b3}) {
    Healthy node;
    node.now.topology.hypervisor.clear();
    node.now.topology.nics.back().vendor = vendor;
    const std::string text = adapted(node.view(), fix);
    EXPECT_EQ(has(text, "reseat"), vendor == 0x15b3) << text;
    EXPECT_EQ(has(text, "report it to the operator"), vendor != 0x15b3) << text;
  }
}

TEST(Remedy, OfACapturedTreeStartsNoServiceHere) {
  Healthy node;
  View view = node.view();
  const Fix start{Work::service, "systemctl enable --now fabric-agent"};
  EXPECT_EQ(adapted(view, start), "systemctl enable --now fabric-agent");
  view.is_captured = true;
  EXPECT_EQ(adapted(view, start, "host"),
            "This is a captured tree: start or restart the service on the captured machine, and capture it again.");
  EXPECT_EQ(adapted(view, {"fabric-agentctl plan",
                           {Work::service, " (then systemctl daemon-reload)"},
                           ". Read the log; ",
                           {Work::service, "then systemctl restart x"}}),
            "fabric-agentctl plan. Read the log");
}

// Reading again as root helps on the machine, not in its capture; a new limit of a service needs its restart in any
// case.
TEST(Remedy, OfACapturedTreeIsReadAgainByACapture) {
  const auto remedy = [](const char* rule, bool is_captured, auto change) {
    Healthy node;
    change(node);
    View view = node.view();
    view.is_captured = is_captured;
    const auto found = complaints_of(view, {rule});
    return found.size() == 1 ? found[0].remedy : describe(found);
  };
  for (const bool is_captured : {false, true}) {
    const std::string gid = remedy("gid", is_captured, [](Healthy& node) {
      node.now.ports[1].gids.clear();
      node.now.ports[1].unread.push_back({PortPart::gids, "gid: gids: ENOENT"});
    });
    EXPECT_EQ(has(gid, "Run the check as root"), !is_captured) << gid;
    EXPECT_EQ(has(gid, "Capture the machine again"), is_captured) << gid;
    EXPECT_TRUE(has(gid, "/ports/1/gids")) << gid;
    const std::string memlock = remedy("memlock", is_captured, [](Healthy& node) {
      JobService& service = node.now.host->services[0];
      service.memlock.reset();  // the default
      for (JobProcess& each : service.processes) each.limits.memlock = ResourceLimit{8 << 20, 8 << 20};
    });
    EXPECT_EQ(has(memlock, "systemctl restart containerd.service"), !is_captured) << memlock;
    EXPECT_TRUE(has(memlock, "Then restart containerd.service")) << memlock;
  }
}

// A write of speed or FEC takes the link down, as hands at its cable do.
TEST(Remedy, SpeedAndFecChangeOnADrainedNode) {
  Healthy node;
  node.now.ports[1].rate = *node.now.ports[1].rate / 2;
  const auto found = complaints_of(node.view(), {"rate"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].remedy.starts_with("Drain the node first. Configure the same speed")) << found[0].remedy;
}

// The settings of every port could not be read for one reason: one paragraph.
TEST(Report, SettingsThatCouldNotBeReadAreOneFinding) {
  Healthy node;
  for (auto& [port, changes] : node.plan)
    for (Change& each : changes) {
      each.outcome = Outcome::refused;
      each.detail = "no netlink in a captured tree";
      each.from = "-";
    }
  const std::vector<std::string> only{"settings"};
  const Report report = run_rules(node.view(), only);
  std::vector<FindingGroup> unread;
  for (const FindingGroup& each : group_findings(report))
    if (each.finding->status == Status::unknown) unread.push_back(each);
  ASSERT_EQ(unread.size(), 1u);
  EXPECT_GT(unread[0].ids.size(), 5u);
  EXPECT_EQ(unread[0].subjects.size(), node.now.ports.size());
}

// A captured tree has no plan, and the MTU of its netdevs: what `show` compares is no finding that it could not be
// read.
TEST(CheckSettings, OfACapturedTreeJudgesWhatItHas) {
  Healthy node;
  node.plan.clear();
  for (Port& port : node.now.ports) port.qos = {};
  for (size_t index : {size_t{0}, size_t{1}}) node.now.ports[index].qos.mtu = 9000;
  for (PortPolicy& entry : node.policy.ports) entry.want.mtu = 9000;
  node.now.ports[1].qos.mtu = 1500;
  const std::vector<std::string> only{"mtu"};
  const Report report = run_rules(node.view(), only);
  const auto of = [&](size_t port) { return finding_of(report, "mtu", node.now.ports[port].id()); };
  ASSERT_TRUE(of(0) && of(1) && of(2));
  EXPECT_EQ(of(0)->status, Status::ok) << describe(*of(0));
  EXPECT_TRUE(is_fault(of(1)->status)) << describe(*of(1));
  EXPECT_EQ(of(1)->observed, "1500");
  EXPECT_EQ(of(2)->status, Status::unknown) << describe(*of(2));
}

// The agent runs: the correction is the same, whichever process reloads it.
TEST(Remedy, OfACapturedTreeKeepsWhatIsNotTheCommandOfAService) {
  const auto remedy = [](auto change) {
    Healthy node;
    node.now.agent.emplace();
    node.now.agent->running = true;
    node.now.agent->mode = node.policy.mode;
    change(*node.now.agent);
    View view = node.view();
    view.is_captured = true;
    const auto found = complaints_of(view, {"agent"});
    return found.size() == 1 ? found[0].remedy : describe(found);
  };
  EXPECT_EQ(remedy([](AgentState& agent) { agent.config_error = "line 3"; }), "fabric-agentctl config check");
  EXPECT_EQ(remedy([](AgentState& agent) { agent.lost_entry = {"mlx5_1/1"}; }), "Restore the entry");
  EXPECT_EQ(remedy([](AgentState& agent) { agent.held = "an apply awaits confirmation"; }),
            "End the suspension: an apply awaits confirmation");
  EXPECT_EQ(remedy([](AgentState& agent) {
              agent.held_until_reload = "reverted at 12:00: not confirmed";
              agent.held = agent.held_until_reload + kEnforceAnyway;
            }),
            "End the suspension: reverted at 12:00: not confirmed");
  EXPECT_EQ(remedy([](AgentState& agent) { agent.running = false; }),
            "This is a captured tree: start or restart the service on the captured machine, and capture it again.");
}

bool has_late_capital(const std::string& text) {
  static const std::regex kCapital("; [A-Z][a-z]");
  return std::regex_search(text, kCapital);
}

// A text without some of its steps is still a correct sentence.
void expect_text(std::string_view row, const std::string& before, const std::string& after) {
  SCOPED_TRACE(std::string(row) + ": " + after);
  for (const std::string_view joint : {"  ", " ,", " .", ".;", ". ;", "; ;", ";.", ":.", ":;", ",.", ",;", ".,", "..."})
    EXPECT_TRUE(!has(after, joint) || has(before, joint)) << '"' << joint << '"';
  EXPECT_TRUE(!has_late_capital(after) || has_late_capital(before));
  if (after.empty() || after.front() == before.front()) return;
  const std::string first = after.substr(0, after.find(' '));
  constexpr std::string_view kCommands[]{"fabric-agentctl", "journalctl", "ethtool", "ip", "rdma", "lspci", "devlink"};
  EXPECT_TRUE((first.front() >= 'A' && first.front() <= 'Z') || is_digit(first.front()) || contains(kCommands, first))
      << "begins inside a sentence";
}

TEST(Remedy, WhatIsLeftOfARowIsAText) {
  size_t changed = 0;
  Healthy node, guest;
  guest.now.topology.hypervisor = "QEMU";
  const auto expect_texts = [&](std::string_view name, const FixRow& row) {
    if (row.empty()) return;
    for (View view : {node.view(), guest.view()})
      for (const bool is_captured : {false, true}) {
        view.is_captured = is_captured;
        const std::string before = row.text(), after = adapted(view, Fix(row));
        if (after != before) ++changed;
        expect_text(name, before, after);
      }
  };
  for (const Rule& rule : rules()) {
    for (const FixRow* fix : {&rule.fix, &rule.fix_lossy, &rule.fix_scheduled, &rule.fix_infiniband})
      expect_texts(rule.id, *fix);
    for (const Measurement& each : rule.windows)
      for (const FixRow* fix : {&each.remedy, &each.elsewhere}) expect_texts(each.window.key, *fix);
  }
  for (const lines::LineMessage& message : lines::messages())
    expect_text(message.id, message.meaning.text(), fix_of_guest(message.meaning, "QEMU").text());
  EXPECT_GT(changed, 20u);
}

TEST(Remedy, WorkThatEndsJobsBeginsWithADrainedNode) {
  Healthy node;
  EXPECT_EQ(adapted(node.view(), {"Read the log: journalctl -k. ", {Work::at_link, "Polish the connectors."}}),
            "Read the log: journalctl -k. Drain the node first. Polish the connectors.");
  // The order comes before the sentence, which may begin in an earlier step.
  const Step last(Work::ends_jobs, "then start it again.");
  EXPECT_EQ(adapted(node.view(), {"journalctl -k; ", last}),
            "Drain the node first. journalctl -k; then start it again.");
  EXPECT_EQ(adapted(node.view(), {"Look. journalctl -k; ", "lspci; ", last, " Look."}),
            "Look. Drain the node first. journalctl -k; lspci; then start it again. Look.");
  EXPECT_EQ(adapted(node.view(), {"Look:\nlspci; ", last}), "Look:\nDrain the node first. lspci; then start it again.");
  // No order: the step says when it may be done, or does not end jobs.
  EXPECT_EQ(adapted(node.view(), {{Work::ends_jobs | Work::when_idle, "Restart it when no job runs. "}, last}),
            "Restart it when no job runs. then start it again.");
  EXPECT_EQ(adapted(node.view(), {Work::at_machine, "Look at the fans."}), "Look at the fans.");
  EXPECT_EQ(adapted(node.view(), "Set it again after each reboot."), "Set it again after each reboot.");
  // The cable of a port that is down carries no job; its node may.
  test::down(node, 1, 2);
  EXPECT_EQ(adapted(node.view(), {Work::at_link, "Replace the cable."}), "Replace the cable.");
  EXPECT_EQ(adapted(node.view(), last.text), last.text);
  EXPECT_EQ(adapted(node.view(), Fix{last}), "Drain the node first. " + last.text);
}

TEST(Remedy, OfAFaultThatIsNotProvedTellsNobodyToDrain) {
  EXPECT_EQ(warned_first({"Look. ", {Work::ends_jobs, "Reboot."}}).text(),
            "Look. The next step ends the jobs of a node that is not drained. Reboot.");
  EXPECT_EQ(warned_first({"Look. ", {Work::at_machine, "Look at the fans."}}).text(), "Look. Look at the fans.");
}

TEST(Remedy, LinesOfACauseChangeWithTheRemedy) {
  Healthy node;
  Finding finding = bad(Status::critical, "mlx5_1/1", "o", "e", "It is wrong.", "Read the module: ethtool -m ens1");
  finding.culprit = Culprit::cable;
  finding.fix.emplace_back(Work::at_link, "Polish cable and modules.");
  finding.fix.push_back({"Update the firmware; ", {Work::in_machine, "replace the NIC if it happens again."}});
  Finding guests = finding;
  adapt_remedy(finding, node.view());
  EXPECT_EQ(finding.next, (std::vector<std::string>{"Read the module: ethtool -m ens1", "Drain the node first.",
                                                    "Polish cable and modules.",
                                                    "Update the firmware; replace the NIC if it happens again."}));
  EXPECT_EQ(finding.remedy, joined_steps(finding.next));
  node.now.topology.hypervisor = "QEMU";
  adapt_remedy(guests, node.view());
  ASSERT_EQ(guests.next.size(), 3u);
  EXPECT_EQ(guests.next[1], "Update the firmware");
  EXPECT_TRUE(has(guests.next[2], "This is a virtual machine (QEMU)")) << guests.next[2];
  EXPECT_EQ(guests.remedy, joined_steps(guests.next));
}

}  // namespace
}  // namespace fabric
