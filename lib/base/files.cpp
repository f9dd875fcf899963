// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/parse.h"

namespace fabric {
namespace {

Error failed(const std::string& path, const char* act) { return error(errno, "/" + path + ": " + act); }

bool is_own(const struct stat& status) { return status.st_uid == 0 || status.st_uid == ::geteuid(); }

// Whether members of the group are others. With an access control list the group's bits are its mask, so that for root
// no group is its own.
bool is_of_others(gid_t group) { return ::geteuid() == 0 || group != ::getegid(); }

// Walks to a directory by descriptors. Other users cannot replace a directory on the way, since each was checked.
class OwnWalk {
 public:
  // Goes on to `path`, which must exist: from where the walk is, at first from the current directory, whose parents are
  // checked as well.
  Result<void> enter(std::string_view path) {
    if (!path.starts_with('/') && !at_) {
      std::error_code unknown;
      const std::string here = std::filesystem::current_path(unknown).string();
      if (unknown) return error(unknown.value(), "the current directory");
      if (auto done = enter(here); !done) return done;
    }
    if (path.starts_with('/')) {
      name_ = "/";
      Fd start(::open(name_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (!start) return error(errno, name_);
      if (auto taken = take(std::move(start)); !taken) return taken;
    }
    for (const std::string_view part : split(path, '/')) {
      if (part.empty() || part == ".") continue;
      const std::string name(part);
      Fd next(::openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      struct stat status {};
      if (!next || ::fstat(next.get(), &status) != 0) return error(errno, shown(name));
      if (S_ISLNK(status.st_mode)) {
        constexpr int kMostLinks = 40;  // MAXSYMLINKS (include/linux/namei.h)
        std::string target(PATH_MAX, '\0');
        if (!is_own(status))
          return error(EPERM, shown(name) + ": the link belongs to user " + std::to_string(status.st_uid));
        if (++links_ > kMostLinks) return error(ELOOP, shown(name));
        const ssize_t size = ::readlinkat(next.get(), "", target.data(), target.size());
        if (size < 0) return error(errno, shown(name));
        target.resize(static_cast<size_t>(size));
        if (auto done = enter(target); !done) return done;
        continue;
      }
      if (!S_ISDIR(status.st_mode)) return error(ENOTDIR, shown(name));
      name_ = shown(name);
      if (auto taken = take(std::move(next)); !taken) return taken;
    }
    return {};
  }

  // Goes on to the directory `name`, which is created if it is missing.
  Result<void> make(const std::string& name, mode_t mode) {
    if (::mkdirat(at_.get(), name.c_str(), mode) != 0) {
      if (errno != EEXIST) return error(errno, shown(name));
      return enter(name);
    }
    Fd next(::openat(at_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return error(errno, shown(name));
    name_ = shown(name);
    const int fd = next.get();
    if (auto taken = take(std::move(next)); !taken) return taken;
    if (::fchmod(fd, mode) != 0) return error(errno, name_);  // whatever the umask
    return {};
  }

  // The directory where the walk ended, for reading, so that it can be listed and synced.
  [[nodiscard]] Result<Fd> opened() const {
    Fd fd(::openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return error(errno, name_);
    return fd;
  }

 private:
  [[nodiscard]] std::string shown(const std::string& name) const {
    if (name_.ends_with('/')) return name_ + name;
    return name_ + "/" + name;
  }

  Result<void> take(Fd fd) {
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return error(errno, name_);
    if (!is_own(status))
      return error(EPERM, name_ + ": the directory belongs to user " + std::to_string(status.st_uid) +
                              ", who could replace its files");
    // In a sticky directory, users cannot rename or delete the directories of others.
    const bool is_sticky = (status.st_mode & S_ISVTX) != 0,
               is_shared =
                   (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && is_of_others(status.st_gid));
    if (is_shared && !is_sticky)
      return error(EPERM, name_ + ": other users can write to the directory, and could replace its files");
    at_ = std::move(fd);
    return {};
  }

  Fd at_;
  std::string name_;
  int links_ = 0;
};

}  // namespace

Result<Fd> open_own_directory(const std::string& directory) {
  OwnWalk walk;
  if (auto entered = walk.enter(directory); !entered) return entered.error();
  return walk.opened();
}

Result<Fd> make_directory_of(const std::string& directory, const std::string& path) {
  OwnWalk walk;
  auto parts = split(path, '/');
  parts.pop_back();
  auto done = walk.enter(directory);
  for (const std::string_view part : parts)
    if (done) done = walk.make(std::string(part), 0755);
  if (done) {
    auto folder = walk.opened();
    if (folder) return folder;
    done = folder.error();
  }
  return error(done.error().code, "/" + path + ": cannot open its directory: " + done.error().what);
}

Result<void> create_file(int directory, const std::string& name, std::string_view text, mode_t mode) {
  const Fd file(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file || !write_all(file.get(), text)) return error(errno, name);
  return {};
}

Result<void> replace_file(const std::string& directory, const std::string& path, std::string_view text) {
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  const std::string name = base_name(path);
  const std::string temporary = "." + name + ".new";
  Fd file(::openat(folder->get(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  // fchmod(): all users may read the file, whatever the umask.
  if (!file || ::fchmod(file.get(), 0644) != 0 || !write_all(file.get(), text) || ::fsync(file.get()) != 0)
    return failed(path, "cannot write");
  if (::renameat(folder->get(), temporary.c_str(), folder->get(), name.c_str()) != 0)
    return failed(path, "cannot rename into place");
  if (::fsync(folder->get()) != 0) return failed(path, "cannot sync its directory");
  return {};
}

Result<void> remove_file(const std::string& directory, const std::string& path) {
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  if (::unlinkat(folder->get(), base_name(path).c_str(), 0) != 0 && errno != ENOENT)
    return failed(path, "cannot remove");
  if (::fsync(folder->get()) != 0) return failed(path, "cannot sync its directory");
  return {};
}

}  // namespace fabric
