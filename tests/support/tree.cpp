// SPDX-License-Identifier: Apache-2.0
#include "support/tree.h"

#include <stdexcept>

#include "kernel/kernel.h"
#include "node/topology.h"
#include "support/test.h"

namespace fabric::test {
namespace fs = std::filesystem;

Tree::Tree() {
  std::string name = (fs::temp_directory_path() / "fabric-tree-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
}

Tree::~Tree() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Tree& Tree::file(const std::string& path, std::string_view content) {
  const fs::path full = fs::path(path_) / path;
  fs::create_directories(full.parent_path());
  std::ofstream out(full, std::ios::binary | std::ios::trunc);
  out << content;
  if (!out) throw std::runtime_error("write " + full.string());
  return *this;
}

Tree& Tree::link(const std::string& path, const std::string& target) {
  const fs::path full = fs::path(path_) / path;
  fs::create_directories(full.parent_path());
  fs::remove(full);
  fs::create_symlink(target, full);
  return *this;
}

Tree& Tree::folder(const std::string& path) {
  fs::create_directories(fs::path(path_) / path);
  return *this;
}

Tree& Tree::remove(const std::string& path) {
  fs::remove_all(fs::path(path_) / path);
  return *this;
}

std::string Tree::content(const std::string& path) const {
  const std::ifstream in(fs::path(path_) / path, std::ios::binary);
  if (!in) throw std::runtime_error("read " + path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

Root Tree::root() const {
  auto opened = Root::open(path_);
  if (!opened) throw std::runtime_error(opened.error().text());
  return std::move(opened).value();
}

void add_roce_port(Tree& tree) {
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/";
  tree.file("proc/sys/kernel/hostname", "gpu01\n").file(port + "link_layer", "Ethernet\n");
  tree.file(port + "state", "4: ACTIVE\n").file(port + "phys_state", "5: LinkUp\n");
}

Topology topology_of(const Tree& tree) {
  auto topology = load_topology({.root = tree.root()});
  EXPECT_TRUE(topology) << topology.error().text();
  return topology ? std::move(topology).value() : Topology{};
}

std::string add_pci(Tree& tree, const PciFunction& function) {
  const std::string folder = "sys/devices/" + function.parent + "/" + function.pci;
  tree.file(folder + "/vendor", function.vendor + "\n")
      .file(folder + "/device", function.device + "\n")
      .file(folder + "/class", function.class_code + "\n")
      .file(folder + "/numa_node", function.numa + "\n")
      .link("sys/bus/pci/devices/" + function.pci, "../../../devices/" + function.parent + "/" + function.pci);
  return folder;
}

}  // namespace fabric::test
