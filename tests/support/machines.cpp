// SPDX-License-Identifier: Apache-2.0
#include "support/machines.h"

namespace fabric::test {
namespace {

std::string hex(int number) {
  std::string out;
  for (const int digit : {number / 16, number % 16}) out += "0123456789abcdef"[digit & 15];
  return out;
}

std::string address(int bus, int slot = 0, int function = 0) {
  return "0000:" + hex(bus) + ":" + hex(slot) + "." + std::to_string(function);
}

PciDevice device(int bus, int root, std::vector<std::string> bridges, std::optional<int> numa, uint16_t vendor,
                 uint16_t id) {
  PciDevice out;
  out.pci = address(bus);
  out.root = "pci0000:" + hex(root);
  out.bridges = std::move(bridges);
  out.numa = numa;
  out.vendor = vendor;
  out.device = id;
  out.link = {32, 32, 16, 16};
  return out;
}

void add_gpu(Node& node, const PciDevice& where, const char* model) {
  Gpu gpu{where, "GPU" + std::to_string(node.topology.gpus.size()), model};
  gpu.vendor_index = {static_cast<unsigned>(node.topology.gpus.size())};
  node.topology.gpus.push_back(gpu);
}

void add_nic(Node& node, const PciDevice& where, const std::string& rdma, const std::string& netdev, double rate,
             LinkLayer layer = LinkLayer::ethernet) {
  node.topology.nics.push_back(Nic{where, {netdev}, {rdma}, rdma, where.pci.substr(0, where.pci.rfind('.'))});
  Port port;
  port.rdma = rdma;
  port.netdev = netdev;
  port.pci = where.pci;
  port.link_layer = layer;
  port.state = 4;
  port.rate = rate;
  if (layer == LinkLayer::ethernet) port.gids = {{3, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", netdev}};
  node.ports.push_back(port);
}

void add_cores(Topology& topology, int nodes, unsigned cores_each, unsigned all) {
  for (int numa = 0; numa < nodes; ++numa) {
    const unsigned first = static_cast<unsigned>(numa) * cores_each;
    topology.numa_cpus[numa] = std::to_string(first) + "-" + std::to_string(first + cores_each - 1) + "," +
                               std::to_string(first + all) + "-" + std::to_string(first + cores_each - 1 + all);
    for (unsigned core = first; core < first + cores_each; ++core) topology.cores.push_back({{core, core + all}, numa});
  }
}

}  // namespace

Node snc_server() {
  Node node;
  node.hostname = "snc01";
  add_cores(node.topology, 4, 24, 96);
  node.topology.numa_socket = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
  for (int i = 0; i < 8; ++i) {
    const int bus = 0x10 + 0x18 * i, numa = i / 2;
    const auto below = [&](int port) {
      return std::vector<std::string>{address(bus + 2, port), address(bus + 1), address(bus, 1)};
    };
    add_gpu(node, device(bus + 3, bus, below(0), numa, 0x10de, 0x2330), "NVIDIA H100 80GB HBM3");
    add_nic(node, device(bus + 4, bus, below(1), numa, 0x15b3, 0x1021), "mlx5_" + std::to_string(i),
            "ens" + std::to_string(i) + "np0", 50e9);
  }
  for (int i = 0; i < 2; ++i) {
    PciDevice storage = device(0xd4, 0xd2, {address(0xd2, 1)}, 3, 0x15b3, 0xa2dc);
    storage.pci = address(0xd4, 0, i);
    add_nic(node, storage, "mlx5_" + std::to_string(8 + i), "ens9f" + std::to_string(i) + "np" + std::to_string(i),
            12.5e9);
    node.topology.nics.back().bond = "bond0";
  }
  return node;
}

Node broken_server() {
  Node node = snc_server();
  node.hostname = "broken01";
  node.topology.nics[2].link.width = 8;
  node.ports[3].state = 1;
  node.topology.nics.erase(node.topology.nics.begin() + 5);
  node.ports.erase(node.ports.begin() + 5);
  return node;
}

Node mi300x_server() {
  Node node;
  node.hostname = "amd01";
  add_cores(node.topology, 2, 96, 192);
  node.topology.numa_socket = {{0, 0}, {1, 1}};
  for (int i = 0; i < 8; ++i) {
    const int bus = 0x08 + 0x1c * i;
    const std::string top = address(bus, 1), up = address(bus + 1);
    add_gpu(
        node,
        device(bus + 5, bus, {address(bus + 4), address(bus + 3), address(bus + 2, 0), up, top}, i / 4, 0x1002, 0x74a1),
        "AMD Instinct MI300X");
    Gpu& gpu = node.topology.gpus.back();
    gpu.partition = "CPX/NPS1";
    gpu.vendor_index.clear();
    for (unsigned part = 0; part < 8; ++part) {
      gpu.vendor_index.push_back(static_cast<unsigned>(i) * 8 + part);
      gpu.render_minors.push_back(128 + static_cast<unsigned>(i) * 8 + part);
    }
    add_nic(node, device(bus + 6, bus, {address(bus + 2, 1), up, top}, i / 4, 0x14e4, 0x1760),
            "bnxt_re" + std::to_string(i), "ens" + std::to_string(i) + "f0np0", 50e9);
  }
  return node;
}

Node grace_server() {
  Node node;
  node.hostname = "grace01";
  add_cores(node.topology, 4, 72, 0);
  for (int numa = 0; numa < 4; ++numa) {
    node.topology.numa_cpus[numa] = std::to_string(numa * 72) + "-" + std::to_string(numa * 72 + 71);
    node.topology.numa_socket[numa] = numa;
    node.topology.memory_nodes.push_back(4 + numa * 8);
    const auto in_domain = [&](PciDevice at, int domain) {
      const std::string text = "00" + hex(domain);
      at.pci.replace(0, 4, text);
      at.root = "pci" + text + ":00";
      at.bridges = {text + ":00:00.0"};
      return at;
    };
    add_gpu(node, in_domain(device(1, 0, {}, numa, 0x10de, 0x2342), 8 + numa * 16 + 1), "NVIDIA GH200 480GB");
    add_nic(node, in_domain(device(1, 0, {}, numa, 0x15b3, 0x1021), 8 + numa * 16), "mlx5_" + std::to_string(numa),
            "ib" + std::to_string(numa), 50e9, LinkLayer::infiniband);
  }
  for (Core& core : node.topology.cores) core.cpus.resize(1);
  return node;
}

Node cloud_guest() {
  Node node;
  node.hostname = "guest01";
  add_cores(node.topology, 2, 24, 48);
  node.topology.numa_socket = {{0, 0}, {1, 1}};
  node.topology.hypervisor = "Amazon EC2";
  for (int i = 0; i < 8; ++i) {
    PciDevice at = device(i < 4 ? 0x10 : 0xa0, i < 4 ? 0x10 : 0xa0, {}, i / 4, 0x10de, 0x20b0);
    at.pci = address(i < 4 ? 0x10 : 0xa0, 0x1c + i % 4);
    add_gpu(node, at, "NVIDIA A100-SXM4-40GB");
  }
  for (int i = 0; i < 4; ++i) {
    PciDevice at = device(i < 2 ? 0x10 : 0xa0, i < 2 ? 0x10 : 0xa0, {}, i / 2, 0x1d0f, 0xefa1);
    at.pci = address(i < 2 ? 0x10 : 0xa0, 0x1a + i % 2);
    add_nic(node, at, "rdmap" + std::to_string(i), "ens" + std::to_string(32 + i), 12.5e9);
    node.ports.back().gids.clear();
  }
  return node;
}

}  // namespace fabric::test
