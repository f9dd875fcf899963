// SPDX-License-Identifier: Apache-2.0
// hwloc opens files itself: of a captured tree it finds what Root reads, and nothing else.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "node/topology_xml.h"
#include "support/ctl.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;
using test::has;
using test::Tree;

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

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

TEST(HwlocTree, IsReadLikeAMachine) {
  Tree tree;
  add_cpus(tree);
  const Timed all = discovered(tree);
  ASSERT_TRUE(all.xml) << all.xml.error().text();
  EXPECT_EQ(count(*all.xml, "type=\"PU\""), 4u) << *all.xml;
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
  // The verbs that use it, and what they save.
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
      if (!odd.make(tree.path() + "/" + file)) continue;  // without root there are no devices
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
  // Of any text comes XML that is not reduced further.
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
}  // namespace fabric
