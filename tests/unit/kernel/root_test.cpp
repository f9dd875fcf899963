// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/root.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using test::Tree;

TEST(Root, ReadsAndTrims) {
  Tree tree;
  tree.file("sys/a", " 400 Gb/sec (4X NDR)\n").file("sys/empty", "");
  const Root root = tree.root();
  EXPECT_EQ(*root.read("sys/a"), " 400 Gb/sec (4X NDR)\n");
  EXPECT_EQ(*root.read_line("sys/a"), "400 Gb/sec (4X NDR)");
  EXPECT_EQ(*root.read_line("/sys/a"), "400 Gb/sec (4X NDR)") << "a leading slash means the root as well";
  EXPECT_EQ(*root.read("sys/empty"), "");
  EXPECT_FALSE(root.is_host());
}

TEST(Root, MissingFileNamesItself) {
  Tree tree;
  const auto missing = tree.root().read("sys/none");
  ASSERT_EQ(test::code_of(missing), ENOENT);
  EXPECT_EQ(missing.error().what, tree.path() + "/sys/none");
}

TEST(Root, AbsoluteLinkStaysInside) {
  Tree tree;
  tree.file("etc/hostname", "captured").link("sys/name", "/etc/hostname");
  EXPECT_EQ(*tree.root().read("sys/name"), "captured");
  EXPECT_EQ(*tree.root().resolve("sys/name"), "etc/hostname");
}

TEST(Root, NothingLeadsOutside) {
  Tree outside, tree;
  outside.file("secret", "x");
  tree.link("sys/up", "../../../../../../../.." + outside.path() + "/secret")
      .link("sys/abs", outside.path() + "/secret");
  const Root root = tree.root();
  for (const char* name : {"sys/up", "sys/abs"}) {
    EXPECT_FALSE(root.read(name)) << name;
    EXPECT_FALSE(root.exists(name)) << name;
    EXPECT_FALSE(root.resolve(name)) << name;
  }
  EXPECT_FALSE(root.read("../../../../../../.." + outside.path() + "/secret"));
}

TEST(Root, DotDotStopsAtTheRoot) {
  Tree tree;
  tree.file("a/b", "1").link("a/self", "../../../a/./b");
  EXPECT_EQ(*tree.root().read("../a/../../a//b"), "1");
  EXPECT_EQ(*tree.root().read("a/self"), "1");
  EXPECT_EQ(*tree.root().resolve("a/self"), "a/b");
  EXPECT_EQ(*tree.root().resolve("../.."), ".");
}

TEST(Root, LinkLoopsEnd) {
  Tree tree;
  tree.link("a", "b").link("b", "a").link("grow", "grow/x").folder("deep").link("deep/self", ".");
  const Root root = tree.root();
  EXPECT_EQ(root.read("a").error().code, ELOOP);
  EXPECT_EQ(root.resolve("a").error().code, ELOOP);
  EXPECT_EQ(root.resolve("grow").error().code, ELOOP);
  EXPECT_EQ(*root.resolve("deep/self/self/self"), "deep");
}

TEST(Root, DirectoriesAndSpecialFilesAreRefusedAtOnce) {
  Tree tree;
  tree.folder("dir");
  ASSERT_EQ(::mkfifo((tree.path() + "/fifo").c_str(), 0600), 0);
  const Root root = tree.root();
  EXPECT_EQ(root.read("dir").error().code, EISDIR);
  EXPECT_EQ(root.read("fifo").error().code, EINVAL);
  EXPECT_EQ(root.write("fifo", "x").error().code, EINVAL);
  auto host = Root::open("/");
  ASSERT_TRUE(host);
  EXPECT_TRUE(host->is_host());
  EXPECT_EQ(host->read("dev/zero").error().code, EINVAL) << "would never end";
  EXPECT_EQ(tree.root().read(std::string("dir\0x", 5)).error().code, EINVAL);
}

TEST(Root, LongFilesAreRefused) {
  Tree tree;
  tree.file("most", std::string(1 << 20, 'x')).file("more", std::string((1 << 20) + 1, 'x'));
  EXPECT_EQ(tree.root().read("most")->size(), size_t{1} << 20);
  EXPECT_EQ(tree.root().read("more").error().code, EFBIG);
}

TEST(Root, ListsInNaturalOrder) {
  Tree tree;
  for (const char* name : {"mlx5_10", "mlx5_2", "mlx5_0", ".hidden"}) tree.folder(std::string("ib/") + name);
  EXPECT_EQ(*tree.root().list("ib"), (std::vector<std::string>{".hidden", "mlx5_0", "mlx5_2", "mlx5_10"}));
  EXPECT_EQ(tree.root().list("none").error().code, ENOENT);
  tree.file("plain", "");
  EXPECT_EQ(tree.root().list("plain").error().code, ENOTDIR);
}

TEST(Root, HugeDirectoriesAreRefused) {
  Tree tree;
  tree.folder("huge");
  const std::string path = tree.path() + "/huge/";
  for (int i = 0; i <= 65'536; ++i) ASSERT_EQ(::mknod((path + std::to_string(i)).c_str(), S_IFREG | 0600, 0), 0);
  EXPECT_EQ(tree.root().list("huge").error().code, E2BIG);
  ASSERT_EQ(::unlink((path + "0").c_str()), 0);
  EXPECT_EQ(tree.root().list("huge")->size(), 65'536u);
}

TEST(Root, WritesExistingFilesOnly) {
  Tree tree;
  tree.file("sys/knob", "a longer value\n");
  const Root root = tree.root();
  ASSERT_TRUE(root.write("sys/knob", "1"));
  EXPECT_EQ(tree.content("sys/knob"), "1");
  EXPECT_EQ(root.write("sys/none", "1").error().code, ENOENT);
  EXPECT_FALSE(root.exists("sys/none"));
}

// This thread alone loses the power to open any file.
void without_dac_override(const std::function<void()>& act) {
  std::thread thread([&] {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct caps[2]{};
    ASSERT_EQ(::syscall(SYS_capget, &header, caps), 0);
    caps[0].effective &= ~(1U << CAP_DAC_OVERRIDE);
    ASSERT_EQ(::syscall(SYS_capset, &header, caps), 0);
    act();
  });
  thread.join();
}

TEST(Root, OwnerLetsHimselfIntoHisReadOnlyFileForAMoment) {
  Tree tree;
  tree.file("knob", "0\n");
  const std::string path = tree.path() + "/knob";
  ASSERT_EQ(::chmod(path.c_str(), 0400), 0);
  without_dac_override([&] {
    const Root root = tree.root();
    EXPECT_EQ(root.write("knob", "1").error().code, EACCES);
    EXPECT_TRUE(root.write_owned("knob", "1"));
  });
  EXPECT_EQ(tree.content("knob"), "1");
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0400U) << "the mode is as before";
}

TEST(Root, TheHostUnderAnyName) {
  for (const char* name : {"/", "//", "/usr/.."}) EXPECT_TRUE(Root::open(name)->is_host()) << name;
  EXPECT_EQ(Root::open("/no/such/folder").error().code, ENOENT);
  EXPECT_EQ(Root::open("/dev/null").error().code, ENOTDIR);
}

// openat2 as it answers on a kernel before 5.6 (ENOSYS) and under the filters of older container runtimes (EPERM).
// Runs `body` in a child with such a filter; true when it returned true.
bool without_openat2(int code, bool (*body)(const Root&), const Root& root) {
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(code)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{std::size(program), program};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
      ::_exit(2);
    ::_exit(body(root) ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Root, StaysInsideWithoutOpenat2) {
  Tree outside, tree;
  outside.file("secret", "x");
  tree.file("etc/hostname", "captured").link("sys/abs", "/etc/hostname").link("sys/out", outside.path() + "/secret");
  tree.link("sys/up", "../../../../../../../.." + outside.path() + "/secret").link("sys/loop", "loop");
  const auto body = [](const Root& root) {
    const auto inside = root.read("sys/abs");
    return inside.ok() && *inside == "captured" && !root.read("sys/out") && !root.read("sys/up") &&
           root.read("sys/loop").error().code == ELOOP && root.list("sys").ok() && !root.exists("sys/out");
  };
  const Root root = tree.root();
  EXPECT_TRUE(without_openat2(ENOSYS, body, root));
  EXPECT_TRUE(without_openat2(EPERM, body, root));
}

}  // namespace
}  // namespace fabric
