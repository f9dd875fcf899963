// SPDX-License-Identifier: Apache-2.0
// The port that was read is the port that is written: names change hands before every message and file of every driver.
#include <linux/rtnetlink.h>
#include <sys/mount.h>

#include "support/netns.h"
#include "support/sim_nic_bed.h"

namespace fabric::test {
namespace {

struct Names {
  SimKernel& sim;
  int messages = 0, swap_at = 0;  // at the n-th message, from 1; 0: never
  int sets = 0, swap_at_set = 0;  // at the n-th RTM_SETDCB
  bool swapped = false;

  void swap() {
    SimNic &first = sim.nic("eth0"), &second = sim.nic("eth1");
    std::swap(first.name, second.name);
    swapped = true;
  }
};

// Swaps the names of eth0 and eth1 before one of the messages. The kernel addresses dcbnl by name alone: a swap between
// the check of the name and the SET behind it leads to the other NIC, and has a test of its own.
class SwappingNetlink final : public Netlink {
 public:
  SwappingNetlink(std::unique_ptr<Netlink> live, Names& names) : live_(std::move(live)), names_(names) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    ++names_.messages;
    if (!names_.swapped && names_.swap_at != 0 && names_.messages >= names_.swap_at && type != RTM_SETDCB)
      names_.swap();
    if (type == RTM_SETDCB && ++names_.sets == names_.swap_at_set) names_.swap();
    return live_->talk(type, flags, payload);
  }

 private:
  std::unique_ptr<Netlink> live_;
  Names& names_;
};

struct TwoNics {
  explicit TwoNics(Personality personality)
      : nic(sim.add_nic("eth0", personality)), other(sim.add_nic("eth1", personality)), kernel(sim.kernel()) {
    for (SimNic* each : {&nic, &other}) {
      each->ethtool.ring_rx = each->ethtool.ring_tx = {1024, 8192};
      each->ethtool.channels = {8, 32};
      each->ethtool.fec = 8;
    }
    other.mtu = 1777;
    other.pause = {false, true};
    other.ethtool.ring_rx = {512, 8192};
    kernel.route = std::make_unique<SwappingNetlink>(std::move(kernel.route), names);
    kernel.generic = std::make_unique<SwappingNetlink>(std::move(kernel.generic), names);
  }
  static Qos want(Personality personality) {
    Qos out = profile(personality);
    out.ring_rx = out.ring_tx = 2048;
    out.channels = 16;
    // The others wait seconds for the link to retrain (write_fec()).
    if (!driver_for(SimNic("eth0", 2, personality).kernel_driver()).fec_in_use) out.fec = Fec{4};
    if (personality == Personality::ice || personality == Personality::i40e) out.fw_lldp = false;
    if (personality == Personality::full) out.maxrate = Rates{{0, 0, 0, 1'000'000, 0, 0, 0, 0}};
    return out;
  }
  SimKernel sim;
  SimNic &nic, &other;
  Names names{sim};
  Kernel kernel;
};

class Renamed : public testing::TestWithParam<Personality> {};
INSTANTIATE_TEST_SUITE_P(All, Renamed,
                         testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::nodcb,
                                         Personality::full, Personality::i40e, Personality::qede),
                         personality_name);

TEST_P(Renamed, BeforeAnyMessageOnlyTheReadPortIsWrittenAndTheNextPassHeals) {
  int last = 0;
  for (int at = 1;; ++at) {
    SCOPED_TRACE("swapped before message " + std::to_string(at));
    TwoNics bed(GetParam());
    const Qos want = TwoNics::want(GetParam());
    bed.names.swap_at = at;
    Port port = bed.nic.port();
    std::optional<Qos> saved;
    const qos::SaveOriginal save = [&](const Port&, const Qos& before) -> Result<void> {
      saved = before;
      return {};
    };
    const Changes changes = qos::reconcile(bed.kernel, port, want, free_terms(), save);
    last = bed.names.messages;
    EXPECT_EQ(bed.other.writes(), 0u) << bed.other.log.front();
    if (saved) EXPECT_EQ(saved->mtu, 1500u) << "the originals are of the port that was read";
    if (!bed.names.swapped) break;
    // After the last reading there is nothing left to go wrong.
    const bool is_whole = std::ranges::all_of(
        changes, [](const Change& each) { return is_done(each.outcome) || each.outcome == Outcome::unsupported; });
    EXPECT_TRUE(is_whole || contains(changes, ENODEV, &Change::code)) << text(changes);
    for (const Change& change : changes)
      if (change.code == ENODEV) EXPECT_TRUE(has(change.detail, "eth0 was renamed to eth1")) << change.detail;

    // The next scan finds the port by its new name.
    bed.nic.link_up();
    port = bed.nic.port();
    ASSERT_EQ(port.netdev, "eth1");
    qos::reconcile(bed.kernel, port, want, free_terms(), kSaveNowhere);
    bed.nic.link_up();
    expect_all(qos::reconcile(bed.kernel, port, want, free_terms(), kSaveNowhere),
               {Outcome::in_sync, Outcome::applied, Outcome::unverified, Outcome::unsupported});
    EXPECT_EQ(bed.other.writes(), 0u);
    EXPECT_EQ(bed.other.mtu, 1777u);
  }
  EXPECT_GT(last, 10) << "as far as the end of an undisturbed pass";
}

// The one message that no check can hold back: it is noticed, nothing more is sent, and the other NIC is named.
TEST_P(Renamed, BetweenTheCheckAndTheMessageIsReportedWithTheOtherNic) {
  if (GetParam() == Personality::nodcb) GTEST_SKIP() << "no message by name";
  for (int at = 1;; ++at) {
    SCOPED_TRACE("swapped before SET " + std::to_string(at));
    TwoNics bed(GetParam());
    bed.names.swap_at_set = at;
    Port port = bed.nic.port();
    const Changes changes = qos::reconcile(bed.kernel, port, TwoNics::want(GetParam()), free_terms(), kSaveNowhere);
    if (!bed.names.swapped) {
      EXPECT_GT(at, 2) << "as far as the end of an undisturbed pass";
      break;
    }
    EXPECT_EQ(bed.names.sets, at) << text(changes);
    EXPECT_EQ(bed.other.mtu, 1777u);
    const std::string other = "interface " + std::to_string(bed.other.ifindex) + ", named eth0 now, may have got";
    EXPECT_TRUE(std::ranges::any_of(changes, [&](const Change& each) { return has(each.detail, other); }))
        << text(changes);
    EXPECT_TRUE(contains(changes, ENODEV, &Change::code)) << "the port is scanned again\n" << text(changes);
  }
}

TEST_P(Renamed, WhatIsPutBackIsPutBackOnThePortThatItIsOf) {
  const Qos before{.mtu = 1500, .ring_rx = 1024, .pfc = PrioSet{}};
  for (int at = 1;; ++at) {
    TwoNics bed(GetParam());
    Port port = bed.nic.port();
    qos::reconcile(bed.kernel, port, TwoNics::want(GetParam()), free_terms(), kSaveNowhere);
    bed.nic.link_up();
    bed.names.messages = 0;
    bed.names.swap_at = at;
    const Changes changes = qos::write_back(bed.kernel, port, before, free_terms());
    EXPECT_EQ(bed.other.writes(), 0u) << at;
    if (!bed.names.swapped) break;
    const bool is_whole = std::ranges::all_of(
        changes, [](const Change& each) { return is_done(each.outcome) || each.outcome == Outcome::unsupported; });
    EXPECT_TRUE(is_whole || std::ranges::any_of(changes, is_left_to_do)) << at << ": it is tried again\n"
                                                                         << text(changes);
  }
}

// A device of another driver in place of the one that was read, and none at all.
TEST(Rename, APortWithoutAnIndexIsNotWritten) {
  Bed bed(Personality::full);
  bed.port.ifindex = 0;
  const Changes changes = bed.apply(profile(Personality::full));
  EXPECT_EQ(bed.nic.writes(), 0u) << "by name alone";
  EXPECT_TRUE(contains(changes, Outcome::refused, &Change::outcome)) << text(changes);
}

// The files of a netdev: by the descriptor of its folder.
TEST(Rename, OfedsFilesOfAnotherNetdevAreNotWritten) {
  FileBed bed(Personality::mlx5);
  add_ofed_ecn(*bed.files, "eth0");
  const Qos want{.ecn_np = PrioSet{8}, .cnp_dscp = 50};
  // Between the check before the setting and the write.
  bed.tree.file("sys/class/net/eth0/ifindex", "99\n");
  const Changes changes = bed.apply(want);
  EXPECT_EQ(bed.files->changes(), 0u);
  for (const char* key : {"ecn_np", "cnp_dscp"}) EXPECT_EQ(of(changes, key).code, ENODEV) << text(changes);
  bed.tree.file("sys/class/net/eth0/ifindex", std::to_string(bed.nic.ifindex) + "\n");
  expect_all(bed.apply(want), {Outcome::applied});
}

// Files that are found by the name of the RDMA device (configfs, OFED's traffic class).
TEST(Rename, TheFilesOfAnotherRdmaDeviceAreNotWritten) {
  FileBed bed(Personality::mlx5);
  add_ofed_ecn(*bed.files, "eth0");
  add_ofed_traffic_class(*bed.files, bed.port.rdma, 1);
  const std::string folder = "sys/kernel/config/rdma_cm/" + bed.port.rdma,
                    link = "sys/class/infiniband/" + bed.port.rdma + "/device";
  bed.tree.file(folder + "/ports/1/default_roce_tos", "0\n");
  bed.files->on_write(folder + "/*", store_number(0, 255));
  const Qos want{.roce_tos = 106, .traffic_class = OrNone{106}};
  bed.tree.folder("sys/devices/pci0000:50/0000:50:00.0").folder("sys/devices/pci0000:50/" + bed.port.pci);
  bed.tree.link(link, "../../../devices/pci0000:50/0000:50:00.0");
  Changes changes = bed.apply(want);
  EXPECT_EQ(bed.files->changes(), 0u) << bed.files->log.front();
  for (const char* key : {"roce_tos", "traffic_class"}) {
    EXPECT_EQ(of(changes, key).code, ENODEV) << text(changes);
    EXPECT_TRUE(has(of(changes, key).detail, "another RDMA device has this name")) << text(changes);
  }
  bed.tree.remove(link).link(link, "../../../devices/pci0000:50/" + bed.port.pci);
  changes = bed.apply(want);
  for (const char* key : {"roce_tos", "traffic_class"})
    EXPECT_EQ(of(changes, key).outcome, Outcome::applied) << text(changes);
}

// This kernel's netdevs, swapped at any moment between reading and writing.
class RenamedVeth : public Veth {
 protected:
  void SetUp() override {
    Veth::SetUp();
    if (IsSkipped()) return;
    for (const char* name : {"veth0", "veth1"}) ASSERT_TRUE(rtnl::set_mtu(*kernel.route, id(name), 1500).ok());
    first_ = id("veth0").ifindex;
    second_ = id("veth1").ifindex;
  }
  void TearDown() override {
    if (!IsSkipped() && rtnl::link_at(*kernel.route, first_)->name != "veth0") swap();
  }
  static void swap() {
    ASSERT_EQ(std::system("ip link set dev veth0 name vethx && ip link set dev veth1 name veth0 && "
                          "ip link set dev vethx name veth1"),
              0);
  }
  uint32_t mtu(int ifindex) { return rtnl::link_at(*kernel.route, ifindex)->mtu.value_or(0); }
  Port port() { return {.rdma = "rxe0", .netdev = "veth0", .ifindex = id("veth0").ifindex, .kernel_driver = "rxe"}; }
  int first_ = 0, second_ = 0;
};

TEST_F(RenamedVeth, BetweenReadingAndWriting) {
  Port as_read = port();
  const qos::SaveOriginal save = [&](const Port&, const Qos&) -> Result<void> {
    swap();
    return {};
  };
  Changes changes = qos::reconcile(kernel, as_read, {.mtu = 4200}, free_terms(), save);
  EXPECT_EQ(mtu(first_), 1500u) << "not under a name that the policy may not mean";
  EXPECT_EQ(mtu(second_), 1500u);
  EXPECT_EQ(of(changes, "mtu").code, ENODEV);
  EXPECT_TRUE(has(of(changes, "mtu").detail, "veth0 was renamed to veth1")) << text(changes);
  as_read.netdev = "veth1";  // as the next scan finds it
  changes = qos::reconcile(kernel, as_read, {.mtu = 4200}, free_terms(), kSaveNowhere);
  EXPECT_EQ(of(changes, "mtu").outcome, Outcome::applied);
  EXPECT_EQ(mtu(first_), 4200u);
  EXPECT_EQ(mtu(second_), 1500u);
}

TEST_F(RenamedVeth, TheKernelRefusesEachMessageWithTheOldName) {
  const NetdevId as_read = id("veth0");
  swap();
  EXPECT_EQ(rtnl::set_mtu(*kernel.route, as_read, 4200).error().code, ENODEV);
  EXPECT_EQ(dcbnl::set_pfc(*kernel.route, as_read, {}).error().code, ENODEV);
  ASSERT_TRUE(kernel.ethtool);
  EXPECT_EQ(ethtool::set_pause(*kernel.generic, *kernel.ethtool, as_read, {}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_rings(*kernel.generic, *kernel.ethtool, as_read, 512, {}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_channels(*kernel.generic, *kernel.ethtool, as_read, 1).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_fec(*kernel.generic, *kernel.ethtool, as_read, Fec{8}).error().code, ENODEV);
  EXPECT_EQ(ethtool::set_private_flag(*kernel.generic, *kernel.ethtool, as_read, "x", true).error().code, ENODEV);
}

// The folder's descriptor leads to the device although its name has gone to another one.
TEST_F(RenamedVeth, AFileOfTheDeviceIsWrittenThoughTheNameIsAnothers) {
  Tree tree;
  tree.folder("sys");
  if (::mount("sysfs", (tree.path() + "/sys").c_str(), "sysfs", 0, nullptr) != 0)
    GTEST_SKIP() << "mount: " << std::strerror(errno);
  const Root root = tree.root();
  const auto length = [&](const std::string& name) {
    return root.number_in<int>("sys/class/net/" + name + "/tx_queue_len").value_or(0);
  };
  const int before = length("veth1");
  const auto swaps = [](const Fd&) -> Result<void> {
    swap();
    return {};
  };
  const auto written = root.write_in("sys/class/net/veth0", "tx_queue_len", "777", swaps);
  const int of_first = length("veth1"), of_second = length("veth0");
  kernel.root = tree.root();
  const PortIo io{.kernel = kernel, .netdev = "veth0", .ifindex = first_};
  const auto refused = write_netdev_file(io, "tx_queue_len", "888");
  const int of_newcomer = length("veth0");
  ASSERT_EQ(::umount2((tree.path() + "/sys").c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(of_first, 777);
  EXPECT_EQ(of_second, before);
  EXPECT_EQ(code_of(refused), ENODEV);
  EXPECT_EQ(of_newcomer, before);
}

}  // namespace
}  // namespace fabric::test
