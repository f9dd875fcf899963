// SPDX-License-Identifier: Apache-2.0
#include "nic/capabilities.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"

namespace fabric {
namespace {

struct DriverRow {
  std::string_view kernel_driver;
  Capabilities capabilities;
};

constexpr DriverRow kRows[] = {
    // PortXmitWait: sysfs does not name its tick. NVIDIA devices count eight bytes of the port since Quantum, 32 of a
    // lane before (ibdiagnet manual 2.13, "Congestion Assessment on InfiniBand Links"; ib-traffic-monitor uses the same
    // for NICs).
    {"mlx5_core",
     {.priority_bytes = true,
      .counts_by_queue_pair = true,
      .longest_pfc_watchdog = 8000,  // MLX5E_PFC_PREVEN_TOUT_MAX_MSEC, mlx5/core/en_ethtool.c; "auto" is 100
      .transmit_wait_bytes = 8,
      .lldp_agent_off =
          "mlxconfig -d ADDRESS set LLDP_NB_RX_MODE_P1=0 LLDP_NB_DCBX_P1=0, then mlxfwreset -d ADDRESS reset",
      .devlink_reload = true,
      .guid_by_host = true,  // mlx5_query_node_guid() in drivers/infiniband/hw/mlx5/main.c, Linux 6.12
      .rdma_parameters = "enable_rdma, enable_roce",
      .firmware_update = "mlxfwmanager -d {pci}, or mstflint -d {pci} -i IMAGE burn",
      .firmware_settings = "mstconfig -d {pci} query",
      .module_command = "mlxlink -d {device} -m"}},
    {"mlx4_core", {.devlink_reload = true}},
    {"hns3", {.devlink_reload = true}},
    {"bnxt_en",
     {.priority_bytes = true,
      .storm_warning_stops_pause = true,
      .lldp_agent_off = "niccli: LLDP nearest bridge agent off in the NIC's NVM",
      .devlink_reload = true,
      .rdma_parameters = "enable_roce",
      .firmware_update = "niccli",
      .firmware_settings = "niccli"}},
    {"bng_en", {.priority_bytes = true}},
    {"ice",
     {.lldp_agent_off = "ethtool --set-priv-flags NETDEV fw-lldp-agent off, or fw_lldp = false in the policy",
      .devlink_reload = true,
      // Documentation/networking/devlink/ice.rst of Linux 6.12: both are of mode runtime, and exclude each other.
      .roce_switch =
          "devlink dev param set pci/{pci} name enable_iwarp value false cmode runtime && devlink dev param set "
          "pci/{pci} name enable_roce value true cmode runtime",
      .rdma_parameters = "enable_roce, enable_iwarp",
      .firmware_update = "nvmupdate64e"}},
    {"i40e",
     {.lldp_agent_off = "ethtool --set-priv-flags NETDEV disable-fw-lldp on, or fw_lldp = false in the policy",
      .firmware_update = "nvmupdate64e"}},
    {"ionic", {.firmware_update = "nicctl update firmware"}},
    {"efa", {.resends_on_other_paths = true, .only_in_clouds = true}},
    {"mana", {.only_in_clouds = true}},
    {"erdma", {.sends_by_other_netdev = true, .only_in_clouds = true}},
    {"qede", {.roce_switch = "set the RDMA protocol of the port to RoCE in the setup of the NIC (BIOS), and reboot"}},
    {"rxe", {.is_software = true, .sends_by_other_netdev = true}},
    {"siw", {.breaks_nvidia_smi_topo = true, .is_software = true, .sends_by_other_netdev = true}},
};

// The PCI ids of NICs that can do RDMA. A range without ids: by the driver alone, because other chips of the vendor
// have ids between them (id tables and auxiliary_device_id tables below drivers/net/ethernet and drivers/infiniband/hw
// of Linux 6.12; ionic_rdma: 6.18).
struct RdmaRow {
  RdmaModules modules;
  uint16_t vendor = 0, first = 0, last = 0;
  bool only_these = false;  // the driver is also of NICs without RDMA, whose ids are not in the range
};

constexpr RdmaRow kRdmaRows[] = {
    {{"mlx5_core", "mlx5_ib"}, 0x15b3, 0x1011, 0x10ff},
    {{"mlx5_core", "mlx5_ib"}, 0x15b3, 0xa2d2, 0xa2df},
    {{"mlx4_core", "mlx4_ib"}, 0x15b3, 0x1002, 0x1010},
    {{"bnxt_en", "bnxt_re"}, 0x14e4, 0x1750, 0x1760},  // BCM575xx, BCM576xx
    {{"bnxt_en", "bnxt_re"}, 0x14e4, 0x16d6, 0x16d8},  // BCM5741x
    {{"bng_en", "bng_re"}},
    // E810; the limit: Ethernet 800 Series Linux Flow Control Configuration Guide for RDMA Use Cases, 1.3
    {{"ice", "irdma", 4}, 0x8086, 0x1591, 0x159b},
    {{"i40e", "irdma", 0, "i40iw"}, 0x8086, 0x37d0, 0x37d3, true},  // X722
    {{"ionic", "ionic_rdma"}, 0x1dd8, 0x1002, 0x1003},
    {{"hns3", "hns_roce_hw_v2"}, 0x19e5, 0xa222, 0xa228, true},
    {{"efa", "efa"}, 0x1d0f, 0xefa0, 0xefaf},
    {{"mana", "mana_ib"}, 0x1414, 0x00b9, 0x00ba},
    {{"erdma", "erdma"}, 0x1ded, 0x107f, 0x107f},
    {{"qede", "qedr"}},
    {{"cxgb4", "iw_cxgb4"}},
};

constexpr NicVendor kVendors[] = {
    {0x15b3, "nvidia", "mlx5_core"}, {0x15b3, "mellanox", "mlx5_core"}, {0x14e4, "broadcom", "bnxt_en"},
    {0x8086, "intel", "ice"},        {0x1dd8, "amd", "ionic"},          {0x1dd8, "pensando", "ionic"},
    {0x1d0f, "amazon", "efa"},       {0x19e5, "huawei", "hns3"},        {0x1414, "microsoft", "mana"},
    {0x1ded, "alibaba", "erdma"},    {0x1077, "marvell", "qede"},       {0x434e, "cornelis", "hfi1"}};

// By the match tables of rdma-core 65, providers/*/, and the drivers of the functions with these RDMA devices.
struct ProviderRow {
  std::string_view kernel_driver;
  VerbsProvider provider;
};
constexpr ProviderRow kProviders[] = {
    {"mlx5_core", {"mlx5"}},
    {"mlx4_core", {"mlx4"}},
    {"ib_mthca", {"mthca"}},
    {"bnxt_en", {"bnxt_re"}},
    {"ice", {"irdma"}},
    {"idpf", {"irdma"}},
    {"i40e", {"irdma", "i40iw"}},
    {"ionic", {"ionic"}},
    {"hns3", {"hns"}},
    {"efa", {"efa"}},
    {"mana", {"mana"}},
    {"erdma", {"erdma"}},
    {"qede", {"qedr"}},
    {"cxgb4", {"cxgb4"}},
    {"be2net", {"ocrdma"}},
    {"hfi1", {"hfi1verbs", {}, "hfi1_"}},
    {"ib_qib", {"ipathverbs"}},
    {"vmw_pvrdma", {"vmw_pvrdma"}},
    {"rxe", {"rxe"}},
    {"siw", {"siw"}},
};

constexpr std::string_view kNameHeads[] = {
    "mlx5_", "mlx5_bond_", "mlx4_", "mthca",  "bnxt_re", "irdma", "i40iw", "ionic_", "hns_", "erdma_", "efa_",
    "mana_", "manae_",     "qedr",  "cxgb4_", "ocrdma",  "hfi1_", "hrn0_", "rxe",    "siw",  "usnic_",  // the kernel's
    "rocep", "roceo",      "ibp",   "ibo",    "iwp",     "opap",  "rdmap"};

constexpr bool is_letter(char each) { return 'a' <= each && each <= 'z'; }

}  // namespace

const Capabilities& capabilities_of(std::string_view kernel_driver) {
  static constexpr Capabilities kNone{};
  const DriverRow* row = find_where(kRows, [&](const DriverRow& each) { return each.kernel_driver == kernel_driver; });
  if (row == nullptr) return kNone;
  return row->capabilities;
}

const RdmaModules* rdma_modules_of(std::string_view kernel_driver, uint16_t vendor, uint16_t device) {
  const RdmaRow* row = find_where(kRdmaRows, [&](const RdmaRow& each) {
    const bool is_model = vendor == each.vendor && each.first <= device && device <= each.last;
    if (kernel_driver.empty()) return is_model;
    return kernel_driver == each.modules.function && (is_model || !each.only_these);
  });
  return row == nullptr ? nullptr : &row->modules;
}

bool is_rdma_module(std::string_view module) {
  return std::ranges::any_of(
      kRdmaRows, [&](const RdmaRow& each) { return module == each.modules.function || module == each.modules.rdma; });
}

std::vector<RdmaModule> rdma_modules() {
  std::vector<RdmaModule> out;
  for (const RdmaRow& row : kRdmaRows)
    for (const std::string_view name : {row.modules.rdma, row.modules.former}) {
      if (name.empty() || name == row.modules.function) continue;
      RdmaModule* known = find_where(out, [&](const RdmaModule& each) { return each.name == name; });
      if (known == nullptr) known = &out.emplace_back(RdmaModule{name, {}});
      if (!contains(known->functions, row.modules.function)) known->functions.push_back(row.modules.function);
    }
  return out;
}

std::span<const NicVendor> nic_vendors() { return kVendors; }

bool is_cloud_vendor(uint16_t vendor) {
  return std::ranges::any_of(kVendors, [&](const NicVendor& each) {
    return each.id == vendor && capabilities_of(each.driver).only_in_clouds;
  });
}

bool has_both_link_layers(std::string_view pci_id) {
  // Connect-IB; ConnectX-4 Lx, ConnectX-6 Dx, ConnectX-6 Lx
  constexpr std::string_view kOneLayer[]{"15b3:1011", "15b3:1015", "15b3:101d", "15b3:101f"};
  return pci_id.starts_with("15b3:") && !contains(kOneLayer, pci_id);
}

bool is_guests_function(std::string_view pci_id) {
  constexpr std::string_view kIds[] = {
      "15b3:1002", "15b3:1004", "15b3:1012", "15b3:1014", "15b3:1016", "15b3:1018", "15b3:101a", "15b3:101c",
      "15b3:101e", "15b3:a2d3", "14e4:1606", "14e4:1607", "14e4:1608", "14e4:1609", "14e4:16bd", "14e4:16c1",
      "14e4:16c2", "14e4:16c3", "14e4:16c4", "14e4:16c5", "14e4:16cb", "14e4:16d3", "14e4:16dc", "14e4:16e1",
      "14e4:16e5", "14e4:16e6", "14e4:1806", "14e4:1807", "14e4:1808", "14e4:1809", "14e4:1819", "14e4:181b",
      "14e4:d800", "1077:1664", "1077:8090", "1dd8:1003", "8086:1889", "8086:145c", "19e5:a22e", "19e5:a22f",
      "1d0f:efa0", "1d0f:efa1", "1d0f:efa2", "1d0f:efa3", "1414:00ba", "1ded:107f"};
  return contains(kIds, pci_id);
}

bool is_dpu_function(std::string_view pci_id) {
  constexpr std::string_view kIds[] = {"15b3:a2d2", "15b3:a2d6", "15b3:a2dc", "15b3:a2df"};
  return contains(kIds, pci_id);
}

bool is_data_direct(const PciDevice& function) {
  return function.vendor == kNvidiaNetworking && function.device == 0x2100;
}

VerbsProvider verbs_provider_of(std::string_view kernel_driver) {
  const ProviderRow* row =
      find_where(kProviders, [&](const ProviderRow& each) { return each.kernel_driver == kernel_driver; });
  return row == nullptr ? VerbsProvider{} : row->provider;
}

bool is_known_provider(std::string_view name) {
  return std::ranges::any_of(
      kProviders, [&](const ProviderRow& each) { return name == each.provider.name || name == each.provider.former; });
}

std::span<const std::string_view> rdma_name_heads() { return kNameHeads; }

bool is_like_rdma_name(std::string_view text) {
  return is_digit(text.empty() ? ' ' : text.back()) && std::ranges::any_of(kNameHeads, [&](std::string_view head) {
           return text.starts_with(head) && text.size() > head.size();
         });
}

bool mentions_rdma_device(std::string_view text) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789_";
  while (!text.empty()) {
    text.remove_prefix(std::min(text.size(), text.find_first_of(kOfNames)));
    std::string_view word = text.substr(0, text.find_first_not_of(kOfNames));
    text.remove_prefix(word.size());
    if (word.starts_with("lib")) word.remove_prefix(3);
    if (is_rdma_module(word)) return true;
    for (std::string_view head : kNameHeads) {
      head = head.substr(0, head.find_last_not_of("0123456789_") + 1);
      if (word.starts_with(head) && (word.size() == head.size() || !is_letter(word[head.size()]))) return true;
    }
  }
  return false;
}

std::string_view software_driver(bool has_parent_file, std::string_view protocol) {
  if (has_parent_file) return "rxe";
  if (protocol == "iw") return "siw";
  return "";
}

}  // namespace fabric
