// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr size_t kMaxEntries = 65'536;
constexpr int kMaxLinks = 40;  // MAXSYMLINKS of the kernel's own walk (include/linux/namei.h)

// Opening never waits for the other end of a FIFO, and never makes a terminal the process's own.
constexpr int kNoSurprise = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// The errors of the functions below have no text: Root adds the file's name.
Error failure(int code = errno) { return error(code, ""); }

Result<Fd> open_at(int folder, const std::string& name, int flags) {
  Fd fd(::openat(folder, name.c_str(), flags));
  if (!fd) return failure();
  return fd;
}

// The path without leading slashes; "." for the directory itself.
std::string below(const std::string& path) {
  const size_t start = path.find_first_not_of('/');
  if (start == std::string::npos) return ".";
  return path.substr(start);
}

// Walks `path` below `root` and follows links without ever leaving it. The result has no link and no "..". Links on the
// way are added to `met`.
Result<std::string> walk(int root, const std::string& path, std::map<std::string, std::string>* met = nullptr) {
  std::string done;
  std::string rest = path;
  for (int links = 0; !rest.empty();) {
    const size_t slash = rest.find('/');
    const std::string name = rest.substr(0, slash);
    rest.erase(0, std::min(slash, rest.size()));
    rest.erase(0, 1);
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      done = std::filesystem::path(done).parent_path();
      continue;
    }
    std::string next = done;
    append_item(next, name, "/");
    std::string link(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(root, next.c_str(), link.data(), link.size());
    if (size < 0 && errno != EINVAL) return error(errno, next);
    if (size <= 0) {  // EINVAL: not a link
      done = next;
      continue;
    }
    link.resize(static_cast<size_t>(size));
    if (met != nullptr) met->emplace(next, link);
    if (++links > kMaxLinks) return error(ELOOP, path);
    if (link.front() == '/') done.clear();
    if (!rest.empty()) link.append("/").append(rest);
    rest = link;
    if (rest.size() > 2 * PATH_MAX) return error(ENAMETOOLONG, path);
  }
  if (done.empty()) return std::string(".");
  return done;
}

// The descriptor, if it is of a regular file. EISDIR: a folder; ELOOP: a link; EINVAL: another type.
Result<Fd> regular(Result<Fd> fd) {
  struct stat status {};
  if (!fd) return fd;
  if (::fstat(fd->get(), &status) != 0) return failure();
  if (S_ISREG(status.st_mode)) return fd;
  if (S_ISDIR(status.st_mode)) return failure(EISDIR);
  if (S_ISLNK(status.st_mode)) return failure(ELOOP);
  return failure(EINVAL);
}

// Opens a file for reading that the folder's owner has written. The owner may replace the file at any time, so the
// opened file must be the one that was checked.
Result<Fd> open_foreign(const Result<Fd>& folder, const std::string& name) {
  constexpr int kAttempts = 8;
  if (!folder) return folder.error();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto handle = regular(open_at(folder->get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!handle) return handle.error();
    struct stat owner {
    }, seen{}, opened{};
    if (::fstat(folder->get(), &owner) != 0 || ::fstat(handle->get(), &seen) != 0) return failure();
    if (seen.st_uid != owner.st_uid) return failure(EPERM);
    auto fd = open_at(folder->get(), name, O_RDONLY | O_NOFOLLOW | kNoSurprise);
    if (!fd && (fd.error().code == ENOENT || fd.error().code == EAGAIN)) continue;
    if (!fd) return fd;
    if (::fstat(fd->get(), &opened) != 0) return failure();
    if (seen.st_dev == opened.st_dev && seen.st_ino == opened.st_ino) return fd;
  }
  return failure(EAGAIN);
}

struct CloseDir {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// Whether a name can be shown. Only names of netdevs can have other characters.
bool is_shown(std::string_view name) { return clean_text(name) == name; }

Answer content_of(const Result<Fd>& fd, size_t most) {
  if (!fd) return fd.error();
  auto text = read_all(fd->get(), most);
  if (!text) return text.error();
  return std::vector{std::move(*text)};
}

Answer list_all(Result<Fd> folder) {
  if (!folder) return folder.error();
  const std::unique_ptr<DIR, CloseDir> stream(::fdopendir(folder->get()));
  if (!stream) return failure();
  folder->release();  // closedir closes it
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMaxEntries) return failure(E2BIG);
    if (is_shown(name)) names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return failure();
  std::ranges::sort(names, natural_less);
  return names;
}

Answer yes_or_no(bool yes) {
  if (!yes) return failure(ENOENT);
  return std::vector<std::string>{};
}

Result<std::string> one_text(Answer answer) {
  if (!answer) return answer.error();
  if (answer->empty()) return std::string{};
  return std::move(answer->front());
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

Root Root::of(Fd directory, std::string path) {
  Root root;
  root.path_ = std::move(path);
  root.fd_ = std::move(directory);
  return root;
}

std::string Root::name_of(const std::string& file) const {
  if (is_host() || replays()) return "/" + below(file);
  return path_ + "/" + below(file);
}

template <class Value>
Result<Value> Root::named(const std::string& file, Result<Value> result) const {
  if (!result) return error(result.error().code, name_of(file));
  return result;
}

Result<Fd> Root::open_file(const std::string& file, int flags) const {
  if (file.find('\0') != std::string::npos) return failure(EINVAL);
  const std::string path = below(file);
  if (is_host()) return open_at(fd_.get(), path, flags);
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT;
  // openat2 refuses with EAGAIN if a file was renamed while it followed a "..".
  for (int attempt = 0; attempt < 8; ++attempt) {
    const long fd = ::syscall(SYS_openat2, fd_.get(), path.c_str(), &how, sizeof how);
    if (fd >= 0) return Fd(static_cast<int>(fd));
    if (errno != EAGAIN) break;
  }
  // ENOSYS: before Linux 5.6; EPERM: the seccomp filters of older container runtimes.
  if (errno != ENOSYS && errno != EPERM && errno != EAGAIN) return error(errno, path);
  auto resolved = walk(fd_.get(), path);
  if (!resolved) return resolved.error();
  // No step follows a link: a folder on the way may have been replaced by one since.
  Fd folder;
  std::string_view rest = *resolved;
  int at = fd_.get();
  for (size_t slash = 0; (slash = rest.find('/')) != std::string_view::npos; rest.remove_prefix(slash + 1)) {
    auto next = open_at(at, std::string(rest.substr(0, slash)), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!next) return next;
    folder = std::move(*next);
    at = folder.get();
  }
  return open_at(at, std::string(rest), flags | O_NOFOLLOW);
}

// Opening a device can act on it, and a captured tree may contain any file, so there the type is checked first.
Result<Fd> Root::open_regular(const std::string& file, int flags) const {
  if (!is_host())
    if (auto handle = regular(open_file(file, O_PATH | O_CLOEXEC)); !handle) return handle;
  return regular(open_file(file, flags | kNoSurprise));
}

Result<Fd> Root::open_parent(const std::string& file) const {
  const std::string path = below(file);
  const size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  return open_file(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

template <class Live>
Answer Root::ask(Ask ask, const std::string& file, Live&& live) const {
  if (!tape_) return live();
  const std::string path = below(file);
  if (replays()) {
    const Answer* known = tape_->find(ask, path);
    if (known == nullptr) return live();
    return named(file, *known);
  }
  if (tape_->beyond()) return *tape_->beyond();
  Answer answer = live();
  // A refused link is not part of the machine: it may lead anywhere.
  if (answer || answer.error().code != ELOOP) {
    std::map<std::string, std::string> met;
    auto place = walk(fd_.get(), path, &met);
    tape_->note_links(path, met);
    if (place) tape_->note_place(path, std::move(place).value());
  }
  tape_->note(ask, path, answer);
  return answer;
}

Answer Root::read_or_list(Ask asked, const std::string& file, const std::function<Answer()>& live) const {
  return ask(asked, file, [&]() -> Answer {
    if (auto refused = ask_behind(BehindFiles::Act::read, file, {}); refused && !*refused) return refused->error();
    return named(file, live());
  });
}

Result<std::string> Root::read(const std::string& file, size_t most) const {
  return one_text(read_or_list(Ask::read, file, [&] { return content_of(open_regular(file, O_RDONLY), most); }));
}

Result<std::string> Root::read_foreign(const std::string& file) const {
  return one_text(read_or_list(
      Ask::read, file, [&] { return content_of(open_foreign(open_parent(file), base_name(file)), kMostBytes); }));
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

std::string Root::line_of(const std::string& file) const { return read_line(file).value_or(""); }

std::string Root::text_of(const std::string& file, size_t most) const { return read_text(file, most).value_or(""); }

Result<std::vector<std::string>> Root::list(const std::string& directory) const {
  auto names = read_or_list(Ask::list, directory,
                            [&] { return list_all(open_file(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)); });
  const std::string path = below(directory);
  if (names && tape_ && !replays() && path.starts_with("sys/")) {  // other tools need the links of the kernel's tree
    std::map<std::string, std::string> met;
    for (const std::string& name : *names) (void)walk(fd_.get(), path + "/" + name, &met);
    tape_->note_links(path, met);
  }
  return names;
}

std::vector<std::string> Root::names_in(const std::string& directory) const { return list(directory).value_or({}); }

bool Root::exists(const std::string& file) const {
  return ask(Ask::exists, file, [&] { return yes_or_no(open_file(file, O_PATH | O_CLOEXEC).ok()); }).ok();
}

Result<std::string> Root::resolve(const std::string& link) const {
  return one_text(ask(Ask::resolve, link, [&]() -> Answer {
    if (link.find('\0') != std::string::npos) return error(EINVAL, name_of(link));
    auto resolved = named(link, walk(fd_.get(), below(link)));
    if (!resolved) return resolved.error();
    if (!is_shown(*resolved)) return error(EINVAL, name_of(link));
    return std::vector{std::move(*resolved)};
  }));
}

Result<std::string> Root::read_link(const std::string& link) const {
  const auto fd = handle(link, O_NOFOLLOW);
  if (!fd) return fd.error();
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(fd->get(), "", target.data(), target.size());
  if (size < 0) return error(errno, name_of(link));  // ENOENT: not a link
  target.resize(static_cast<size_t>(size));
  return target;
}

std::string Root::link_name(const std::string& link) const { return base_name(resolve(link).value_or("")); }

bool Root::is_locked(const std::string& file) const {
  const Answer answer = ask(Ask::locked, file, [&] {
    const auto fd = open_regular(file, O_RDONLY);
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    return yes_or_no(fd && ::fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK);
  });
  return answer.ok();
}

std::optional<Result<void>> Root::ask_behind(BehindFiles::Act act, const std::string& file,
                                             std::string_view text) const {
  if (replays() && act != BehindFiles::Act::read) return Result<void>(error(EROFS, name_of(file)));
  if (!behind_) return std::nullopt;
  auto answer = behind_->act(act, file, text);
  if (!answer) return std::nullopt;
  return named(file, *answer);
}

Result<void> Root::write(const std::string& file, std::string_view text) const {
  return write_by(file, text, [&] { return open_regular(file, O_WRONLY | O_TRUNC); });
}

Result<void> Root::write_at(const std::string& file, uint64_t offset, std::string_view bytes) const {
  return write_by(
      file, bytes, [&] { return open_regular(file, O_WRONLY); }, offset);
}

Result<void> Root::write_by(const std::string& file, std::string_view text, const std::function<Result<Fd>()>& open,
                            std::optional<uint64_t> offset) const {
  if (auto answer = ask_behind(BehindFiles::Act::write, file, text)) return *answer;
  const auto fd = named(file, open());
  if (!fd) return fd.error();
  const ssize_t size = offset ? ::pwrite(fd->get(), text.data(), text.size(), static_cast<off_t>(*offset))
                              : ::write(fd->get(), text.data(), text.size());
  if (size < 0) return error(errno, name_of(file));
  if (static_cast<size_t>(size) != text.size()) return error(EIO, name_of(file));
  return {};
}

Result<void> Root::write_in(const std::string& folder, const std::string& file, std::string_view text,
                            const std::function<Result<void>(const Fd& folder)>& check) const {
  const std::string whole = folder + "/" + file;
  const auto at = named(folder, open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return at.error();
  if (auto accepted = check(*at); !accepted) return accepted;
  return write_by(whole, text,
                  [&] { return regular(open_at(at->get(), file, O_WRONLY | O_TRUNC | O_NOFOLLOW | kNoSurprise)); });
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

Result<void> Root::make_directory(const std::string& directory) const {
  return change_folder(Ask::make_directory, directory);
}

Result<void> Root::remove_directory(const std::string& directory) const {
  return change_folder(Ask::remove_directory, directory);
}

Result<void> Root::change_folder(Ask asked, const std::string& directory) const {
  using Act = BehindFiles::Act;
  const bool makes = asked == Ask::make_directory;
  const Answer answer = ask(asked, directory, [&]() -> Answer {
    const std::vector<std::string> done;
    if (auto behind = ask_behind(makes ? Act::make_directory : Act::remove_directory, directory, {})) {
      if (!*behind) return behind->error();
      return done;
    }
    const auto parent = named(directory, open_parent(directory));
    if (!parent) return parent.error();
    const std::string name = base_name(directory);
    const int failed =
        makes ? ::mkdirat(parent->get(), name.c_str(), 0755) : ::unlinkat(parent->get(), name.c_str(), AT_REMOVEDIR);
    if (failed != 0) return error(errno, name_of(directory));
    return done;
  });
  if (!answer) return answer.error();
  return {};
}

Result<Fd> Root::handle(const std::string& file, int flags) const {
  return named(file, open_file(file, O_PATH | O_CLOEXEC | flags));
}

Result<Fd> Root::open_folder(const std::string& directory) const {
  return named(directory, open_file(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

Result<Fd> Root::hold(const std::string& file) const {
  if (tape_)  // so that the tape has the answers for reads of the descriptor
    if (auto text = read(file); !text && replays()) return text.error();
  auto fd = named(file, open_regular(file, O_RDONLY));
  // A quarter of the file descriptor limit is reserved for connections and files that are open only briefly.
  rlimit limit{};
  int most = INT_MAX;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX) / 4 * 3);
  if (fd && fd->get() >= most) return error(EMFILE, name_of(file));
  return fd;
}

}  // namespace fabric
