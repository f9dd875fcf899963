// SPDX-License-Identifier: Apache-2.0
// rdma_cm's defaults in configfs, with cma_configfs.c's rules behind the files.
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

constexpr const char* kFolder = "sys/kernel/config/rdma_cm";

class RdmaCm : public testing::Test {
 protected:
  RdmaCm() {
    bed.tree.folder(kFolder);
    bed.files->on_make_directory(std::string(kFolder) + "/*",
                                 [this](SimFiles&, const std::string& folder, std::string_view) {
                                   if (!bed.tree.root().exists(kFolder)) return ENOENT;
                                   if (folder != device()) return ENODEV;
                                   stand();
                                   return 0;
                                 });
    bed.files->on_remove_directory(device(), [this](SimFiles&, const std::string&, std::string_view) {
      bed.tree.remove(device());
      if (stale) bed.files->heal();
      stale = false;
      return 0;
    });
    bed.files->on_write("*/default_roce_mode", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      if (text.ends_with('\n')) text.remove_suffix(1);
      if (text != "RoCE v2" && text != "IB/RoCE v1") return EINVAL;
      mode = text;
      bed.tree.file(file, mode + "\n");
      return 0;
    });
    bed.files->on_write("*/default_roce_tos", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      auto value = kernel_number(text);
      if (!value || *value > 255) return EINVAL;
      tos = *value;
      bed.tree.file(file, std::to_string(tos) + "\n");
      return 0;
    });
  }

  std::string device() const { return std::string(kFolder) + "/" + bed.port.rdma; }
  // The kernel's values show in a directory made anew: they are the device's, not the directory's.
  void stand() {
    bed.tree.file(device() + "/ports/1/default_roce_mode", mode + "\n")
        .file(device() + "/ports/1/default_roce_tos", std::to_string(tos) + "\n");
  }
  // The device was registered anew while the directory stood.
  void outlive() {
    stand();
    stale = true;
    mode = "IB/RoCE v1";
    tos = 0;
    bed.files->unreadable("*/default_roce_*", ENODEV);
  }

  FileBed bed{Personality::full};
  const Qos want{.roce_mode = RoceMode::v2, .roce_tos = 106};
  std::string mode = "IB/RoCE v1";
  uint32_t tos = 0;
  bool stale = false;
};

TEST_F(RdmaCm, SetsBothAndLeavesNothingBehind) {
  auto changes = bed.apply(want);
  EXPECT_EQ(keys_with(changes, Outcome::applied), (std::set<std::string>{"roce_mode", "roce_tos"})) << text(changes);
  EXPECT_EQ(of(changes, "roce_mode").from, "v1");
  EXPECT_EQ(mode, "RoCE v2");
  EXPECT_EQ(tos, 106u);
  EXPECT_FALSE(bed.tree.root().exists(device())) << "rmdir of what we made: the module can be unloaded";
  const auto written = bed.files->changes();
  expect_all(bed.apply(want), {Outcome::in_sync});
  for (size_t i = written; i < bed.files->log.size(); ++i) EXPECT_FALSE(has(bed.files->log[i], " = "));
}

// Its files are there (cma_configfs.c), but every write of v2 would be refused.
TEST_F(RdmaCm, AnIwarpDeviceHasNoRoceVersion) {
  bed.tree.file("sys/class/infiniband/" + bed.port.rdma + "/node_type", "4: RNIC\n");
  EXPECT_TRUE(has_outcome(bed.apply(want), "roce_mode", Outcome::unsupported, "speaks iWARP"));
  bed.terms.derived = keys_of(want);
  EXPECT_TRUE(bed.apply(want).empty());
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(RdmaCm, ADirectoryOfSomebodyElseStays) {
  stand();
  bed.apply(want);
  EXPECT_TRUE(bed.tree.root().exists(device()));
  for (const std::string& line : bed.files->log)
    EXPECT_FALSE(line.starts_with("mkdir") || line.starts_with("rmdir")) << line;
}

TEST_F(RdmaCm, ADirectoryThatOutlivedItsDeviceIsMadeAnew) {
  outlive();
  expect_all(bed.apply(want), {Outcome::applied});
  EXPECT_EQ(bed.files->log[0], "rmdir " + device());
  EXPECT_EQ(bed.files->log[1], "mkdir " + device());
  EXPECT_TRUE(bed.tree.root().exists(device())) << "it stood before";
  EXPECT_EQ(tos, 106u);
}

// The agent and fabric-agentctl look at the same moment: the other had made the folder, and is done with it.
TEST_F(RdmaCm, AFolderThatAnotherTakesAwayIsMadeAnew) {
  int others = 1;
  bed.files->on_make_directory(std::string(kFolder) + "/*", [&](SimFiles&, const std::string&, std::string_view) {
    if (others-- > 0) return EEXIST;
    stand();
    return 0;
  });
  const Qos have = bed.read(keys_of(want));
  EXPECT_EQ(have.roce_mode, RoceMode::v1);
  EXPECT_EQ(have.roce_tos, 0U);
  others = 1'000;
  EXPECT_FALSE(bed.read(keys_of(want)).roce_mode) << "not for ever";
}

TEST_F(RdmaCm, IsNotTouchedUnlessWanted) {
  bed.apply({.mtu = bed.nic.mtu});
  EXPECT_TRUE(bed.files->log.empty());
}

TEST_F(RdmaCm, APlanWritesNothing) {
  expect_all(bed.plan(want), {Outcome::differs});
  for (const std::string& line : bed.files->log)
    EXPECT_TRUE(line == "mkdir " + device() || line == "rmdir " + device()) << line;
}

TEST_F(RdmaCm, ReasonsWhyItIsNotOffered) {
  const auto because = [this](const std::string& key, const std::string& reason) {
    EXPECT_TRUE(has_outcome(bed.apply(want), key, Outcome::unsupported, reason));
  };
  bed.files->fault({.code = EACCES});
  because("roce_tos", "only root may create");
  bed.files->heal();
  bed.files->fault({.code = EROFS});
  because("roce_mode", "read-only");
  bed.files->heal();
  bed.files->fault({.code = ENODEV});
  because("roce_mode", "rdma_cm does not know the device " + bed.port.rdma);
  bed.files->heal();
  bed.tree.remove(kFolder);
  because("roce_tos", "the module rdma_cm is not loaded: modprobe rdma_cm");
  bed.port.rdma.clear();
  because("roce_tos", "no RDMA device on this port");
}

TEST_F(RdmaCm, ARefusedVersionIsNamed) {
  bed.files->fault({.code = EINVAL, .glob = "*/default_roce_mode"});
  auto changes = bed.apply(want);
  EXPECT_TRUE(has_outcome(changes, "roce_mode", Outcome::refused, "does not offer this RoCE version"));
  EXPECT_EQ(of(changes, "roce_tos").outcome, Outcome::applied);
}

}  // namespace
}  // namespace fabric::test
