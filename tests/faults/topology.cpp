// SPDX-License-Identifier: Apache-2.0
// Topology and platform: the slots of the cards, and PCI Express.
#include "faults/fault.h"
#include "topology/inventory.h"

namespace fabric::faults {
namespace {

PlatformFunction& at(Machine& m, const std::string& pci) { return m.now.platform.functions.at(pci); }
PciSettings& settings(Machine& m, const std::string& pci) { return m.now.pci_settings->functions.at(pci); }
const std::string& below_nic(Machine& m) { return m.nic().bridges[0]; }
const std::string& upstream(Machine& m) { return m.nic().bridges[1]; }
const std::string& root_port(Machine& m) { return m.nic().bridges[2]; }

// A slot without the switch, on a root bus of its own.
void move_away(PciDevice& device) {
  device.bridges = {"0000:f7:01.0"};
  device.root = "pci0000:f7";
}

void upstream_link(Machine& m, const PcieLink& link) { at(m, upstream(m)).link = at(m, root_port(m)).link = link; }

// Slower ports: half of the PCIe link is enough for them.
void slow_ports(Machine& m) {
  for (Node* node : {&m.before, &m.now})
    for (Port& port : node->ports) port.rate = 12.5e9;
}

// Gives the second rail's NIC three more ports, which with the first are the planes of its GPU. InfiniBand, where ports
// have neither netdevs nor addresses of their own. False, and nothing is planted, on other machines.
bool add_planes(Machine& m) {
  if (m.is_roce() || m.now.topology.gpus.size() < 2) return false;
  for (unsigned number = 2; number <= 4; ++number) {
    for (Node* node : {&m.before, &m.now}) {
      node->ports.push_back(node->ports.at(1));
      node->ports.back().number = number;
    }
    const std::string id = m.now.ports.back().id();
    Changes& changes = m.plan[id] = m.plan[m.port().id()];
    for (Change& change : changes) change.port = id;
  }
  return true;
}

Faults planes() {
  return {
      {"plane-down", "the leaf of one of the four planes of a GPU's NIC is off",
       "a NIC of four ports, one of them DOWN",
       [](Machine& m) {
         if (!add_planes(m)) return std::string();
         Port& port = m.port();
         port.state = 1;
         port.phys_state = 2;
         port.carrier = false;
         port.link_status->up = false;
         port.link_status->reason = "Autoneg";
         port.link_status->detail = "No partner detected";
         return m.gpu().name;
       },
       "planes", W, "3 of 4 planes, 75 % of its bandwidth", "no-partner"},
      {"job-did-not-return", "a plane came back, and the job stayed on the other planes",
       "a NIC of four ports; one was DOWN in the first reading, and its counters do not move",
       [](Machine& m) {
         if (!add_planes(m)) return std::string();
         m.before.ports.at(1).state = 1;
         m.port().counters = m.before.ports.at(1).counters;
         return m.port().id();
       },
       "failback", W, "no traffic while"},
  };
}

Faults places() {
  return {
      {"gpu-in-the-wrong-slot", "a GPU was put into a slot without the switch that its NIC is on",
       "the GPU on a root bus of its own", at_gpu([](Machine& m) { move_away(m.gpu()); }), "locality", W, "NODE to", "",
       "far-gpu"},
      {"nic-in-the-wrong-slot", "the NIC of a GPU was put into the other socket's slot",
       "the NIC on a root bus at the other NUMA node", at_gpu([](Machine& m) {
         move_away(m.nic());
         m.nic().numa = m.now.topology.nics.back().numa;
       }),
       "locality", W, "mlx5_1 on NUMA node 1 serves no GPU"},
      {"nic-gone", "a NIC did not come up at boot: it is not on the bus",
       "NIC, port and plan without the second rail, also before", at_gpu([](Machine& m) {
         const std::string id = m.port().id(), netdev = m.port().netdev;
         m.plan.erase(id);
         for (Node* node : {&m.before, &m.now}) {
           node->topology.nics.erase(node->topology.nics.begin() + 1);
           node->ports.erase(node->ports.begin() + 1);
         }
       }),
       "locality", C, "NODE to mlx5_0"},
      {"nic-without-rdma", "the RDMA driver did not bind to one of the NICs",
       "the NIC without an RDMA device, its port gone, also before", at_gpu([](Machine& m) {
         m.plan.erase(m.port().id());
         for (Node* node : {&m.before, &m.now}) {
           node->topology.nics[1].rdma.clear();
           node->ports.erase(node->ports.begin() + 1);
         }
       }),
       "locality", C},
      {"nic-serves-two-gpus", "two GPUs of one switch share a NIC, where others have one each",
       "GPUs by two on a switch; one NIC of eight is gone",
       [](Machine& m) {
         if (m.now.ports.size() < 8) return std::string();
         for (size_t i = 1; i < 8; i += 2)
           for (PciDevice* device :
                {static_cast<PciDevice*>(&m.now.topology.gpus[i]), static_cast<PciDevice*>(&m.now.topology.nics[i])}) {
             const PciDevice& neighbor = m.now.topology.gpus[i - 1];
             device->root = neighbor.root;
             device->numa = neighbor.numa;
             device->bridges = {device->bridges[0], neighbor.bridges[1], neighbor.bridges[2]};
           }
         m.before.topology = m.now.topology;
         m.plan.erase(m.port().id());
         for (Node* node : {&m.before, &m.now}) {
           node->topology.nics.erase(node->topology.nics.begin() + 1);
           node->ports.erase(node->ports.begin() + 1);
         }
         return m.now.topology.nics[0].name;
       },
       "pairing", C, "serves GPU0 and GPU1"},
      {"numa-unknown", "the firmware does not report the socket of a GPU", "Gpu::numa absent", at_gpu([](Machine& m) {
         move_away(m.gpu());
         m.gpu().numa.reset();
       }),
       "locality", U, "-\n"},
      {"gpu-on-the-wrong-node", "the firmware reports the other socket's NUMA node for a GPU",
       "Gpu::numa of the last NIC",
       [](Machine& m) {
         if (!m.gpu().numa || m.gpu().numa_assumed || m.gpu().root != m.nic().root) return std::string();
         for (Node* node : {&m.before, &m.now}) node->topology.gpus[1].numa = node->topology.nics.back().numa;
         return m.gpu().numa == m.nic().numa ? std::string() : m.gpu().name;
       },
       "symmetry", W},
      {"gpu-gone-since", "a GPU fell off the bus since the last good state", "the inventory has one GPU more",
       [](Machine& m) {
         InventoryPart gone;
         gone.gpu = true;
         gone.pci = "0000:ff:00.0";
         gone.name = "GPU8";
         for (Node* node : {&m.before, &m.now}) {
           node->inventory = inventory_of(*node);
           node->inventory->parts.push_back(gone);
         }
         return gone.pci;
       },
       "inventory", C},
      {"gpu-fell-off", "a GPU fell off the bus; the site expects a number", "[expect] gpus is one more than there are",
       [](Machine& m) {
         m.policy.expect.gpus = static_cast<unsigned>(m.now.topology.gpus.size() + 1);
         return std::string("node");
       },
       "expect", C, "4 GPUs"},
      {"slower-than-the-site", "all links of a rack came up at half the site's speed",
       "[expect] speed is twice this port's",
       [](Machine& m) {
         if (!m.port().speed) return std::string();
         m.policy.expect.speed = m.port().speed;
         m.port().speed = *m.port().speed / 2;
         m.port().rate = *m.port().rate / 2;
         return m.port().id();
       },
       "expect", C, "200000 Mb/s"},
  };
}

Faults links() {
  return {
      {"nic-lost-lanes", "dirt on the connector: the NIC trained with two of its lanes", "PcieLink x2 of x16",
       at_nic([](Machine& m) { m.nic().link.width = 2; }), "pcie", C, "x2 at 32 GT/s", "", "platform"},
      {"nic-lost-speed", "the riser carries 16 GT/s only", "PcieLink 16 of 32 GT/s, under ports that need no more",
       at_nic([](Machine& m) {
         m.nic().link.speed = 16;
         slow_ports(m);
       }),
       "pcie", W, "x16 at 16 GT/s"},
      {"gpu-lost-lanes", "a GPU module is not seated well", "PcieLink x8 of x16",
       at_gpu([](Machine& m) { m.gpu().link.width = 8; }), "pcie", W, "x8"},
      {"switch-lost-lanes", "the riser under a PCIe switch lost fourteen lanes: GPU and NIC starve together",
       "the switch's upstream link x2 of x16",
       [](Machine& m) {
         upstream_link(m, {32, 32, 2, 16});
         return upstream(m);
       },
       "pcie", C, "x2 at 32 GT/s below 0000:20:01.0|GPU1, mlx5_1|slower than one network port (400 Gb/s)"},
      {"correctable-errors", "a PCIe link retransmits packets: a worn connector", "AER BadTLP of the NIC +600",
       [](Machine& m) {
         AerCounts& counts = at(m, m.nic().pci).correctable;
         if (!counts.total) return std::string();
         *counts.total += m.events(600);
         counts.kinds["BadTLP"] += m.events(600);
         return m.nic().pci;
       },
       "aer", W, "correctable BadTLP +600 (10/s)|packets from 0000:22:04.0 arrive damaged|costs throughput of mlx5_1",
       "slow-pcie"},
      {"nonfatal-error", "a completion never came: a transaction was lost", "AER non-fatal CmpltTO of the GPU +1",
       [](Machine& m) {
         AerCounts& counts = at(m, m.gpu().pci).nonfatal;
         if (!counts.total) return std::string();
         ++*counts.total;
         counts.kinds["CmpltTO"] += 1;
         return m.gpu().pci;
       },
       "aer", C, "non-fatal CmpltTO +1|GPU1 may be reset"},
      {"fatal-error", "a root port lost its link for a moment", "AER fatal of the root port +1",
       [](Machine& m) {
         AerCounts& counts = at(m, root_port(m)).fatal;
         if (!counts.total) return std::string();
         ++*counts.total;
         return root_port(m);
       },
       "aer", C, "fatal +1", "slow-pcie"},
  };
}

// Impossible without the data of fabric-agent-pci.
Plant where_read(Plant plant) {
  return [plant = std::move(plant)](Machine& m) { return m.now.pci_settings ? plant(m) : std::string(); };
}

Faults platform() {
  return {
      {"acs-redirect", "ACS on a switch port sends GPUDirect through the root complex",
       "ACS ReqRedir+ CmpltRedir+ on the port above the NIC",
       [](Machine& m) {
         if (!m.now.pci_settings) return std::string();
         settings(m, below_nic(m)).acs = uint16_t{0x1d};
         return below_nic(m);
       },
       "acs", W, "", "", "platform"},
      {"acs-never-read", "fabric-agent-pci.service did not run at boot", "no PciState",
       [](Machine& m) {
         if (m.is_guest()) return std::string();
         m.now.pci_settings.reset();
         return std::string("host");
       },
       "acs", U, "has not run", "", "platform"},
      {"iommu-translates", "iommu=pt was lost in a new kernel's command line", "every IOMMU group of type DMA-FQ",
       [](Machine& m) {
         if (m.now.platform.iommu_groups.empty()) return std::string();
         for (auto& [number, type] : m.now.platform.iommu_groups) type = "DMA-FQ";
         return std::string("host");
       },
       "iommu", W, "lazy|GPU3|mlx5_0|iommu=pt"},
      {"small-gpu-bar", "the firmware found no room for one GPU's memory: BAR1 of 256 MiB", "Bar::size 256 MiB",
       at_gpu([](Machine& m) { at(m, m.gpu().pci).bars[1].size = 256u << 20; }), "gpu-bar", W,
       "BAR1 of 256 MiB|0000:23:00.0"},
      {"no-peer-memory", "nvidia_peermem is not loaded, or the kernel cannot do dma-buf: GPUDirect is off",
       "GpuDirect without a method", on_host([](Machine& m) {
         GpuDirect& has = m.now.platform.gpudirect;
         if (has.amdgpu) has.dmabuf_move_notify = false;
         else has.nvidia_open = false;
       }),
       "gpudirect", W, "570.86.15|without nvidia_peermem"},
      {"odd-read-request", "one NIC was replaced and has the factory's MRRS", "MRRS 512 beside 4096",
       where_read(at_nic([](Machine& m) { settings(m, m.nic().pci).mrrs = 512; })), "pci-tuning", W, "MRRS 512|(MRRS)"},
      {"odd-ordering", "one NIC has relaxed ordering off in its firmware", "relaxed ordering off",
       where_read(at_nic([](Machine& m) { settings(m, m.nic().pci).relaxed_ordering = false; })), "pci-tuning", W,
       "relaxed ordering off"},
      {"nic-asleep", "a laptop's power tool suspends a NIC", "power state D3hot",
       at_nic([](Machine& m) { at(m, m.nic().pci).power_state = "D3hot"; }), "pci-power", W, "D3hot"},
  };
}

}  // namespace

Faults topology_faults() { return together({planes(), places(), links(), platform()}); }

}  // namespace fabric::faults
