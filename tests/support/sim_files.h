// SPDX-License-Identifier: Apache-2.0
// Simulates the kernel behind the files of a tree: how sysfs, debugfs and configfs handle writes, with one rule for
// each kind of file, and faults. Use: kernel.root.set_behind(files), where `files` is a shared_ptr<SimFiles>.
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
  // The driver's handler of a write, a mkdir or an rmdir (with an empty `text`). Returns 0 or a positive errno.
  using Handler = std::function<int(SimFiles& files, const std::string& file, std::string_view text)>;

  // The tree must outlive this object.
  explicit SimFiles(Tree& files) : tree(files) {}

  // Globs are those of fnmatch(3), in which * also matches slashes. The newest matching rule applies. As in sysfs, a
  // file without a rule is not writable (EACCES), and a folder without a rule accepts neither mkdir nor rmdir (EPERM).
  SimFiles& on_write(std::string glob, Handler handler);
  SimFiles& on_make_directory(std::string glob, Handler handler);
  SimFiles& on_remove_directory(std::string glob, Handler handler);

  // A fault replaces the rule. The newest fault that matches and is not used up applies.
  struct Fault {
    enum Action { refuse, ignore, vanish } action = refuse;  // vanish: ENODEV, and `vanished` is called
    int code = 0;                                            // errno for refuse
    std::string glob = "*";
    unsigned nth = 0;  // applies only to the n-th change (write, mkdir, rmdir) since the start, from 1; 0: to any
    int times = -1;    // how often it still applies; -1: always
  };
  void fault(Fault fault) { faults_.push_back(std::move(fault)); }
  // Makes files and folders unreadable (lockdown, permissions, dead firmware) with this errno. The newest match
  // applies.
  void unreadable(std::string glob, int code) { unreadable_.push_back({std::move(glob), code}); }
  void heal() { faults_.clear(), unreadable_.clear(); }
  std::function<void()> vanished = [] {};
  // Called before the n-th change, from 1, with its file. A test may throw here to simulate that the process is killed.
  std::function<void(unsigned n, const std::string& file)> before = [](unsigned, const std::string&) {};

  // Every attempted change, in order, whether it succeeded or not: "FILE = TEXT", "mkdir FOLDER", "rmdir FOLDER".
  std::vector<std::string> log;
  // Every file that was read, in order, except reads of files that are held open.
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

// Handlers.
// Parses a number like kstrtou32(.., 0, ..): "12", "0x1f", "012", with at most one trailing newline.
std::optional<uint32_t> kernel_number(std::string_view text);
// Stores a number from `min` to `max` and shows it in decimal; EINVAL for any other text.
SimFiles::Handler store_number(uint32_t min, uint32_t max);
SimFiles::Handler ignore_text();  // succeeds without effect
SimFiles::Handler refuse_text(int code);

// The files of mlx5, with the names and texts of the drivers and the value ranges of the firmware.
// sys/kernel/debug/mlx5/<pci>/cc_params: drivers/infiniband/hw/mlx5/cong.c of Linux 6.12.
void add_mlx5_cc_params(SimFiles& files, const std::string& pci);
// sys/class/net/<netdev>/ecn: OFED 25.10, mlx5/core/en_sysfs.c and en_ecn.c; on for all priorities, as shipped.
void add_ofed_ecn(SimFiles& files, const std::string& netdev);
// sys/class/infiniband/<rdma>/tc/<port>/traffic_class: OFED 25.10, infiniband/hw/mlx5/main_ext.c.
void add_ofed_traffic_class(SimFiles& files, const std::string& rdma, unsigned port);

}  // namespace fabric::test
