// SPDX-License-Identifier: Apache-2.0
// The contents of a capture: random words are at every place of a machine where people or programs write text. None is
// in the capture, and the verdict is the same. A capture names no module and no card: the serial number is replaced,
// and everything else is unchanged.
#include "ctl/verbs/kept.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>

#include <random>
#include <regex>

#include "enforce/confirm.h"
#include "enforce/sysctl.h"
#include "judge/health_state.h"
#include "judge/rule.h"
#include "kernel/capture/anonymize.h"
#include "kernel/kernel.h"
#include "kernel/netlink/ethtool_link.h"
#include "node/inventory.h"
#include "node/lldpad.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/pci_state.h"
#include "node/state.h"
#include "node/topology_xml.h"
#include "policy/config.h"
#include "policy/kept_config.h"
#include "support/ctl.h"
#include "support/sim_cage.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

namespace fs = std::filesystem;
using test::has;
using test::replaced;
using test::Tree;

// -- Texts

constexpr const char* kUuid = "GPU-6f1f9a3c-77aa-4bcd-9e0f-123456789abc";

// Words that occur nowhere else.
class Secrets {
 public:
  std::string next() {
    std::string word = "zq";
    for (int i = 0; i < 10; ++i) word += "bcdfghjkmnpqrstvwxyz0123456789"[random_() % 30];
    all_.push_back(word);
    return word;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return all_; }

 private:
  std::minstd_rand random_{36};
  std::vector<std::string> all_;
};

// "... @ ..." with a new word for each "@".
std::string filled(std::string text, Secrets& secrets) {
  for (size_t at = 0; (at = text.find('@', at)) != std::string::npos;) text.replace(at, 1, secrets.next());
  return text;
}

// Secrets as people give them to programs.
constexpr const char* kOptions =
    "-p @ --pw @ --auth=@ -u user:@ --password @ --token=@ Authorization: Bearer @ psk=@ pwd=@ auth=@ "
    "https://user:@\x01host/@ luks.passphrase=@ netroot=iscsi:user:@\x01target:: KEY=@ \"@ @\" @";

std::string options(Secrets& secrets) {
  std::string out = filled(kOptions, secrets);
  for (char& letter : out)
    if (letter == '\x01') letter = '@';
  return out;
}

// Adds a member with a secret, and one with a tree of them, to the object.
std::string with_members(const std::string& json, Secrets& secrets) {
  const size_t end = json.rfind('}');
  return json.substr(0, end) + ",\"" + "note" + "\":\"" + secrets.next() + "\",\"more\":{\"deep\":[\"" +
         secrets.next() + "\",{\"x\":\"" + secrets.next() + "\"}]}}\n";
}

struct Site {
  Tree tree;
  Secrets secrets;
  std::string hostname, full_hostname;

  Site() {
    hostname = secrets.next() + "-gpu7";
    full_hostname = hostname + "." + secrets.next() + ".example";
    test::add_roce_port(tree);
    tree.file("proc/sys/kernel/hostname", full_hostname + "\n").file("etc/hostname", full_hostname + "\n");
    tree.file("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n");
    tree.file("sys/class/infiniband/mlx5_0/node_desc", secrets.next() + "\n");
    tree.file("sys/class/net/eth0/ifalias", secrets.next() + "\n").file("sys/class/net/eth0/mtu", "1500\n");
    for (const char* file :
         {"product_serial", "board_asset_tag", "chassis_serial", "chassis_asset_tag", "product_uuid"})
      tree.file(std::string("sys/class/dmi/id/") + file, secrets.next() + "\n");
    const std::string gpu =
        test::add_pci(tree, {"pci0000:20/0000:20:03.0", "0000:27:00.0", "0x10de", "0x2330", "0x030200", "0"});
    (void)gpu;

    // Two CPUs, without which hwloc does not load a tree.
    for (const char* list : {"online", "possible", "present"})
      tree.file(std::string("sys/devices/system/cpu/") + list, "0-1\n");
    for (const char* cpu : {"0", "1"}) {
      const std::string folder = std::string("sys/devices/system/cpu/cpu") + cpu + "/topology/",
                        self = cpu[0] == '0' ? "1\n" : "2\n";
      tree.file(folder + "core_cpus", self).file(folder + "thread_siblings", self).file(folder + "package_cpus", "3\n");
      tree.file(folder + "physical_package_id", "0\n").file(folder + "core_id", std::string(cpu) + "\n");
    }
    tree.file("sys/devices/system/node/online", "0\n").file("sys/devices/system/node/node0/cpumap", "3\n");
    tree.file("sys/devices/system/node/node0/cpulist", "0-1\n").file("sys/class/dmi/id/product_name", "HGX\n");
    tree.file("proc/cmdline", "quiet iommu=pt intel_iommu=\"on " + secrets.next() + "\" hostname=" + hostname +
                                  " processor.max_cstate=1 " + options(secrets) + "\n");
    tree.file("proc/cpuinfo", filled("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                                     "model name\t: Xeon\nflags\t\t: fpu "
                                     "vme\nSerial\t: @\n@\n",
                                     secrets));
    tree.file("proc/meminfo", filled("MemTotal:       2113461612 kB\nMemSecret: @ kB\n@", secrets));
    tree.file("proc/modules",
              filled("mlx5_ib 1 0 - Live 0x0\n@ 1 0 - Live 0x0\nib_core 1 2 mlx5_ib,@, Live 0x0\n", secrets));
    tree.file("proc/uptime", "1000 1000\n").file("proc/version", filled("Linux version 6.8 (@) @\n", secrets));
    tree.file("proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
    tree.file("boot/config-6.8.0-31-generic",
              filled("CONFIG_PCI_P2PDMA=y\nCONFIG_DEFAULT_HOSTNAME=\"@\"\n# @\n", secrets));
    tree.file("lib/modules/6.8.0-31-generic/modules.dep",
              filled("kernel/drivers/infiniband/hw/efa/efa.ko: kernel/@.ko\nupdates/@/irdma.ko:\nupdates/@.ko: @\n",
                     secrets));
    tree.file("proc/driver/nvidia/version",
              filled("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (@)\nGCC @\n",
                     secrets));
    tree.file("proc/driver/nvidia/gpus/0000:27:00.0/information",
              filled("Model: NVIDIA H100\nGPU UUID: GPU-6f1f9a3c-77aa-4bcd-9e0f-123456789abc\nOwner: @\n", secrets));
    // A GPU that the driver alone has.
    tree.file("proc/driver/nvidia/gpus/0000:99:00.0/information", filled("Model: @\n", secrets));
    tree.file("etc/os-release", filled("ID=ubuntu\nVERSION_ID=\"22.04\"\nPRETTY_NAME=\"@\"\nHOME_URL=@\n", secrets));

    // Processes: one of a job's launcher, and an unrelated one.
    const auto process = [&](const std::string& pid, const std::string& comm, const std::string& unit) {
      tree.file("proc/" + pid + "/comm", comm + "\n")
          .file("proc/" + pid + "/cgroup", "0::/system.slice/" + unit + "\n");
      tree.file("proc/" + pid + "/cmdline", options(secrets)).file("proc/" + pid + "/environ", options(secrets));
      tree.file("proc/" + pid + "/status", "Name:\t" + secrets.next() + "\nNSpid:\t" + pid + "\n");
      tree.file("proc/" + pid + "/limits",
                "Limit                     Soft Limit           Hard Limit           Units\n"
                "Max locked memory         65536                65536                bytes\n"
                "Max open files            1024                 4096                 files " +
                    secrets.next() + "\n");
    };
    process("1", "systemd", "init.scope");
    process("700", "slurmd", "slurmd.service");
    process("701", secrets.next(), secrets.next() + ".service");
    process("702", "bash", secrets.next() + ".scope");
    process("703", "lldpad", "lldpad.service");
    tree.file("proc/703/cmdline", std::string("lldpad\0-t\0", 10));
    tree.file(
        "var/lib/lldpad/lldpad.conf",
        filled("lldp : {\n  eth0 : { tlvid1 : { info = \"@\"; }; adminStatus = 0; };\n};\ndcbx : { x = \"@\"; };\n"
               "// @\n",
               secrets));

    const std::string verbs = "sys/class/infiniband_verbs/uverbs0/";
    tree.file(verbs + "ibdev", "mlx5_0\n").file(verbs + "abi_version", "1\n").file("dev/infiniband/uverbs0", "");
    tree.folder("sys/bus/pci/drivers/mlx5_core").link(verbs + "device/driver", "../../../../bus/pci/drivers/mlx5_core");
    tree.file("usr/lib64/libibverbs/libmlx5-rdmav34.so", filled("mlx5 1 1\n@ of @\n", secrets));
    tree.file("dev/infiniband/uverbs0", "");
    tree.file("proc/modules",
              filled("ib_uverbs 200704 0 - Live 0x0\nib_core 1 1 ib_uverbs, Live 0x0\n@ 1 0 - Live 0x0\n", secrets));
    tree.file("etc/rdma/modules/rdma.conf", filled("# @\nib_iser\n\nrdma_ucm\n", secrets));
    tree.file("etc/modules-load.d/" + secrets.next() + ".conf", filled("@\n", secrets));
    // Without an RDMA device, so that the lists of modules are read.
    test::add_pci(tree, {"pci0000:30/0000:30:01.0", "0000:31:00.0", "0x1d0f", "0xefa1", "0x020000", "0"});

    tree.file("etc/systemd/system/slurmd.service",
              "# " + options(secrets) + "\n[Unit]\nDescription=" + secrets.next() + "\n[Service]\nEnvironment=" +
                  options(secrets) + "\nExecStart=/usr/sbin/slurmd " + options(secrets) + " \\\n  " + options(secrets) +
                  "\nLimitMEMLOCK=64K\nLimitNOFILE=" + secrets.next() + "\n; " + secrets.next() + "\n");
    tree.file("etc/systemd/system/slurmd.service.d/" + hostname + ".conf",
              "[Service]\nLimitNOFILE=1000:2000\nLimitCORE=infinity\n" + filled("SetCredential=a:@\n@", secrets));
    tree.file("etc/systemd/system/" + secrets.next() + ".service", options(secrets));
    tree.file("etc/systemd/system.conf", filled("[Manager]\nDefaultLimitNOFILE=4096\nDefaultEnvironment=@\n", secrets));
    const std::string include = secrets.next() + ".conf";
    tree.file("etc/slurm/slurm.conf", "ClusterName=" + secrets.next() + "\nInclude " + include + " # " +
                                          secrets.next() + "\nAccountingStoragePass=" + secrets.next() +
                                          " PropagateResourceLimitsExcept=MEMLOCK\n" + options(secrets) + "\n");
    tree.file("etc/slurm/" + include, filled("NodeName=@ State=@\n", secrets));
    tree.file("etc/security/limits.conf",
              filled("# @\n@ soft nofile 100\nhpc hard memlock 64 # @\nhpc soft memlock @\n", secrets));
    tree.file("etc/security/limits.d/" + secrets.next() + ".txt", secrets.next());

    tree.file("etc/fabric-agent/fabric-agent.toml",
              "# " + options(secrets) + "\nmode = \"audit\" # " + secrets.next() +
                  "\n[cabling]\nfile = \"/etc/fabric-agent/cables.csv\"\n[[port]]\nname = \"a#b\" # " + secrets.next() +
                  "\npfc = [3]\n#password = '" + secrets.next() + "'\nmtu = 4200");
    tree.file("etc/fabric-agent/fabric-agent.toml", tree.content("etc/fabric-agent/fabric-agent.toml") + "\n");
    tree.file("etc/fabric-agent/conf.d/10.toml", "# " + secrets.next() + "\n[expect]\ngpus = 8\n");
    tree.file("etc/fabric-agent/conf.d/10.toml~", secrets.next());
    tree.file("etc/fabric-agent/cables.csv", "Label,Device A,Termination A,Device B,Termination B,Comments\n" +
                                                 filled("@,@,eth0,leaf9,Ethernet9,@\n", secrets) + secrets.next() +
                                                 "," + hostname + ",eth0,leaf1,Ethernet1,\"" + secrets.next() + "\n" +
                                                 secrets.next() + "\"\n" + filled("@,@,eth0,@,@,@\n", secrets));

    const auto own = [&](const char* file, const std::string& text) { tree.file(file, with_members(text, secrets)); };
    own(kAckFile, acks_text({{"pfc", "mlx5_0/1", 1, 4102444800, "root", secrets.next() + " " + secrets.next()},
                             {"host-settings", "", 1, 4102444800, "root", secrets.next()}}));
    AgentState agent;
    agent.mode = Mode::audit;
    agent.ports["mlx5_0/1"]["mtu"] = {.outcome = Outcome::differs, .detail = "4200, not 1500"};
    agent.config = "0123456789abcdef";
    own(state::kStateFile, state::agent_state_text(agent));
    own(state::kPciFile, state::pci_state_text({"2026-01-01T00:00:00Z", {}}));
    own(state::kOpticsFile, state::optics_text({}, 990));
    own(kReportFile, published_text({{}, 990}));
    Neighbor neighbor;
    neighbor.netdev = "eth0";
    neighbor.chassis_id = "leaf1";
    neighbor.port_id = "Ethernet2";
    neighbor.system_name = "leaf1";
    neighbor.system_description = "SONiC " + secrets.next();
    neighbor.ttl = 120;
    neighbor.heard = 990;
    own(state::kNeighborFile, state::neighbors_text({.source = state::kLldpSource, .heard = {neighbor}}, 990));
  }
};

std::string bytes_below(const std::string& directory) {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    all += entry.path().string().substr(directory.size()) + "\n";
    if (entry.is_symlink()) all += fs::read_symlink(entry.path()).string() + "\n";
    else if (entry.is_regular_file()) all += test::slurp(entry.path()) + "\n";
  }
  return all;
}

// The text around the word.
std::string around(const std::string& all, const std::string& word) {
  const size_t at = all.find(word);
  return all.substr(at - std::min<size_t>(at, 100), 200);
}

TEST(CaptureKept, IsWhatTheChecksUseAndNoSecret) {
  for (const bool has_hwloc_file : {false, true}) {
    Site site;
    if (has_hwloc_file)
      site.tree.file(kHwlocFile, filled("<?xml version=\"1.0\"?><!-- @ --><topology version=\"2.0\"><object "
                                        "type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
                                        "allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
                                        "allowed_nodeset=\"0x1\" gp_index=\"1\"><info name=\"HostName\" value=\"@\"/>"
                                        "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" "
                                        "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
                                        "gp_index=\"2\"/><object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" "
                                        "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
                                        "gp_index=\"3\"/></object><userdata length=\"12\">@</userdata></topology>",
                                        site.secrets));
    Tree out;
    const std::string to = out.path() + "/capture";
    const auto ran = test::ran_on(site.tree, {"capture", to, "-i", "100ms"});
    ASSERT_EQ(ran.code, 0) << ran.errors;
    const std::string all = bytes_below(to) + ran.all();
    for (const std::string& secret : site.secrets.all())
      EXPECT_FALSE(has(all, secret)) << secret << ": " << around(all, secret);
    if (!has_hwloc_file) EXPECT_TRUE(has(test::slurp(to + "/" + kHwlocFile), "HGX")) << "hwloc was asked";
    EXPECT_EQ(test::slurp(to + "/var/lib/lldpad/lldpad.conf"), "lldp : {\neth0 : { adminStatus = 0; };\n};\n");
    EXPECT_EQ(test::slurp(to + "/usr/lib64/libibverbs/libmlx5-rdmav34.so"), "mlx5 1 1\n");
    EXPECT_EQ(test::slurp(to + "/lib/modules/6.8.0-31-generic/modules.dep"),
              "kernel/drivers/infiniband/hw/efa/efa.ko\nirdma.ko\n\n");
    EXPECT_EQ(test::slurp(to + "/proc/modules"), "ib_uverbs \nib_core \n");
    std::printf("secrets planted: %zu, in a capture of %zu bytes: none\n", site.secrets.all().size(), all.size());

    const auto acks = parse_acks(site.tree.content(kAckFile), "x");
    ASSERT_TRUE(acks);
    // Removes the differences: names of the trees, durations, and values that a capture shows in another way.
    const auto normal = [&](const std::string& output, const std::string& root) {
      std::string text = replaced(output, root, "");
      text = std::regex_replace(text, std::regex("\"seconds\": [0-9.e-]+"), "seconds");
      text = replaced(text, site.full_hostname, host_pseudonym(site.full_hostname));
      text = replaced(text, site.hostname, host_pseudonym(site.hostname));
      text = replaced(text, kUuid, "GPU-00000000-0000-0000-0000-000000000001");
      for (const Ack& ack : *acks) text = replaced(text, ": " + ack.comment, ": hidden");
      return text;
    };
    for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{{"check", "--json"},
                                                                                      {"status", "--json"},
                                                                                      {"show", "--json"},
                                                                                      {"topo", "--json"},
                                                                                      {"diagnose", "--json"},
                                                                                      {"plan", "--json"},
                                                                                      {"config", "show"}}) {
      std::vector<std::string> words = verb;
      if (verb[0] == "check" || verb[0] == "diagnose") words.insert(words.end(), {"-i", "100ms"});
      const std::string here = test::ran_on(site.tree, words).all();
      words.insert(words.end(), {"--root", to});
      const std::string there = test::ran(words).all();
      for (const std::string& secret : site.secrets.all()) EXPECT_FALSE(has(there, secret)) << verb[0];
      EXPECT_EQ(normal(there, to), normal(here, site.tree.path())) << verb[0];
      EXPECT_GT(here.size(), 20u) << verb[0];
    }
    const std::string check = test::ran({"check", "-i", "100ms", "--root", to}).all();
    for (const char* used : {"64 KiB by /etc/systemd/system/slurmd.service:8", "leaf1", "1000 (hard: 2000)",
                             "/etc/rdma/modules/rdma.conf", "0000:99:00.0"})
      EXPECT_TRUE(has(check, used)) << used << " in:\n" << check;
  }
}

// With addresses the identities stay, and no secret.
TEST(CaptureKept, IsTheSameWithAddresses) {
  Site site;
  Tree out;
  const std::string to = out.path() + "/capture";
  ASSERT_EQ(test::ran_on(site.tree, {"capture", to, "-i", "100ms", "--with-addresses"}).code, 0);
  std::string all = bytes_below(to);
  EXPECT_TRUE(has(all, site.hostname)) << "asked for";
  for (const std::string& secret : site.secrets.all())
    if (!has(site.tree.content("etc/hostname"), secret)) {
      EXPECT_FALSE(has(all, secret)) << around(all, secret);
    }
}

// The check's results for the tree and for its capture.
std::pair<std::string, std::string> judged(const Tree& tree, const std::string& id) {
  Tree out;
  const std::string to = out.path() + "/capture";
  const std::vector<std::string> check{"check", "--json", "-i", "0", "--only", id};
  EXPECT_EQ(test::ran_on(tree, {"capture", to, "-i", "0"}).code, 0);
  std::vector<std::string> there = check;
  there.insert(there.end(), {"--root", to});
  EXPECT_FALSE(has(bytes_below(to), "SECRET")) << around(bytes_below(to), "SECRET");
  return {test::ran_on(tree, check).all(), test::ran(there).all()};
}

// Its process 1 has any name, and no process 2 is a thread of the kernel.
TEST(CaptureKept, AContainerIsJudgedAsOnTheSpot) {
  Tree tree;
  test::add_roce_port(tree);
  tree.file("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n").file("dev/infiniband/uverbs0", "");
  tree.file("proc/meminfo", "MemTotal:       2113461612 kB\n").file("proc/1/comm", "SECRET\n");
  tree.file("proc/1/limits",
            "Limit                     Soft Limit           Hard Limit           Units\n"
            "Max locked memory         65536                65536                bytes\n");
  const auto expect = [&](const std::string& capabilities, bool is_found) {
    tree.file("proc/1/status", "Name:\tSECRET\nNSpid:\t1\nCapEff:\t" + capabilities + "\n");
    const auto [here, there] = judged(tree, "memlock");
    EXPECT_EQ(has(here, "--ulimit memlock=-1"), is_found) << here;
    EXPECT_EQ(has(there, "--ulimit memlock=-1"), is_found) << there;
  };
  expect("00000000a80425fb", true);
  expect("00000000a80465fb", false);  // with CAP_IPC_LOCK
  tree.file("proc/2/comm", "kthreadd\n");
  expect("00000000a80425fb", false);  // a host with another init
}

// The modules that are loaded, and who may open a device file, which a tree of files does not show.
TEST(CaptureKept, ModulesAndDeviceFilesAreJudgedAsOnTheSpot) {
  const auto expect_same = [&](const Tree& tree, const char* finding) {
    const auto [here, there] = judged(tree, "rdma-provider");
    EXPECT_TRUE(has(here, finding)) << here;
    EXPECT_TRUE(has(there, finding)) << there;
  };
  Tree tree;
  test::add_roce_port(tree);
  tree.file("proc/modules", "mlx5_ib 1 0 - Live 0x0\nSECRET 1 0 - Live 0x0\nib_core 1 2 mlx5_ib,SECRET, Live 0x0\n");
  expect_same(tree, "ib_uverbs is not loaded");
  const std::string verbs = "sys/class/infiniband_verbs/uverbs";
  tree.file(verbs + "0/ibdev", "mlx5_0\n").file(verbs + "1/ibdev", "mlx5_9\n");
  tree.file("dev/infiniband/uverbs0", "").file("dev/infiniband/uverbs1", "");
  fs::permissions(tree.path() + "/dev/infiniband/uverbs0", fs::perms{0600});
  fs::permissions(tree.path() + "/dev/infiniband/uverbs1", fs::perms{0666});
  expect_same(tree, "/dev/infiniband/uverbs0 has mode 0600");
}

// With another file, /var/lib/lldpad/lldpad.conf says nothing.
TEST(CaptureKept, OfTheArgumentsOfLldpadIsThatTheyNameAFile) {
  for (const auto& [arguments, is_named] : {std::pair(std::string("lldpad\0-tf\0SECRET.conf\0", 24), true),
                                            {std::string("lldpad\0-VSECRET\0", 16), false}}) {
    Tape tape;
    tape.note(Ask::read, "proc/703/cmdline", std::vector<std::string>{arguments});
    EXPECT_EQ(host::names_another_file(arguments), is_named);
    (void)keep_used(tape, {});
    const std::string kept = (*tape.find(Ask::read, "proc/703/cmdline"))->front();
    EXPECT_FALSE(has(kept, "SECRET"));
    EXPECT_EQ(host::names_another_file(kept), is_named);
  }
}

// All names of members that are texts, or lists of texts.
void add_texts(const Json& json, const std::string& name, std::set<std::string>& out) {
  if (json.is_string()) out.insert(name);
  for (const auto& [key, value] : json.items())
    if (json.is_structured()) add_texts(value, json.is_array() ? name : key, out);
}

// The rules and verbs read every text of our own files. A member that is new and not allowed is absent from captures,
// and they are judged differently.
TEST(CaptureKept, OfOurOwnFilesIsEveryText) {
  AgentState agent{.mode = Mode::enforce, .lost_entry = {"mlx5_0/1"}};
  agent.held_until_reload = "reverted";
  agent.left_of_self_tests = "mlx5_0/1 pfc";
  agent.lost_originals = {"originals.json: damaged", "originals.json"};
  agent.ports["mlx5_0/1"]["mtu"] = SettingState{.outcome = Outcome::differs, .drifts = {{"process", 1}}};
  Transceiver module;
  module.fault_cause = "none";
  module.lanes.resize(1);
  module.inputs.resize(1);
  module.bad_checksums = {"page 00h"};
  Neighbor neighbor{.netdev = "ens1", .management = {"10.0.0.1"}, .malformed = {"TLV 5 at 20"}};
  neighbor.ets.emplace();
  neighbor.pfc.emplace();
  const Inventory inventory{
      .odd = {"locality GPU2: SYS to mlx5_0"},
      .parts = {{.bridges = {"0000:00"}, .rdma = {"mlx5_0"}, .up = {"mlx5_0/1"}, .nics = {"0000:18:00.0"}}}};
  PciState pci;
  pci.functions["0000:18:00.0"].unread = "it does not answer";
  HealthMemory health;
  health.history.past.push_back({.rule = "loss", .subject = "mlx5_0/1"});
  health.acks.push_back({.id = "loss"});
  const std::pair<const char*, std::string> files[] = {
      {state::kStateFile, state::agent_state_text(agent, {{"mlx5_0/1", 4}})},
      {state::kOriginalsFile, state::originals_text({{"0000:18:00.0/1", {}}})},
      {state::kOpticsFile, state::optics_text({.modules = {{"ens1", module}}}, 10)},
      {state::kNeighborFile, state::neighbors_text({.source = "fabric-lldp", .heard = {neighbor}}, 10)},
      {state::kPciFile, state::pci_state_text(pci)},
      {kInventoryFile, inventory_text(inventory)},
      {kHealthFile, health_text(health)},
      {kReportFile, published_text({Report{{Finding{.id = "loss", .status = Status::warning}}}, 10})},
      {kAckFile, acks_text({Ack{.id = "loss"}})},
      {confirm::kFile,
       confirm::record_text({.before = {{"0000:18:00.0/1", {}}}, .sysctl = {{"kernel.numa_balancing", "1"}}})},
      {qos::kSysctlOriginalsFile, qos::sysctl_originals_text({{"kernel.numa_balancing", "1"}})}};
  for (const auto& [file, text] : files) {
    Tape tape;
    tape.note(Ask::read, file, std::vector<std::string>{text});
    keep_used(tape, {});
    const Answer* kept = tape.find(Ask::read, file);
    ASSERT_TRUE(kept != nullptr && kept->ok()) << file;
    const std::string after = kept->value().at(0);
    std::set<std::string> texts, kept_texts;
    add_texts(Json::parse(text), "", texts);
    texts.erase("comment");  // of a person
    add_texts(Json::parse(after), "", kept_texts);
    EXPECT_EQ(kept_texts, texts) << file;
    EXPECT_FALSE(has(after, "hidden")) << file << ": " << after;
  }
}

TEST(CaptureKept, OfUnknownFilesIsNothing) {
  Tape tape;
  tape.note(Ask::read, "etc/shadow", std::vector<std::string>{"root:SECRET\n"});
  tape.note(Ask::read, "sys/class/net/eth0/mtu", std::vector<std::string>{"1500\n"});
  tape.note(Ask::list, "etc", std::vector<std::string>{"SECRET", "hostname"});
  tape.note(Ask::read, "etc/hostname", std::vector<std::string>{"gpu01\nSECRET\n"});
  const auto reduced = keep_used(tape, {});
  EXPECT_EQ(reduced, (std::vector<std::string>{"/etc/hostname", "/etc/shadow"}));
  EXPECT_EQ(tape.find(Ask::read, "etc/shadow"), nullptr);
  EXPECT_FALSE(has(answers_text(tape.answers), "SECRET"));
  EXPECT_TRUE(has(answers_text(tape.answers), "1500"));
}

// The name of an included file is a person's. It is kept if the file decides.
TEST(CaptureKept, OfSlurmAreTheFilesThatDecide) {
  for (const bool decides : {false, true}) {
    Tape tape;
    const std::string line = "PropagateResourceLimits=NONE\n";
    tape.note(Ask::read, "etc/slurm/slurm.conf",
              std::vector<std::string>{line + "Include SECRET.conf\nInclude none.conf\n"});
    tape.note(Ask::read, "etc/slurm/SECRET.conf", std::vector<std::string>{"NodeName=x\n" + (decides ? line : "")});
    tape.note(Ask::read, "etc/slurm/none.conf", error(ENOENT, "/etc/slurm/none.conf"));
    const auto reduced = keep_used(tape, {});
    EXPECT_EQ(has(answers_text(tape.answers) + joined(reduced), "SECRET"), decides);
    EXPECT_EQ((*tape.find(Ask::read, "etc/slurm/slurm.conf"))->front(),
              line + (decides ? "Include SECRET.conf\nInclude none.conf\n" : "\n\n"));
    if (decides) EXPECT_EQ((*tape.find(Ask::read, "etc/slurm/SECRET.conf"))->front(), "\n" + line);
  }
}

TEST(CaptureKept, OfACablingPlanAreTheCablesOfThisHost) {
  const SiteFiles site{{}, "etc/plan", "gpu01"};
  const auto kept = [&](const std::string& text) {
    Tape tape;
    tape.note(Ask::read, "etc/plan", std::vector{text});
    (void)keep_used(tape, site);
    const Answer* answer = tape.find(Ask::read, "etc/plan");
    return answer == nullptr ? std::string("left out") : (*answer)->front();
  };
  EXPECT_EQ(kept("Device A,Termination A,Device B,Termination B\nSECRET,1,leaf1,2\nleaf2,\"e1,e2\",gpu01,p1\n"),
            "Device A,Termination A,Device B,Termination B\n\n\"gpu01\",\"p1\",\"leaf2\",\"e1,e2\"\n");
  const std::string json = kept(
      R"([{"a_terminations":[{"device":{"name":"SECRET"},"name":"1"}],"b_terminations":[]},
          {"label":"SECRET","a_terminations":[{"object":{"device":{"name":"gpu01.site"},"name":"p1"}}],
           "b_terminations":[{"object":{"device":{"name":"leaf1"},"name":"e1"}}]}])");
  EXPECT_FALSE(has(json, "SECRET"));
  EXPECT_TRUE(has(json, "[{},{")) << json;
  // Errors stay the same.
  for (const char* bad : {"Device A,Termination A,Device B,Termination B\nSECRET,1,leaf1\n",
                          "Device A,Termination A,Device B,Termination B\nSECRET,\"1,leaf1\n",
                          "Device A,Termination A,Device B,Termination B\nSECRET,1,leaf1,SECRET", "[\n{\"SECRET\"",
                          R"({"a":"SECRET"})", R"({"results":[],"next":"http://SECRET"})"}) {
    const std::string form = kept(bad);
    EXPECT_FALSE(has(form, "SECRET")) << form;
    EXPECT_NE(form, "left out") << bad;
  }
}

TEST(CaptureKept, OfTheConfigurationIsAllButCommentsAndUnknownTexts) {
  EXPECT_EQ(*kept_config("a = \"#\" # x\n# x\nb = '\\' # x\n"), "a = \"hidden\" \n\nb = 'hidden' \n");
  EXPECT_EQ(*kept_config("mode = \"\"\"\n# y\\\"\"\"\" # x\nname = '''# y''' # x\n"),
            "mode = \"\"\"\n# y\\\"\"\"\" \nname = '''# y''' \n");
  EXPECT_EQ(*kept_config("[exporter]\nlisten = [\"a\"]\npassword = \"\xc3\xa9\xc3\xa9\" # x\nmore = [1, 'y',\n'z']\n"),
            "[exporter]\nlisten = [\"a\"]\npassword = \"hidden\" \nmore = [1, 'hidden',\n'hidden']\n");
  EXPECT_EQ(*kept_config("[\"\xc3\xa9\"]\n\"\xc3\xa9\" = { a = \"x\", b = \"y\" } # x\nc = \"\"\"y\nz\"\"\"\n"),
            "[\"hidden0\"]\n\"hidden0\" = { a = \"hidden\", b = \"hidden\" } \nc = \"\"\"hidden\n\"\"\"\n");
  EXPECT_EQ(*kept_config("# From SECRET\n# And SECRET\nmode = \"audit\"\n"), "\n\nmode = \"audit\"\n");
  EXPECT_EQ(*kept_config("mode = audit # x\nname = \"SECRET\"\n"), "mode = audit \n\n");
  EXPECT_EQ(*kept_config("[cabling]\nports = { \"Slot 3\" = \"mlx5_0\" }\n[rules.pfc]\nseverity = \"x\"\n"),
            "[cabling]\nports = { \"Slot 3\" = \"mlx5_0\" }\n[rules.pfc]\nseverity = \"x\"\n");
  EXPECT_EQ(*kept_config("[rules.pfc]\nenabled = false\nreason = \"of SECRET\"\nuntil = 2027-01-31\n"),
            "[rules.pfc]\nenabled = false\nreason = \"hidden\"\nuntil = 2027-01-31\n");
  EXPECT_EQ(*kept_config("mode = \"\"\"x\"\"\"\"\nkey = \"\"\"x#\"\"\"\"\"\n"),
            "mode = \"\"\"x\"\"\"\"\nkey = \"\"\"hidden\"\"\"\n");
  for (const char* text :
       {"", "\"", "\"\"", "a = \"\"", "a = \"\"\n[", "'''", "a = \"\\", "#", "a = \"x\" # \n\"", "[", "a = 1\n\xff\n"})
    (void)kept_config(text);
}

// A file with an error discloses no more than one without, wherever the error is, and has it in the same line.
TEST(CaptureKept, OfAConfigurationWithAnErrorIsNoMore) {
  const std::vector<std::string> lines = {"mode = \"audit\"",
                                          "push_token = \"SECRET\"",
                                          "url = \"https://u:SECRET@h/\"",
                                          "\"SECRET key\" = 3",
                                          "tokens = [\"SECRET\", 'SECRET', { a = \"SECRET\" }]",
                                          "note = \"\"\"SECRET",
                                          "SECRET\"\"\"",
                                          "[web]",
                                          "password = 'SECRET'",
                                          "auth = { user = \"x\", \"SECRET\" = \"SECRET\" }",
                                          "[\"SECRET\".web]",
                                          "a.\"SECRET\" = 1",
                                          "[rules.pfc]",
                                          "enabled = false",
                                          "raeson = \"SECRET\"",
                                          "reason = \"SECRET\"",
                                          "until = 2027-01-31",
                                          "[[port]]",
                                          "name = \"roce\"",
                                          "pfc = [3]",
                                          "dscp_map = { 26 = 3 }",
                                          "secret = '''",
                                          "SECRET",
                                          "'''"};
  const auto text_of = [](const std::vector<std::string>& all) { return joined(all, "\n") + "\n"; };
  const std::string whole = kept_config(text_of(lines)).value();
  EXPECT_FALSE(has(whole, "SECRET")) << whole;
  EXPECT_TRUE(has(whole, "name = \"roce\"\npfc = [3]\n")) << whole;
  size_t kept = 0;
  const auto line_of = [](const std::string& text) {
    const auto read = parse_config(text, "");
    if (read) return std::string("no error");
    const std::string& said = read.error().what;
    return said.substr(0, said.find(':', 1));
  };
  const auto expect_none = [&](const std::vector<std::string>& all) {
    const std::string text = text_of(all);
    const auto shown = kept_config(text);
    if (!shown) return;
    ++kept;
    EXPECT_FALSE(has(*shown, "SECRET")) << "of\n" << text << "is\n" << *shown;
    EXPECT_EQ(line_of(*shown), line_of(text)) << text << *shown;
  };
  for (size_t at = 0; at < lines.size(); ++at) {
    for (const char* other :
         {"[[port]", "SECRET", "my token is SECRET", "token = SECRET", "token = 9SECRET", "= \"SECRET\"",
          "token = \"SECRET", "token = 'SECRET", "token = \"\"\"SECRET", "token = '''SECRET", "mode = \"\"\"",
          "exclude = [\"x\"", "a = { b = \"SECRET\"", "[web", "\"SECRET"}) {
      auto more = lines;
      more.insert(more.begin() + static_cast<ptrdiff_t>(at), other);
      expect_none(more);
    }
    for (size_t gone = 0; gone < lines[at].size(); gone += 2) {
      auto less = lines;
      if (less[at][gone] == 'S') continue;
      less[at].erase(gone, 1);
      expect_none(less);
    }
  }
  EXPECT_GT(kept, 300U) << "left out is the exception";
  EXPECT_EQ(*kept_config("mode = \"audit\"\nmode = \"enforce\"\nx = 1\n"), "mode = \"audit\"\nmode = \"enforce\"\n\n");
}

// agentd and the exporter publish the errors of the configuration.
TEST(CaptureKept, OfErrorsOfTheConfigurationIsNoNameThatTheConfigurationHides) {
  const auto kept = [](const char* file, const std::string& text) {
    Tape tape;
    tape.note(Ask::read, file, std::vector<std::string>{text});
    keep_used(tape, {});
    return (*tape.find(Ask::read, file))->front();
  };
  for (const char* config :
       {"\"SECRET key\" = 3\n", "\"SECRET\\\"; SECRET\" = 3\n", "[\"SECRET\"]\nx = 1\n",
        "[sysctl]\n\"net.SECRET\" = 1\n", "[rules.\"SECRET\"]\nenabled = false\n", "[[port]]\n\"SECRET\" = 1\n",
        "[[port]]\nmatch = { \"SECRET\" = [\"x\"] }\n", "[fabric]\n\"SECRET\" = 1\n",
        "[[port]]\nfabric = { \"SECRET\" = 1 }\n", "[[port]]\nets = { \"SECRET\" = 1 }\n",
        "\"SECRET k\" = 1\n\"SECRET k\" = 2\n", "[\"SECRET\"]\nx = 1\n[\"SECRET\"]\ny = 1\n"}) {
    const auto read = parse_config("mode = \"audit\"\n" + std::string(config), "a.toml", {}, rule_rows());
    ASSERT_FALSE(read.ok()) << config;
    const std::string& said = read.error().what;
    ASSERT_TRUE(has(said, "SECRET")) << said;
    AgentState agent{.mode = Mode::audit, .config_error = "b.toml:3:1: nonsense\n" + said};
    const std::string state = kept(state::kStateFile, state::agent_state_text(agent));
    EXPECT_FALSE(has(state, "SECRET")) << state;
    EXPECT_TRUE(has(state, "b.toml:3:1: nonsense") && has(state, said.substr(0, said.find(' ')))) << state;
    const Report report{
        {Finding{.id = "agent", .status = Status::warning, .observed = "configuration invalid: " + said}}};
    const std::string published = kept(kReportFile, published_text({report, 10}));
    EXPECT_FALSE(has(published, "SECRET")) << published;
    EXPECT_TRUE(has(published, "configuration invalid: a.toml:")) << published;
  }
  for (const char* other : {"unknown ", "unknown 5\"x\"", "unknown \"", "unknown key \"a\\",
                            "cannot redefine existing 'x", "cannot redefine existing integer 'x\ny'"})
    (void)kept(state::kStateFile, state::agent_state_text({.config_error = other}));
}

// A hostile tree costs no more than a capture may have, and says where it ended.
void expect_refused(const char* said, const std::function<void(Tree&, const std::string& counters)>& make) {
  const std::string counters = "sys/class/infiniband/mlx5_0/ports/1/hw_counters";
  Tree tree, out;
  test::add_roce_port(tree);
  make(tree, counters);
  const std::string to = out.path() + "/capture";
  const auto ran = test::ran_on(tree, {"capture", to, "-i", "100ms"});
  EXPECT_EQ(ran.code, kFailure) << said;
  EXPECT_TRUE(has(ran.errors, said) && has(ran.errors, "/" + counters) && has(ran.errors, "nothing was written"))
      << ran.errors;
  EXPECT_FALSE(fs::exists(to));
}

TEST(CaptureLimits, LevelsAreSaidWithThePlace) {
  expect_refused("a capture has at most 64 levels", [](Tree& tree, const std::string& counters) {
    std::string deep = "sys";
    for (int i = 0; i < 100; ++i) deep += "/a";
    tree.file(deep + "/x", "1\n").link(counters, "/" + deep);
  });
}

TEST(CaptureLimits, BytesAreSaidWithThePlaceHarder) {
  expect_refused("a capture has at most 64 MiB", [](Tree& tree, const std::string& counters) {
    tree.file("sys/big", "x");
    ASSERT_EQ(::truncate((tree.path() + "/sys/big").c_str(), Root::kMostBytes), 0);
    for (int i = 0; i < 300; ++i) tree.link(counters + "/c" + std::to_string(i), "/sys/big");
  });
}

TEST(CaptureLimits, ReadingsAreSaid) {
  Tape many;
  for (size_t i = 0; i <= Tape::kMostQuestions && !many.beyond(); ++i)
    many.note(Ask::exists, std::to_string(i), std::vector<std::string>{});
  ASSERT_TRUE(many.beyond());
  EXPECT_EQ(many.beyond()->what, "/262144: a capture has at most 262144 readings");
  EXPECT_EQ(many.ask(Ask::query, "x", [] { return std::vector<std::string>{"x"}; }, {}).error().code, EFBIG);
}

// -- Memory of modules

constexpr ethtool::Family kFamily{21, 0};

struct Captured {
  Transceiver real, shown;
};

Captured captured(const test::ModuleImage& image) {
  auto tape = std::make_shared<Tape>();
  auto cage = std::make_unique<test::SimCage>();
  cage->module = image;
  auto recorded = on_tape(std::move(cage), Ask::generic, tape);
  auto real = ethtool::ModuleReader(eeprom::decode).read(*recorded, kFamily, "eth0");
  EXPECT_TRUE(real.ok()) << real.error().text();
  (void)anonymize(*tape);
  auto replayed = std::make_shared<Tape>(true);
  replayed->answers = tape->answers;
  auto shown = ethtool::ModuleReader(eeprom::decode)
                   .read(*on_tape(std::unique_ptr<Netlink>(), Ask::generic, replayed), kFamily, "eth0");
  EXPECT_TRUE(shown.ok()) << shown.error().text();
  return real && shown ? Captured{*real, *shown} : Captured{};
}

void expect_hidden(const Captured& module, const std::string& serial, size_t wrong_checksums) {
  EXPECT_EQ(module.real.serial_number, serial);
  EXPECT_NE(module.shown.serial_number, serial);
  EXPECT_EQ(module.shown.serial_number.size(), serial.size());
  EXPECT_EQ(module.shown.vendor, "Acme");
  EXPECT_EQ(module.shown.bad_checksums, module.real.bad_checksums);
  EXPECT_EQ(module.shown.bad_checksums.size(), wrong_checksums);
}

test::ModuleImage qsfp() {
  test::ModuleImage image;
  image.at(0, 0) = image.at(0, 128) = 0x11;
  image.at(0, 2) = 0x04;  // flat memory
  image.text(0, 148, "Acme            ");
  image.text(0, 196, "SN12345         ");
  image.seal(0, 128, 190);
  image.seal(0, 192, 222);
  return image;
}

TEST(Disguise, AQsfpHasAnotherSerialNumber) { expect_hidden(captured(qsfp()), "SN12345", 0); }

TEST(Disguise, AChecksumThatIsWrongStaysWrong) {
  test::ModuleImage image = qsfp();
  image.at(0, 223) = static_cast<uint8_t>(image.at(0, 223) + 1);
  expect_hidden(captured(image), "SN12345", 1);
}

TEST(Disguise, ACmisModuleHasAnotherSerialNumber) {
  test::ModuleImage image;
  image.at(0, 0) = image.at(0, 128) = 0x18;
  image.at(0, 1) = 0x50;
  image.at(0, 2) = 0x80;  // flat memory
  image.text(0, 129, "Acme            ");
  image.text(0, 166, "CM99            ");
  image.seal(0, 128, 221);
  expect_hidden(captured(image), "CM99", 0);
}

TEST(Disguise, AnSfpHasAnotherSerialNumber) {
  for (const uint8_t identifier : {uint8_t{0x03}, uint8_t{0x0b}}) {  // SFP, and for one of many wavelengths
    test::ModuleImage image;
    image.at(0, 0) = identifier;
    image.text(0, 20, "Acme            ");
    image.text(0, 68, "SFP0001         ");
    image.seal(0, 0, 62);
    image.seal(0, 64, 94);
    expect_hidden(captured(image), "SFP0001", 0);
  }
}

TEST(Disguise, SoHasWhatIsPublished) {
  state::Optics optics;
  optics.modules["eth0"].serial_number = "SN1";
  optics.modules["eth0"].vendor = "Acme";
  optics.modules["eth1"].serial_number = "SN-2-LONGER";
  Tape tape;
  tape.note(Ask::read, state::kOpticsFile, std::vector{state::optics_text(optics, 5)});
  (void)anonymize(tape);
  const auto shown = state::parse_optics((**tape.find(Ask::read, state::kOpticsFile)).front(), "x", {});
  ASSERT_TRUE(shown.ok()) << shown.error().text();
  ASSERT_EQ(shown->modules.size(), 2u);
  EXPECT_NE(shown->modules.at("eth0").serial_number, "SN1");
  EXPECT_NE(shown->modules.at("eth1").serial_number, "SN-2-LONGER");
  EXPECT_EQ(shown->modules.at("eth0").vendor, "Acme");
}

std::string disguised(Ask ask, const std::string& question, const std::string& answer) {
  Tape tape;
  tape.note(ask, question, std::vector{answer});
  (void)anonymize(tape);
  return (**tape.find(ask, question)).front();
}

TEST(Disguise, ACardHasAnotherSerialNumber) {
  AttrWriter info;
  info.header(genlmsghdr{DEVLINK_CMD_INFO_GET, 1, 0})
      .text(DEVLINK_ATTR_BUS_NAME, "pci")
      .text(DEVLINK_ATTR_INFO_DRIVER_NAME, "mlx5_core")
      .text(DEVLINK_ATTR_INFO_SERIAL_NUMBER, "MT2244X12345")
      .text(DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER, "212345678901");  // digits of a group's address
  const std::string message = std::string("\x15\0", 2).append(as_text(info.data()));
  const std::string shown = disguised(Ask::generic, "info", message);
  EXPECT_EQ(shown.size(), message.size());
  for (const char* kept : {"pci", "mlx5_core"}) EXPECT_NE(shown.find(kept), std::string::npos) << kept;
  for (const char* hidden : {"MT2244X12345", "212345678901"}) EXPECT_EQ(shown.find(hidden), std::string::npos);

  const std::string vpd = std::string("\x82\x0a\0ConnectX-7\x90\x2d\0", 16) +
                          "PN\x04"
                          "MCX7"
                          "SN\x0c"
                          "MT2244X12345" +
                          "V3\x14"
                          "6f1f9a3c77aa4bcd9e0f" +
                          "\x78";
  const std::string shown_vpd = disguised(Ask::read, "sys/bus/pci/devices/0000:24:00.0/vpd", vpd);
  EXPECT_EQ(shown_vpd.size(), vpd.size());
  for (const char* kept : {"ConnectX-7", "MCX7"}) EXPECT_NE(shown_vpd.find(kept), std::string::npos) << kept;
  for (const char* hidden : {"MT2244X12345", "6f1f9a3c"}) EXPECT_EQ(shown_vpd.find(hidden), std::string::npos);

  const std::string originals =
      R"({"format":1,"ports":{"serial:SN42/0.1":{"place":"0000:24:00.0/1"},"serial:SN43/0.1":{}}})";
  const std::string shown_originals = disguised(Ask::read, "var/lib/fabric-agent/originals.json", originals);
  for (const char* hidden : {"SN42", "SN43"})
    EXPECT_EQ(shown_originals.find(hidden), std::string::npos) << shown_originals;
  EXPECT_NE(shown_originals.find(R"(/0.1":{"place":"0000:24:00.0/1"},"serial:)"), std::string::npos) << shown_originals;
}

}  // namespace
}  // namespace fabric::ctl
