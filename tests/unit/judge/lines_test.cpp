// SPDX-License-Identifier: Apache-2.0
// Lines of jobs and kernels: the message, the port, the peer and the time. `explain` prints them:
// ctl/explain_verb_test.cpp.
#include "judge/lines.h"

#include "judge/engine.h"
#include "judge/lines/names.h"
#include "judge/lines/time.h"
#include "support/healthy_node.h"
#include "support/log_examples.h"
#include "support/test.h"

namespace fabric::lines {
namespace {

using test::has;
using test::kLogExamples;

// Without messages more general than one before them, whose pattern begins with theirs ("NVRM: Xid").
std::string ids_of(std::string_view line) {
  std::string out;
  const LineMessage* first = nullptr;
  for (const LineMessage& message : messages()) {
    if (!matches(message, line)) continue;
    if (first == nullptr) first = &message;
    else if (first->patterns.starts_with(message.patterns)) continue;
    out += std::string(message.id) + " ";
  }
  return out;
}

TEST(LogLines, EveryExampleHasOneMessage) {
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
  for (const LineMessage& message : messages()) {
    EXPECT_TRUE(ids.insert(message.id).second) << message.id;
    EXPECT_TRUE(examples.contains(message.id)) << message.id;
    EXPECT_TRUE(message.meaning.ends_with('.')) << message.id;
    EXPECT_FALSE(message.next.empty() || message.source.empty()) << message.id;
    EXPECT_EQ(find_rule(message.id), nullptr) << message.id;
  }
  EXPECT_EQ(ids.size(), examples.size()) << "an example of no message";
}

TEST(LogLines, TheNextStepNamesChecksThatExist) {
  for (const LineMessage& message : messages()) {
    const size_t at = message.next.find("--only ");
    if (at == std::string_view::npos) continue;
    std::istringstream names{std::string(message.next.substr(at + 7))};
    for (std::string name; std::getline(names, name, ',');)
      EXPECT_NE(find_rule(name), nullptr) << message.id << " " << name;
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

TEST(LogLines, StatusNumbersMatchAsAWhole) {
  EXPECT_EQ(recognize("Got completion with error 1, opcode 0")->id, "wc-local-length");
  EXPECT_EQ(recognize("Got completion with error 12, opcode 0")->id, "wc-retry-exceeded");
  EXPECT_EQ(vendor_error("vendor err 129"), "vendor error 129: no acknowledgment came back");
  EXPECT_EQ(vendor_error("(synd 0x15 vend 0x81 hw_synd 0/0)"), vendor_error("vendor err 129"));
  EXPECT_EQ(vendor_error("vendor err 1290"), "");
}

// The rest of a long line is not read, and parts of patterns without a match do not multiply the time.
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

TEST(LogNames, PortsAreFoundByDeviceGidNetdevAndPci) {
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
  EXPECT_EQ(only("DMAR: [DMA Read NO_PASID] Request device [" + port.pci.substr(5) + "] fault addr 0xf000"),
            "PCI address " + port.pci.substr(5));
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
  for (const char* line : {"connect to 10.99.91.49<58525> returned", "Couldn't connect to 10.99.91.49:18515",
                           "Call to recv from 10.99.91.49<52035> failed", "status = 2. Peer: 10.99.91.49:45601."})
    EXPECT_EQ(names_in(line, healthy.now).peer, "10.99.91.49") << line;
  EXPECT_EQ(names_in("message from 10.99.91.49", healthy.now).peer, "");
  const std::string gids =
      "failed with 110 Connection timed out, on dev mlx5_77:1, next state RTR, local GID index 3, ";
  EXPECT_EQ(names_in(gids + "local GID ::ffff:10.9.9.9, remote GID ::ffff:10.0.0.1", healthy.now).peer, "10.0.0.1");
  EXPECT_EQ(names_in(gids + "local GID ::ffff:10.0.0.1, remote GID N/A", healthy.now).by,
            std::vector<std::string>{"GID ::ffff:10.0.0.1"});
  EXPECT_EQ(names_in("connect to fe80::1:1234", healthy.now).peer, "fe80::1:1234") << "no port";
  EXPECT_EQ(names_in("connect to node.example:18515", healthy.now).peer, "");
  EXPECT_EQ(names_in("dgid=fe80::9876:34ff:fee9:b3fc flow_label", healthy.now).peer, "fe80::9876:34ff:fee9:b3fc");
  EXPECT_EQ(names_in("localGid ::ffff:10.9.9.9", healthy.now).elsewhere, "GID ::ffff:10.9.9.9");
  EXPECT_EQ(names_in("on mlx5_77:1/RoCE (synd", healthy.now).elsewhere, "device mlx5_77:1/RoCE");
  EXPECT_EQ(names_in("mlx5_core 0000:ff:00.0: mlx5_cmd_out_err:838", healthy.now).elsewhere, "");
  EXPECT_EQ(names_in("NET/IB : Unable to open device erdma_1", healthy.now).elsewhere, "device erdma_1");
  EXPECT_EQ(names_in("NET/IB : Unable to open device ibp24s0", healthy.now).elsewhere, "device ibp24s0");
  EXPECT_EQ(names_in("efa_rdm_txe_handle_error():737", healthy.now).elsewhere, "");
}

TEST(LogNames, LidsAreOfAPortOrOfAnotherNode) {
  test::Healthy healthy;
  const Lids lids{{12, &healthy.now.ports[0]}};
  for (const char* line : {"slid=12 sl=0", "local LID 0x000c QPN 0x1", "lid: 12", "dlid 12"}) {
    const Named named = names_in(line, healthy.now, lids);
    ASSERT_EQ(named.ports.size(), 1u) << line;
    EXPECT_EQ(named.by.front(), "LID 12") << line;
    EXPECT_EQ(named.peer_lid + named.elsewhere, "") << line;
  }
  EXPECT_EQ(names_in("dlid=13 sl=0", healthy.now, lids).peer_lid, "LID 13");
  EXPECT_EQ(names_in("slid=13 sl=0", healthy.now, lids).elsewhere, "LID 13");
  for (const char* line : {"dlid=49152 sl=0", "lid 0", "lid x", "valid 13", "lid"}) {
    const Named named = names_in(line, healthy.now, lids);
    EXPECT_TRUE(named.ports.empty() && named.peer_lid.empty() && named.elsewhere.empty()) << line;
  }
}

constexpr int64_t kNow = 1'795'996'800;  // 2026-11-30 00:00:00 UTC

TEST(LogTime, EveryFormIsRead) {
  const auto at = [](const char* line) { return time_of(line, kNow, 1000).value_or(-1) - kNow; };
  setenv("TZ", "UTC0", 1), tzset();
  EXPECT_EQ(at("2026-11-29T23:59:50Z node1 x"), -10);
  EXPECT_EQ(at("2026-11-29T23:59:50.123456+01:00 node1 x"), -3610);
  EXPECT_EQ(at("2026-11-29T18:59:50-0500"), -10);
  EXPECT_EQ(at("[2026-11-29 23:59:50] h100-28:238:1313 [0] NCCL WARN"), -10);
  EXPECT_EQ(at("2026/11/29 23:59:50 rdma-shared-dev-plugin: x"), -10);
  EXPECT_EQ(at("Nov 29 23:59:50 node1 kernel: mlx5_core"), -10);
  EXPECT_EQ(at("Nov  1 00:00:00 node1 kernel: mlx5_core"), -29 * 86400);
  EXPECT_EQ(at("[Sun Nov 29 23:59:50 2026] mlx5_core"), -10);
  EXPECT_EQ(at("E1129 23:59:50.119704 2179433 worker_pool.cpp:291]"), -10);
  EXPECT_EQ(at("Dec 31 23:59:50 node1 kernel: the year before"), -(365 - 32) * 86400 - 10);
  EXPECT_EQ(at("[  990.000001] infiniband mlx5_0: mlx5_handle_error_cqe"), -10);
  EXPECT_EQ(at("[1795996790.123456] [node1:1:0] ib_device.c:468  UCX  WARN"), -10);
  setenv("TZ", "XXX-2", 1), tzset();
  EXPECT_EQ(at("2026-11-30 01:59:50 node1 x"), -10) << "without a zone it is local time";
  EXPECT_EQ(at("2026-11-29T23:59:50Z node1 x"), -10);
  setenv("TZ", "UTC0", 1), tzset();
}

TEST(LogTime, OtherFormsAreNone) {
  for (const char* line : {"", "node1:10:11 [0] NCCL WARN NET/IB : Got completion", "[0]", "[12.5]", "[1.2.345678]",
                           "2026-13-29T23:59:50Z", "2026-11-29T24:00:00Z", "x2026-11-29T23:59:50Z", "Foo 29 23:59:50",
                           "synd 0x15 [999999999999999999999999999999.123456", "1129 23:59:50"})
    EXPECT_FALSE(time_of(line, kNow, 1000)) << line;
  EXPECT_FALSE(time_of(std::string(1000, ' ') + "2026-11-29T23:59:50Z", kNow, 1000)) << "far into the line";
}

}  // namespace
}  // namespace fabric::lines
