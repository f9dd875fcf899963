// SPDX-License-Identifier: Apache-2.0
#include "loglines/loglines.h"

#include "base/json.h"
#include "checks/check.h"
#include "ctl/verbs.h"
#include "support/ctl.h"
#include "support/healthy_node.h"
#include "support/json_reader.h"
#include "support/log_examples.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::loglines {
namespace {

using test::JsonValue;
using test::kLogExamples;
using test::ran;
using test::Ran;
using test::Tree;

std::string ids_of(std::string_view line) {
  std::string out;
  for (const Message& message : messages())
    if (matches(message, line)) out += std::string(message.id) + " ";
  return out;
}

TEST(LogLines, EveryExampleIsExactlyItsMessage) {
  for (const auto& example : kLogExamples)
    EXPECT_EQ(ids_of(example.line), std::string(example.id) + " ") << example.line;
}

TEST(LogLines, EveryMessageHasAnExampleAndAllItsTexts) {
  std::set<std::string_view> examples, ids;
  size_t real = 0;
  for (const auto& example : kLogExamples) {
    examples.insert(example.id);
    real += example.from != "format";
  }
  EXPECT_GE(messages().size(), 60u);
  EXPECT_GE(real, 40u) << "lines that programs have printed";
  for (const Message& message : messages()) {
    EXPECT_TRUE(ids.insert(message.id).second) << message.id;
    EXPECT_TRUE(examples.contains(message.id)) << message.id;
    EXPECT_TRUE(message.meaning.ends_with('.')) << message.id;
    EXPECT_FALSE(message.next.empty() || message.source.empty()) << message.id;
    EXPECT_EQ(find_check(message.id), nullptr) << message.id;
  }
  EXPECT_EQ(ids.size(), examples.size()) << "an example of no message";
}

TEST(LogLines, TheNextStepNamesChecksThatExist) {
  for (const Message& message : messages()) {
    const size_t at = message.next.find("--only ");
    if (at == std::string_view::npos) continue;
    std::istringstream names{std::string(message.next.substr(at + 7))};
    for (std::string name; std::getline(names, name, ',');)
      EXPECT_NE(find_check(name), nullptr) << message.id << " " << name;
  }
}

TEST(LogLines, OrdinaryLinesAreUnknown) {
  for (const char* line :
       {"", " ", "Using network IB", "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB ens1:10.0.0.1<0>",
        "step 12: loss 3.1", "Got completion with error 120, opcode 0", "status=12",
        "mlx5_core 0000:18:00.0 ens1: Link up",
        "NCCL WARN NET/IB : Got completion from peer 10.0.0.2<1> with status=0 opcode=0",
        "Got completion with error 99999999999999999999999,", "with status=", "IBV_WC_", "IBV_WC_RETRY_EXC_ERRX"})
    EXPECT_EQ(ids_of(line), "") << line;
}

TEST(LogLines, StatusNumbersAreWhole) {
  EXPECT_EQ(recognize("Got completion with error 1, opcode 0")->id, "wc-local-length");
  EXPECT_EQ(recognize("Got completion with error 12, opcode 0")->id, "wc-retry-exceeded");
  EXPECT_EQ(vendor_error("vendor err 129"), "vendor error 129: no acknowledgment came back");
  EXPECT_EQ(vendor_error("(synd 0x15 vend 0x81 hw_synd 0/0)"), vendor_error("vendor err 129"));
  EXPECT_EQ(vendor_error("vendor err 1290"), "");
}

// The rest of a long line is not read; each part of a pattern that nearly matches does not multiply the time.
TEST(LogLines, LongAndHostileLines) {
  const std::string megabyte(1 << 20, 'a');
  EXPECT_EQ(recognize(megabyte), nullptr);
  EXPECT_EQ(recognize(megabyte + "Got completion with error 12, "), nullptr);
  EXPECT_NE(recognize("Got completion with error 12, " + megabyte), nullptr);
  std::string parts;
  while (parts.size() < (1 << 20)) parts += "ibv_reg_mr ibv_reg_mr failed status number async event ";
  EXPECT_EQ(recognize(parts), nullptr);
  EXPECT_TRUE(names_in(parts, Node()).ports.empty());
}

TEST(LogNames, PortsArePointedAtByDeviceGidNetdevAndPci) {
  test::Healthy healthy;
  Port& port = healthy.now.ports[1];
  port.gids = {{3, "0000:0000:0000:0000:0000:ffff:1d57:04dd", "RoCE v2", port.netdev}};
  const auto only = [&](const std::string& line) {
    const Named named = names_in(line, healthy.now);
    return named.ports.size() == 1 && named.ports.front() == &port ? named.by.front() : "none";
  };
  EXPECT_EQ(only("localGid ::ffff:29.87.4.221 remoteGids::ffff:29.87.88.182"), "GID ::ffff:29.87.4.221");
  EXPECT_EQ(only("localGid 0000:0000:0000:0000:0000:ffff:1d57:04dd"), "GID 0000:0000:0000:0000:0000:ffff:1d57:04dd");
  EXPECT_EQ(only("NET/IB : " + port.rdma + ":1 Got async event : port error"), "device " + port.rdma + ":1");
  EXPECT_EQ(only("exceeded on " + port.rdma + ":1/RoCE (synd 0x15"), "device " + port.rdma + ":1/RoCE");
  EXPECT_EQ(only("IB Async event on " + port.rdma + ": port error on port 1"), "device " + port.rdma);
  EXPECT_EQ(only("mlx5_core " + port.pci + ": poll_health:739"), "PCI address " + port.pci);
  EXPECT_EQ(only("NETDEV WATCHDOG: " + port.netdev + " (mlx5_core): transmit"), "netdev " + port.netdev);
  EXPECT_EQ(only("mlx5_core " + port.pci + " " + port.netdev + ": Link down"), "PCI address " + port.pci);
  EXPECT_EQ(only(port.rdma + "0:1 Got async event"), "none");
}

TEST(LogNames, PeersAreNotPortsOfThisNode) {
  test::Healthy healthy;
  healthy.now.ports[0].gids = {{3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", ""}};
  const Named named =
      names_in("Got completion from peer 10.1.2.3<33057> with status=12 remoteGids::ffff:10.0.0.1", healthy.now);
  EXPECT_TRUE(named.ports.empty());
  EXPECT_EQ(named.peer, "10.0.0.1") << "the GID is the address on the rail";
  EXPECT_EQ(names_in("connect to 10.99.91.49<58525> returned", healthy.now).peer, "10.99.91.49");
  EXPECT_EQ(names_in("dgid=fe80::9876:34ff:fee9:b3fc flow_label", healthy.now).peer, "fe80::9876:34ff:fee9:b3fc");
  EXPECT_EQ(names_in("localGid ::ffff:10.9.9.9", healthy.now).elsewhere, "GID ::ffff:10.9.9.9");
  EXPECT_EQ(names_in("on mlx5_77:1/RoCE (synd", healthy.now).elsewhere, "device mlx5_77:1/RoCE");
  EXPECT_EQ(names_in("mlx5_core 0000:ff:00.0: mlx5_cmd_out_err:838", healthy.now).elsewhere, "");
}

// A captured machine with one port.
void fill(Tree& tree) {
  const std::string device = "sys/class/infiniband/mlx5_0", port = device + "/ports/1";
  tree.file(port + "/state", "4: ACTIVE\n").file(port + "/link_layer", "Ethernet\n");
  tree.file(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:1d57:04dd\n");
  tree.file(port + "/gid_attrs/types/3", "RoCE v2\n").file(port + "/gid_attrs/ndevs/3", "eth0\n");
  tree.file("sys/class/net/eth0/ifindex", "7\n");
}

TEST(ExplainLine, ResolvesThePortAndCleansTheText) {
  Tree tree;
  fill(tree);
  const std::string line =
      "\x1b[31mNCCL WARN NET/IB : Got completion from peer 10.1.1.1<1> with status=12 opcode=1 len=0 vendor err 129 "
      "(Send) "
      "localGid ::ffff:29.87.4.221 remoteGids::ffff:29.87.88.182";
  const Ran result = ran({"explain", line, "--root", tree.path()});
  EXPECT_EQ(result.code, 0) << result.errors;
  for (const char* part : {"wc-retry-exceeded (network)\n", "Port: mlx5_0/1", "by GID ::ffff:29.87.4.221",
                           "Peer: 29.87.88.182", "Counters: not known: fabric-exporter does not run",
                           "vendor error 129", "Next: fabric-agentctl diagnose mlx5_0/1\n"})
    EXPECT_NE(result.text.find(part), std::string::npos) << part << "\n" << result.text;
  EXPECT_EQ(result.text.find('\x1b'), std::string::npos);
  const JsonValue json = JsonValue::parse(ran({"explain", line, "--json", "--root", tree.path()}).text);
  EXPECT_EQ(json.array().front()["ports"].array().front()["port"].text(), "mlx5_0/1");
}

TEST(ExplainLine, UnknownLinesAndIdsDiffer) {
  Tree tree;
  fill(tree);
  const Ran unknown = ran({"explain", "all is well", "--root", tree.path()});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(unknown.text.starts_with("Unknown line: ")) << unknown.text;
  EXPECT_EQ(ran({"explain", "locality"}).code, 0);
  EXPECT_EQ(ran({"explain", "localty"}).code, 64);
  EXPECT_EQ(ran({"explain", "--log", tree.path() + "/no-such-file", "--root", tree.path()}).code, 3);
  EXPECT_EQ(ran({"explain", "--log", tree.path(), "--root", tree.path()}).code, 3) << "a directory";
  EXPECT_EQ(ran({"explain", "--log", "x", "a line", "--root", tree.path()}).code, 64);
}

TEST(ExplainLog, CountsEachMessageOnceForEachPort) {
  Tree tree;
  fill(tree);
  std::string log = "start\n" + std::string(3 << 20, 'x') + "\n";
  for (int i = 0; i < 5; ++i) log += "NCCL WARN NET/IB : mlx5_0:1 Got async event : port error\n";
  log += "NCCL WARN NET/IB : Got async event : port error";
  tree.file("log", log).file("empty", "");
  const Ran result = ran({"explain", "--log", tree.path() + "/log", "--root", tree.path()});
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.text.find("Line 3, 5 times: NCCL WARN"), std::string::npos) << result.text;
  EXPECT_NE(result.text.find("Line 8: NCCL WARN"), std::string::npos) << "no newline at the end";
  EXPECT_NE(result.text.find("Next: fabric-agentctl diagnose\n"), std::string::npos) << result.text;
  const Ran empty = ran({"explain", "--log", tree.path() + "/empty", "--root", tree.path()});
  EXPECT_EQ(empty.code, 1) << empty.errors;
}

}  // namespace
}  // namespace fabric::loglines
