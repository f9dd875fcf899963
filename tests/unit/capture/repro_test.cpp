// SPDX-License-Identifier: Apache-2.0
// Trees on which an earlier version was wrong, and those of tests/corpus: texts that fabric-agentctl must print for
// each, and texts that it must not print.
#include "ctl/verbs.h"
#include "support/corpus.h"
#include "support/test.h"

namespace fabric::ctl {
namespace {

// Lines of a verb's output. A `check` without findings has no line that begins with WARNING or CRITICAL.
struct Row {
  const char* tree;
  std::vector<const char*> check, diagnose, topo;  // must be there
  std::vector<const char*> never{};                // in none of the three
  bool critical = false;                           // for both check and diagnose
};

constexpr const char* kHealthy[] = {"\nWARNING", "\nCRITICAL"};
constexpr const char* kNoSymptoms = "without symptoms";

// tests/corpus
const std::vector<Row>& own_rows() {
  static const std::vector<Row> all{
      {"whole",
       {},
       {"8 ports without symptoms"},
       {"GPU0: mlx5_0 (PIX)", "GPU7: mlx5_7 (PIX)"},
       {kHealthy[0], kHealthy[1]}},
      {"nic_gone",
       {"CRITICAL  locality  GPU2", "0000:48:00.0, beside GPU2"},
       {},
       {"GPU2: mlx5_0 (NODE, shared by 2 GPUs)"},
       {"CRITICAL  pcie"}},
      {"port_down",
       {"CRITICAL  port-state  mlx5_3/1", "DOWN, Disabled"},
       {},
       {"GPU3: mlx5_3 (PIX)"},
       {"8 ports without"},
       true},
      {"link_narrow", {"CRITICAL  pcie  mlx5_4", "x8 at 16 GT/s"}, {}, {"GPU4: mlx5_4 (PIX)"}, {kHealthy[0]}},
  };
  return all;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"oci16", {}, {"16 ports without symptoms"}, {"GPU1: mlx5_3, mlx5_4 (PXB)"}, {kHealthy[0], kHealthy[1]}},
      {"oci16_one_function_gone",
       {"CRITICAL  symmetry  0000:2a:00.1", "A NIC function is missing at 0000:2a:00.1, beside mlx5_3",
        "echo 1 > /sys/bus/pci/rescan"},
       {"15 ports without symptoms"},
       {"GPU0: mlx5_0, mlx5_1 (PXB)", "GPU1: mlx5_3 (PXB)", "GPU7: mlx5_16, mlx5_17 (PXB)"},
       {kHealthy[0]}},
      {"p5en_nic_gone",
       {"CRITICAL  symmetry  0000:55:00.0", "A NIC function is missing at 0000:55:00.0, beside GPU0, GPU1"},
       {"15 ports without symptoms"},
       {"GPU1: rdmap87s0, rdmap88s0 (PIX)", "GPU2: rdmap110s0, rdmap111s0 (PIX)", "GPU7: rdmap162s0, rdmap163s0 (PIX)"},
       {kHealthy[0]}},
      {"cx8_gpu_gone",
       {"CRITICAL  symmetry  0000:32:00.0", "A GPU is missing at 0000:32:00.0, beside mlx5_bond_1", "It was GPU1"},
       {kNoSymptoms},
       {"GPU0: mlx5_bond_0 (PXB)", "GPU1: mlx5_bond_2 (PXB)", "GPU6: mlx5_bond_7 (PXB)"},
       {kHealthy[0], "slot", "pcie  "}},
      {"gb300",
       {},
       {"6 ports without symptoms"},
       {"GPU0: mlx5_0 (PIX)", "GPU3: mlx5_3 (PIX)"},
       {kHealthy[0], kHealthy[1]}},
      {"ipa20",
       {"CRITICAL  port-state  mlx5_2/1, mlx5_3/1"},
       {"mlx5_2/1, mlx5_3/1  unknown  port-state", "3 ports of this host are down", "DOWN, Polling",
        "ibportstate -C mlx5_2 -P 1", "mlxlink -d mlx5_2 -m"},
       {"GPU0: mlx5_0 (PIX, shared by 4 GPUs)"},
       {"no RDMA port for the GPUs is active", "ethtool -m mlx5", "ip link"},
       true},
      {"down_plain",
       {"CRITICAL  port-state  mlx5_1/1", "The port receives no signal: cable, transceiver, or disabled switch port."},
       {"mlx5_1/1  cable  port-state", "The port receives no signal: cable, transceiver, or disabled switch port.",
        "DOWN, Polling"},
       {},
       {kNoSymptoms},
       true},
      {"dell_h100_port_down",
       {"CRITICAL  port-state  mlx5_1/1", "The port receives no signal: cable, transceiver, or disabled switch port."},
       {"mlx5_1/1  cable  port-state", "The port receives no signal: cable, transceiver, or disabled switch port.",
        "DOWN, Polling"},
       {"GPU0: mlx5_0 (PIX)", "GPU7: mlx5_7 (PIX)"},
       {kNoSymptoms, "symmetry  ", "PFC frames", "not-enough-evidence"},
       true},
      {"faulty_lane",
       {"WARNING  link-errors  mlx5_0/1", "99.8 % of the bit errors are on lane 3"},
       {"mlx5_0/1  cable  damaged-link", "99.8 % of the bit errors are on lane 3"},
       {},
       {}},
  };
  return all;
}

struct Said {
  std::string check, diagnose, topo;
  int check_code = 0, diagnose_code = 0;
};

Said ask(const std::string& root) {
  const auto run_verb = [&](const char* verb, int& code) {
    Output output;
    std::vector<std::string> words{verb, "--root", root};
    if (verb != std::string("topo")) words.insert(words.end(), {"-i", "100ms"});  // nothing changes in a tree
    code = run(words, output);
    return "\n" + output.text;
  };
  Said out;
  int ignored = 0;
  out.check = run_verb("check", out.check_code);
  out.diagnose = run_verb("diagnose", out.diagnose_code);
  out.topo = run_verb("topo", ignored);
  return out;
}

// How many of the trees, NAME.tgz in the folder, are answered as their rows say.
size_t right_in(const std::string& folder, const std::vector<Row>& trees) {
  size_t right = 0;
  for (const Row& row : trees) {
    SCOPED_TRACE(row.tree);
    const test::Unpacked tree(folder + "/" + row.tree + ".tgz");
    const Said said = ask(tree.root());
    bool good = true;
    const auto expect = [&](const char* text, const std::string& in, bool wanted) {
      EXPECT_EQ(in.find(text) != std::string::npos, wanted) << text << "\n" << in;
      good = good && (in.find(text) != std::string::npos) == wanted;
    };
    for (const char* text : row.check) expect(text, said.check, true);
    for (const char* text : row.diagnose) expect(text, said.diagnose, true);
    for (const char* text : row.topo) expect(text, said.topo, true);
    for (const char* text : row.never) expect(text, said.check + said.diagnose + said.topo, false);
    EXPECT_EQ(said.check_code, said.diagnose_code) << said.check << said.diagnose;
    if (row.critical) EXPECT_TRUE(said.check_code == 2 && said.diagnose_code == 2) << said.diagnose;
    right += good ? 1 : 0;
  }
  return right;
}

TEST(Repro, EveryTree) {
  const auto corpus = test::corpus_directory();
  if (!corpus) GTEST_SKIP() << "no corpus";
  const size_t right = right_in(*corpus + "/repro", rows());
  std::printf("figure: repro trees: %zu of %zu right\n", right, rows().size());
}

TEST(Repro, OwnTrees) { EXPECT_EQ(right_in(FABRIC_SOURCE_DIR "/tests/corpus", own_rows()), own_rows().size()); }

}  // namespace
}  // namespace fabric::ctl
