// SPDX-License-Identifier: Apache-2.0
// The units of systemd/, by their files.
#include "base/parse.h"
#include "kernel/host/sandbox.h"
#include "node/systemd.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::slurp;

std::vector<unit_file::Assignment> unit(const std::string& name) {
  const std::string text = test::of_source("systemd/" + name);
  EXPECT_NE(text, "") << name;
  return unit_file::parse(text);
}

const std::vector<std::string> kServices{"fabric-agent.service", "fabric-agent-pci.service", "fabric-exporter.service",
                                         "fabric-lldp.service"};

// All values of the key in the service, word by word.
std::set<std::string> values(const std::string& name, const std::string& key) {
  std::set<std::string> out;
  for (const auto& each : unit(name))
    if (each.section == "Service" && each.key == key)
      for (const std::string_view word : words(each.value)) out.emplace(word);
  return out;
}

using Words = std::set<std::string>;

TEST(Units, NoServiceExhaustsTheMachine) {
  for (const std::string& name : kServices) EXPECT_EQ(values(name, "MemoryMax").size(), 1u) << name;
}

// Clients and neighbors decide how much these have to do.
TEST(Units, NoStrangerTakesTheCpusOfTheJobs) {
  for (const char* name : {"fabric-exporter.service", "fabric-lldp.service"})
    EXPECT_EQ(values(name, "CPUQuota").size(), 1u) << name;
}

// The programs isolate themselves (kernel/host/isolation.h): the filter of the unit must permit that.
TEST(Units, LandlockIsPermitted) {
  for (const std::string& name : kServices)
    for (const char* call : {"landlock_create_ruleset", "landlock_restrict_self"})
      EXPECT_TRUE(values(name, "SystemCallFilter").contains(call)) << name << " " << call;
}

// A service that was taken over cannot reach a process that acts for root: stream sockets need connect(2), io_uring
// would be a way around it, and other files that root may write to in /run are hidden.
TEST(Units, NobodyWhoActsForRootIsReached) {
  for (const std::string& name : kServices) {
    const Words filter = values(name, "SystemCallFilter");
    EXPECT_TRUE(filter.contains("connect") && filter.contains("@aio")) << name;
    EXPECT_EQ(values(name, "NoNewPrivileges"), Words{"yes"}) << name;
    const Words families = values(name, "RestrictAddressFamilies");
    EXPECT_FALSE(families.contains("AF_INET") || families.contains("AF_INET6") || families.contains("AF_VSOCK"))
        << name;
  }
  for (const char* name : {"fabric-agent.service", "fabric-agent-pci.service"}) {
    EXPECT_EQ(values(name, "TemporaryFileSystem"), Words{"/run:ro"}) << name;
    EXPECT_EQ(values(name, "BindPaths"), Words{"/run/fabric-agent"}) << name;
    EXPECT_EQ(values(name, "BindReadOnlyPaths"), (Words{"-/run/udev", "-/run/systemd/notify", "-/run/systemd/journal"}))
        << name;
  }
}

TEST(Units, WhatRootMayWriteIsNarrow) {
  Words agent{"/sys/devices", "/proc/sys/net", "-/proc/sys/vm/zone_reclaim_mode"};
  for (const std::string& folder : kDriverFolders) agent.insert("-" + folder);
  EXPECT_EQ(values("fabric-agent.service", "ReadWritePaths"), agent);
  EXPECT_EQ(values("fabric-agent-pci.service", "ReadWritePaths"),
            (Words{"/sys/devices", "-/proc/sys/kernel/numa_balancing"}));
  for (const char* name : {"fabric-agent.service", "fabric-agent-pci.service"})
    for (const char* path : {"/sys", "/proc/sys", "-/sys/devices/system", "-/sys/devices/virtual"})
      EXPECT_TRUE(values(name, "ReadOnlyPaths").contains(path)) << name << " " << path;
  for (const char* name : {"fabric-exporter.service", "fabric-lldp.service"})
    EXPECT_EQ(values(name, "ReadWritePaths"), Words{}) << name;
}

// Only the listener, which runs as soon as it is installed, may open packet sockets.
TEST(Units, OnlyTheListenerHasPacketSockets) {
  for (const std::string& name : kServices) {
    const bool listener = name == "fabric-lldp.service";
    EXPECT_EQ(values(name, "RestrictAddressFamilies").contains("AF_PACKET"), listener) << name;
    EXPECT_EQ(values(name, "CapabilityBoundingSet").contains("CAP_NET_RAW"), listener) << name;
  }
  EXPECT_EQ(values("fabric-lldp.service", "CapabilityBoundingSet"), Words{"CAP_NET_RAW"});
  EXPECT_EQ(values("fabric-lldp.service", "User"), Words{"fabric-lldp"});
  EXPECT_FALSE(test::has(test::of_source("packaging/debian/rules"), "--no-enable"));
}

// Also= is followed by `systemctl disable` as well (systemd.unit(5)).
TEST(Units, WhoSwitchesTheAgentOffKeepsTheMetrics) {
  for (const auto& each : unit("fabric-agent.service"))
    EXPECT_FALSE(each.key == "Also" && each.value.find("fabric-exporter") != std::string::npos) << each.value;
}

// ---- SECURITY.md

// The row of a process in the table "Processes", without its folders in debugfs and configfs.
TEST(Processes, EachRowNamesWhatItsUnitMayWrite) {
  const std::string page = test::of_source("SECURITY.md");
  for (const auto& [name, row] : {std::pair{"fabric-agent.service", "\n| `fabric-agentd` |"},
                                  std::pair{"fabric-agent-pci.service", "\n| `fabric-agentd --pci` "}}) {
    const size_t begin = page.find(row);
    ASSERT_NE(begin, std::string::npos) << row;
    const std::string text = page.substr(begin, page.find('\n', begin + 1) - begin);
    for (std::string path : values(name, "ReadWritePaths")) {
      if (path.starts_with('-')) path.erase(0, 1);
      if (!path.starts_with("/sys/kernel/")) EXPECT_TRUE(test::has(text, "`" + path + "`")) << name << " " << path;
    }
    for (const char* folder : {"`/run/fabric-agent`", "`/var/lib/fabric-agent`"})
      EXPECT_TRUE(test::has(text, folder)) << name << " " << folder;
  }
}

// Each line of SECURITY.md's threat model names a test that exists.
TEST(ThreatModel, EachLineNamesItsTest) {
  std::set<std::string> tests;
  const std::regex test(R"(TEST(_F|_P)?\((\w+), (\w+)\))"), name("`(\\w+)\\.(\\w+)`");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(FABRIC_SOURCE_DIR "/tests/unit")) {
    const std::string source = slurp(entry.path());
    for (std::sregex_iterator found(source.begin(), source.end(), test), end; found != end; ++found)
      tests.insert((*found)[2].str() + "." + (*found)[3].str());
  }
  const std::string model = test::of_source("SECURITY.md");
  std::istringstream lines(model.substr(model.find("| attacker | threat |")));
  size_t named = 0, rows = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with('|');) {
    if (++rows <= 2) continue;
    const std::string last = line.substr(line.rfind(" | ") + 3);
    std::sregex_iterator found(last.begin(), last.end(), name);
    EXPECT_NE(found, std::sregex_iterator()) << line;
    for (; found != std::sregex_iterator(); ++found, ++named) {
      const std::string suite = (*found)[1], one = (*found)[2];
      const bool exists = one == "sh"
                              ? std::filesystem::exists(FABRIC_SOURCE_DIR "/tests/vm/scenarios/" + suite + ".sh")
                              : tests.contains(suite + "." + one);
      EXPECT_TRUE(exists) << suite << "." << one;
    }
  }
  EXPECT_GE(named, 15u);
  std::printf("threat model: %zu lines, %zu tests named\n", rows - 2, named);
}

}  // namespace
}  // namespace fabric
