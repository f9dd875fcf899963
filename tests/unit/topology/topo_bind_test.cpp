// SPDX-License-Identifier: Apache-2.0
// What `topo` prints for Slurm and Open MPI, read back by the rules of their manuals: gres.conf(5), mpirun(1).
#include "base/parse.h"
#include "ctl/topo/topo.h"
#include "node/machine.h"
#include "support/healthy_node.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::Healthy;

std::string printed_for(const Healthy& node, const char* format) {
  return ctl::find_topo_format(format)->print(ctl::topo_view(node.now, &node.policy, "eno1"));
}

// The lines that a program reads.
std::vector<std::vector<std::string>> words_of(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  for (const std::string_view line : split(text, '\n'))
    if (const auto parts = words(line.substr(0, line.find('#'))); !parts.empty())
      out.emplace_back(parts.begin(), parts.end());
  return out;
}

std::string value_of(const std::vector<std::string>& parts, std::string_view key) {
  for (const std::string& part : parts)
    if (part.starts_with(key)) return part.substr(key.size());
  return {};
}

// Cores of two threads each, as many on each NUMA node.
Healthy machine_with(unsigned cores) {
  Healthy node;
  for (unsigned i = 0; i < cores; ++i)
    node.now.topology.cores.push_back({{i, i + cores}, static_cast<int>(i / (cores / 2))});
  unsigned minor = 7;
  for (Gpu& gpu : node.now.topology.gpus) gpu.minor = minor--;  // the driver counts as it likes
  return node;
}

TEST(Gres, CoresAreLogicalAndLinksGoByThePciAddress) {
  const Healthy node = machine_with(64);
  const auto& gpus = node.now.topology.gpus;
  const auto lines = words_of(printed_for(node, "slurm"));
  ASSERT_EQ(lines.size(), gpus.size());
  std::vector<std::vector<std::string>> links;
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i][0], "Name=gpu");
    EXPECT_EQ(value_of(lines[i], "File="), "/dev/nvidia" + std::to_string(*gpus[i].minor));
    EXPECT_EQ(value_of(lines[i], "Cores="), gpus[i].numa == 0 ? "0-31" : "32-63");
    auto& row = links.emplace_back();
    const std::string list = value_of(lines[i], "Links=");
    for (const std::string_view each : split(list, ',')) row.emplace_back(each);
    ASSERT_EQ(row.size(), gpus.size());
    EXPECT_EQ(row[i], "-1") << "itself";
    EXPECT_TRUE(i == 0 || gpus[i - 1].pci < gpus[i].pci);
  }
  for (size_t i = 0; i < links.size(); ++i)
    for (size_t j = 0; j < links.size(); ++j) {
      EXPECT_EQ(links[i][j], links[j][i]);
      EXPECT_EQ(links[i][j] == "-1", i == j);
    }
}

// slurmd compares what is written with what it detects, and drains the node where they differ.
TEST(Gres, WhoDetectsWritesNothing) {
  EXPECT_TRUE(has(printed_for(machine_with(64), "slurm"), "# With AutoDetect=nvml or rsmi leave Cores and Links out"));
}

TEST(Rankfile, EachRankHasCoresOfItsOwn) {
  const Healthy node = machine_with(64);
  const std::string text = printed_for(node, "rankfile");
  const auto lines = words_of(text);
  ASSERT_EQ(lines.size(), node.now.topology.gpus.size());
  std::set<unsigned> taken;
  for (size_t rank = 0; rank < lines.size(); ++rank) {
    ASSERT_EQ(lines[rank].size(), 3u);
    EXPECT_EQ(lines[rank][0], "rank");
    EXPECT_EQ(lines[rank][1], std::to_string(rank) + "=+n0");
    const auto cores = machine::parse_cpus(value_of(lines[rank], "slot="));
    ASSERT_TRUE(cores && !cores->empty());
    for (const unsigned core : *cores) {
      EXPECT_TRUE(taken.insert(core).second) << "core " << core << " twice";
      EXPECT_EQ(node.now.topology.cores.at(core).numa, node.now.topology.gpus[rank].numa);
    }
  }
  EXPECT_FALSE(has(text, "overload"));
}

// mpirun refuses ranks that share cores, unless it is told.
TEST(Rankfile, SharedCoresAreTold) {
  EXPECT_TRUE(
      has(printed_for(machine_with(2), "rankfile"), "# Some ranks share cores: add --bind-to core:overload-allowed"));
  Healthy node = machine_with(64);
  node.now.topology.gpus[1].numa.reset();
  EXPECT_TRUE(has(printed_for(node, "rankfile"), "overload-allowed"));
}

}  // namespace
}  // namespace fabric
