// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/tree_only.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <cstddef>
#include <map>
#include <optional>

#include "base/fd.h"
#include "kernel/host/seccomp.h"

namespace fabric {
namespace {

// The calls that find a file by its name. The kernel sends SIGSYS instead of executing them, and the handler answers.
constexpr long kByName[] = {
#if defined(__x86_64__)
    SYS_open,       SYS_stat,      SYS_lstat,      SYS_access,     SYS_readlink,
#endif
    SYS_newfstatat, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_statx,    SYS_openat};

// Flags of Root's own calls to openat(2), which libraries do not set when they read: the handler makes such calls.
constexpr uint32_t kOwnFlags = O_NOFOLLOW | O_NOCTTY;

// The buffer size by which the filter recognizes the handler's own readlinkat(2).
constexpr uint32_t kOwnSize = PATH_MAX + 1;

std::vector<sock_filter> filter() {
  const sock_filter number = load_word(offsetof(seccomp_data, nr)), allow = answer_with(SECCOMP_RET_ALLOW);
  std::vector<sock_filter> out = {load_word(offsetof(seccomp_data, arch)), skip_if_equal(kSeccompArchitecture, 1),
                                  answer_with(SECCOMP_RET_KILL_PROCESS), number};
  // fstat(3) is a newfstatat(2) without a name.
  for (const sock_filter& step :
       {skip_unless_equal(SYS_newfstatat, 4), load_word(argument(3)), skip_unless_any_bit(AT_EMPTY_PATH, 1), allow,
        number, skip_unless_equal(SYS_openat, 4), load_word(argument(2)), skip_unless_any_bit(kOwnFlags, 1), allow,
        number, skip_unless_equal(SYS_readlinkat, 4), load_word(argument(3)), skip_unless_equal(kOwnSize, 1), allow,
        number})
    out.push_back(step);
  for (const long call : kByName) {
    out.push_back(skip_unless_equal(static_cast<uint32_t>(call), 1));
    out.push_back(answer_with(SECCOMP_RET_TRAP));
  }
  out.push_back(allow);
  return out;
}

struct Shown {
  Root root;
  std::string top;
  std::map<int, std::string> folders;  // by descriptor, as far as they were opened here
  bool is_answering = false;
};
std::optional<Shown> shown;  // of this process, which a signal handler cannot be given

// The file's path below the root; nullopt: it has none.
std::optional<std::string> path_of(int folder, std::string name) {
  if (name.starts_with('/')) {
    if (!name.starts_with(shown->top)) return std::nullopt;
    name.erase(0, shown->top.size());
    if (!name.empty() && !name.starts_with('/')) return std::nullopt;
    return name;
  }
  const auto known = shown->folders.find(folder);
  if (known == shown->folders.end()) return std::nullopt;
  return known->second + "/" + name;
}

// The results of system calls: negative for an errno.

long open_shown(const std::string& path, uint64_t flags) {
  if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0) return -EROFS;
  if ((flags & O_DIRECTORY) == 0) {
    const auto text = shown->root.read(path);
    if (text) {
      Fd copy(::memfd_create("file", MFD_CLOEXEC));
      if (!copy || !write_all(copy.get(), *text) || ::lseek(copy.get(), 0, SEEK_SET) != 0) return -errno;
      shown->folders.erase(copy.get());
      return copy.release();
    }
    if (text.error().code != EISDIR) return -text.error().code;
  }
  auto folder = shown->root.open_folder(path);
  if (!folder) return -folder.error().code;
  shown->folders[folder->get()] = path;
  return folder->release();
}

long stat_shown(const std::string& path, uint64_t into, bool follow) {
  const auto handle = shown->root.handle(path, follow ? 0 : O_NOFOLLOW);
  if (!handle) return -handle.error().code;
  if (::syscall(SYS_newfstatat, handle->get(), "", into, AT_EMPTY_PATH) != 0) return -errno;
  return 0;
}

long find_shown(const std::string& path) {
  const auto handle = shown->root.handle(path);
  if (!handle) return -handle.error().code;
  return 0;
}

long read_link_shown(const std::string& path, uint64_t into, uint64_t size) {
  const auto handle = shown->root.handle(path, O_NOFOLLOW);
  if (!handle) return -handle.error().code;
  std::array<char, kOwnSize> target{};
  const long length = ::syscall(SYS_readlinkat, handle->get(), "", target.data(), target.size());
  if (length < 0) return -errno;
  const size_t shown_length = std::min(static_cast<size_t>(length), static_cast<size_t>(size));
  std::memcpy(reinterpret_cast<char*>(into), target.data(), shown_length);
  return static_cast<long>(shown_length);
}

long answer(int call, const std::array<uint64_t, 4>& arguments) {
  const auto& [first, second, third, fourth] = arguments;
  const auto text = [](uint64_t address) { return std::string(reinterpret_cast<const char*>(address)); };
#if defined(__x86_64__)
  const bool is_old = call == SYS_open || call == SYS_stat || call == SYS_lstat || call == SYS_access ||
                      call == SYS_readlink;  // without a folder
#else
  constexpr bool is_old = false;
#endif
  const auto path = is_old ? path_of(AT_FDCWD, text(first)) : path_of(static_cast<int>(first), text(second));
  if (!path) return -ENOENT;
  switch (call) {
#if defined(__x86_64__)
    case SYS_open: return open_shown(*path, second);
    case SYS_stat: return stat_shown(*path, second, true);
    case SYS_lstat: return stat_shown(*path, second, false);
    case SYS_access: return find_shown(*path);
    case SYS_readlink: return read_link_shown(*path, second, third);
#endif
    case SYS_openat: return open_shown(*path, third);
    case SYS_newfstatat: return stat_shown(*path, third, (fourth & AT_SYMLINK_NOFOLLOW) == 0);
    case SYS_faccessat:
    case SYS_faccessat2: return find_shown(*path);
    case SYS_readlinkat: return read_link_shown(*path, third, fourth);
    default: return -ENOSYS;
  }
}

// The call is made by the library's own code, outside of malloc(3) and its locks, so that the handler may do anything.
void answer_signal(int, siginfo_t* info, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto at = [&](int name) { return static_cast<uint64_t>(machine.gregs[name]); };
  const std::array<uint64_t, 4> arguments{at(REG_RDI), at(REG_RSI), at(REG_RDX), at(REG_R10)};
  auto& result = machine.gregs[REG_RAX];
#elif defined(__aarch64__)
  const std::array<uint64_t, 4> arguments{machine.regs[0], machine.regs[1], machine.regs[2], machine.regs[3]};
  auto& result = machine.regs[0];
#else
  const std::array<uint64_t, 4> arguments{};
  long result = 0;
  (void)machine;
#endif
  // Root searches by itself if files are renamed below it: that gives the same answer as openat2(2).
  long value = -EAGAIN;
  if (!std::exchange(shown->is_answering, true)) {
    value = answer(info->si_syscall, arguments);
    shown->is_answering = false;
  }
  result = static_cast<std::remove_reference_t<decltype(result)>>(value);
}

}  // namespace

Result<void> show_only(Root root, std::string top) {
  const std::string what = root.path() + ": cannot restrict a library to it";
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  const Fd probe(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how)));
  if (!probe) return error(errno, what);
  if (root.is_host() || kSeccompArchitecture == 0) return error(ENOTSUP, what);
  shown.emplace(Shown{std::move(root), std::move(top), {}});
  struct sigaction action {};
  action.sa_sigaction = answer_signal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigset_t calls;
  ::sigemptyset(&calls);
  ::sigaddset(&calls, SIGSYS);
  if (::sigaction(SIGSYS, &action, nullptr) != 0 || ::sigprocmask(SIG_UNBLOCK, &calls, nullptr) != 0 ||
      !install_filter(filter()))
    return error(errno, what);
  return {};
}

}  // namespace fabric
