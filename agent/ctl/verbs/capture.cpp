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

constexpr size_t kMaxBytes = size_t{64} << 20;

const Answer& newest(const Tape::Answers& samples) { return samples.rbegin()->second; }

bool is_plain(const std::string& path) {  // without "." and "..", and not empty
  for (const fs::path& part : fs::path(path))
    if (part == "." || part == ".." || part == "/") return false;
  return !path.empty();
}

// A temporary folder inside `directory`, which it fills. The destructor deletes the folder, and `directory` if it is
// new, unless keep() has succeeded. The folder is inside since `directory` may be a mount point or the current
// directory, and no folder can be renamed to those.
class CaptureFolder {
 public:
  static Result<CaptureFolder> make(const std::string& directory) {
    const bool is_new = ::mkdir(directory.c_str(), 0700) == 0;
    if (!is_new && errno != EEXIST) return error(errno, directory);
    std::string name = directory + "/.capture.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return error(errno, directory);
    return CaptureFolder(directory, is_new, std::move(name));
  }
  CaptureFolder(CaptureFolder&& other) noexcept
      : directory_(std::move(other.directory_)), is_new_(other.is_new_), path_(std::exchange(other.path_, {})) {}
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;
  CaptureFolder& operator=(CaptureFolder&&) = delete;
  ~CaptureFolder() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (is_new_) fs::remove_all(directory_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

  // make_folder(), link() and file() fail if another file is in the way, since the answers of the tape are from
  // different moments. The answers file then has the answer.
  bool make_folder(const std::string& place) const {
    std::string so_far = path_;
    for (const fs::path& part : fs::path(place)) {
      so_far += "/" + part.string();
      if (::mkdir(so_far.c_str(), 0700) == 0) continue;
      struct stat status {};
      if (errno != EEXIST || ::lstat(so_far.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
    }
    return true;
  }
  // Makes the target relative if it would lead out of the tree: opening a file of the tree by its path stays inside.
  bool link(const std::string& place, const std::string& target) const {
    const fs::path parent = fs::path("/" + place).parent_path(),
                   plain = (parent.relative_path() / target).lexically_normal();
    std::string inside = target;
    if (target.starts_with('/') || *plain.begin() == "..")
      inside = (parent / target).lexically_normal().lexically_relative(parent).string();
    return make_folder(fs::path(place).parent_path()) && ::symlink(inside.c_str(), (path_ + "/" + place).c_str()) == 0;
  }
  [[nodiscard]] Result<void> file(const std::string& place, std::string_view text) const {
    const std::string name = path_ + "/" + place;
    if (!make_folder(fs::path(place).parent_path())) return error(EEXIST, name);
    const Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), text)) return error(errno, name);
    return {};
  }
  // Moves the contents of the folder up into the directory.
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
  CaptureFolder(std::string directory, bool is_new, std::string path)
      : directory_(std::move(directory)), is_new_(is_new), path_(std::move(path)) {}
  std::string directory_;
  bool is_new_;
  std::string path_;
};

Result<void> write_files(const Tape& tape, const CaptureFolder& folder, Written& written) {
  for (const auto& [place, target] : tape.links)
    if (is_plain(place)) folder.link(place, target);
  for (const auto& [question, samples] : tape.answers) {
    const auto& [ask, what] = question;
    const auto place = tape.places.find(what);
    const Answer& answer = newest(samples);
    if (place == tape.places.end() || !is_plain(place->second) || !answer) continue;
    if (ask == Ask::list) folder.make_folder(place->second);
    if (ask != Ask::read || answer->empty()) continue;
    const std::string& text = answer->front();
    written.bytes += text.size();
    if (written.bytes > kMaxBytes) return error(EFBIG, folder.path());
    const auto done = folder.file(place->second, text);
    // Two names of one file, or a machine that changed during the capture, are no failure.
    if (!done && done.error().code != EEXIST && done.error().code != ELOOP) return done;
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

Result<Written> write_capture(const Tape& tape, const std::string& about, const std::string& directory) {
  auto folder = CaptureFolder::make(directory);
  if (!folder) return folder.error();
  Written written;
  if (auto done = write_files(tape, *folder, written); !done) return done.error();
  const auto root = Root::open(folder->path());
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
  if (answers.size() > kMaxBytes) return error(EFBIG, directory);
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
