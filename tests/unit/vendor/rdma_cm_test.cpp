// SPDX-License-Identifier: Apache-2.0
// rdma_cm's defaults in configfs, with cma_configfs.c's rules behind the files.
#include "support/sim_files.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::Bed;
using test::of;
using test::Personality;
using test::SimFiles;

constexpr const char* kFolder = "sys/kernel/config/rdma_cm";

class RdmaCm : public testing::Test {
 protected:
  RdmaCm() : bed(Personality::full) {
    tree.folder(kFolder).folder("sys/kernel/config/nvmet");
    files = std::make_shared<SimFiles>(tree);
    files->on_make_directory(std::string(kFolder) + "/*",
                             [this](SimFiles&, const std::string& folder, std::string_view) {
                               if (!tree.root().exists(kFolder)) return ENOENT;
                               if (folder != device()) return ENODEV;
                               stand();
                               return 0;
                             });
    files->on_remove_directory(device(), [this](SimFiles&, const std::string&, std::string_view) {
      tree.remove(device());
      if (stale) files->heal();
      stale = false;
      return 0;
    });
    files->on_write("*/default_roce_mode", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      if (text.ends_with('\n')) text.remove_suffix(1);
      if (text != "RoCE v2" && text != "IB/RoCE v1") return EINVAL;
      mode = text;
      tree.file(file, mode + "\n");
      return 0;
    });
    files->on_write("*/default_roce_tos", [this](SimFiles&, const std::string& file, std::string_view text) {
      if (stale) return ENODEV;
      auto value = test::kernel_number(text);
      if (!value || *value > 255) return EINVAL;
      tos = *value;
      tree.file(file, std::to_string(tos) + "\n");
      return 0;
    });
    Root root = tree.root();
    root.set_behind(files);
    bed.kernel.root = std::move(root);
    want.roce_mode = RoceMode::v2;
    want.roce_tos = 106;
  }

  std::string device() const { return std::string(kFolder) + "/" + bed.port.rdma; }
  // The kernel's values show in a directory made anew: they are the device's, not the directory's.
  void stand() {
    tree.file(device() + "/ports/1/default_roce_mode", mode + "\n")
        .file(device() + "/ports/1/default_roce_tos", std::to_string(tos) + "\n");
  }
  // The device was registered anew while the directory stood.
  void outlive() {
    stand();
    stale = true;
    mode = "IB/RoCE v1";
    tos = 0;
    files->unreadable("*/default_roce_*", ENODEV);
  }

  test::Tree tree;
  std::shared_ptr<SimFiles> files;
  Bed bed;
  Qos want;
  std::string mode = "IB/RoCE v1";
  uint32_t tos = 0;
  bool stale = false;
};

TEST_F(RdmaCm, SetsBothAndLeavesNothingBehind) {
  auto changes = bed.apply(want);
  EXPECT_EQ(test::keys_with(changes, Outcome::applied), (std::set<std::string>{"roce_mode", "roce_tos"}))
      << test::text(changes);
  EXPECT_EQ(of(changes, "roce_mode").from, "v1");
  EXPECT_EQ(mode, "RoCE v2");
  EXPECT_EQ(tos, 106u);
  EXPECT_FALSE(tree.root().exists(device())) << "rmdir of what we made: the module can be unloaded";
  const auto written = files->changes();
  test::expect_all(bed.apply(want), {Outcome::in_sync});
  for (size_t i = written; i < files->log.size(); ++i)
    EXPECT_EQ(files->log[i].find(" = "), std::string::npos) << files->log[i];
}

TEST_F(RdmaCm, ADirectoryOfSomebodyElseStays) {
  stand();
  bed.apply(want);
  EXPECT_TRUE(tree.root().exists(device()));
  for (const std::string& line : files->log)
    EXPECT_FALSE(line.starts_with("mkdir") || line.starts_with("rmdir")) << line;
}

TEST_F(RdmaCm, ADirectoryThatOutlivedItsDeviceIsMadeAnew) {
  outlive();
  auto changes = bed.apply(want);
  test::expect_all(changes, {Outcome::applied});
  EXPECT_EQ(files->log[0], "rmdir " + device());
  EXPECT_EQ(files->log[1], "mkdir " + device());
  EXPECT_TRUE(tree.root().exists(device())) << "it stood before";
  EXPECT_EQ(tos, 106u);
}

// The agent and fabric-agentctl look at the same moment: the other had made the folder, and is done with it.
TEST_F(RdmaCm, AFolderThatAnotherTakesAwayIsMadeAnew) {
  int others = 1;
  files->on_make_directory(std::string(kFolder) + "/*", [&](SimFiles&, const std::string&, std::string_view) {
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
  Qos mtu;
  mtu.mtu = bed.nic.mtu;
  bed.apply(mtu);
  EXPECT_TRUE(files->log.empty());
}

TEST_F(RdmaCm, APlanWritesNothing) {
  auto changes = bed.plan(want);
  test::expect_all(changes, {Outcome::differs});
  for (const std::string& line : files->log)
    EXPECT_TRUE(line == "mkdir " + device() || line == "rmdir " + device()) << line;
}

TEST_F(RdmaCm, ReasonsWhyItIsNotOffered) {
  auto detail = [&](std::string_view key) {
    auto change = of(bed.apply(want), key);
    EXPECT_EQ(change.outcome, Outcome::unsupported);
    return change.detail;
  };
  files->fault({SimFiles::Fault::refuse, EACCES, "*", 0, -1});
  EXPECT_NE(detail("roce_tos").find("only root may make"), std::string::npos) << detail("roce_tos");
  files->heal();
  files->fault({SimFiles::Fault::refuse, EROFS, "*", 0, -1});
  EXPECT_NE(detail("roce_mode").find("read-only"), std::string::npos);
  files->heal();
  files->fault({SimFiles::Fault::refuse, ENODEV, "*", 0, -1});
  EXPECT_EQ(detail("roce_mode"), "rdma_cm does not know the device " + bed.port.rdma);
  files->heal();
  tree.remove(kFolder);
  EXPECT_EQ(detail("roce_tos"), "the module rdma_cm is not loaded: modprobe rdma_cm");
  bed.port.rdma.clear();
  EXPECT_EQ(detail("roce_tos"), "no RDMA device on this port");
}

TEST_F(RdmaCm, ARefusedVersionIsNamed) {
  files->fault({SimFiles::Fault::refuse, EINVAL, "*/default_roce_mode", 0, -1});
  auto changes = bed.apply(want);
  EXPECT_EQ(of(changes, "roce_mode").outcome, Outcome::refused);
  EXPECT_NE(of(changes, "roce_mode").detail.find("does not offer this RoCE version"), std::string::npos);
  EXPECT_EQ(of(changes, "roce_tos").outcome, Outcome::applied);
}

}  // namespace
}  // namespace fabric
