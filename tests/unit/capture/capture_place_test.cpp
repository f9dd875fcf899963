// SPDX-License-Identifier: Apache-2.0
// Where root writes, nobody else can put a file, a folder or a link in the place of its own.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "ctl/verbs/capture.h"
#include "node/state.h"
#include "support/ctl.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using test::Tree;

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

}  // namespace
}  // namespace fabric::ctl
