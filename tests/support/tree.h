// SPDX-License-Identifier: Apache-2.0
// A directory tree made from literals, in a temporary folder that the destructor removes: a captured machine for
// --root.
#pragma once

#include <string>
#include <string_view>

#include "kernel/capture/root.h"
#include "node/node.h"

namespace fabric::test {

class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // Paths have no leading slash. Missing parent folders are created.
  Tree& file(const std::string& path, std::string_view content);
  Tree& link(const std::string& path, const std::string& target);  // `target` may be absolute, relative or dangling
  Tree& folder(const std::string& path);
  Tree& remove(const std::string& path);  // with everything below

  // The current content of the file.
  [[nodiscard]] std::string content(const std::string& path) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Root root() const;  // opens the tree again

 private:
  std::string path_;
};

// Adds the files of a machine "gpu01" with one RoCE port, mlx5_0/1, whose link is up.
void add_roce_port(Tree& tree);

// The result of load_topology(). The test fails if it cannot be read.
Topology topology_of(const Tree& tree);

// Adds a PCI function to sys/bus/pci/devices and sys/devices, as in sysfs. `parent` is the folder below sys/devices
// ("pci0000:00/0000:00:01.0"); numbers are written as in sysfs ("0x020000"). Returns the function's folder.
struct PciFunction {
  std::string parent, pci;
  std::string vendor = "0x15b3", device = "0x101d", class_code = "0x020000";
  std::string numa = "0";
};
std::string add_pci(Tree& tree, const PciFunction& function);

}  // namespace fabric::test
