// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that lets one call of a program to the C library fail, as the kernel lets it fail. A call is
// named by its place: a hash of the functions on the stack, which is the same in every run of the program.
//
//   CALL_FAULTS_LOG=FILE             appends a line "PLACE FUNCTION" for each call
//   CALL_FAULTS_AT=PLACE,NTH,FAULT   the NTH call (from 1) at the place fails. FAULT is an errno's number, "short" (a
//                                    read or write of half the bytes), or "interrupted" (NLM_F_DUMP_INTR in the dump)
//   CALL_FAULTS_DONE=FILE            has a byte when the call has failed
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kShort = -1, kInterrupted = -2;  // besides errnos

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The loaded objects, so that an address becomes an offset that does not depend on where the object lies.
struct Objects {
  static constexpr size_t kMost = 64;
  struct Object {
    uintptr_t begin = 0, end = 0;
  } list[kMost];
  size_t count = 0;
};
Objects objects;
uintptr_t own_begin = 0;
int log_fd = -1;
uint64_t fault_place = 0;
unsigned fault_nth = 0;
int fault_code = 0;
int done_fd = -1;
std::atomic<unsigned> calls_there{0};
std::atomic<bool> interrupts{false};  // the next dump that is received is interrupted
thread_local bool inside = false;     // calls of this library do not count
bool ready = false;

int note_object(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum && objects.count < Objects::kMost; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    objects.list[objects.count++] = {begin, begin + part.p_memsz};
    if (const auto self = reinterpret_cast<uintptr_t>(&note_object); self >= begin && self < begin + part.p_memsz)
      own_begin = begin;
  }
  return 0;
}

long raw_call(long number, long a, long b, long c, long d = 0) {
  static auto* const real = next<long(long, ...)>("syscall");
  return real(number, a, b, c, d);
}

__attribute__((constructor)) void start() {
  inside = true;
  ::dl_iterate_phdr(note_object, nullptr);
  void* frames[4];
  (void)::backtrace(frames, 4);  // loads libgcc_s
  // Opened now: the program may deny itself other files (Landlock). With a high number, so that the program's own
  // descriptors are as without this library.
  const auto open_high = [](const char* file) {
    if (file == nullptr) return -1;
    const long fd =
        raw_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(file), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const long high = raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
    raw_call(SYS_close, fd, 0, 0);
    return static_cast<int>(high);
  };
  log_fd = open_high(std::getenv("CALL_FAULTS_LOG"));
  if (const char* at = std::getenv("CALL_FAULTS_AT")) {
    char* rest = nullptr;
    fault_place = std::strtoull(at, &rest, 16);
    fault_nth = static_cast<unsigned>(std::strtoul(rest + 1, &rest, 10));
    const char* fault = rest + 1;
    fault_code = std::atoi(fault);
    if (std::strcmp(fault, "short") == 0) fault_code = kShort;
    if (std::strcmp(fault, "interrupted") == 0) fault_code = kInterrupted;
    done_fd = open_high(std::getenv("CALL_FAULTS_DONE"));
  }
  inside = false;
  ready = true;
}

// 0, or the fault of this call.
int fault_of(const char* function) {
  if (!ready || inside || (log_fd < 0 && fault_nth == 0)) return 0;
  inside = true;
  const int before = errno;
  void* frames[48];
  const int depth = ::backtrace(frames, 48);
  uint64_t place = 0xcbf29ce484222325;
  for (int i = 0; i < depth; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(frames[i]);
    const auto* object = std::find_if(objects.list, objects.list + objects.count, [address](const auto& each) {
      return address >= each.begin && address < each.end;
    });
    if (object == objects.list + objects.count || object->begin == own_begin) continue;
    place = (place ^ (address - object->begin)) * 0x100000001b3;
  }
  for (const char* letter = function; *letter != '\0'; ++letter)
    place = (place ^ static_cast<unsigned char>(*letter)) * 0x100000001b3;
  int fault = 0;
  if (log_fd >= 0) {
    char line[96];
    const int size = std::snprintf(line, sizeof line, "%016llx %s\n", static_cast<unsigned long long>(place), function);
    raw_call(SYS_write, log_fd, reinterpret_cast<long>(line), size);
  }
  if (place == fault_place && fault_nth != 0 && ++calls_there == fault_nth) {
    fault = fault_code;
    if (done_fd >= 0) raw_call(SYS_write, done_fd, reinterpret_cast<long>("1"), 1);
  }
  if (fault == kInterrupted) interrupts = true;
  errno = before;
  inside = false;
  return fault;
}

size_t shortened(int fault, size_t size) {
  if (fault != kShort || size < 2) return size;
  return size / 2;
}

}  // namespace

// A function that fails with -1, or NULL, and errno. `PARAMETERS` and `ARGUMENTS` are in parentheses.
#define FAILS_WITH(FAILURE, TYPE, NAME, PARAMETERS, ARGUMENTS) \
  extern "C" TYPE NAME PARAMETERS {                            \
    static auto* const real = next<TYPE PARAMETERS>(#NAME);    \
    if (const int fault = fault_of(#NAME); fault > 0) {        \
      errno = fault;                                           \
      return FAILURE;                                          \
    }                                                          \
    return real ARGUMENTS;                                     \
  }
#define FAILS(TYPE, NAME, PARAMETERS, ARGUMENTS) FAILS_WITH(-1, TYPE, NAME, PARAMETERS, ARGUMENTS)

// The functions with a variable argument.
#define OPENS(NAME, PARAMETERS, ARGUMENTS)                 \
  extern "C" int NAME PARAMETERS {                         \
    static auto* const real = next<int PARAMETERS>(#NAME); \
    va_list list;                                          \
    va_start(list, flags);                                 \
    const mode_t mode = va_arg(list, mode_t);              \
    va_end(list);                                          \
    if (const int fault = fault_of(#NAME); fault > 0) {    \
      errno = fault;                                       \
      return -1;                                           \
    }                                                      \
    return real ARGUMENTS;                                 \
  }
OPENS(open, (const char* path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char* path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char* path, int flags, ...), (folder, path, flags, mode))

#define CONTROLS(NAME, NUMBER)                                    \
  extern "C" int NAME(int fd, NUMBER request, ...) {              \
    static auto* const real = next<int(int, NUMBER, ...)>(#NAME); \
    va_list list;                                                 \
    va_start(list, request);                                      \
    void* const argument = va_arg(list, void*);                   \
    va_end(list);                                                 \
    if (const int fault = fault_of(#NAME); fault > 0) {           \
      errno = fault;                                              \
      return -1;                                                  \
    }                                                             \
    return real(fd, request, argument);                           \
  }
CONTROLS(fcntl, int)
CONTROLS(fcntl64, int)
CONTROLS(ioctl, unsigned long)

extern "C" long syscall(long number, ...) {
  static auto* const real = next<long(long, ...)>("syscall");
  va_list list;
  va_start(list, number);
  long arguments[6];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  const char* name = nullptr;
  if (number == SYS_openat2) name = "openat2";
  if (number == SYS_landlock_create_ruleset || number == SYS_landlock_add_rule || number == SYS_landlock_restrict_self)
    name = "landlock";
  if (const int fault = name == nullptr ? 0 : fault_of(name); fault > 0) {
    errno = fault;
    return -1;
  }
  return real(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
}

// Reads and writes, which may also be short.
#define TRANSFERS(NAME, PARAMETERS, ARGUMENTS)                 \
  extern "C" ssize_t NAME PARAMETERS {                         \
    static auto* const real = next<ssize_t PARAMETERS>(#NAME); \
    const int fault = fault_of(#NAME);                         \
    if (fault > 0) {                                           \
      errno = fault;                                           \
      return -1;                                               \
    }                                                          \
    size = shortened(fault, size);                             \
    return real ARGUMENTS;                                     \
  }
TRANSFERS(read, (int fd, void* bytes, size_t size), (fd, bytes, size))
TRANSFERS(pread, (int fd, void* bytes, size_t size, off_t at), (fd, bytes, size, at))
TRANSFERS(pread64, (int fd, void* bytes, size_t size, off_t at), (fd, bytes, size, at))
TRANSFERS(write, (int fd, const void* bytes, size_t size), (fd, bytes, size))
TRANSFERS(pwrite, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at))
TRANSFERS(pwrite64, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at))

FAILS(int, fsync, (int fd), (fd))
FAILS(int, ftruncate, (int fd, off_t size), (fd, size))
FAILS(int, ftruncate64, (int fd, off_t size), (fd, size))
FAILS(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAILS(int, fstat, (int fd, struct stat* out), (fd, out))
FAILS(int, fstat64, (int fd, struct stat64* out), (fd, out))
FAILS(int, fstatat, (int folder, const char* path, struct stat* out, int flags), (folder, path, out, flags))
FAILS(int, fstatat64, (int folder, const char* path, struct stat64* out, int flags), (folder, path, out, flags))
FAILS(int, stat, (const char* path, struct stat* out), (path, out))
FAILS(int, stat64, (const char* path, struct stat64* out), (path, out))
FAILS(int, mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode))
FAILS(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags))
FAILS(int, renameat, (int from, const char* old, int to, const char* path), (from, old, to, path))
FAILS(int, renameat2, (int from, const char* old, int to, const char* path, unsigned flags),
      (from, old, to, path, flags))
FAILS(ssize_t, readlinkat, (int folder, const char* path, char* out, size_t size), (folder, path, out, size))
FAILS_WITH(nullptr, char*, realpath, (const char* path, char* out), (path, out))
FAILS_WITH(nullptr, DIR*, fdopendir, (int fd), (fd))
FAILS_WITH(nullptr, dirent*, readdir, (DIR * folder), (folder))
FAILS_WITH(nullptr, dirent64*, readdir64, (DIR * folder), (folder))
FAILS_WITH(nullptr, FILE*, fopen, (const char* path, const char* mode), (path, mode))
FAILS_WITH(nullptr, FILE*, fopen64, (const char* path, const char* mode), (path, mode))
FAILS(int, access, (const char* path, int mode), (path, mode))

FAILS(int, socket, (int family, int type, int protocol), (family, type, protocol))
FAILS(int, bind, (int fd, const sockaddr* address, socklen_t size), (fd, address, size))
FAILS(int, connect, (int fd, const sockaddr* address, socklen_t size), (fd, address, size))
FAILS(int, getsockname, (int fd, sockaddr* address, socklen_t* size), (fd, address, size))
FAILS(int, setsockopt, (int fd, int level, int option, const void* value, socklen_t size),
      (fd, level, option, value, size))
FAILS(ssize_t, sendmsg, (int fd, const msghdr* message, int flags), (fd, message, flags))
FAILS(ssize_t, sendto, (int fd, const void* bytes, size_t size, int flags, const sockaddr* to, socklen_t length),
      (fd, bytes, size, flags, to, length))
FAILS(int, poll, (pollfd * fds, nfds_t count, int timeout), (fds, count, timeout))
FAILS(int, epoll_create1, (int flags), (flags))
FAILS(int, epoll_ctl, (int fd, int act, int other, epoll_event* event), (fd, act, other, event))
FAILS(int, epoll_wait, (int fd, epoll_event* events, int most, int timeout), (fd, events, most, timeout))
FAILS(int, timerfd_create, (int clock, int flags), (clock, flags))
FAILS(int, timerfd_settime, (int fd, int flags, const itimerspec* to, itimerspec* old), (fd, flags, to, old))
FAILS(int, inotify_init1, (int flags), (flags))
FAILS(int, inotify_add_watch, (int fd, const char* path, uint32_t mask), (fd, path, mask))
FAILS(int, pipe2, (int* ends, int flags), (ends, flags))
FAILS(pid_t, fork, (), ())
FAILS(pid_t, waitpid, (pid_t child, int* status, int options), (child, status, options))
FAILS(int, dup2, (int fd, int other), (fd, other))
FAILS(int, memfd_create, (const char* name, unsigned flags), (name, flags))
FAILS(off_t, lseek, (int fd, off_t at, int from), (fd, at, from))
FAILS(off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from))
FAILS(int, nanosleep, (const timespec* time, timespec* left), (time, left))

// A descriptor is closed also if its last write has failed (close(2)).
extern "C" int close(int fd) {
  static auto* const real = next<int(int)>("close");
  const int fault = fault_of("close");
  const int result = real(fd);
  if (fault <= 0 || result != 0) return result;
  errno = fault;
  return -1;
}

extern "C" int prctl(int option, ...) {
  static auto* const real = next<int(int, ...)>("prctl");
  va_list list;
  va_start(list, option);
  unsigned long arguments[4];
  for (unsigned long& argument : arguments) argument = va_arg(list, unsigned long);
  va_end(list);
  if (const int fault = fault_of("prctl"); fault > 0) {
    errno = fault;
    return -1;
  }
  return real(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  static auto* const real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  if (const int fault = fault_of("pthread_create"); fault > 0) return fault;
  return real(thread, attributes, run, argument);
}

extern "C" ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static auto* const real = next<ssize_t(int, msghdr*, int)>("recvmsg");
  if (const int fault = fault_of("recvmsg"); fault > 0) {
    errno = fault;
    return -1;
  }
  const ssize_t size = real(fd, message, flags);
  if (interrupts && (flags & MSG_PEEK) == 0 && size >= static_cast<ssize_t>(sizeof(nlmsghdr)) &&
      message->msg_iovlen > 0 && message->msg_iov[0].iov_len >= sizeof(nlmsghdr)) {
    auto* header = static_cast<nlmsghdr*>(message->msg_iov[0].iov_base);
    if ((header->nlmsg_flags & NLM_F_MULTI) != 0) {
      header->nlmsg_flags |= NLM_F_DUMP_INTR;
      interrupts = false;
    }
  }
  return size;
}
