// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/isolation.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "kernel/host/seccomp.h"

#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif

namespace fabric {
namespace {

// Calls that act on a process whose number, descriptor or user is an argument.
constexpr long kOnOthers[] = {SYS_tkill,
                              SYS_rt_sigqueueinfo,
                              SYS_pidfd_send_signal,
                              SYS_pidfd_getfd,
                              SYS_ptrace,
                              SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_process_madvise,
                              SYS_process_mrelease,
                              SYS_kcmp,
                              SYS_perf_event_open,
                              SYS_setpriority,
                              SYS_ioprio_set,
                              SYS_migrate_pages,
                              SYS_move_pages,
                              SYS_connect,
                              SYS_io_uring_setup,  // its requests pass no filter
                              SYS_io_uring_enter,
                              SYS_io_uring_register};
// Calls whose first argument is a process, and that a process may make for itself. glibc passes 0 or the own number.
constexpr long kOnItself[] = {SYS_kill,
                              SYS_tgkill,
                              SYS_rt_tgsigqueueinfo,
                              SYS_prlimit64,
                              SYS_sched_setaffinity,
                              SYS_sched_setattr,
                              SYS_sched_setscheduler,
                              SYS_sched_setparam};
// A descriptor that becomes readable signals its owner. The second argument sets another owner.
constexpr std::pair<long, uint32_t> kOwnerRequests[] = {{SYS_fcntl, F_SETOWN},
                                                        {SYS_fcntl, 15 /* F_SETOWN_EX */},
                                                        {SYS_ioctl, 0x8901 /* FIOSETOWN */},
                                                        {SYS_ioctl, 0x8902 /* SIOCSPGRP */}};

}  // namespace

Result<void> isolate_process() {
  const sock_filter refuse = answer_with(SECCOMP_RET_ERRNO | EPERM), allow = answer_with(SECCOMP_RET_ALLOW),
                    number = load_word(offsetof(seccomp_data, nr));
  std::vector<sock_filter> filter = {load_word(offsetof(seccomp_data, arch)), skip_if_equal(kSeccompArchitecture, 1),
                                     refuse, number};
#if defined(__x86_64__)
  constexpr uint32_t kX32 = 0x40000000;  // __X32_SYSCALL_BIT: numbers from here on are x32's
  filter.push_back(BPF_JUMP(static_cast<uint16_t>(BPF_JMP | BPF_JGE | BPF_K), kX32, 0, 1));
  filter.push_back(refuse);
#endif
  for (const long call : kOnOthers) {
    filter.push_back(skip_unless_equal(static_cast<uint32_t>(call), 1));
    filter.push_back(refuse);
  }
  // Steps for one system call. They decide, or go on after the last one.
  const auto decide_for = [&](long call, const std::vector<sock_filter>& steps) {
    filter.push_back(skip_unless_equal(static_cast<uint32_t>(call), static_cast<uint8_t>(steps.size())));
    filter.insert(filter.end(), steps.begin(), steps.end());
    filter.push_back(number);
  };
  const auto own = static_cast<uint32_t>(::getpid());
  for (const long call : kOnItself) {
    // kill(2) of 0 is the whole process group.
    if (call == SYS_kill) decide_for(call, {load_word(argument(0)), skip_if_equal(own, 1), refuse, allow});
    else decide_for(call, {load_word(argument(0)), skip_if_equal(own, 2), skip_if_equal(0, 1), refuse, allow});
  }
  for (const auto& [call, request] : kOwnerRequests)
    decide_for(call, {load_word(argument(1)), skip_unless_equal(request, 1), refuse});
  filter.push_back(allow);
  if (!install_filter(filter)) return error(errno, "seccomp");
  (void)isolate_by_landlock();
  return {};
}

Result<void> isolate_by_landlock() {
  constexpr long kScopesSince = 6;  // version of Landlock's ABI
  // The headers may be older: landlock_ruleset_attr and LANDLOCK_SCOPE_* of Linux 6.12.
  struct {
    uint64_t handled_access_fs, handled_access_net, scoped;
  } handled{};
  constexpr uint64_t kAbstractSockets = 1, kSignals = 2;
  handled.scoped = kAbstractSockets | kSignals;
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return error(errno, "landlock_create_ruleset");
  if (version < kScopesSince) return error(EOPNOTSUPP, "Landlock's scopes");
  const Fd rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!rules) return error(errno, "landlock_create_ruleset");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::syscall(SYS_landlock_restrict_self, rules.get(), 0) != 0)
    return error(errno, "landlock_restrict_self");
  return {};
}

}  // namespace fabric
