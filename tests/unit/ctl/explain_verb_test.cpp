// SPDX-License-Identifier: Apache-2.0
// fabric-agentctl explain with lines of jobs and kernels: ports, peers, and the counters at the time of the line.
#include "base/json.h"
#include "support/ctl.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;
using test::ran;
using test::Ran;
using test::ran_on;
using test::Tree;

// A captured machine with one port.
struct Captured : Tree {
  Captured() {
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    file(port + "/state", "4: ACTIVE\n").file(port + "/link_layer", "Ethernet\n");
    file(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:1d57:04dd\n");
    file(port + "/gid_attrs/types/3", "RoCE v2\n").file(port + "/gid_attrs/ndevs/3", "eth0\n");
    file("sys/class/net/eth0/ifindex", "7\n");
  }
};

TEST(ExplainLine, NamesThePortAndRemovesColors) {
  Captured tree;
  const std::string line =
      "\x1b[31mNCCL WARN NET/IB : Got completion from peer 10.1.1.1<1> with status=12 opcode=1 len=0 vendor err 129 "
      "(Send) "
      "localGid ::ffff:29.87.4.221 remoteGids::ffff:29.87.88.182";
  const Ran result = ran_on(tree, {"explain", line});
  EXPECT_EQ(result.code, 0) << result.errors;
  for (const char* part : {"wc-retry-exceeded (network)\n", "Port: mlx5_0/1", "by GID ::ffff:29.87.4.221",
                           "Peer: 29.87.88.182", "Counters: not known: fabric-exporter does not run",
                           "vendor error 0x81 (129)", "Next: fabric-agentctl diagnose mlx5_0/1\n"})
    EXPECT_TRUE(has(result.text, part)) << part << "\n" << result.text;
  EXPECT_EQ(result.text.find('\x1b'), std::string::npos);
  Json json = Json::parse(ran_on(tree, {"explain", line, "--json"}).text);
  EXPECT_EQ(json.front()["ports"].front()["port"], "mlx5_0/1");
}

// Work with hands is for the operator of the host, if the line is of this machine.
TEST(ExplainLine, OfAGuestNeedsNoHands) {
  const std::string line = "pcieport 0000:00:01.0: AER: Corrected error message received from 0000:24:00.0";
  const auto meaning = [](Tree& tree, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"explain", "--json"});
    return Json::parse(ran_on(tree, arguments).text).front()["meaning"].get<std::string>();
  };
  Captured tree;
  EXPECT_TRUE(has(meaning(tree, {line}), "Reseat the device or its riser"));
  tree.file("sys/class/dmi/id/sys_vendor", "QEMU\n").file("proc/sys/kernel/hostname", "node7.example.com\n");
  for (const std::string& own : {line, "Nov 26 10:00:00 node7 kernel: " + line}) {
    const std::string text = meaning(tree, {own});
    EXPECT_FALSE(has(text, "Reseat")) << text;
    EXPECT_TRUE(has(text, "may leave the bus next. This is a virtual machine (QEMU): report it")) << text;
  }
  // Another machine's, or nobody knows whose.
  EXPECT_TRUE(has(meaning(tree, {"Nov 26 10:00:00 node8 kernel: " + line}), "Reseat"));
  tree.file("log", line + "\n");
  EXPECT_TRUE(has(meaning(tree, {"--log", tree.path() + "/log"}), "Reseat"));
}

TEST(ExplainLine, ReadsALineOfAColoredLog) {
  Captured tree;
  const std::string line =
      "\x1b[36m[rank3]:\x1b[0m\x1b[33m2026-11-26T10:00:00Z\x1b[0m \x1b[1;31mNCCL WARN\x1b[m NET/IB : "
      "\x1b[38;5;9mmlx5_0\x1b[0m:1 Got async event : port error\x1b[";
  const Json found = Json::parse(ran_on(tree, {"explain", line, "--json"}).text).front();
  EXPECT_EQ(found["ports"].front()["port"], "mlx5_0/1");
  EXPECT_EQ(found["time"], "2026-11-26T10:00:00Z");
  EXPECT_EQ(found["line"], "[rank3]:2026-11-26T10:00:00Z NCCL WARN NET/IB : mlx5_0:1 Got async event : port error");
}

// mlx5 RoCE LAG: the kernel's lines name the members' functions and netdevs.
TEST(ExplainLine, NamesTheMemberOfABond) {
  Tree tree;
  std::string functions[2];
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i), member = "sys/class/net/ens1f" + n;
    functions[i] = test::add_pci(tree, {.parent = "pci0000:20/0000:20:01.0", .pci = "0000:24:00." + n});
    tree.file(functions[i] + "/uevent", "DRIVER=mlx5_core\n").file(member + "/ifindex", n + "\n");
    tree.link(member + "/device", "../../../../" + functions[i]);
  }
  const std::string device = "sys/class/infiniband/mlx5_bond_0";
  tree.link(device + "/device", "../../../" + functions[0].substr(4));
  tree.file(device + "/ports/1/link_layer", "Ethernet\n").file(device + "/ports/1/gid_attrs/ndevs/0", "bond0\n");
  tree.file("sys/class/net/bond0/ifindex", "9\n").file("sys/class/net/bond0/bonding/slaves", "ens1f0 ens1f1\n");
  for (const std::string n : {"0", "1"}) {
    const Ran result = ran_on(tree, {"explain", "mlx5_core 0000:24:00." + n + " ens1f" + n + ": Link down"});
    const std::string port = "mlx5_bond_0/1@ens1f" + n;
    EXPECT_TRUE(has(result.text, "Port: " + port + ", netdev ens1f" + n)) << result.text;
    EXPECT_TRUE(has(result.text, "Next: fabric-agentctl diagnose " + port)) << result.text;
    EXPECT_FALSE(has(result.text, "netdev bond0")) << result.text;
  }
  EXPECT_TRUE(has(ran_on(tree, {"explain", "NET/IB : mlx5_bond_0:1 Got async event : port error"}).text,
                  "Port: mlx5_bond_0/1, netdev bond0"));
}

TEST(ExplainLine, UnknownLinesAndIdsDiffer) {
  Captured tree;
  const Ran unknown = ran_on(tree, {"explain", "all is well"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(unknown.text.starts_with("Unknown line: ")) << unknown.text;
  EXPECT_EQ(ran({"explain", "locality"}).code, 0);
  EXPECT_EQ(ran({"explain", "localty"}).code, 64);
  EXPECT_EQ(ran_on(tree, {"explain", "--log", tree.path() + "/no-such-file"}).code, 3);
  EXPECT_EQ(ran_on(tree, {"explain", "--log", tree.path()}).code, 3) << "a directory";
  EXPECT_EQ(ran_on(tree, {"explain", "--log", "x", "a line"}).code, 64);
}

// The exporter's history of one hour, with a flap half an hour ago.
void remember(Tree& tree) {
  tree.file("run/fabric-exporter/health.json",
            R"({"format":1,"updated":10000,"wall":1795996800,"watched":6400,"past":[{"rule":"link_flap","subject":)"
            R"("mlx5_0/1","status":"critical","from":8200,"until":8260,"evidence":"3 link downs"}]})");
  tree.file("proc/uptime", "10000.00 1.00\n");
}

TEST(ExplainLine, CountersAtTheTimeOfTheLine) {
  Captured tree;
  remember(tree);
  const auto counters = [&](const std::string& time) {
    const Ran result =
        ran_on(tree, {"explain", time + " NCCL WARN NET/IB : mlx5_0:1 Got async event : port error", "--json"});
    std::string out;
    Json json = Json::parse(result.text);
    for (Json& each : json.front()["ports"].front()["counters"]) out += each.get<std::string>() + "\n";
    return out;
  };
  const std::string flap = "link_flap critical from 2026-11-29T23:30:00Z to 2026-11-29T23:31:00Z: 3 link downs\n";
  EXPECT_EQ(counters("2026-11-29T23:30:30Z"), flap);
  EXPECT_EQ(counters("2026-11-29T23:32:30Z"), flap) << "a connection breaks some time after its first lost packet";
  EXPECT_EQ(counters("[ 8230.000001]"), flap);
  EXPECT_EQ(counters("2026-11-29T23:40:00Z"), "no health rule was raised at 2026-11-29T23:40:00Z\n");
  EXPECT_EQ(counters("2026-11-29T22:30:00Z"),
            "at 2026-11-29T22:30:00Z: the history of fabric-exporter begins at 2026-11-29T23:00:00Z\n");
  EXPECT_EQ(counters("node1:1:2"), "no health rule is raised now\nthe line has no time: this is the present state\n");
}

TEST(ExplainLine, LidOfAnInfinibandPort) {
  Captured tree;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  tree.file(port + "/link_layer", "InfiniBand\n").file(port + "/lid", "0xc\n").file(port + "/lid_mask_count", "1\n");
  const auto text = [&](const std::string& lid) {
    return ran_on(tree, {"explain", "ibv_create_ah(dlid=" + lid + " sl=0) failed: Connection timed out"}).text;
  };
  for (const char* lid : {"12", "13"})
    EXPECT_TRUE(has(text(lid), "Port: mlx5_0/1 (by LID " + std::string(lid) + ")")) << text(lid);
  EXPECT_TRUE(has(text("14"), "Peer: LID 14")) << text("14");
}

TEST(ExplainLine, MentionsThatALongLineWasCut) {
  Captured tree;
  const std::string megabyte(1 << 20, 'a');
  const Ran unknown = ran_on(tree, {"explain", "a " + megabyte});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(has(unknown.text, "1 line is longer than 16 KiB")) << unknown.text;
  tree.file("log", megabyte + "\nGot completion with error 12, " + megabyte + "\nshort\n");
  const Ran log = ran_on(tree, {"explain", "--log", tree.path() + "/log"});
  EXPECT_EQ(log.code, 0);
  EXPECT_TRUE(has(log.text, "2 lines are longer than 16 KiB")) << log.text;
}

TEST(ExplainLog, CountsEachMessageOnceForEachPort) {
  Captured tree;
  std::string log = "start\n" + std::string(3 << 20, 'x') + "\n";
  for (int i = 0; i < 5; ++i) log += "NCCL WARN NET/IB : mlx5_0:1 Got async event : port error\n";
  log += "NCCL WARN NET/IB : Got async event : port error";
  tree.file("log", log).file("empty", "");
  const Ran result = ran_on(tree, {"explain", "--log", tree.path() + "/log"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.text, "Line 3, 5 times: NCCL WARN")) << result.text;
  EXPECT_TRUE(has(result.text, "Line 8: NCCL WARN")) << "no newline at the end";
  EXPECT_TRUE(has(result.text, "Next: fabric-agentctl diagnose\n")) << result.text;
  const Ran empty = ran_on(tree, {"explain", "--log", tree.path() + "/empty"});
  EXPECT_EQ(empty.code, 1) << empty.errors;
}

TEST(ExplainLog, NamesAllPeersAndTheirNumber) {
  Captured tree;
  const auto line = [](const std::string& gid) {
    return "NCCL WARN NET/IB : Got completion from peer 10.9.0.1<1> with status=12 opcode=1 len=0 vendor err 129 "
           "(Send) "
           "localGid ::ffff:29.87.4.221 remoteGids::ffff:" +
           gid + "\n";
  };
  tree.file("many", line("10.2.0.1") + line("10.2.0.2") + line("10.2.0.2"))
      .file("one", line("10.2.0.1") + line("10.2.0.1"));
  const std::string many = ran_on(tree, {"explain", "--log", tree.path() + "/many"}).text;
  EXPECT_TRUE(has(many, "2 peers: 10.2.0.1, 10.2.0.2 (2 times). Many peers: look at this")) << many;
  EXPECT_TRUE(has(ran_on(tree, {"explain", "--log", tree.path() + "/one"}).text, "One peer: look there first"));
}

TEST(ExplainLog, RefusesWhatIsNoText) {
  Captured tree;
  tree.file("log.gz", "\x1f\x8b\x08 binary\n");
  const Ran result = ran_on(tree, {"explain", "--log", tree.path() + "/log.gz"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.errors, "compressed (gzip): zcat FILE | fabric-agentctl explain -")) << result.errors;
}

// A command that the user has just run is no next step.
TEST(ExplainLog, DoesNotNameItself) {
  Captured tree;
  tree.file(
      "log",
      "NCCL WARN some call broke: Invalid argument\nNCCL WARN [Proxy Service 2] Failed to execute operation Connect\n");
  const std::string text = ran_on(tree, {"explain", "--log", tree.path() + "/log"}).text;
  EXPECT_TRUE(has(text, "The error before it, line 1: NCCL WARN some call broke")) << text;
  EXPECT_FALSE(has(text, "fabric-agentctl explain")) << text;
}

}  // namespace
}  // namespace fabric::ctl
