// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/capture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/fd.h"
#include "base/files.h"
#include "base/parse.h"
#include "kernel/capture/root.h"
#include "node/topology_xml.h"

namespace fabric::ctl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = Tape::kMostBytes;
constexpr size_t kMaxFolders = Tape::kMostQuestions;

const Answer& newest(const Tape::Answers& samples) { return samples.rbegin()->second; }

bool is_plain(const std::string& path) {  // without "." and "..", and not empty
  for (const fs::path& part : fs::path(path))
    if (part == "." || part == ".." || part == "/") return false;
  return !path.empty();
}

// The names in the open folder, also those that cannot be shown.
Result<std::vector<std::string>> names_of(int folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(::openat(folder, ".", O_RDONLY | O_CLOEXEC)),
                                                   ::closedir);
  if (!stream) return error(errno, "");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(stream.get()))
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  return names;
}

// Creates the folder, which only this user can enter.
Result<Fd> make_folder(int parent, const std::string& name) {
  if (::mkdirat(parent, name.c_str(), 0700) != 0) return error(errno, name);
  Fd fd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return error(errno, name);
  if (status.st_uid != ::geteuid()) return error(EPERM, name);
  return fd;
}

// Deletes the file, or the folder with everything in it. Follows no link.
// NOLINTNEXTLINE(misc-no-recursion): as deep as a capture
void remove_all(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0) return;
  {
    const Fd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return;
    if (const auto names = names_of(folder.get()))
      for (const std::string& inner : *names) remove_all(folder.get(), inner);
  }
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

// A folder for a capture. If it does not exist, `directory` is invalid and `parent` is where to create it.
struct CaptureTarget {
  Fd directory, parent;
  std::string name;
};

Result<CaptureTarget> find_target(const std::string& path) {
  auto directory = open_own_directory(path);
  if (directory) {
    const auto names = names_of(directory->get());
    if (!names) return error(names.error().code, path);
    if (!names->empty()) return error(0, path + " is not an empty directory");
    return CaptureTarget{std::move(*directory), {}, {}};
  }
  if (directory.error().code == ENOTDIR) return error(0, path + " is not an empty directory");
  const size_t slash = path.rfind('/');
  std::string above = ".";
  if (slash != std::string::npos) above = path.substr(0, slash + 1);
  if (directory.error().code != ENOENT) return directory.error();
  auto parent = open_own_directory(above);
  if (!parent) return parent.error();
  return CaptureTarget{{}, std::move(*parent), base_name(path)};
}

// A temporary folder inside the folder of the capture, which it fills. The destructor deletes it, and the folder of the
// capture if it is new, unless keep() has succeeded. The temporary folder is inside since the other one may be a mount
// point or the current directory, and no folder can be renamed to those. All files are reached by descriptors of
// folders, whose names others may change meanwhile.
class CaptureFolder {
 public:
  static Result<CaptureFolder> make(const std::string& path) {
    auto target = find_target(path);
    if (!target) return target.error();
    const bool is_new = !target->directory;
    if (is_new) {
      auto made = make_folder(target->parent.get(), target->name);
      if (!made) return error(made.error().code, path);
      target->directory = std::move(*made);
    }
    CaptureFolder out(std::move(*target), path, is_new);
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return error(errno, path);
    out.name_ = ".capture." + std::to_string(number);
    auto folder = make_folder(out.target_.directory.get(), out.name_);
    if (!folder) return error(folder.error().code, path);
    out.folder_ = std::move(*folder);
    return out;
  }
  CaptureFolder(CaptureFolder&&) = default;
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;
  CaptureFolder& operator=(CaptureFolder&&) = delete;
  ~CaptureFolder() {
    if (!target_.directory) return;
    if (!name_.empty()) remove_all(target_.directory.get(), name_);
    if (is_new_) ::unlinkat(target_.parent.get(), target_.name.c_str(), AT_REMOVEDIR);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Result<Root> root() const {
    Fd fd(::openat(folder_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return error(errno, path_);
    return Root::of(std::move(fd), path_);
  }

  // folder(), link() and file() fail with EEXIST or ENOTDIR if another file is in the way, since the answers of the
  // tape are from different moments. The answers file then has the answer. EFBIG: too many folders.
  Result<int> folder(const std::string& place) {
    if (place.empty() || place == ".") return folder_.get();
    if (place == last_path_) return last_.get();
    Fd at;
    for (const std::string_view part : split(place, '/')) {
      const int parent = at ? at.get() : folder_.get();
      const std::string name(part);
      if (::mkdirat(parent, name.c_str(), 0700) == 0) {
        if (++folders_ > kMaxFolders)
          return error(EFBIG, "/" + place + ": a capture has at most " + std::to_string(kMaxFolders) + " directories");
      } else if (errno != EEXIST) {
        return error(errno, path_ + "/" + place);
      }
      Fd next(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next) return error(errno, path_ + "/" + place);
      at = std::move(next);
    }
    last_ = std::move(at);
    last_path_ = place;
    return last_.get();
  }
  // Makes the target relative if it would lead out of the tree: opening a file of the tree by its path stays inside.
  Result<void> link(const std::string& place, const std::string& target) {
    const fs::path parent = fs::path("/" + place).parent_path(),
                   plain = (parent.relative_path() / target).lexically_normal();
    std::string inside = target;
    if (target.starts_with('/') || *plain.begin() == "..")
      inside = (parent / target).lexically_normal().lexically_relative(parent).string();
    const auto at = folder(parent.relative_path().string());
    if (!at) return at.error();
    if (::symlinkat(inside.c_str(), *at, base_name(place).c_str()) != 0) return error(errno, path_ + "/" + place);
    return {};
  }
  Result<void> file(const std::string& place, std::string_view text) {
    const auto at = folder(fs::path(place).parent_path().string());
    if (!at) return at.error();
    if (auto created = create_file(*at, base_name(place), text, 0600); !created)
      return error(created.error().code, path_ + "/" + place);
    return {};
  }
  // Moves the contents of the folder up into the directory: all or nothing.
  Result<void> keep() {
    const int from = folder_.get(), to = target_.directory.get();
    const auto names = names_of(from);
    if (!names) return error(names.error().code, path_);
    std::vector<std::string> moved;
    for (const std::string& name : *names) {
      // EINVAL: a file system that cannot refuse to replace (NFS). The directory was empty and is ours.
      int failed = ::renameat2(from, name.c_str(), to, name.c_str(), RENAME_NOREPLACE);
      if (failed != 0 && errno == EINVAL) failed = ::renameat(from, name.c_str(), to, name.c_str());
      if (failed != 0) {
        const Error why = error(errno, path_ + "/" + name);
        for (const std::string& done : moved) remove_all(to, done);
        return why;
      }
      moved.push_back(name);
    }
    if (::unlinkat(to, name_.c_str(), AT_REMOVEDIR) != 0) return error(errno, path_);
    target_.directory.reset();
    return {};
  }

 private:
  CaptureFolder(CaptureTarget target, std::string path, bool is_new)
      : target_(std::move(target)), path_(std::move(path)), is_new_(is_new) {}
  CaptureTarget target_;
  std::string path_, name_;  // of the capture, as given; of the temporary folder
  bool is_new_;
  Fd folder_;
  Fd last_;  // the last result of folder(): most files are beside the one before
  std::string last_path_;
  size_t folders_ = 0;
};

// Two names of one file, or a machine that changed during the capture, do not make it fail.
bool is_harmless(const Result<void>& done) {
  return done || done.error().code == EEXIST || done.error().code == ENOTDIR || done.error().code == ELOOP;
}

Result<void> write_files(const Tape& tape, CaptureFolder& folder, Written& written) {
  for (const auto& [place, target] : tape.links)
    if (is_plain(place))
      if (const auto done = folder.link(place, target); !is_harmless(done)) return done;
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const auto place = tape.places.find(what);
    const Answer& answer = newest(samples);
    if (place == tape.places.end() || !is_plain(place->second) || !answer) continue;
    if (ask == Ask::list)
      if (const auto made = folder.folder(place->second); !made && made.error().code == EFBIG) return made.error();
    if (ask != Ask::read || answer->empty()) continue;
    const std::string& text = answer->front();
    written.bytes += text.size();
    if (written.bytes > kMaxBytes)
      return error(EFBIG, "/" + what + ": a capture has at most " + std::to_string(kMaxBytes >> 20) + " MiB");
    const auto done = folder.file(place->second, text);
    if (!is_harmless(done)) return done;
    if (done) ++written.files;
  }
  return {};
}

// Answers in the form of Root's recorder: a text is a list of one element, yes is an empty list.
Answer text_answer(const Result<std::string>& text) {
  if (!text) return text.error();
  return std::vector{*text};
}
Answer yes_answer(bool yes) {
  if (!yes) return error(ENOENT, "");
  return std::vector<std::string>{};
}

Answer answer_of_tree(const Root& root, const Tape::Question& question) {
  const auto& [ask, what] = question;
  switch (ask) {
    case Ask::read: return text_answer(root.read(what));
    case Ask::list: return root.list(what);
    case Ask::exists: return yes_answer(root.exists(what));
    case Ask::resolve: return text_answer(root.resolve(what));
    case Ask::locked: return yes_answer(root.is_locked(what));
    default: return error(EROFS, "");  // not about files, or a write: a captured tree is not written
  }
}

// Questions that the tree itself would answer differently.
std::map<Tape::Question, Tape::Answers> not_in_tree(const Tape& tape, const Root& root) {
  std::map<Tape::Question, Tape::Answers> out;
  for (const auto& [question, samples] : tape.answers) {
    const Answer tree = answer_of_tree(root, question);
    bool differs = !is_of_files(question.first);
    for (const auto& [time, answer] : samples) {
      if (answer.ok() != tree.ok()) differs = true;
      else if (answer.ok()) differs = differs || *answer != *tree;
      else differs = differs || answer.error().code != tree.error().code;
    }
    if (differs) out.emplace(question, samples);
  }
  return out;
}

}  // namespace

Result<void> check_capture_directory(const std::string& directory) {
  if (auto target = find_target(directory); !target) return target.error();
  return {};
}

Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory) {
  auto folder = CaptureFolder::make(directory);
  if (!folder) return folder.error();
  Written written;
  if (auto done = write_files(tape, *folder, written); !done) return done.error();
  const auto root = folder->root();
  if (!root) return root.error();
  auto rest = not_in_tree(tape, *root);
  // hwloc's XML is a separate file, which lstopo(1) can read as well.
  if (const auto found = rest.find({Ask::query, kHwlocQuestion});
      found != rest.end() && newest(found->second) && !newest(found->second)->empty()) {
    if (auto done = folder->file(kHwlocFile, newest(found->second)->front()); !done) return done.error();
    rest.erase(found);
    rest.erase({Ask::read, kHwlocFile});  // the answer that the captured machine does not have this file
  }
  written.answers = rest.size();
  const std::string answers = answers_text(rest);
  if (answers.size() > kMaxBytes)
    return error(EFBIG,
                 std::string(kAnswersFile) + ": a capture has at most " + std::to_string(kMaxBytes >> 20) + " MiB");
  if (auto done = folder->file(kAnswersFile, answers); !done) return done.error();
  if (auto done = folder->file("fabric-agent/about.txt", about); !done) return done.error();
  if (auto done = folder->keep(); !done) return done.error();
  return written;
}

}  // namespace fabric::ctl
