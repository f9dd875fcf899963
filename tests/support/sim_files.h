// SPDX-License-Identifier: Apache-2.0
// A small true kernel behind the files of a tree: what sysfs, debugfs and configfs do with what is written to them, one
// rule for each kind of file, and what goes wrong. Use: kernel.root.set_behind(files), with `files` a
// shared_ptr<SimFiles>.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/capture/root.h"
#include "support/tree.h"

namespace fabric::test {

class SimFiles : public BehindFiles {
 public:
  // The driver's handler of a write (of a mkdir or rmdir: `text` is empty): 0, or a positive errno.
  using Handler = std::function<int(SimFiles& files, const std::string& file, std::string_view text)>;

  // The tree must outlive this.
  explicit SimFiles(Tree& files) : tree(files) {}

  // Globs are fnmatch(3)'s, where * matches slashes, too. The newest rule that matches counts. A file without a rule is
  // not writable (EACCES), a folder takes neither mkdir nor rmdir (EPERM), as in sysfs.
  SimFiles& on_write(std::string glob, Handler handler);
  SimFiles& on_make_directory(std::string glob, Handler handler);
  SimFiles& on_remove_directory(std::string glob, Handler handler);

  // What goes wrong. The newest one that matches and is not used up strikes, instead of the rule.
  struct Fault {
    enum Action { refuse, ignore, vanish } action = refuse;  // vanish: ENODEV, and `vanished` is called
    int code = 0;                                            // errno for refuse
    std::string glob = "*";
    unsigned nth = 0;  // strikes only the n-th change (write, mkdir, rmdir) of all since the start, from 1; 0: any
    int times = -1;    // how often it still strikes; -1: always
  };
  void fault(Fault fault) { faults_.push_back(std::move(fault)); }
  // Files and folders that cannot be read (lockdown, permissions, a dead firmware) and the errno; the newest that
  // matches.
  void unreadable(std::string glob, int code) { unreadable_.push_back({std::move(glob), code}); }
  void heal() { faults_.clear(), unreadable_.clear(); }
  std::function<void()> vanished = [] {};
  // Called before the n-th change, from 1, with its file: a test may throw here, as if the process were killed.
  std::function<void(unsigned n, const std::string& file)> before = [](unsigned, const std::string&) {};

  // Every change that was asked for, in order, whatever came of it: "FILE = TEXT", "mkdir FOLDER", "rmdir FOLDER".
  std::vector<std::string> log;
  // Every file that was read, in order. (Not what is held open.)
  std::vector<std::string> reads;
  [[nodiscard]] unsigned changes() const { return static_cast<unsigned>(log.size()); }

  Tree& tree;

  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view text) override;

 private:
  struct Rule {
    Act act;
    std::string glob;
    Handler handler;
  };
  struct Unreadable {
    std::string glob;
    int code;
  };
  SimFiles& add(Act act, std::string glob, Handler handler);
  int change(Act act, const std::string& file, std::string_view text);
  Fault* striking(const std::string& file);
  std::vector<Rule> rules_;
  std::vector<Fault> faults_;
  std::vector<Unreadable> unreadable_;
};

// A number as a file shows it: `format` is printf's, of one unsigned.
std::string shown(const char* format, uint32_t value);

// Handlers.
// As kstrtou32(.., 0, ..) reads it: "12", "0x1f", "012", one trailing newline; nothing else.
std::optional<uint32_t> kernel_number(std::string_view text);
// A number from `min` to `max`, else EINVAL; shown as `format`.
SimFiles::Handler store_number(uint32_t min, uint32_t max, const char* format = "%u\n");
SimFiles::Handler ignore_text();  // says yes, does nothing
SimFiles::Handler refuse_text(int code);

// What mlx5 shows in files, names and text as the drivers have them, with the firmware's ranges behind.
// sys/kernel/debug/mlx5/<pci>/cc_params: drivers/infiniband/hw/mlx5/cong.c of Linux 6.12.
void add_mlx5_cc_params(SimFiles& files, const std::string& pci);
// sys/class/net/<netdev>/ecn: OFED 25.10, mlx5/core/en_sysfs.c and en_ecn.c; on for all priorities, as shipped.
void add_ofed_ecn(SimFiles& files, const std::string& netdev);
// sys/class/infiniband/<rdma>/tc/<port>/traffic_class: OFED 25.10, infiniband/hw/mlx5/main_ext.c.
void add_ofed_traffic_class(SimFiles& files, const std::string& rdma, unsigned port);

}  // namespace fabric::test
