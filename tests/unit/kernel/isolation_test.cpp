// SPDX-License-Identifier: Apache-2.0
// A process that was taken over acts on no other one, with root's uid and without it.
#include "kernel/host/isolation.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/fd.h"
#include "kernel/host/child.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;

// What the work says in a process of its own, which may change itself for good.
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
