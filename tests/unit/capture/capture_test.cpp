// SPDX-License-Identifier: Apache-2.0
// A captured machine, and its verdicts: the same text as on the machine itself. No other user can put a file, a folder
// or a link in the place of one that root writes. hwloc opens files itself: in a captured tree it finds the files that
// Root reads, and no others.
#include "ctl/verbs/capture.h"

#include <fcntl.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/clock.h"
#include "base/files.h"
#include "ctl/verbs.h"
#include "judge/rule.h"
#include "kernel/capture/anonymize.h"
#include "kernel/netlink/rtnl.h"
#include "node/scan.h"
#include "node/state.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "policy/config.h"
#include "policy/last_good.h"
#include "support/ctl.h"
#include "support/netns.h"
#include "support/sim_nic.h"
#include "support/sim_rdma.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {

Run run_capture;  // of ctl/verbs/capture_verb.cpp

namespace {

using namespace std::string_view_literals;
namespace fs = std::filesystem;
using test::code_of;
using test::has;
using test::replaced;
using test::Tree;

constexpr std::string_view kMac("\x0c\x42\xa1\x5e\x77\x9d", 6);
constexpr const char* kGuid = "0c42:a103:005e:779d";
constexpr const char* kGid = "fe80:0000:0000:0000:0e42:a1ff:fe5e:779d";
constexpr const char* kUuid = "GPU-6f1f9a3c-77aa-4bcd-9e0f-123456789abc";

// A card whose links report their MAC address, as the kernel's do.
class WithMac : public Netlink {
 public:
  explicit WithMac(std::unique_ptr<Netlink> inner) : inner_(std::move(inner)) {}
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    auto replies = inner_->talk(type, flags, payload);
    if (!replies) return replies;
    for (Message& reply : *replies) {
      if (reply.type != RTM_NEWLINK) continue;
      AttrWriter more;
      more.bytes(IFLA_ADDRESS, std::as_bytes(std::span(kMac)))
          .bytes(54 /* IFLA_PERM_ADDRESS */, std::as_bytes(std::span(kMac)));
      reply.payload.insert(reply.payload.end(), more.data().begin(), more.data().end());
    }
    return replies;
  }

 private:
  std::unique_ptr<Netlink> inner_;
};

// Each reading of the counters finds more lost packets.
class MovingRdma : public test::SimRdma {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    if ((type & 0xff) == RDMA_NLDEV_CMD_STAT_GET)
      for (auto& [index, device] : devices)
        for (auto& [number, port] : device.ports)
          for (Counter& counter : port.counters) counter.value += 1234;
    return SimRdma::talk(type, flags, payload);
  }
};

class Refusals : public BehindFiles {
 public:
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view) override {
    if (act == Act::read && file.ends_with("/board_id")) return Result<void>(error(EACCES, file));
    if (act == Act::read && file.ends_with("/hca_type")) return Result<void>(error(EIO, file));
    return std::nullopt;
  }
};

// One ConnectX with faults: PFC is not as the policy says, packets get lost, two files cannot be read.
struct Machine {
  // Eight cores in two sockets, without which hwloc does not load a tree.
  void add_cpus() {
    for (const char* list : {"online", "possible", "present"})
      tree.file(std::string("sys/devices/system/cpu/") + list, "0-7\n");
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      char self[4];
      std::snprintf(self, sizeof self, "%02x\n", 1 << cpu);
      tree.file(folder + "core_cpus", self).file(folder + "thread_siblings", self);
      tree.file(folder + "physical_package_id", std::to_string(cpu / 4) + "\n")
          .file(folder + "core_id", std::to_string(cpu % 4) + "\n")
          .file(folder + "package_cpus", cpu < 4 ? "0f\n" : "f0\n");
    }
    tree.file("sys/devices/system/node/online", "0-1\n");
    tree.file("sys/devices/system/node/node0/cpumap", "0f\n").file("sys/devices/system/node/node1/cpumap", "f0\n");
  }
  Machine() {
    const auto function =
        add_pci(tree, {"pci0000:20/0000:20:01.0", "0000:24:00.0", "0x15b3", "0x1021", "0x020000", "1"});
    const auto gpu = add_pci(tree, {"pci0000:20/0000:20:03.0", "0000:27:00.0", "0x10de", "0x2330", "0x030200", "1"});
    tree.folder("sys/bus/pci/drivers/mlx5_core").link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core");
    tree.file("sys/devices/system/node/node0/cpulist", "0-3\n").file("sys/devices/system/node/node1/cpulist", "4-7\n");
    add_cpus();
    const std::string device = function + "/infiniband/mlx5_0", port = device + "/ports/1";
    tree.link("sys/class/infiniband/mlx5_0", "../../../" + device).link(device + "/device", "../..");
    tree.file(device + "/fw_ver", "28.41.1000\n").file(device + "/board_id", "x\n").file(device + "/hca_type", "x\n");
    tree.file(device + "/sys_image_guid", std::string(kGuid) + "\n").file(port + "/link_layer", "Ethernet\n");
    tree.file(port + "/rate", "400 Gb/sec (4X NDR)\n").file(port + "/gids/0", std::string(kGid) + "\n");
    tree.file(port + "/gid_attrs/types/0", "RoCE v2\n").file(port + "/gid_attrs/ndevs/0", "eth0\n");
    const std::string net = function + "/net/eth0";
    tree.link("sys/class/net/eth0", "../../../" + net)
        .link(net + "/device", "../..")
        .file(net + "/speed", "400000\n")
        .file(net + "/mtu", "1500\n");
    tree.file("proc/driver/nvidia/gpus/0000:27:00.0/information",
              std::string("Model: NVIDIA H100\nGPU UUID: ") + kUuid + "\nDevice Minor: 0\n");
    tree.file("proc/sys/kernel/hostname", "gpu-1\n").file("proc/cmdline", "quiet iommu=pt admin_password=tiger\n");
    tree.file("etc/fabric-agent/fabric-agent.toml",
              "mode = \"audit\"\n[[port]]\nname = \"roce\"\npfc = [3]\nmtu = 4200\n");
    nics.add_nic("eth0", test::Personality::mlx5);
  }

  // The options of the command line, for a run in this process.
  Options options(const std::string& verb) {
    Options out;
    out.verb = verb;
    out.json = true;
    out.root = tree.path();
    out.interval = std::chrono::milliseconds(1);
    out.open = [this](const std::string&) -> Result<Kernel> {
      Kernel kernel = nics.kernel(tree.path());
      kernel.root.set_behind(std::make_shared<Refusals>());
      kernel.route = std::make_unique<WithMac>(std::move(kernel.route));
      auto rdma = std::make_unique<MovingRdma>();
      rdma->devices[3] = {
          "mlx5_0", "28.41.1000", "roce", {{1, {.netdev = "eth0", .counters = {{"out_of_sequence", 7}}}}}};
      kernel.rdma = std::move(rdma);
      return kernel;
    };
    return out;
  }

  Tree tree;
  test::SimKernel nics;
};

std::string output_of(const Options& options) {
  Output output;
  (void)find_verb(options.verb)->run(options, output);
  return output.text + output.errors;
}

std::string judged(const std::string& verb, const std::string& directory) {
  Options options;
  options.verb = verb;
  options.json = true;
  options.root = directory;
  options.interval = std::chrono::milliseconds(100);
  return output_of(options);
}

std::string all_bytes_below(const std::string& directory) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    all += entry.path().string() + "\n";
    if (entry.is_symlink()) all += fs::read_symlink(entry.path()).string();
    else if (entry.is_regular_file()) all += test::slurp(entry.path()) + "\n";
  }
  return all;
}

struct Capture : testing::Test {
  Output take(bool with_addresses = false) { return take_into(directory, with_addresses); }
  Output take_into(const std::string& folder, bool with_addresses) {
    Options options = machine.options("capture");
    options.json = false;
    options.arguments = {folder};
    options.with_addresses = with_addresses;
    Output output;
    EXPECT_EQ(run_capture(options, output), kDone) << output.errors;
    return output;
  }
  // The verb's output for the machine itself.
  std::string here(const std::string& verb) {
    return replaced(output_of(machine.options(verb)), machine.tree.path() + "/", "/");
  }
  std::string there(const std::string& verb) const { return judged(verb, directory); }
  Machine machine;
  Tree out;
  const std::string directory = out.path() + "/capture";
};

TEST_F(Capture, IsJudgedAsOnTheSpot) {
  take(true);
  EXPECT_TRUE(fs::exists(directory + "/" + kHwlocFile)) << "for lstopo as well";
  for (const char* verb : {"check", "status", "show", "plan", "topo"}) {
    EXPECT_GT(here(verb).size(), 40u) << verb;
    EXPECT_EQ(there(verb), here(verb)) << verb;
  }
  const std::string check = there("check");
  for (const char* planted : {"\"id\": \"pfc\"", "\"outcome\": \"pending\""}) EXPECT_TRUE(has(check, planted));
  EXPECT_EQ(there("check"), check) << "and again";
  const std::string diagnosis = there("diagnose");
  for (const char* said : {"\"port\": \"mlx5_0/1\"", "out of sequence +1234"}) EXPECT_TRUE(has(diagnosis, said));
  EXPECT_EQ(there("diagnose"), diagnosis) << "and again";
}

// The capture has the configuration that the agent continues to use, and the cards whose originals it keeps.
TEST_F(Capture, HasTheConfigurationInUseWhileTheFileIsInvalid) {
  const std::string root = machine.tree.path(), file = root + "/etc/fabric-agent/fabric-agent.toml";
  ASSERT_TRUE(save_last_good(root, *load_config(file, rule_rows()), rule_rows()).ok());
  machine.tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"aud\"\n");
  machine.tree.file(state::kOriginalsFile, R"({"format":1,"ports":{"serial:MT1/0.1":{"settings":{"mtu":1500}}}})");
  take(true);
  out.file(std::string("capture/") + kLastGoodFile,  // the machine's root is "/"
           replaced(out.content(std::string("capture/") + kLastGoodFile), root + "/", "/"));
  for (const char* verb : {"check", "status", "show"}) EXPECT_EQ(there(verb), here(verb)) << verb;
  EXPECT_TRUE(has(there("check"), "The agent uses the last valid configuration")) << there("check");
  EXPECT_TRUE(has(there("status"), "serial:MT1/0.1")) << there("status");
}

TEST_F(Capture, HasADropInThatIsALinkToDevNull) {
  machine.tree.file("etc/fabric-agent/conf.d/20.toml", "[[port]]\nmtu = 9000\n");
  machine.tree.link("etc/fabric-agent/conf.d/10.toml", "/dev/null");
  take(true);
  for (const char* verb : {"check", "status"}) EXPECT_EQ(there(verb), here(verb)) << verb;
  const auto config = load_config(*Root::open(directory), {}, rule_rows());
  ASSERT_TRUE(config.ok()) << config.error().text();
  EXPECT_EQ(config->policy.ports.size(), 2U);
}

// Its driver is not loaded; the settings of the host are compared all the same.
TEST_F(Capture, OfAMachineWithoutAnRdmaPortHasThePlan) {
  machine.tree.remove("sys/class/infiniband");
  machine.tree.file("proc/sys/net/ipv4/tcp_ecn", "2\n");
  machine.tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[sysctl]\n\"net.ipv4.tcp_ecn\" = 1\n");
  take(true);
  for (const char* verb : {"check", "status", "plan"}) EXPECT_EQ(there(verb), here(verb)) << verb;
  EXPECT_TRUE(has(there("plan"), "net.ipv4.tcp_ecn")) << there("plan");
}

// A tree from elsewhere: no kernel was asked, so its files continue to replace netlink.
TEST_F(Capture, OfATreeIsJudgedAsTheTree) {
  Options options = machine.options("capture");
  options.open = Options().open;
  options.arguments = {directory};
  options.with_addresses = true;
  Output output;
  ASSERT_EQ(run_capture(options, output), kDone) << output.errors;
  for (const char* verb : {"check", "topo"})
    EXPECT_EQ(there(verb), replaced(judged(verb, machine.tree.path()), machine.tree.path() + "/", "/")) << verb;
  EXPECT_TRUE(has(there("check"), "netdev 1500, RoCE 1024")) << "of the file";
}

TEST_F(Capture, WithoutAddressesTheVerdictsAreTheSame) {
  take();
  for (const char* verb : {"check", "status", "show", "plan"})
    EXPECT_EQ(there(verb),
              replaced(replaced(here(verb), "a1ff:fe5e:779d", "a1ff:fef0:0001"), "gpu-1", host_pseudonym("gpu-1")))
        << verb;
  EXPECT_EQ(there("topo").size(), output_of(machine.options("topo")).size())
      << "pseudonyms have the length of what they stand for";
}

TEST_F(Capture, TellsNoAddressAndNoSecret) {
  take();
  const std::string all = all_bytes_below(directory);
  EXPECT_TRUE(has(all, "0c42:a1")) << "the maker's part stays";
  EXPECT_TRUE(has(all, "iommu=pt")) << "a rule uses it";
  for (const std::string_view secret : {kMac, "5e779d"sv, "5e:77:9d"sv, "5e:779d"sv, "6f1f9a3c"sv, "123456789abc"sv,
                                        "tiger"sv, "admin_password"sv, "gpu-1"sv})
    EXPECT_FALSE(has(all, secret));
  Tree whole;
  take_into(whole.path() + "/capture", true);
  const std::string known = all_bytes_below(whole.path());
  EXPECT_TRUE(has(known, "0c42a15e779d")) << "in netlink";
  EXPECT_TRUE(has(known, kGid));
  EXPECT_FALSE(has(known, "tiger")) << "a password is never captured";
}

// The cables of the host are found by its pseudonym, whether the plan names it as the kernel does or as [cabling] does.
TEST_F(Capture, ShortNamesOfTheHostAreHiddenAndItsCablesStay) {
  for (const auto& [hostname, planned] : std::vector<std::pair<std::string, std::string>>{
           {"vega", ""}, {"vega.site", ""}, {"gpu", "rackvega"}, {"eth0", ""}, {"mlx5_0", "vega"}}) {
    SCOPED_TRACE(hostname + " " + planned);
    std::string config = "mode = \"audit\"\n[cabling]\nfile = \"/etc/fabric-agent/cables.csv\"\n";
    if (!planned.empty()) config += "host = \"" + planned + "\"\n";
    const std::string name = planned.empty() ? hostname : planned;
    machine.tree.file("proc/sys/kernel/hostname", hostname + "\n").file("etc/hostname", hostname + "\n");
    machine.tree.file("etc/fabric-agent/fabric-agent.toml", config);
    machine.tree.file("etc/fabric-agent/cables.csv",
                      "Device A,Termination A,Device B,Termination B\nleaf1,swp1," + name + ",eth0\n");
    const std::string folder = out.path() + "/of-" + hostname + planned;
    take_into(folder, false);
    EXPECT_EQ(test::slurp(folder + "/proc/sys/kernel/hostname"), host_pseudonym(hostname) + "\n");
    EXPECT_EQ(test::slurp(folder + "/etc/fabric-agent/cables.csv"),
              "Device A,Termination A,Device B,Termination B\n\"" + host_pseudonym(name) +
                  "\",\"eth0\",\"leaf1\",\"swp1\"\n");
    const std::string all = replaced(all_bytes_below(folder), folder, "");
    EXPECT_FALSE(has(all, "vega"));
    const std::string kept = test::slurp(folder + "/etc/fabric-agent/fabric-agent.toml");
    EXPECT_EQ(has(kept, "host = \"" + host_pseudonym(planned) + "\""), !planned.empty()) << kept;
  }
}

TEST_F(Capture, SaysWhatWasNotPermitted) {
  const Output said = take();
  EXPECT_TRUE(has(said.text, "Not permitted, and missing: 1 reading;"));
  EXPECT_TRUE(has(out.content("capture/fabric-agent/about.txt"), "/sys/class/infiniband/mlx5_0/board_id\n"));
  auto replay = open_kernel(directory);
  ASSERT_TRUE(replay) << replay.error().text();
  const auto board = replay->root.read("sys/class/infiniband/mlx5_0/board_id"),
             type = replay->root.read("sys/class/infiniband/mlx5_0/hca_type");
  ASSERT_FALSE(board || type);
  EXPECT_EQ(board.error().text(), "/sys/class/infiniband/mlx5_0/board_id: Permission denied (EACCES)");
  EXPECT_EQ(type.error().code, EIO);
}

TEST_F(Capture, IsATreeThatOtherProgramsRead) {
  take();
  EXPECT_EQ(out.content("capture/sys/class/infiniband/mlx5_0/fw_ver"), "28.41.1000\n");
  EXPECT_EQ(out.content("capture/proc/sys/kernel/hostname"), host_pseudonym("gpu-1") + "\n");
  EXPECT_EQ(out.content("capture/etc/fabric-agent/fabric-agent.toml"),
            machine.tree.content("etc/fabric-agent/fabric-agent.toml"));
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_symlink()) continue;
    EXPECT_EQ(entry.status().permissions(),
              entry.is_directory() ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write)
        << entry.path();
  }
  fs::remove_all(directory + "/fabric-agent");  // as captured by others
  auto kernel = open_kernel(directory);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->route, nullptr);
  EXPECT_EQ(scan(*kernel).ports.size(), 1u);
}

// A site's /etc is full of links to elsewhere; who judges the capture has a machine of his own.
TEST_F(Capture, NoLinkLeadsOutOfIt) {
  Tape tape;
  const std::string folder = "etc/fabric-agent/";
  tape.links = {{"etc/fabric-agent", "/opt/site/now"},
                {"opt/site/now", "5"},
                {"opt/site/5/conf.d", "../../../../../../srv/conf.d"}};
  const auto file = [&](const std::string& asked, const std::string& place, const std::string& text) {
    tape.places[folder + asked] = place;
    tape.note(Ask::read, folder + asked, std::vector{text});
  };
  file("fabric-agent.toml", "opt/site/5/fabric-agent.toml", "mode = \"audit\"\n");
  file("conf.d/10.toml", "srv/conf.d/10.toml", "[[port]]\nmtu = 4200\n");
  ASSERT_TRUE(write_capture(tape, "", directory));
  const auto config = load_config(directory + "/" + folder + "fabric-agent.toml");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->policy.ports.size(), 1u);
}

TEST_F(Capture, WritesNothingWhereSomethingIs) {
  out.file("here/file", "mine");
  out.folder("empty");
  Options options = machine.options("capture");
  Output output;
  options.arguments = {out.path() + "/here"};
  EXPECT_EQ(run_capture(options, output), kFailure);
  options.arguments = {out.path() + "/no/such/folder"};
  EXPECT_EQ(run_capture(options, output), kFailure);
  options.arguments = {};
  EXPECT_EQ(run_capture(options, output), kUsage);
  EXPECT_EQ(std::distance(fs::directory_iterator(out.path()), {}), 2) << "no remains";
  EXPECT_EQ(out.content("here/file"), "mine");
  options.arguments = {out.path() + "/empty/"};
  EXPECT_EQ(run_capture(options, output), kDone) << output.errors;
  EXPECT_TRUE(fs::exists(out.path() + "/empty/" + kAnswersFile));
  options = Options{};
  options.root = out.path() + "/empty";
  options.arguments = {out.path() + "/again"};
  EXPECT_EQ(run_capture(options, output), kFailure);
  EXPECT_TRUE(has(output.errors, "is already a capture"));
}

// A volume of a container, a USB stick, the current directory: nothing can be renamed to it.
TEST_F(Capture, FillsADirectoryThatIsThere) {
  out.folder("here");
  const auto current = fs::current_path();
  fs::current_path(out.path() + "/here");
  Options options = machine.options("capture");
  Output output;
  options.arguments = {"."};
  EXPECT_EQ(run_capture(options, output), kDone) << output.errors;
  fs::current_path(current);
  EXPECT_TRUE(fs::exists(out.path() + "/here/sys/class/infiniband/mlx5_0"));
  EXPECT_TRUE(fs::exists(out.path() + "/here/fabric-agent/about.txt"));
  EXPECT_EQ(std::distance(fs::directory_iterator(out.path()), {}), 1) << "nothing beside it";
  for (const auto& entry : fs::directory_iterator(out.path() + "/here"))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry;
}

TEST_F(Capture, NothingIsWrittenToACapture) {
  take();
  auto kernel = open_kernel(directory);
  ASSERT_TRUE(kernel);
  for (const auto& refused :
       {kernel->root.write("sys/class/net/eth0/mtu", "1"), kernel->root.write_at("sys/class/net/eth0/mtu", 0, "1"),
        kernel->root.make_directory("sys/x"), kernel->root.remove_directory("sys")})
    EXPECT_EQ(test::code_of(refused), EROFS);
  EXPECT_FALSE(rtnl::set_mtu(*kernel->route, {"eth0", 4}, 9000));
  EXPECT_TRUE(has(there("apply"), "captured tree"));
}

TEST_F(Capture, ABrokenOneIsSaid) {
  take();
  const std::string whole = out.content(std::string("capture/") + kAnswersFile);
  for (const std::string& text :
       {whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 4), std::string(), "other\n" + whole}) {
    out.file(std::string("capture/") + kAnswersFile, text);
    const auto kernel = open_kernel(out.path() + "/capture");
    ASSERT_FALSE(kernel);
    EXPECT_TRUE(has(kernel.error().text(), "answers.txt:"));
  }
}

TEST(CaptureAnswers, ReadBackAsWritten) {
  std::map<Tape::Question, Tape::Answers> answers;
  answers[{Ask::read, "sys/a b%\n"}] = {{Sample::before, std::vector<std::string>{"1 2\n\xff%20"}},
                                        {Sample::now, error(EACCES, "why not?")}};
  answers[{Ask::list, "sys"}] = {{Sample::now, std::vector<std::string>{}}};
  answers[{Ask::route, std::string("\0\1\xfe", 3)}] = {
      {Sample::now, std::vector<std::string>{"", std::string("\0x", 2)}}};
  answers[{Ask::query, "what"}] = {{Sample::now, error(0, "")}};
  const std::string text = answers_text(answers);
  const auto again = parse_answers(text, "answers.txt");
  ASSERT_TRUE(again) << again.error().text() << text;
  EXPECT_EQ(answers_text(*again), text);
  EXPECT_EQ(again->at({Ask::read, "sys/a b%\n"}).at(Sample::before).value().front(), "1 2\n\xff%20");
  for (const char* line : {"read now", "read then x", "dance now x", "read now %4", "route now 0", "! 13 x", "= x",
                           "read now x\n! x y", "read now x\n= 1\n! 2 x", "read now x\nread now x", ""}) {
    const auto bad = parse_answers("fabric-agent capture 1\n" + std::string(line) + "\nend\n", "answers.txt");
    EXPECT_FALSE(bad) << line;
  }
}

TEST(CaptureDisguise, InEveryFormOfWriting) {
  Pseudonyms pseudonyms;
  const std::string mac = pseudonyms.in_text("0c:42:a1:5e:77:9d");
  EXPECT_EQ(mac.substr(0, 9), "0c:42:a1:") << mac;
  EXPECT_NE(mac.substr(9), "5e:77:9d");
  const std::string digits = replaced(mac, ":", "");
  EXPECT_EQ(
      pseudonyms.in_text("(0C-42-A1-5E-77-9D)."), "(" + [&] {
        std::string upper = replaced(mac, ":", "-");
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return upper;
      }() + ").");
  EXPECT_EQ(pseudonyms.in_text("port 0c42.a15e.779d, 0C42.A15E.779E."),
            "port 0c42.a1" + digits.substr(6, 2) + "." + digits.substr(8) + ", 0C42.A1F0.0002.");
  EXPECT_EQ(pseudonyms.in_text("guid 0c42:a103:005e:779d"), "guid " + digits.substr(0, 4) + ":" + digits.substr(4, 2) +
                                                                "03:00" + digits.substr(6, 2) + ":" + digits.substr(8));
  EXPECT_EQ(pseudonyms.in_text(kGid),
            "fe80:0000:0000:0000:0e42:a1ff:fe" + digits.substr(6, 2) + ":" + digits.substr(8));
  EXPECT_EQ(pseudonyms.in_text("inet6 fe80::e42:a1ff:fe5e:779d/64"), "inet6 fe80::e42:a1ff:fef0:1/64");
  EXPECT_EQ(pseudonyms.in_bytes("enx0c42a15e779d"), "enx" + digits);
  EXPECT_EQ(pseudonyms.in_bytes("port 0C42A15E779D,"), "port " + upper(digits) + ",");
  EXPECT_EQ(pseudonyms.in_bytes("to 0c42.a15e.779d 0C42.A15E.779D"),
            "to 0c42.a1" + digits.substr(6, 2) + "." + digits.substr(8) + " 0C42.A1" + upper(digits).substr(6, 2) +
                "." + upper(digits).substr(8));
  const std::string bytes = pseudonyms.in_bytes("ab" + std::string(kMac) + "cd");
  EXPECT_EQ(bytes.substr(2, 3), kMac.substr(0, 3));
  EXPECT_NE(bytes.substr(2, 6), kMac);
  // Kept: texts that do not identify a single thing.
  for (const char* kept : {"0000:17:00.0", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "01:80:c2:00:00:0e", "10.1.0.1",
                           "2001:db8::1", "::1", "12:34:56", "1.2.3.4", "28.41.1000", "232.0.155.3",
                           "0000:0000:0000:0000:0000:ffff:0a01:0001", "0-3,64", "32.0 GT/s PCIe", "2026-11-21"})
    EXPECT_EQ(pseudonyms.in_text(kept), kept);
}

// Four times as many addresses of one vendor take about four times as long, not sixteen times.
TEST(CaptureDisguise, ManyAddressesOfOneVendor) {
  const auto seconds_for = [](unsigned count) {
    std::string text, digits;
    for (unsigned i = 0; i < count; ++i) {
      char line[64];
      std::snprintf(line, sizeof line, "0c:42:a1:%02x:%02x:9d\n", i >> 8, i & 0xff);
      text += line;
      std::snprintf(line, sizeof line, "enp0c42a1%02x%02x9d ", i >> 8, i & 0xff);
      digits += line;
    }
    const double begin = seconds_on(CLOCK_THREAD_CPUTIME_ID);
    Pseudonyms pseudonyms;
    (void)pseudonyms.in_text(text);
    EXPECT_EQ(pseudonyms.in_bytes(digits).find("00009d"), std::string::npos);
    return seconds_on(CLOCK_THREAD_CPUTIME_ID) - begin;
  };
  const double few = seconds_for(1'000), many = seconds_for(4'000);
  EXPECT_LT(many, 8 * few) << few << " s";
}

TEST(CaptureDisguise, TooManyAddressesAreSaid) {
  const std::string text = "0c:42:a1:5e:77:9d 0c:42:a1:5e:77:9e 0c42:a103:005e:779d\n0c42:a103:0000:0001";  // three
  for (const size_t most : {3, 2}) {
    Tape tape;
    tape.note(Ask::read, "sys/x", std::vector{text});
    const auto done = anonymize(tape, {}, most);
    EXPECT_EQ(done.ok(), most == 3);
    if (!done) EXPECT_EQ(done.error().code, EFBIG);
    if (!done) EXPECT_TRUE(has(done.error().text(), "more than 2 MAC addresses")) << done.error().text();
  }
}

// A virtual machine's card: too few bytes to be looked for in others, so it is known by its place.
TEST(CaptureDisguise, AddressesByTheirPlaceInNetlink) {
  constexpr std::string_view kShort("\x02\xfa\xb0\0\0\1", 6),
      kLocal("\xfe\x80\0\0\0\0\0\0\0\xfa\xb0\xff\xfe\0\0\1", 16);
  const auto message = [](uint16_t type, size_t header, uint16_t attribute, std::string_view value) {
    AttrWriter out;
    out.bytes(attribute, std::as_bytes(std::span(value)));
    std::string bytes(reinterpret_cast<const char*>(&type), sizeof type);
    return bytes.append(header, '\0').append(reinterpret_cast<const char*>(out.data().data()), out.data().size());
  };
  Tape tape;
  const std::vector<std::string> replies{message(RTM_NEWLINK, sizeof(ifinfomsg), IFLA_ADDRESS, kShort),
                                         message(RTM_NEWADDR, sizeof(ifaddrmsg), IFA_ADDRESS, kLocal),
                                         message(RTM_NEWROUTE, sizeof(rtmsg), RTA_DST, kLocal),
                                         message(RTM_NEWNEIGH, sizeof(ndmsg), NDA_DST, kLocal),
                                         message(RTM_NEWADDR, sizeof(ifaddrmsg), IFA_CACHEINFO, kLocal)};
  tape.note(Ask::route, "1234", replies);
  (void)anonymize(tape);
  const auto hidden = tape.answers.begin()->second.begin()->second.value();
  ASSERT_EQ(hidden.size(), replies.size());
  for (size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(hidden[i].size(), replies[i].size());
    EXPECT_EQ(hidden[i] == replies[i], i + 1 == replies.size()) << "all but what is no address: " << i;
  }
  EXPECT_EQ(hidden[1].substr(hidden[1].size() - 3), hidden[0].substr(hidden[0].size() - 5, 3)) << "the same card";
}

// The addresses of other machines, which no other answer has: of the leaf behind each way out, of the far end of a
// tunnel, of the root of a bridge.
TEST(CaptureDisguise, AddressesOfOtherMachines) {
  constexpr std::string_view kSwitch("\x98\x03\x9b\x5e\x77\x9d", 6),
      kGateway("\xfe\x80\0\0\0\0\0\0\x9a\x03\x9b\xff\xfe\x5e\x77\x9d", 16);
  const auto bytes_of = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const auto value = [&](uint16_t attribute, std::string_view text) {
    return AttrWriter().bytes(attribute, bytes_of(text));
  };
  const auto payload = [](const AttrWriter& out) {
    return std::string(reinterpret_cast<const char*>(out.data().data()), out.data().size());
  };
  const std::string via = std::string("\x0a\0"sv) + std::string(kGateway);  // AF_INET6
  const auto paths = [&](const std::string& attributes) {
    rtnexthop hop{};
    hop.rtnh_len = static_cast<uint16_t>(sizeof hop + attributes.size());
    return std::string(reinterpret_cast<const char*>(&hop), sizeof hop) + attributes;
  };
  const std::string bridge = std::string("\x80\0"sv) + std::string(kSwitch);
  const auto link = [&](uint16_t kind, const char* name, uint16_t data, uint16_t attribute, std::string_view inside) {
    AttrWriter info, out;
    info.bytes(kind, bytes_of(std::string_view(name, std::strlen(name) + 1))).nest(data, value(attribute, inside));
    return out.header(ifinfomsg{}).nest(IFLA_LINKINFO, info);
  };
  const auto route = [&](uint16_t attribute, std::string_view text) {
    return AttrWriter().header(rtmsg{}).bytes(attribute, bytes_of(text));
  };
  const std::vector<std::tuple<const char*, uint16_t, AttrWriter>> cases{
      {"a gateway of another family", RTM_NEWROUTE, route(RTA_VIA, via)},
      {"one of several", RTM_NEWROUTE,
       route(RTA_MULTIPATH,
             paths(payload(value(RTA_GATEWAY, "\x0a\0\0\1"sv))) + paths(payload(value(RTA_GATEWAY, kGateway))))},
      {"one of several, of another family", RTM_NEWROUTE, route(RTA_MULTIPATH, paths(payload(value(RTA_VIA, via))))},
      {"the far end of a route's tunnel", RTM_NEWROUTE,
       route(RTA_ENCAP, payload(value(2 /* LWTUNNEL_IP6_DST */, kGateway)))},
      {"a next hop object", RTM_NEWNEXTHOP, AttrWriter().header(nhmsg{}).bytes(NHA_GATEWAY, bytes_of(kGateway))},
      {"a rule", RTM_NEWRULE, AttrWriter().header(fib_rule_hdr{}).bytes(FRA_SRC, bytes_of(kGateway))},
      {"the far end of a tunnel", RTM_NEWLINK,
       link(IFLA_INFO_KIND, "vxlan", IFLA_INFO_DATA, IFLA_VXLAN_GROUP6, kGateway)},
      {"the root of a bridge", RTM_NEWLINK, link(IFLA_INFO_KIND, "bridge", IFLA_INFO_DATA, IFLA_BR_ROOT_ID, bridge)},
      {"the root beyond a bridge's port", RTM_NEWLINK,
       link(IFLA_INFO_SLAVE_KIND, "bridge", IFLA_INFO_SLAVE_DATA, IFLA_BRPORT_ROOT_ID, bridge)}};
  for (const auto& [what, type, out] : cases) {
    const std::string reply = std::string(reinterpret_cast<const char*>(&type), sizeof type) + payload(out);
    Tape tape;
    tape.note(Ask::route, "1234", std::vector{reply});
    (void)anonymize(tape);
    const std::string hidden = tape.answers.begin()->second.begin()->second.value().front();
    EXPECT_EQ(hidden.size(), reply.size()) << what;
    EXPECT_EQ(hidden.find(kSwitch.substr(3)), std::string::npos) << what;
    EXPECT_EQ(hidden.find("\xfe\x5e\x77\x9d"), std::string::npos) << what;
  }
  // In a link of another kind the same attribute is a number.
  const uint16_t type = RTM_NEWLINK;
  const std::string other = std::string(reinterpret_cast<const char*>(&type), sizeof type) +
                            payload(link(IFLA_INFO_KIND, "vlan", IFLA_INFO_DATA, IFLA_BR_ROOT_ID, bridge));
  Tape tape;
  tape.note(Ask::route, "1234", std::vector{other});
  (void)anonymize(tape);
  EXPECT_EQ(tape.answers.begin()->second.begin()->second.value().front(), other);
}

TEST(CaptureDisguise, AddressesOfVirtualFunctions) {
  ifla_vf_mac mac{1, {0x02, 0xfa, 0xb0, 0, 0, 1}};
  ifla_vf_mac ipoib{2, {0, 0, 0x10, 0x29, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x02, 0xfa, 0xb0, 0, 3, 0, 0, 7}};
  ifla_vf_guid guid{1, 0x02fa'b000'0300'0001};
  AttrWriter info, second, list, out;
  second.pod(IFLA_VF_MAC, ipoib);
  info.pod(IFLA_VF_MAC, mac).pod(IFLA_VF_IB_NODE_GUID, guid).pod(IFLA_VF_RATE, ifla_vf_rate{1, 0, 0x02fa'b000});
  list.nest(IFLA_VF_INFO, info).nest(IFLA_VF_INFO, second);
  out.header(ifinfomsg{}).nest(IFLA_VFINFO_LIST, list);
  const uint16_t type = RTM_NEWLINK;
  std::string reply(reinterpret_cast<const char*>(&type), sizeof type);
  reply.append(reinterpret_cast<const char*>(out.data().data()), out.data().size());
  Tape tape;
  tape.note(Ask::route, "1234", std::vector{reply});
  (void)anonymize(tape);
  const std::string hidden = tape.answers.begin()->second.begin()->second.value().front();
  ASSERT_EQ(hidden.size(), reply.size());
  const auto has_bytes = [&](const void* from, size_t size) {
    return hidden.find(std::string(static_cast<const char*>(from), size)) != std::string::npos;
  };
  EXPECT_FALSE(has_bytes(mac.mac, 6));
  EXPECT_FALSE(has_bytes(&guid.guid, sizeof guid.guid));
  EXPECT_FALSE(has_bytes(ipoib.mac + 12, 8));
  EXPECT_TRUE(has_bytes(ipoib.mac, 12)) << "the number of the queue pair and the prefix of the GID";
  const uint32_t rate = 0x02fa'b000;
  EXPECT_TRUE(has_bytes(&rate, sizeof rate)) << "no address";
  // The length of a list of more than 64 KiB overflows: here it has that of the first function.
  constexpr size_t kList = sizeof type + sizeof(ifinfomsg);
  uint16_t first = 0;
  std::memcpy(&first, reply.data() + kList + sizeof(nlattr), sizeof first);
  const auto overflowed = static_cast<uint16_t>(sizeof(nlattr) + first);
  std::memcpy(reply.data() + kList, &overflowed, sizeof overflowed);
  Tape long_list;
  long_list.note(Ask::route, "1234", std::vector{reply});
  (void)anonymize(long_list);
  const std::string all_hidden = long_list.answers.begin()->second.begin()->second.value().front();
  EXPECT_EQ(all_hidden.find(std::string(reinterpret_cast<const char*>(ipoib.mac + 12), 8)), std::string::npos);
}

TEST(CaptureDisguise, TheNameOfTheMachine) {
  const auto hidden = [](const std::string& hostname, const std::string& text, const std::string& netdev = "eth0") {
    Tape tape;
    tape.note(Ask::read, "proc/sys/kernel/hostname", std::vector{hostname + "\n"});
    tape.note(Ask::list, "sys/class/net", std::vector{netdev});
    tape.note(Ask::read, "sys/class/net/" + netdev + "/x", std::vector{text});
    tape.note(Ask::read, "etc/some.conf", std::vector{text});
    (void)anonymize(tape);
    EXPECT_EQ((*tape.find(Ask::read, "sys/class/net/" + netdev + "/x"))->front(), text) << "of the kernel";
    return (*tape.find(Ask::read, "etc/some.conf"))->front();
  };
  EXPECT_EQ(hidden("gpu01.site.example.com", "GPU01 gpu01.site.example.com agpu01 gpu011 a@gpu01.service"),
            "host0 host0.xxxx.xxxxxxx.xxx agpu01 gpu011 a@host0.service");
  EXPECT_EQ(hidden("gpu0123.prod.example.com", "to-gpu0123-p1 leaf_GPU0123 gpu0123_x to-gpu0123.prod.example.com-x"),
            "to-host000-p1 leaf_host000 host000_x to-host000.xxxx.xxxxxxx.xxx-x");
  EXPECT_EQ(hidden("gpu01.site.example.com", "leaf1.site.example.com"), "leaf1.xxxx.xxxxxxx.xxx");
  EXPECT_EQ(hidden("athena", "leaf athena-1 athenas athena"), "leaf host00-1 athenas host00");
  EXPECT_EQ(hidden("gpu", "a gpu"), "a gpu") << "a word like others";
  EXPECT_EQ(hidden("eth5", "eth5", "eth5"), "eth5") << "also a device's";
  EXPECT_EQ(hidden("mlx5", "mlx5-x mlx5", "mlx5_0"), "mlx5-x mlx5") << "a part of a device's";
  EXPECT_EQ(hidden("fabric.example.com", "fabric-lldp fabric.example.com"), "fabric-lldp host00.xxxxxxx.xxx");
  EXPECT_EQ(hidden("gpu.site.example.com", "a gpu gpu.site.example.com"), "a gpu hos.xxxx.xxxxxxx.xxx");
}

// The host name is hidden there even if it is a common word.
TEST(CaptureDisguise, FilesThatNameTheHostNeverDiscloseIt) {
  for (const std::string hostname : {"vega", "gpu", "eth5", "mlx5_0", "VEGA.site.example.com", "n-0c42a15e779d", "x"}) {
    Tape tape;
    const std::vector<std::string> files{"proc/sys/kernel/hostname", "etc/hostname"};
    for (const std::string& file : files) tape.note(Ask::read, file, std::vector{hostname + "\n"});
    tape.note(Ask::read, "sys/class/net/eth5/address", std::vector<std::string>{"0c:42:a1:5e:77:9d\n"});
    tape.note(Ask::list, "sys/class/net", std::vector<std::string>{"eth5"});
    tape.note(Ask::list, "sys/class/infiniband", std::vector<std::string>{"mlx5_0"});
    tape.note(Ask::read, "etc/fabric-agent/conf.d/1.toml",
              std::vector{"match = { netdev = \"eth5\" }\nmy-host = \"a\"\n[cabling]\nhost = \"" + hostname +
                          "\"\nfile = \"b\"\n# \ncabling = { \"host\"='" + hostname + "' }\nhost = \"\"\nhost = \"" +
                          hostname});
    (void)anonymize(tape);
    const std::string to = host_pseudonym(hostname);
    for (const std::string& file : files) EXPECT_EQ((*tape.find(Ask::read, file))->front(), to + "\n") << file;
    EXPECT_EQ((*tape.find(Ask::read, "etc/fabric-agent/conf.d/1.toml"))->front(),
              "match = { netdev = \"eth5\" }\nmy-host = \"a\"\n[cabling]\nhost = \"" + to +
                  "\"\nfile = \"b\"\n# \ncabling = { \"host\"='" + to + "' }\nhost = \"\"\nhost = \"" + to);
  }
}

// This kernel's own answers.
TEST(CaptureNamespace, LinksAreTheSame) {
  if (const std::string why = test::enter_netns_with_veth(); !why.empty()) GTEST_SKIP() << why;
  auto live = open_kernel("/");
  ASSERT_TRUE(live);
  const auto tape = std::make_shared<Tape>();
  record(*live, tape);
  const auto here = rtnl::links(*live->route);
  ASSERT_TRUE(here);
  EXPECT_FALSE(rtnl::link(*live->route, "none"));
  std::ifstream file("/sys/class/net/veth0/address");
  std::string mac;
  file >> mac;
  (void)anonymize(*tape);
  Tree out;
  const auto written = write_capture(*tape, "about\n", out.path() + "/capture");
  ASSERT_TRUE(written) << written.error().text();
  auto replay = open_kernel(out.path() + "/capture");
  ASSERT_TRUE(replay) << replay.error().text();
  const auto there = rtnl::links(*replay->route);
  ASSERT_TRUE(there);
  ASSERT_EQ(there->size(), here->size());
  for (size_t i = 0; i < here->size(); ++i) {
    EXPECT_EQ((*there)[i].name, (*here)[i].name);
    EXPECT_EQ((*there)[i].mtu, (*here)[i].mtu);
  }
  const auto absent = rtnl::link(*replay->route, "none");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error(), rtnl::link(*live->route, "none").error());
  if (mac.size() == 17) {
    EXPECT_FALSE(has(all_bytes_below(out.path()), replaced(mac, ":", ""))) << mac;
  }
}

// -- The directory of a capture

constexpr uid_t kOther = 12345;

struct Place {
  const char* what;
  int code;  // 0: it is used
  std::string directory;
  std::function<void(const std::string& tree)> make = [](const std::string&) {};
};

void make_folder(const std::string& path, mode_t mode, uid_t owner = 0, gid_t group = 0) {
  ASSERT_EQ(::mkdir(path.c_str(), 0755), 0) << path;
  ASSERT_EQ(::chown(path.c_str(), owner, group), 0);
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

std::vector<Place> places() {
  return {
      {"root's folder", 0, "ours", [](const std::string& tree) { make_folder(tree + "/ours", 0755); }},
      {"another user's folder", EPERM, "theirs",
       [](const std::string& tree) { make_folder(tree + "/theirs", 0755, kOther); }},
      {"root's folder in another user's", EPERM, "theirs/ours",
       [](const std::string& tree) {
         make_folder(tree + "/theirs", 0755, kOther);
         make_folder(tree + "/theirs/ours", 0755);
       }},
      {"one that a group can write", EPERM, "shared",
       [](const std::string& tree) { make_folder(tree + "/shared", 0775, 0, kOther); }},
      // With an access control list these bits are its mask.
      {"one that root's group can write", EPERM, "shared",
       [](const std::string& tree) { make_folder(tree + "/shared", 0775); }},
      {"one that all can write", EPERM, "shared", [](const std::string& tree) { make_folder(tree + "/shared", 0777); }},
      {"a sticky one of root", 0, "sticky", [](const std::string& tree) { make_folder(tree + "/sticky", 01777); }},
      {"root's in a sticky one", 0, "sticky/ours",
       [](const std::string& tree) {
         make_folder(tree + "/sticky", 01777);
         make_folder(tree + "/sticky/ours", 0755);
       }},
      {"another user's in a sticky one", EPERM, "sticky/theirs",
       [](const std::string& tree) {
         make_folder(tree + "/sticky", 01777);
         make_folder(tree + "/sticky/theirs", 0755, kOther);
       }},
      {"a sticky one of another user, who may rename in it", EPERM, "sticky",
       [](const std::string& tree) { make_folder(tree + "/sticky", 01777, kOther); }},
      {"root's link to root's folder", 0, "link",
       [](const std::string& tree) {
         make_folder(tree + "/ours", 0755);
         fs::create_symlink("ours", tree + "/link");
       }},
      {"root's link to another user's folder", EPERM, "link",
       [](const std::string& tree) {
         make_folder(tree + "/theirs", 0755, kOther);
         fs::create_symlink(tree + "/theirs", tree + "/link");
       }},
      {"another user's link in a sticky folder", EPERM, "sticky/link",
       [](const std::string& tree) {
         make_folder(tree + "/ours", 0755);
         make_folder(tree + "/sticky", 01777);
         fs::create_symlink(tree + "/ours", tree + "/sticky/link");
         ASSERT_EQ(::lchown((tree + "/sticky/link").c_str(), kOther, kOther), 0);
       }},
      {"a way back from root's folder", EPERM, "ours/../theirs",
       [](const std::string& tree) {
         make_folder(tree + "/ours", 0755);
         make_folder(tree + "/theirs", 0755, kOther);
       }},
      {"a loop of links", ELOOP, "link", [](const std::string& tree) { fs::create_symlink("link", tree + "/link"); }},
      {"a file", ENOTDIR, "file", [](const std::string& tree) { std::ofstream(tree + "/file") << "x"; }},
  };
}

TEST(OwnDirectory, IsOneWhereNobodyElseWrites) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
  for (const Place& place : places()) {
    Tree tree;
    place.make(tree.path());
    const std::string directory = tree.path() + "/" + place.directory;
    EXPECT_EQ(code_of(open_own_directory(directory)), place.code) << place.what;
    // All that root writes: files that are replaced, locks, captures.
    EXPECT_EQ(code_of(replace_file(directory, "a/state.json", "x")), place.code) << place.what;
    EXPECT_EQ(code_of(state::take_lock(directory, std::chrono::milliseconds(0))), place.code) << place.what;
    const auto usable = check_capture_directory(directory + "/new");
    if (place.code != ENOTDIR) EXPECT_EQ(code_of(usable), place.code) << place.what;
    EXPECT_EQ(static_cast<bool>(usable), place.code == 0) << place.what;
  }
}

TEST(OwnDirectory, OfARelativePathTheParentsCountToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
  const fs::path before = fs::current_path();
  for (const Place& place : places()) {
    Tree tree;
    place.make(tree.path());
    if (::chdir((tree.path() + "/" + place.directory).c_str()) != 0) continue;  // no folder
    const int expected = code_of(open_own_directory(fs::current_path()));
    EXPECT_EQ(code_of(open_own_directory(".")), expected) << place.what;
    EXPECT_EQ(code_of(check_capture_directory("new")), expected) << place.what;
    EXPECT_EQ(code_of(replace_file(".", "a/state.json", "x")), expected) << place.what;
    fs::current_path(before);
  }
}

// The report of a self-test, in the current directory.
TEST(OwnDirectory, ASelfTestRefusesOthersBeforeItBegins) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
  const fs::path before = fs::current_path();
  std::set<int> codes;
  for (const Place& place : places()) {
    Machine machine;
    Tree tree;
    place.make(tree.path());
    if (::chdir((tree.path() + "/" + place.directory).c_str()) != 0) continue;  // no folder
    const int code = code_of(open_own_directory(fs::current_path()));
    codes.insert(code);
    Options options = machine.options("selftest");
    options.host = options.root;
    options.json = false;
    options.arguments = {"eth0"};
    options.yes = code != 0;
    Output output;
    EXPECT_EQ(find_verb("selftest")->run(options, output), kFailure);
    EXPECT_EQ(has(output.errors, "the report cannot be written to the current directory"), code != 0)
        << place.what << ": " << output.errors;
    EXPECT_EQ(has(output.errors, "whether mlx5_0/1 is in use"), code == 0) << place.what << ": the next step";
    fs::current_path(before);
  }
  EXPECT_EQ(codes, (std::set<int>{0, EPERM}));
}

TEST(OwnDirectory, IsSaidWithTheReason) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make folders of others";
  Tree tree;
  make_folder(tree.path() + "/theirs", 0755, kOther);
  EXPECT_EQ(
      open_own_directory(tree.path() + "/theirs").error().text(),
      tree.path() +
          "/theirs: the directory belongs to user 12345, who could replace its files: Operation not permitted (EPERM)");
  const std::string to = tree.path() + "/theirs/capture";
  tree.file("machine/sys/class/net/lo/mtu", "65536\n");
  const auto ran = test::ran({"capture", to, "--root", tree.path() + "/machine"});
  EXPECT_EQ(ran.code, kFailure);
  EXPECT_TRUE(test::has(ran.errors, "belongs to user 12345")) << ran.errors;
  EXPECT_FALSE(fs::exists(to));
}

// Another user's process, which runs `step` over and over.
class Attacker {
 public:
  explicit Attacker(const std::function<void()>& step) : pid_(::fork()) {
    if (pid_ != 0) return;
    if (::setgid(kOther) != 0 || ::setuid(kOther) != 0) ::_exit(1);
    for (;;) step();
  }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;
  ~Attacker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

Tape small_tape() {
  Tape tape;
  tape.note_place("etc/fabric-agent/fabric-agent.toml", "etc/fabric-agent/fabric-agent.toml");
  tape.note(Ask::read, "etc/fabric-agent/fabric-agent.toml", std::vector<std::string>{"mode = \"audit\"\n"});
  return tape;
}

// Links in place of the folder, of the temporary folder in it, and of folders of the capture.
TEST(CapturePlace, CannotBeMovedWhileACaptureIsWritten) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const Tape tape = small_tape();
  for (const bool sticky : {false, true}) {
    Tree tree;
    ASSERT_EQ(::chmod(tree.path().c_str(), 0755), 0);
    const std::string victim = tree.path() + "/victim", site = tree.path() + "/site", capture = site + "/capture";
    make_folder(victim, 0755);
    tree.file("victim/etc/passwd", "root");
    if (sticky) make_folder(site, 01777);
    else make_folder(site, 0755, kOther);
    size_t done = 0;
    {
      const Attacker attacker([&] {
        std::error_code ignored;
        fs::create_symlink(victim, capture, ignored);
        fs::remove(capture, ignored);
        fs::create_directory(capture, ignored);
        for (const auto& entry : fs::directory_iterator(capture, ignored)) {
          fs::rename(entry.path(), site + "/aside", ignored);
          fs::create_symlink(victim, entry.path(), ignored);
        }
        fs::remove_all(capture, ignored);
      });
      for (int i = 0; i < 300; ++i) {
        const auto written = write_capture(tape, "", capture);
        if (!written) continue;
        ++done;
        struct stat status {};
        EXPECT_TRUE(::lstat(capture.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0);
        std::error_code ignored;
        fs::remove_all(capture, ignored);
      }
    }
    size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(victim)) {
      EXPECT_TRUE(entry.path().filename() == "etc" || entry.path().filename() == "passwd") << entry.path();
      ++found;
    }
    EXPECT_EQ(found, 2u);
    if (!sticky) EXPECT_EQ(done, 0u) << "their folder is refused";
    std::printf("captures into a %s directory under attack: %zu of 300 written\n", sticky ? "sticky" : "foreign", done);
  }
}

TEST(CapturePlace, IsEmptyAgainAfterAFailure) {
  Tree tree;
  tree.folder("there");
  Tape tape = small_tape();
  tape.note_place("sys/big", "sys/big");
  tape.answers[{Ask::read, "sys/big"}] = {{Sample::now, std::vector{std::string(Tape::kMostBytes + 1, 'x')}}};
  EXPECT_EQ(code_of(write_capture(tape, "", tree.path() + "/there")), EFBIG);
  EXPECT_EQ(code_of(write_capture(tape, "", tree.path() + "/new")), EFBIG);
  EXPECT_TRUE(fs::is_empty(tree.path() + "/there"));
  EXPECT_FALSE(fs::exists(tree.path() + "/new"));
}

// -- hwloc on a captured tree

constexpr const char* kProduct = "sys/class/dmi/id/product_name";
constexpr const char* kModel = "proc/cpuinfo";

void add_cpus(Tree& tree) {
  for (const char* list : {"online", "possible", "present"})
    tree.file(std::string("sys/devices/system/cpu/") + list, "0-3\n");
  for (int cpu = 0; cpu < 4; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const std::string self = std::to_string(1 << cpu) + "\n";
    tree.file(folder + "core_cpus", self).file(folder + "thread_siblings", self).file(folder + "package_cpus", "f\n");
    tree.file(folder + "physical_package_id", "0\n").file(folder + "core_id", std::to_string(cpu) + "\n");
  }
  tree.file("sys/devices/system/node/online", "0\n").file("sys/devices/system/node/node0/cpumap", "f\n");
  tree.file("sys/devices/system/node/node0/cpulist", "0-3\n");
  tree.file(kModel, "processor\t: 0\nmodel name\t: KNOWN\n").file(kProduct, "PRODUCT\n");
}

struct Timed {
  Result<std::string> xml;
  double seconds;
};

Timed discovered(const Tree& tree) {
  const auto begin = std::chrono::steady_clock::now();
  auto xml = discover_hwloc_xml(tree.path());
  return {std::move(xml), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

TEST(HwlocTree, IsReadLikeAMachine) {
  Tree tree;
  add_cpus(tree);
  const Timed all = discovered(tree);
  ASSERT_TRUE(all.xml) << all.xml.error().text();
  EXPECT_EQ(test::count_of(*all.xml, "type=\"PU\""), 4u) << *all.xml;
  EXPECT_TRUE(has(*all.xml, "PRODUCT"));
  const auto view = parse_hwloc_xml(*all.xml, "x");
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_EQ(view->machine.cores.size(), 4u);
  EXPECT_EQ(view->machine.numa_cpus.at(0), "0-3");
}

TEST(HwlocTree, LinksStayInside) {
  Tree tree, outside;
  add_cpus(tree);
  outside.file("secret", "SECRET\n").file("folder/product_name", "SECRET\n");
  tree.file("etc/name", "INSIDE\n").link(kProduct, "/etc/name");
  EXPECT_TRUE(has(*discovered(tree).xml, "INSIDE")) << "an absolute link of a captured tree";
  const std::string up = "../../../../../../../../../../..";
  for (const std::string& target : {outside.path() + "/secret", up + outside.path() + "/secret"}) {
    tree.link(kProduct, target);
    EXPECT_FALSE(has(*discovered(tree).xml, "SECRET")) << target;
  }
  tree.remove("sys/class/dmi/id").link("sys/class/dmi/id", outside.path() + "/folder");
  EXPECT_FALSE(has(*discovered(tree).xml, "SECRET")) << "a folder";
  // The verbs that use a capture, and the files that they save.
  tree.file("sys/class/net/lo/mtu", "65536\n").link(kModel, outside.path() + "/secret");
  const std::string capture = outside.path() + "/capture";
  const auto ran = test::ran_on(tree, {"capture", capture});
  ASSERT_EQ(ran.code, 0) << ran.errors;
  for (const auto& entry : fs::recursive_directory_iterator(capture))
    if (entry.is_regular_file() && !entry.is_symlink()) {
      EXPECT_FALSE(has(test::slurp(entry.path()), "SECRET")) << entry.path();
    }
}

// The file is replaced again and again by a link to outside, and its folder too.
TEST(HwlocTree, LinksStayInsideWhileTheyChange) {
  Tree tree, outside;
  add_cpus(tree);
  outside.file("id/product_name", "SECRET\n");
  const std::string file = tree.path() + "/" + kProduct, folder = fs::path(file).parent_path();
  const pid_t attacker = ::fork();
  if (attacker == 0) {
    std::error_code ignored;
    fs::create_symlink(outside.path() + "/id/product_name", file + ".link", ignored);
    fs::create_symlink(outside.path() + "/id", folder + ".link", ignored);
    for (;;) {
      ::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, (file + ".link").c_str(), RENAME_EXCHANGE);
      ::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, (folder + ".link").c_str(), RENAME_EXCHANGE);
    }
  }
  size_t inside = 0;
  for (int i = 0; i < 30; ++i) {
    const Timed found = discovered(tree);
    if (!found.xml) continue;
    EXPECT_FALSE(has(*found.xml, "SECRET"));
    if (has(*found.xml, "PRODUCT")) ++inside;
  }
  ::kill(attacker, SIGKILL);
  ::waitpid(attacker, nullptr, 0);
  std::printf("hwloc on a tree whose links change: 30 times nothing from outside, %zu times the file inside\n", inside);
}

TEST(HwlocTree, NothingIsOpenedThatIsNoFile) {
  struct Odd {
    const char* what;
    std::function<bool(const std::string& path)> make;
  };
  const std::vector<Odd> all{
      {"a FIFO", [](const std::string& path) { return ::mkfifo(path.c_str(), 0644) == 0; }},
      {"a device without end",
       [](const std::string& path) { return ::mknod(path.c_str(), S_IFCHR | 0644, makedev(1, 5)) == 0; }},
      {"a file of a terabyte", [](const std::string& path) {
         std::ofstream(path) << "x";
         return ::truncate(path.c_str(), off_t{1} << 40) == 0;
       }}};
  for (const Odd& odd : all)
    for (const char* file :
         {kModel, kProduct, "sys/devices/system/cpu/online", "sys/devices/system/cpu/cpu0/topology/core_cpus"}) {
      Tree tree;
      add_cpus(tree);
      tree.remove(file);
      if (!odd.make(tree.path() + "/" + file)) continue;  // device nodes require root
      const Timed found = discovered(tree);
      EXPECT_LT(found.seconds, 5) << odd.what << " as " << file;
    }
}

TEST(HwlocTree, ItsXmlHasNoOtherTexts) {
  const std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<!-- SECRET > -->\n"
      "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" secret=\"SECRET\" "
      "gp_index=\"1\"><info name=\"HostName\" value=\"SECRET\"/><info name=\"DMIProductName\" value=\"PRODUCT\"/>"
      "<info name=\"x\" value=\"SECRET>\"></info><userdata name=\"SECRET\" length=\"6\">SECRET</userdata>"
      "<object type=\"OSDev\" gp_index=\"2\" name=\"mlx5_0\" subtype=\"SECRET\" osdev_type=\"3\"/>"
      "<object type=\"Misc\" name=\"SECRET\"/></object>SECRET<support name=\"SECRET\"/></topology>\n";
  const std::string kept = kept_hwloc_xml(xml);
  EXPECT_FALSE(has(kept, "SECRET")) << kept;
  for (const char* used : {"PRODUCT", "mlx5_0", "cpuset=\"0x1\"", "</topology>"}) EXPECT_TRUE(has(kept, used)) << kept;
  EXPECT_EQ(kept_hwloc_xml(kept), kept);
  if (const auto here = discover_hwloc_xml("/")) {
    EXPECT_TRUE(parse_hwloc_xml(kept_hwloc_xml(*here), "x"));
  }
  // Every text is reduced to XML that cannot be reduced further.
  std::minstd_rand random(36);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = xml;
    for (int k = 0; k < 4; ++k) text[random() % text.size()] = "<>/\"'= -!?a"[random() % 11];
    text.resize(random() % text.size());
    const std::string once = kept_hwloc_xml(text);
    ASSERT_EQ(kept_hwloc_xml(once), once) << text;
  }
}

}  // namespace
}  // namespace fabric::ctl
