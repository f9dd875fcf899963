// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/walk.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <filesystem>

namespace fabric {
namespace {

constexpr int kMaxLinks = 40;  // MAXSYMLINKS of the kernel's own walk (include/linux/namei.h)

// The symbolic link's target, or empty for another file type (EINVAL); other failures are errors.
Result<std::string> link_text(int root, const std::string& path) {
  std::string text(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(root, path.c_str(), text.data(), text.size());
  if (size < 0 && errno == EINVAL) return std::string{};
  if (size < 0) return error(errno, path);
  text.resize(static_cast<size_t>(size));
  return text;
}

// openat2 refuses with EAGAIN when something was renamed while it followed a "..".
Result<Fd> open_in_root(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  for (int attempt = 0; attempt < 8; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno != EAGAIN) break;
  }
  return error(errno, path);
}

// EAGAIN: another file took its place.
Result<Fd> open_foreign_once(int folder, const std::string& name) {
  const auto handle = regular(open_at(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!handle) return handle.error();
  struct stat owner {
  }, seen{}, opened{};
  if (::fstat(folder, &owner) != 0 || ::fstat(handle->get(), &seen) != 0) return failure();
  if (seen.st_uid != owner.st_uid) return failure(EPERM);
  auto fd = open_at(folder, name, O_RDONLY | O_NOFOLLOW | kNoSurprise);
  if (!fd) return failure(fd.error().code == ENOENT ? EAGAIN : fd.error().code);
  if (::fstat(fd->get(), &opened) != 0) return failure();
  if (seen.st_dev != opened.st_dev || seen.st_ino != opened.st_ino) return failure(EAGAIN);
  return fd;
}

}  // namespace

Result<Fd> open_at(int folder, const std::string& name, int flags) {
  Fd fd(::openat(folder, name.c_str(), flags));
  if (!fd) return failure();
  return fd;
}

std::string below(const std::string& path) {
  const size_t start = path.find_first_not_of('/');
  return start == std::string::npos ? "." : path.substr(start);
}

Result<std::string> walk(int root, const std::string& path, Links* met) {
  std::string done;
  std::string rest = path;
  for (int links = 0; !rest.empty();) {
    const size_t slash = rest.find('/');
    const std::string name = rest.substr(0, slash);
    rest = slash == std::string::npos ? std::string{} : rest.substr(slash + 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      done = std::filesystem::path(done).parent_path();
      continue;
    }
    const std::string next = done.empty() ? name : done + '/' + name;
    auto link = link_text(root, next);
    if (!link) return link.error();
    if (link->empty()) {
      done = next;
      continue;
    }
    if (met != nullptr) met->emplace(next, *link);
    if (++links > kMaxLinks) return error(ELOOP, path);
    if (link->front() == '/') done.clear();
    rest = rest.empty() ? *link : *link + '/' + rest;
    if (rest.size() > 2 * PATH_MAX) return error(ENAMETOOLONG, path);
  }
  return done.empty() ? "." : done;
}

Result<Fd> open_below(int root, const std::string& path, int flags) {
  auto fd = open_in_root(root, path, flags);
  if (fd) return fd;
  // ENOSYS: before Linux 5.6; EPERM: the seccomp filters of older container runtimes.
  if (fd.error().code != ENOSYS && fd.error().code != EPERM && fd.error().code != EAGAIN) return fd;
  auto resolved = walk(root, path);
  if (!resolved) return resolved.error();
  return open_at(root, *resolved, flags | O_NOFOLLOW);
}

Result<Fd> regular(Result<Fd> fd) {
  struct stat status {};
  if (!fd) return fd;
  if (::fstat(fd->get(), &status) != 0) return failure();
  if (S_ISREG(status.st_mode)) return fd;
  return failure(S_ISDIR(status.st_mode) ? EISDIR : S_ISLNK(status.st_mode) ? ELOOP : EINVAL);
}

// Its writer may put another file in its place at any time: what was looked at is what is read.
Result<Fd> open_foreign(const Result<Fd>& folder, const std::string& name) {
  constexpr int kAttempts = 8;
  if (!folder) return folder.error();
  Result<Fd> fd = failure(EAGAIN);
  for (int i = 0; i < kAttempts && !fd && fd.error().code == EAGAIN; ++i) fd = open_foreign_once(folder->get(), name);
  return fd;
}

}  // namespace fabric
