// SPDX-License-Identifier: Apache-2.0
// A child process with work that may crash, and one that is confined to it. A process that was taken over acts on no
// other one, with root's uid and without it.
#include "kernel/host/child.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ioprio.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/fd.h"
#include "kernel/host/isolation.h"
#include "kernel/host/sandbox.h"
#include "node/optics_state.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using Work = std::function<Result<std::string>()>;

// -- Child processes

constexpr ChildLimits kConfined{20s, 4096, true};

Result<std::string> confined(const Work& work, ChildLimits limits = kConfined) {
  return run_in_child(work, "work", limits);
}

TEST(Child, AnswersOrItsFailureIsAValue) {
  for (const bool is_confined : {false, true}) {
    const ChildLimits limits{20s, 4096, is_confined};
    EXPECT_EQ(*confined([] { return std::string(3000, 'x'); }, limits), std::string(3000, 'x'));
    EXPECT_EQ(code_of(confined([]() -> Result<std::string> { return error(EPROTO, "no"); }, limits)), EPROTO);
    EXPECT_EQ(code_of(confined([]() -> Result<std::string> { ::_exit(3); }, limits)), ECHILD);
    EXPECT_EQ(code_of(confined([] { return std::string(5000, 'x'); }, limits)), EFBIG) << "more than it may say";
    const auto hang = []() -> Result<std::string> {
      for (volatile int spin = 0;;) spin = 1 - spin;
    };
    EXPECT_EQ(code_of(confined(hang, {100ms, 4096, is_confined})), ETIMEDOUT);
  }
}

TEST(Child, EndsWithTheProcessThatWaits) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)run_in_child(
        [&]() -> Result<std::string> {
          (void)::write(out.get(), "x", 1);
          for (;;) ::pause();
        },
        "work");
    ::_exit(0);
  }
  out = Fd();
  char begun = 0;
  ASSERT_EQ(::read(in.get(), &begun, 1), 1);
  ::kill(parent, SIGKILL);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  pollfd closed{in.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&closed, 1, 20'000), 1) << "the child still has its end of the pipe";
}

TEST(Child, ConfinedItReachesNothing) {
  test::Tree tree;
  tree.file("held", "");
  const std::string path = tree.path() + "/held";
  const Fd held(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(held);
  const auto write_to_held = [&]() -> Result<std::string> {
    return ::write(held.get(), "x", 1) < 0 && errno == EBADF ? std::string("closed") : std::string("written");
  };
  EXPECT_EQ(*confined(write_to_held), "closed") << "a file of the parent's";
  const std::vector<std::pair<std::string, std::function<void()>>> attempts{
      {"a file", [&] { (void)::open(path.c_str(), O_RDONLY | O_CLOEXEC); }},
      {"a socket", [] { (void)::socket(AF_UNIX, SOCK_STREAM, 0); }},
      {"another process", [] { ::kill(::getppid(), 0); }},
      {"a program", [] { ::execl("/bin/true", "true", nullptr); }},
      {"a child", [] { (void)::fork(); }}};
  for (const auto& attempt : attempts)
    EXPECT_EQ(code_of(confined([&]() -> Result<std::string> {
                attempt.second();
                return std::string("done");
              })),
              ECHILD)
        << attempt.first;
}

// close_range(2) is missing before Linux 5.9, and below the filters of older container runtimes.
TEST(Child, ClosesItsFilesWithoutCloseRange) {
  const Fd held(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const uint32_t code : {ENOSYS, EPERM}) {
    const auto answer = run_in_child(
        [&]() -> Result<std::string> {
          sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | code),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
          const sock_fprog program{std::size(filter), filter};
          ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
          if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return error(errno, "seccomp");
          const int first = ::dup(held.get());
          const int last = ::fcntl(held.get(), F_DUPFD, 900);
          ::closefrom(first);  // the pipe lies below
          return ::fcntl(first, F_GETFD) < 0 && ::fcntl(last, F_GETFD) < 0 ? std::string("closed")
                                                                           : std::string("open");
        },
        "close_range");
    ASSERT_TRUE(answer.ok()) << answer.error().text();
    EXPECT_EQ(*answer, "closed");
  }
}

// -- Uses of child processes

// Memories of every standard, and of none, with any bytes in them.
TEST(DecodeApart, SaysWhatTheDecoderSays) {
  std::minstd_rand bytes(17);
  const auto text = [](const Result<Transceiver>& module) {
    return module ? state::optics_text({{{"m", *module}}}, 0) : module.error().text();
  };
  size_t decoded = 0;
  for (const unsigned identifier : {0x03u, 0x11u, 0x19u, 0x06u, 0x03u, 0x11u, 0x19u, 0x06u}) {
    const auto memory = [&](const eeprom::PageRequest& request) {
      Bytes data(request.length);
      std::generate(data.begin(), data.end(), [&] { return static_cast<std::byte>(bytes()); });
      if (request == eeprom::kFirstPage) data.front() = static_cast<std::byte>(identifier);
      return data;
    };
    const auto pages = eeprom::read_pages(memory);
    const auto here = eeprom::decode(pages), apart = state::decode_apart(pages);
    EXPECT_EQ(text(here), text(apart));
    decoded += apart ? 1 : 0;
  }
  EXPECT_EQ(decoded, 6u);
}

TEST(DecodeApart, NobodyDecodesElsewhere) {
  for (const char* folder : {"/lib", "/agent"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(FABRIC_SOURCE_DIR) + folder)) {
      const std::string file = entry.path().string();
      if (!file.ends_with(".cpp") || file.ends_with("/node/optics_state.cpp")) continue;
      EXPECT_EQ(test::slurp(file).find("eeprom::decode"), std::string::npos) << file;
    }
}

// -- The writable folders of the sandbox

TEST(Sandbox, IsOutgrownByAFolderThatIsNew) {
  std::set<std::string> closed{"/sys/kernel/config/irdma"};
  const Sandbox sandbox([&](const std::string& folder) { return closed.contains(folder); });
  EXPECT_FALSE(sandbox.outgrown()) << "closed from the start: a restart would not open it";
  closed.insert("/sys/kernel/config/rdma_cm");
  EXPECT_EQ(sandbox.outgrown(), "/sys/kernel/config/rdma_cm");
}

TEST(Sandbox, IsOutgrownByADeviceThatIsNewOrMadeAgain) {
  test::Tree tree;
  tree.folder("class/net/eth0/ecn");
  Sandbox sandbox([](const std::string&) { return false; }, tree.path());
  tree.folder("class/net/eth1/ecn");
  EXPECT_FALSE(sandbox.outgrown()) << "without Landlock all are open";
  sandbox.remember_devices();
  EXPECT_FALSE(sandbox.outgrown());
  tree.folder("class/infiniband/mlx5_0/tc");
  EXPECT_EQ(sandbox.outgrown(), tree.path() + "/class/infiniband/mlx5_0/tc");
  sandbox.remember_devices();
  std::filesystem::rename(tree.path() + "/class/net/eth1/ecn", tree.path() + "/old");
  tree.folder("class/net/eth1/ecn");
  EXPECT_EQ(sandbox.outgrown(), tree.path() + "/class/net/eth1/ecn");
}

// agentd's rule for /sys/devices: it may write the folder of a device's settings, and not its PCI configuration.
TEST(Sandbox, WritesOnlyWhereSettingsAre) {
  test::Tree tree;
  tree.file("device/config", "").file("device/net/eth0/ecn/enable", "0");
  const std::string device = tree.path() + "/device/", ecn = device + "net/eth0/ecn/";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto confined = confine_writes({ecn, tree.path() + "/missing"});
    if (!confined) ::_exit(confined.error().code);
    const bool writes = Fd(::open((ecn + "enable").c_str(), O_WRONLY)) && ::mkdir((ecn + "new").c_str(), 0700) == 0;
    const bool stays = !Fd(::open((device + "config").c_str(), O_WRONLY)) && errno == EACCES &&
                       ::mkdir((device + "new").c_str(), 0700) != 0 && ::unlink((device + "config").c_str()) != 0;
    ::_exit(writes && stays && Fd(::open((device + "config").c_str(), O_RDONLY)) ? 0 : 255);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const int code = WEXITSTATUS(status);
  if (code == ENOSYS || code == EOPNOTSUPP) GTEST_SKIP() << "a kernel without Landlock";
  EXPECT_EQ(status, 0) << code;
}

// A folder that cannot be opened, for whatever reason but its absence, would be read-only for as long as the process
// runs.
TEST(Sandbox, DoesNotConfineWithoutAFolderThatIsThere) {
  test::Tree tree;
  tree.file("file", "").folder("other");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto confined = confine_writes({tree.path() + "/file"});  // ENOTDIR
    if (!confined && confined.error().code != ENOTDIR) ::_exit(confined.error().code);
    ::_exit(::mkdir((tree.path() + "/other/new").c_str(), 0700) == 0 ? 0 : 255);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const int code = WEXITSTATUS(status);
  if (code == ENOSYS || code == EOPNOTSUPP) GTEST_SKIP() << "a kernel without Landlock";
  EXPECT_EQ(status, 0) << code;
}

// -- Processes that were taken over

// The result of the work in a process of its own, which may change itself for good.
std::string apart(const std::function<std::string()>& work) {
  const auto said = run_in_child([&]() -> Result<std::string> { return work(); }, "apart");
  return said ? *said : said.error().text();
}

// A process of the same user.
class Victim {
 public:
  Victim() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  ~Victim() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool lives() const { return ::waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  pid_t pid_;
};

// Each way to act on the victim. True: the kernel has let it.
std::vector<std::pair<std::string, std::function<bool(pid_t)>>> ways() {
  return {
      {"kill", [](pid_t pid) { return ::kill(pid, SIGKILL) == 0; }},
      {"kill of the group", [](pid_t) { return ::kill(0, 0) == 0; }},
      {"kill of all", [](pid_t) { return ::kill(-1, 0) == 0; }},
      {"tkill", [](pid_t pid) { return ::syscall(SYS_tkill, pid, SIGKILL) == 0; }},
      {"tgkill", [](pid_t pid) { return ::syscall(SYS_tgkill, pid, pid, SIGKILL) == 0; }},
      {"sigqueue", [](pid_t pid) { return ::sigqueue(pid, SIGKILL, {}) == 0; }},
      {"a folder of /proc as pidfd",
       [](pid_t pid) {
         const Fd folder(::open(("/proc/" + std::to_string(pid)).c_str(), O_DIRECTORY | O_CLOEXEC));
         return ::syscall(SYS_pidfd_send_signal, folder.get(), SIGKILL, nullptr, 0) == 0;
       }},
      {"the owner of a descriptor",
       [](pid_t pid) {
         int ends[2];
         if (::pipe2(ends, O_CLOEXEC) != 0) return false;
         const Fd in(ends[0]), out(ends[1]);
         if (::fcntl(in.get(), F_SETOWN, pid) != 0) return false;
         ::fcntl(in.get(), F_SETSIG, SIGKILL);
         ::fcntl(in.get(), F_SETFL, O_ASYNC);
         return ::write(out.get(), "x", 1) == 1;
       }},
      {"the owner, by F_SETOWN_EX",
       [](pid_t pid) {
         const Fd own(::open("/dev/null", O_RDONLY | O_CLOEXEC));
         const f_owner_ex owner{F_OWNER_PID, pid};
         return ::fcntl(own.get(), F_SETOWN_EX, &owner) == 0;
       }},
      {"the owner of a socket",
       [](pid_t pid) {
         const Fd own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
         return ::ioctl(own.get(), FIOSETOWN, &pid) == 0;
       }},
      {"a limit of its CPU time",
       [](pid_t pid) {
         const rlimit none{0, 0};
         return ::prlimit(pid, RLIMIT_CPU, &none, nullptr) == 0;
       }},
      {"its priority", [](pid_t pid) { return ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), 19) == 0; }},
      {"its I/O priority", [](pid_t pid) { return ::syscall(SYS_ioprio_set, 1, pid, 3 << 13) == 0; }},
      {"its CPUs",
       [](pid_t pid) {
         cpu_set_t first;
         CPU_ZERO(&first);
         CPU_SET(0, &first);
         return ::sched_setaffinity(pid, sizeof first, &first) == 0;
       }},
      {"its scheduler",
       [](pid_t pid) {
         const sched_param none{};
         return ::sched_setscheduler(pid, SCHED_IDLE, &none) == 0;
       }},
      {"its memory",
       [](pid_t pid) {
         int own = 0;
         const iovec here{&own, sizeof own}, there{&own, sizeof own};
         return ::process_vm_readv(pid, &here, 1, &there, 1, 0) > 0;
       }},
      {"ptrace", [](pid_t pid) { return ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0; }},
  };
}

TEST(Isolation, ReachesNoOtherProcess) {
  size_t possible = 0;
  for (const auto& attempt : ways()) {
    const auto& name = attempt.first;
    const auto& way = attempt.second;
    {
      const Victim victim;
      possible += apart([&] { return way(victim.pid()) ? "done" : "not"; }) == "done";
    }
    const Victim victim;
    EXPECT_EQ(apart([&] {
                if (const auto isolated = isolate_process(); !isolated) return isolated.error().text();
                return std::string(way(victim.pid()) ? "done" : "refused");
              }),
              "refused")
        << name;
    EXPECT_TRUE(victim.lives()) << name;
  }
  EXPECT_GE(possible, 10u) << "without it these ways are open";
}

TEST(Isolation, ConnectsToNobody) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = "fabric-isolation-" + std::to_string(::getpid());
  text.copy(name.sun_path + 1, text.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  const Fd stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(stream.get(), address, size), 0);
  ASSERT_EQ(::listen(stream.get(), 8), 0);
  const auto connects = [&] {
    const Fd own(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(own.get(), address, size) == 0 ? "connected" : "refused";
  };
  EXPECT_EQ(apart(connects), "connected");
  EXPECT_EQ(apart([&] { return isolate_process() ? connects() : "not isolated"; }), "refused");
}

// The kernel's part, without the filter: for ways that the filter does not know.
TEST(Isolation, TheKernelSeparatesToo) {
  const Victim victim;
  const std::string said = apart([&] {
    if (const auto isolated = isolate_by_landlock(); !isolated) return isolated.error().text();
    return std::string(::kill(victim.pid(), SIGKILL) == 0 ? "killed" : "refused");
  });
  if (test::has(said, "andlock")) GTEST_SKIP() << said;
  EXPECT_EQ(said, "refused");
  EXPECT_TRUE(victim.lives());
}

TEST(Isolation, ItsOwnAffairsWork) {
  EXPECT_EQ(apart([] {
              if (!isolate_process()) return "not isolated";
              static volatile sig_atomic_t got = 0;
              ::signal(SIGUSR1, [](int) { got = 1; });
              if (::raise(SIGUSR1) != 0 || got == 0) return "raise";
              rlimit limit{};
              if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) return "rlimit";
              bool ran = false;
              std::thread([&] { ran = true; }).join();
              return ran ? "well" : "thread";
            }),
            "well");
}

// It may send no signal, and a child that hangs is ended all the same.
TEST(Isolation, AChildThatHangsEnds) {
  for (const bool is_confined : {false, true})
    EXPECT_EQ(apart([&] {
                if (!isolate_process()) return std::string("not isolated");
                const auto hang = []() -> Result<std::string> {
                  for (volatile int spin = 0;;) spin = 1 - spin;
                };
                const auto ended = run_in_child(hang, "hang", {200ms, 4096, is_confined});
                const auto next = run_in_child([]() -> Result<std::string> { return std::string("next"); }, "next");
                return std::string(errno_name(ended.error().code)) + " " + *next;
              }),
              "ETIMEDOUT next");
}

}  // namespace
}  // namespace fabric
