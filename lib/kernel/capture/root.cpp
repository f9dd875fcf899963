// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/parse.h"
#include "kernel/capture/walk.h"

namespace fabric {
namespace {

constexpr size_t kMaxEntries = 65'536;

// Never waits for the other end of a FIFO, never becomes the terminal's owner.
constexpr int kNoSurprise = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

struct CloseDir {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// Of the kernel's names only a netdev's can be anything.
bool is_shown(std::string_view name) { return clean_text(name) == name; }

Result<void> must_be_regular(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return error(errno, "");
  if (S_ISREG(status.st_mode)) return {};
  return error(S_ISDIR(status.st_mode) ? EISDIR : EINVAL, "");
}

// EAGAIN: another file took its place.
Result<Fd> open_foreign_once(int folder, const std::string& name) {
  const Fd handle(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat owner {
  }, seen{}, opened{};
  if (!handle || ::fstat(folder, &owner) != 0 || ::fstat(handle.get(), &seen) != 0) return error(errno, name);
  if (S_ISLNK(seen.st_mode)) return error(ELOOP, name);
  if (auto regular = must_be_regular(handle.get()); !regular) return regular.error();
  if (seen.st_uid != owner.st_uid) return error(EPERM, name);
  Fd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | kNoSurprise));
  if (!fd || ::fstat(fd.get(), &opened) != 0) return error(errno == ENOENT ? EAGAIN : errno, name);
  if (seen.st_dev != opened.st_dev || seen.st_ino != opened.st_ino) return error(EAGAIN, name);
  return fd;
}

Result<std::string> read_all(int fd, size_t most) {
  std::string text;
  for (;;) {
    const size_t had = text.size();
    text.resize(had + std::max<size_t>(4096, had));
    const ssize_t size = ::read(fd, text.data() + had, text.size() - had);
    const int code = errno;
    text.resize(had + static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (size == 0) return text;
    if (size < 0 && code != EINTR) return error(code, "");
    if (text.size() > most) return error(EFBIG, "");
  }
}

}  // namespace

Result<Root> Root::open(const std::string& directory) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(directory.c_str(), nullptr), &std::free);
  if (!real) return error(errno, directory);
  Root root;
  root.path_ = real.get();
  root.fd_ = Fd(::open(real.get(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.fd_) return error(errno, directory);
  return root;
}

std::string Root::name_of(const std::string& file) const {
  return (is_host() || replays() ? "/" : path_ + '/') + below(file);
}

Result<Fd> Root::open_file(const std::string& file, int flags) const {
  if (file.find('\0') != std::string::npos) return error(EINVAL, name_of(file));
  if (is_host()) {
    Fd fd(::openat(fd_.get(), below(file).c_str(), flags));
    if (!fd) return error(errno, name_of(file));
    return fd;
  }
  auto fd = open_below(fd_.get(), below(file), flags);
  if (!fd) return error(fd.error().code, name_of(file));
  return fd;
}

// Opening a device can act on it, and a captured tree may hold anything: there the kind is looked at first.
Result<Fd> Root::open_regular(const std::string& file, int flags) const {
  if (!is_host()) {
    auto handle = open_file(file, O_PATH | O_CLOEXEC);
    if (!handle) return handle;
    if (auto regular = must_be_regular(handle->get()); !regular) return error(regular.error().code, name_of(file));
  }
  auto fd = open_file(file, flags | kNoSurprise);
  if (!fd) return fd;
  if (auto regular = must_be_regular(fd->get()); !regular) return error(regular.error().code, name_of(file));
  return fd;
}

// Its writer may put another file in its place at any time: what was looked at is what is read.
Result<Fd> Root::open_foreign(const std::string& file) const {
  constexpr int kAttempts = 8;
  auto parent = parent_of(below(file));
  if (!parent) return error(parent.error().code, name_of(file));
  Result<Fd> fd = error(EAGAIN, name_of(file));
  for (int i = 0; i < kAttempts && !fd && fd.error().code == EAGAIN; ++i) {
    fd = open_foreign_once(parent->first.get(), parent->second);
    if (!fd) fd = error(fd.error().code, name_of(file));
  }
  return fd;
}

Result<std::string> Root::read_file(const std::string& file, size_t most, bool foreign) const {
  if (auto answer = ask_behind(BehindFiles::Act::read, file, {}); answer && !*answer) return answer->error();
  auto fd = foreign ? open_foreign(file) : open_regular(file, O_RDONLY);
  if (!fd) return fd.error();
  auto text = read_all(fd->get(), most);
  if (!text) return error(text.error().code, name_of(file));
  return text;
}

Result<std::string> Root::read_text(const std::string& file, size_t most) const {
  auto text = read(file, most);
  if (!text) return text;
  return clean_text(*text, Breaks::keep);
}

Result<std::string> Root::read_line(const std::string& file) const {
  auto text = read(file);
  if (!text) return text;
  return clean_text(trim(*text));
}

std::string Root::line_of(const std::string& file) const {
  auto line = read_line(file);
  return line ? std::move(line).value() : std::string();
}

Result<std::vector<std::string>> Root::list_folder(const std::string& directory) const {
  if (auto answer = ask_behind(BehindFiles::Act::read, directory, {}); answer && !*answer) return answer->error();
  auto fd = open_file(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!fd) return fd.error();
  const std::unique_ptr<DIR, CloseDir> stream(::fdopendir(fd->get()));
  if (!stream) return error(errno, name_of(directory));
  fd->release();  // closedir closes it
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMaxEntries) return error(E2BIG, name_of(directory));
    if (is_shown(name)) names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return error(errno, name_of(directory));
  std::ranges::sort(names, natural_less);
  return names;
}

bool Root::is_there(const std::string& file) const { return open_file(file, O_PATH | O_CLOEXEC).ok(); }

Result<std::string> Root::follow(const std::string& link) const {
  if (link.find('\0') != std::string::npos) return error(EINVAL, name_of(link));
  auto resolved = walk(fd_.get(), below(link));
  if (!resolved) return error(resolved.error().code, name_of(link));
  if (!is_shown(*resolved)) return error(EINVAL, name_of(link));
  return resolved;
}

Result<std::string> Root::note_links(const std::string& path) const {
  return walk(fd_.get(), below(path), &tape_->links);
}

bool Root::has_lock(const std::string& file) const {
  const auto fd = open_regular(file, O_RDONLY);
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  return fd && ::fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<Result<void>> Root::ask_behind(BehindFiles::Act act, const std::string& file,
                                             std::string_view text) const {
  if (replays() && act != BehindFiles::Act::read) return Result<void>(error(EROFS, name_of(file)));
  if (!behind_) return std::nullopt;
  auto answer = behind_->act(act, file, text);
  if (answer && !*answer) return Result<void>(error(answer->error().code, name_of(file)));
  return answer;
}

Result<void> Root::write_owned(const std::string& file, std::string_view text) const {
  auto written = write(file, text);
  if (written || written.error().code != EACCES) return written;
  auto fd = open_regular(file, O_RDONLY);
  struct stat status {};
  if (!fd || ::fstat(fd->get(), &status) != 0 || ::fchmod(fd->get(), (status.st_mode & 0777) | S_IWUSR) != 0)
    return written;
  written = write(file, text);
  if (::fchmod(fd->get(), status.st_mode & 07777) != 0 && written)
    return error(errno, name_of(file) + ": cannot restore the file mode");
  return written;
}

Result<void> Root::write_at(const std::string& file, uint64_t offset, std::string_view bytes) const {
  if (auto answer = ask_behind(BehindFiles::Act::write, file, bytes)) return *answer;
  auto fd = open_regular(file, O_WRONLY);
  if (!fd) return fd.error();
  const ssize_t size = ::pwrite(fd->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  if (size < 0) return error(errno, name_of(file));
  if (static_cast<size_t>(size) != bytes.size()) return error(EIO, name_of(file));
  return {};
}

Result<std::pair<Fd, std::string>> Root::parent_of(const std::string& path) const {
  const size_t slash = path.rfind('/');
  auto folder = open_file(slash == std::string::npos ? "." : path.substr(0, slash), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!folder) return folder.error();
  return std::pair(std::move(*folder), slash == std::string::npos ? path : path.substr(slash + 1));
}

Result<void> Root::make_folder(const std::string& directory) const {
  if (auto answer = ask_behind(BehindFiles::Act::make_directory, directory, {})) return *answer;
  auto parent = parent_of(directory);
  if (!parent) return parent.error();
  if (::mkdirat(parent->first.get(), parent->second.c_str(), 0755) != 0) return error(errno, name_of(directory));
  return {};
}

Result<void> Root::remove_folder(const std::string& directory) const {
  if (auto answer = ask_behind(BehindFiles::Act::remove_directory, directory, {})) return *answer;
  auto parent = parent_of(directory);
  if (!parent) return parent.error();
  if (::unlinkat(parent->first.get(), parent->second.c_str(), AT_REMOVEDIR) != 0)
    return error(errno, name_of(directory));
  return {};
}

Result<void> Root::write(const std::string& file, std::string_view text) const {
  if (auto answer = ask_behind(BehindFiles::Act::write, file, text)) return *answer;
  auto fd = open_regular(file, O_WRONLY | O_TRUNC);
  if (!fd) return fd.error();
  const ssize_t size = ::write(fd->get(), text.data(), text.size());
  if (size < 0) return error(errno, name_of(file));
  if (static_cast<size_t>(size) != text.size()) return error(EIO, name_of(file));
  return {};
}

}  // namespace fabric
