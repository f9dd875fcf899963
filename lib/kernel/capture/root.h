// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/parse.h"
#include "base/result.h"
#include "kernel/capture/tape.h"

namespace fabric {

// A simulated kernel behind the files of a test's tree: it can refuse, round or ignore a write, or let a device vanish.
// nullopt: the tree's own file system does the operation.
class BehindFiles {
 public:
  // For a read (of a file, or of a folder's names) only a refusal has an effect.
  enum class Act : uint8_t { write, make_directory, remove_directory, read };
  virtual ~BehindFiles() = default;
  virtual std::optional<Result<void>> act(Act act, const std::string& file, std::string_view text) = 0;
};

// Paths are given without a leading slash ("sys/class/infiniband") and are resolved below the root;
// absolute symbolic links of a captured tree stay inside it (openat2 RESOLVE_IN_ROOT).
class Root {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 20;
  static Result<Root> open(const std::string& directory);
  // Makes a root of an open directory. `path` is its name in messages.
  static Root of(Fd directory, std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_host() const { return path_ == "/"; }
  // The file's name in messages: with the root, or during a replay as on the recorded machine.
  [[nodiscard]] std::string name_of(const std::string& file) const;

  // At most 1 MiB by default; longer files are an error (EFBIG). Regular files only, as all of sysfs and
  // procfs is: a FIFO, socket or device is EINVAL and is never waited for.
  [[nodiscard]] Result<std::string> read(const std::string& file, size_t most = kMostBytes) const;
  // A file that another service writes into a folder of its own. Refused and never opened: a link (ELOOP), anything but
  // a regular file (EINVAL), a file of another owner than the folder's (EPERM).
  [[nodiscard]] Result<std::string> read_foreign(const std::string& file) const;
  // A descriptor for repeated reads with pread(2), under the rules of read(): five times cheaper than opening a sysfs
  // file each time. The file of a removed device answers ENODEV from then on, even if another device takes its name.
  [[nodiscard]] Result<Fd> hold(const std::string& file) const;
  // For a library that opens files itself: a descriptor of any file, for its status only (O_PATH, and `flags`), and one
  // of a folder. Neither is recorded.
  [[nodiscard]] Result<Fd> handle(const std::string& file, int flags = 0) const;
  [[nodiscard]] Result<Fd> open_folder(const std::string& directory) const;
  // Reads like read(), and cleans the text by clean_text().
  [[nodiscard]] Result<std::string> read_text(const std::string& file, size_t most = kMostBytes) const;
  // Reads like read_text(), and trims the text to one line.
  [[nodiscard]] Result<std::string> read_line(const std::string& file) const;
  // read_line() and read_text() without the error; empty: the file is missing or unreadable.
  [[nodiscard]] std::string line_of(const std::string& file) const;
  [[nodiscard]] std::string text_of(const std::string& file, size_t most = kMostBytes) const;
  // The number in the file's line; nullopt: it is not a number, or the file is missing or unreadable.
  template <class T>
  [[nodiscard]] std::optional<T> number_in(const std::string& file, int base = 10) const {
    return parse_number<T>(line_of(file), base);
  }
  // Entry names in natural order, without "." and ".." and those that cannot be shown; at most 65,536 (E2BIG).
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) const;
  // list() without the error; empty: the directory is missing or unreadable.
  [[nodiscard]] std::vector<std::string> names_in(const std::string& directory) const;
  [[nodiscard]] bool exists(const std::string& file) const;
  // The path that the link leads to: "sys/devices/pci0000:17/0000:17:01.0/...".
  [[nodiscard]] Result<std::string> resolve(const std::string& link) const;
  // The text of the link itself, which may lead nowhere. Not recorded: a capture has the links.
  [[nodiscard]] Result<std::string> read_link(const std::string& link) const;
  // The last name of that path; empty: the link leads nowhere.
  [[nodiscard]] std::string link_name(const std::string& link) const;
  // Whether a process holds a lock on the file (fcntl(2)). Does not take the lock.
  [[nodiscard]] bool is_locked(const std::string& file) const;
  // Writes the whole text with one write(2), as sysfs requires. Never creates a file.
  [[nodiscard]] Result<void> write(const std::string& file, std::string_view text) const;
  // write() to a file of the folder, after `check` has accepted the folder: both by one descriptor of it. In sysfs a
  // descriptor leads to the same device although the name of the folder passes to another one.
  [[nodiscard]] Result<void> write_in(const std::string& folder, const std::string& file, std::string_view text,
                                      const std::function<Result<void>(const Fd& folder)>& check) const;
  // write() to a read-only file of our own user (debugfs of mode 0400, as bnxt_re's). The owner adds write permission
  // for the write, which needs no capability; CAP_DAC_OVERRIDE would allow every file of the machine.
  [[nodiscard]] Result<void> write_owned(const std::string& file, std::string_view text) const;
  // Overwrites only these bytes (of PCI configuration space) with one pwrite(2).
  [[nodiscard]] Result<void> write_at(const std::string& file, uint64_t offset, std::string_view bytes) const;
  // One directory, mode 0755: configfs makes a kernel object of it.
  [[nodiscard]] Result<void> make_directory(const std::string& directory) const;
  [[nodiscard]] Result<void> remove_directory(const std::string& directory) const;
  // Behind a test's tree: called before each of the write functions above, and before read() and list().
  void set_behind(std::shared_ptr<BehindFiles> behind) { behind_ = std::move(behind); }
  // Records all readings on the tape; or replays its answers, writes nothing, and names files as on the recorded
  // machine.
  void set_tape(std::shared_ptr<Tape> tape) { tape_ = std::move(tape); }
  // True for a capture that was recorded by `fabric-agentctl capture`.
  [[nodiscard]] bool replays() const { return tape_ && tape_->replays(); }

 private:
  // Puts the file's name into the error.
  template <class Value>
  Result<Value> named(const std::string& file, Result<Value> result) const;
  // The errors of these functions have no text.
  [[nodiscard]] Result<Fd> open_file(const std::string& file, int flags) const;
  [[nodiscard]] Result<Fd> open_regular(const std::string& file, int flags) const;
  [[nodiscard]] Result<Fd> open_parent(const std::string& file) const;

  // The answer of `live`, which is recorded, or the tape's answer.
  template <class Live>
  Answer ask(Ask ask, const std::string& file, Live&& live) const;
  Answer read_or_list(Ask asked, const std::string& file, const std::function<Answer()>& live) const;
  [[nodiscard]] std::optional<Result<void>> ask_behind(BehindFiles::Act act, const std::string& file,
                                                       std::string_view text) const;
  Result<void> write_by(const std::string& file, std::string_view text, const std::function<Result<Fd>()>& open,
                        std::optional<uint64_t> offset = {}) const;
  [[nodiscard]] Result<void> change_folder(Ask asked, const std::string& directory) const;

  std::shared_ptr<BehindFiles> behind_{};
  std::shared_ptr<Tape> tape_{};
  std::string path_;
  Fd fd_;
};

}  // namespace fabric
