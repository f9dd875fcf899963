// SPDX-License-Identifier: Apache-2.0
// Every counter of the captures: is it read, and what is it called? The score is printed, and with it the names that
// nobody has told us the meaning of.
#include <rdma/rdma_netlink.h>

#include <cctype>

#include "base/parse.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/rdma/nldev.h"
#include "nic/counter_catalogue.h"
#include "node/scan.h"
#include "support/corpus.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::slurp;

namespace fs = std::filesystem;
using Counters = std::vector<Counter>;

// "rx_12_bytes", of a queue, as "rx_N_bytes".
std::string without_numbers(const std::string& name) {
  std::string out;
  for (const char letter : name) {
    if (std::isdigit(static_cast<unsigned char>(letter)) == 0) out += letter;
    else if (out.empty() || out.back() != 'N') out += 'N';
  }
  return out;
}

struct Score {
  size_t written = 0, read = 0, named = 0, described = 0;
  std::set<std::string> strangers;

  // What a capture holds, against what our reader says it holds.
  void take(CounterSource source, const std::string& driver, const Counters& truth, const Counters& answer,
            const std::string& where) {
    for (const Counter& counter : truth) {
      ++written;
      if (std::find(answer.begin(), answer.end(), counter) == answer.end()) {
        ADD_FAILURE() << where << ": " << counter.name << " = " << counter.value << " was not read";
        continue;
      }
      ++read;
      const auto match = describe_counter(source, counter.name, driver);
      if (match.row == nullptr) strangers.insert(without_numbers(counter.name.str()));
      described += match.row != nullptr ? 1 : 0;
      named += match.row != nullptr && match.row->metric != nullptr ? 1 : 0;
    }
    EXPECT_EQ(answer.size(), truth.size()) << where << ": nothing is read that is not there";
  }

  void print(const char* what) const {
    std::printf(
        "counter score: %s: %zu of %zu read, %zu with a common name, %zu described, %zu kinds of name unknown\n", what,
        read, written, named, described, strangers.size());
    std::string list;
    for (const std::string& name : strangers) list += " " + name;
    if (!list.empty()) std::printf("  without a row in %s:%s\n", what, list.c_str());
    EXPECT_GT(written, 0u);
    EXPECT_EQ(read, written);
  }
};

using CounterCorpus = test::OfCorpus;

TEST(CapturedCounters, Sysfs) {
  Score hw, pma;
  test::each_rdma_machine([&](const fs::path& root) {
    auto kernel = open_kernel(root);
    ASSERT_TRUE(kernel.ok()) << kernel.error().text();
    const Node node = scan(*kernel, {.settings = false, .gids = false, .network = false});
    const auto ports = test::captured_ports(root);
    EXPECT_EQ(node.ports.size(), ports.size());
    for (const test::CapturedPort& port : ports) {
      const std::string id = port.device + "/" + port.number;
      const auto found = std::ranges::find(node.ports, id, &Port::id);
      ASSERT_NE(found, node.ports.end()) << root << " " << id;
      hw.take(CounterSource::hw, found->kernel_driver, port.hw, found->counters.hw, id);
      pma.take(CounterSource::pma, found->kernel_driver, port.pma, found->counters.pma, id);
    }
  });
  hw.print("ib-sysfs hw_counters");
  pma.print("ib-sysfs counters");
}

// What nldev.c's stat_get_doit_default_counter() of Linux 6.12 sends for these counters.
Bytes statistics_message(const Counters& counters) {
  AttrWriter table, out;
  for (const Counter& counter : counters) {
    AttrWriter entry;
    entry.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name)
        .bytes(0, {})
        .u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, counter.value);
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry);
  }
  out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 0).u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return out.data();
}

// `rdma -j statistic` of real cards: the catalogue knows every counter.
TEST_F(CounterCorpus, RdmaNetlink) {
  Score score;
  for (const auto& file : fs::directory_iterator(corpus + "/rdma")) {
    const auto document = Json::parse(slurp(file.path()));
    if (file.path().string().find("_link_") != std::string::npos ||
        file.path().string().find("nicctl") != std::string::npos)
      continue;
    for (const auto& link : document) {
      Counters truth;
      for (const auto& [name, value] : link.items())
        if (name != "ifname" && name != "port") truth.push_back({name, value.get<uint64_t>()});
      score.take(CounterSource::hw, {}, truth, nldev::parse_statistics(statistics_message(truth)),
                 file.path().filename());
    }
  }
  score.print("rdma");
  EXPECT_GT(score.written, 100u);
  EXPECT_EQ(score.strangers, std::set<std::string>{});
}

// The replies to ETHTOOL_GSTRINGS and ETHTOOL_GSTATS that make it print so.
Counters through_the_ioctl(const Counters& counters) {
  constexpr size_t kName = 32;  // ETH_GSTRING_LEN
  Bytes names(counters.size() * kName);
  std::vector<uint64_t> values;
  for (size_t i = 0; i < counters.size(); ++i) {
    std::memcpy(names.data() + i * kName, counters[i].name.text().data(),
                std::min(kName, counters[i].name.text().size()));
    values.push_back(counters[i].value);
  }
  return ethtool::pair_statistics(names, values);
}

TEST_F(CounterCorpus, Ethtool) {
  std::map<std::string, Score> scores;
  for (const auto& file : fs::directory_iterator(corpus + "/ethtool")) {
    const std::string name = file.path().filename();
    const Counters truth = test::printed_by_ethtool(slurp(file.path()));
    if (truth.size() < 5) continue;  // settings of a netdev, not statistics
    const std::string maker = name.find("mlx5") != std::string::npos    ? "mlx5"
                              : name.find("ionic") != std::string::npos ? "ionic"
                              : name.find("ice") != std::string::npos   ? "ice"
                                                                        : "other";
    scores[maker].take(CounterSource::ethtool, {}, truth, through_the_ioctl(truth), name);
  }
  for (const auto& [maker, score] : scores) score.print(("ethtool " + maker).c_str());
  EXPECT_GE(scores.size(), 3u);
}

// perfquery's names (libibmad, fields.c) as the kernel's files have them (drivers/infiniband/core/sysfs.c). QP1Dropped
// and the selectors have no file.
const std::map<std::string, std::string> kFileOf{{"PortXmitData", "port_xmit_data"},
                                                 {"PortRcvData", "port_rcv_data"},
                                                 {"PortXmitPkts", "port_xmit_packets"},
                                                 {"PortRcvPkts", "port_rcv_packets"},
                                                 {"PortUnicastXmitPkts", "unicast_xmit_packets"},
                                                 {"PortUnicastRcvPkts", "unicast_rcv_packets"},
                                                 {"PortMulticastXmitPkts", "multicast_xmit_packets"},
                                                 {"PortMulticastRcvPkts", "multicast_rcv_packets"},
                                                 {"SymbolErrorCounter", "symbol_error"},
                                                 {"LinkErrorRecoveryCounter", "link_error_recovery"},
                                                 {"LinkDownedCounter", "link_downed"},
                                                 {"PortRcvErrors", "port_rcv_errors"},
                                                 {"PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors"},
                                                 {"PortRcvSwitchRelayErrors", "port_rcv_switch_relay_errors"},
                                                 {"PortXmitDiscards", "port_xmit_discards"},
                                                 {"PortXmitConstraintErrors", "port_xmit_constraint_errors"},
                                                 {"PortRcvConstraintErrors", "port_rcv_constraint_errors"},
                                                 {"LocalLinkIntegrityErrors", "local_link_integrity_errors"},
                                                 {"ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors"},
                                                 {"VL15Dropped", "VL15_dropped"},
                                                 {"PortXmitWait", "port_xmit_wait"}};

// An HCA whose port manager says what perfquery printed: an InfiniBand port is observed as any other.
TEST_F(CounterCorpus, PerformanceManagement) {
  Score score;
  for (const auto& file : fs::directory_iterator(corpus + "/ibdiag")) {
    if (file.path().filename().string().find("perfquery_0x") == std::string::npos) continue;
    Counters truth;
    test::Tree tree;
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    tree.file(port + "/state", "4: ACTIVE\n").file(port + "/link_layer", "InfiniBand\n");
    std::istringstream lines(slurp(file.path()));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#') && !truth.empty()) break;  // one port
      const size_t colon = line.find(':');
      const auto known = kFileOf.find(line.substr(0, colon));
      if (colon == std::string::npos || known == kFileOf.end()) continue;
      const std::string value = line.substr(line.find_last_of('.') + 1);
      truth.push_back({known->second, std::stoull(value)});
      tree.file(port + "/counters/" + known->second, value + "\n");
    }
    EXPECT_EQ(truth.size(), kFileOf.size()) << file.path();
    auto kernel = open_kernel(tree.path());
    ASSERT_TRUE(kernel.ok());
    const Node node = scan(*kernel);
    ASSERT_EQ(node.ports.size(), 1u);
    EXPECT_EQ(node.ports[0].link_layer, LinkLayer::infiniband);
    score.take(CounterSource::pma, {}, truth, node.ports[0].counters.pma, file.path().filename());
  }
  score.print("ibdiag perfquery");
}

}  // namespace
}  // namespace fabric
