// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/capture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/fd.h"
#include "ctl/output/terminal.h"
#include "kernel/capture/root.h"
#include "node/topology.h"
#include "node/topology_xml.h"

namespace fabric::ctl {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = size_t{64} << 20;

// The newest answer.
const Answer& newest(const Tape::Answers& samples) { return samples.rbegin()->second; }

bool is_plain(const std::string& path) {  // without "." and "..", and not empty
  for (const fs::path& part : fs::path(path))
    if (part == "." || part == ".." || part == "/") return false;
  return !path.empty();
}

// The target of the link at `place`, relative to the tree: opening a file of the tree by its path stays inside.
std::string inside(const std::string& place, const std::string& target) {
  const fs::path folder = fs::path("/" + place).parent_path(),
                 plain = (folder.relative_path() / target).lexically_normal();
  if (!target.starts_with('/') && *plain.begin() != "..") return target;
  return (folder / target).lexically_normal().lexically_relative(folder).string();
}

// A folder in `directory` that is being filled; gone again, with the directory if it is new, unless keep() was called.
// In it, as it may be a mount point or the current directory, which nothing can be renamed to.
class Folder {
 public:
  static Result<Folder> make(const std::string& directory) {
    const bool is_new = ::mkdir(directory.c_str(), 0700) == 0;
    if (!is_new && errno != EEXIST) return error(errno, directory);
    std::string name = directory + "/.capture.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return error(errno, directory);
    return Folder(directory, is_new, std::move(name));
  }
  Folder(Folder&& other) noexcept
      : directory_(std::move(other.directory_)), is_new_(other.is_new_), path_(std::exchange(other.path_, {})) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (is_new_) fs::remove_all(directory_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  // Each returns false if another file is in the way (the tape mixes moments); the answers file has it then.
  bool folder(const std::string& place) const {
    std::string so_far = path_;
    for (const fs::path& part : fs::path(place)) {
      so_far += "/" + part.string();
      if (::mkdir(so_far.c_str(), 0700) == 0) continue;
      struct stat status {};
      if (errno != EEXIST || ::lstat(so_far.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
    }
    return true;
  }
  [[nodiscard]] bool link(const std::string& place, const std::string& target) const {
    return folder(fs::path(place).parent_path()) &&
           ::symlink(inside(place, target).c_str(), (path_ + "/" + place).c_str()) == 0;
  }
  [[nodiscard]] Result<void> file(const std::string& place, std::string_view text) const {
    const std::string name = path_ + "/" + place;
    if (!folder(fs::path(place).parent_path())) return error(EEXIST, name);
    const Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), text)) return error(errno, name);
    return {};
  }
  // Moves all that is in it up into the directory.
  Result<void> keep() {
    std::error_code failed;
    const std::vector<fs::path> entries(fs::directory_iterator(path_, failed), {});
    for (const fs::path& entry : entries)
      if (!failed) fs::rename(entry, fs::path(directory_) / entry.filename(), failed);
    if (!failed) fs::remove(path_, failed);
    if (failed) return error(failed.value(), directory_);
    path_.clear();
    return {};
  }

 private:
  Folder(std::string directory, bool is_new, std::string path)
      : directory_(std::move(directory)), is_new_(is_new), path_(std::move(path)) {}
  std::string directory_;
  bool is_new_;
  std::string path_;
};

Result<void> write_files(const Tape& tape, const Folder& folder, Written& written) {
  for (const auto& [place, target] : tape.links)
    if (is_plain(place)) (void)folder.link(place, target);
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const auto place = tape.places.find(what);
    const Answer& answer = newest(samples);
    if (place == tape.places.end() || !is_plain(place->second) || !answer) continue;
    if (ask == Ask::list) (void)folder.folder(place->second);
    if (ask != Ask::read || answer->empty()) continue;
    const std::string& text = answer->front();
    written.bytes += text.size();
    if (written.bytes > kMostBytes) return error(EFBIG, folder.path());
    const auto done = folder.file(place->second, text);
    // Two names of one file, or the machine changed during the capture.
    if (!done && done.error().code != EEXIST && done.error().code != ELOOP) return done;
    if (done) ++written.files;
  }
  return {};
}

// As Root's recorder puts them: a text is a list of one, yes an empty list.
Answer text_answer(const Result<std::string>& text) {
  if (!text) return text.error();
  return std::vector{*text};
}
Answer yes_answer(bool yes) {
  if (!yes) return error(ENOENT, "");
  return std::vector<std::string>{};
}

Answer ask_tree(const Root& root, const Tape::Question& question) {
  const auto& [ask, what] = question;
  switch (ask) {
    case Ask::read: return text_answer(root.read(what));
    case Ask::list: return root.list(what);
    case Ask::exists: return yes_answer(root.exists(what));
    case Ask::resolve: return text_answer(root.resolve(what));
    case Ask::locked: return yes_answer(root.is_locked(what));
    default: return error(EROFS, "");  // not of files, or a write: a captured tree is not written
  }
}

bool is_same(const Answer& a, const Answer& b) {
  if (a.ok() != b.ok()) return false;
  if (a.ok()) return *a == *b;
  return a.error().code == b.error().code;
}

// Questions that the tree itself would answer differently.
std::map<Tape::Question, Tape::Answers> not_in_tree(const Tape& tape, const Root& root) {
  std::map<Tape::Question, Tape::Answers> out;
  for (const auto& [question, samples] : tape.answers) {
    const Answer tree = ask_tree(root, question);
    bool differs = !is_of_files(question.first);
    for (const auto& [time, answer] : samples) differs = differs || !is_same(answer, tree);
    if (differs) out.emplace(question, samples);
  }
  return out;
}

// hwloc's XML as a file of its own, which lstopo(1) reads as well.
Result<void> write_hwloc(std::map<Tape::Question, Tape::Answers>& answers, const Folder& folder) {
  const auto found = answers.find({Ask::query, kHwlocQuestion});
  if (found == answers.end() || !newest(found->second) || newest(found->second)->empty()) return {};
  if (auto done = folder.file(kHwlocFile, newest(found->second)->front()); !done) return done;
  answers.erase(found);
  answers.erase({Ask::read, kHwlocFile});  // that it was absent from the tree that was captured
  return {};
}

}  // namespace

Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory) {
  auto folder = Folder::make(directory);
  if (!folder) return folder.error();
  Written written;
  if (auto done = write_files(tape, *folder, written); !done) return done.error();
  const auto root = Root::open(folder->path());
  if (!root) return root.error();
  auto rest = not_in_tree(tape, *root);
  if (auto done = write_hwloc(rest, *folder); !done) return done.error();
  written.answers = rest.size();
  const std::string answers = answers_text(rest);
  if (answers.size() > kMostBytes) return error(EFBIG, directory);
  if (auto done = folder->file(kAnswersFile, answers); !done) return done.error();
  if (auto done = folder->file("fabric-agent/about.txt", about); !done) return done.error();
  if (auto done = folder->keep(); !done) return done.error();
  return written;
}

std::vector<std::string> refused_readings(const Tape& tape) {
  std::set<std::string> names;
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const Answer& answer = newest(samples);
    if (answer || (answer.error().code != EACCES && answer.error().code != EPERM)) continue;
    if (is_of_netlink(ask)) names.insert(std::string(to_text(ask)) + " netlink: " + answer.error().what);
    else if (is_of_files(ask)) names.insert("/" + what);
    else names.insert(what);
  }
  return {names.begin(), names.end()};
}

}  // namespace fabric::ctl
