// SPDX-License-Identifier: Apache-2.0
// The vendors' counter tables: a new vendor is one line here.

#include "base/find.h"
#include "vendor/counter_row.h"

namespace fabric {

std::span<const CounterTable> counter_tables() {
  using std::chrono::seconds;
  static const CounterTable tables[] = {
      {.vendor = "NVIDIA mlx5",
       .drivers = {"mlx5_core"},
       .rows = mlx5_rows(),
       .origins = mlx5_origins(),
       .twin_prefix = "vport_",
       .hw_scope = CounterScope::function},
      // bnxt_timer and bnxt_get_ethtool_stats of Linux 6.12: the device writes them into memory once a second; bng_en
      // asks it once a second (bnge_timer(), BNGE_TIMER_INTERVAL).
      {.vendor = "Broadcom bnxt_re, bnxt_en, bng_en",
       .drivers = {"bnxt_en", "bng_en"},
       .rows = bnxt_rows(),
       .origins = bnxt_origins(),
       .ethtool_period = seconds(1),
       .hw_scope = CounterScope::function},
      {.vendor = "Intel irdma, ice, i40e, idpf",
       .drivers = {"ice", "i40e", "idpf"},
       .rows = ice_irdma_rows(),
       .origins = ice_irdma_origins(),
       .hw_scope = CounterScope::function},
      {.vendor = "AMD ionic",
       .drivers = {"ionic"},
       .rows = ionic_rows(),
       .origins = ionic_origins(),
       .hw_scope = CounterScope::function},
      {.vendor = "HiSilicon hns_roce, hns3", .drivers = {"hns3"}, .rows = hns_rows(), .origins = hns_origins()},
      {.vendor = "Amazon EFA", .drivers = {"efa"}, .rows = efa_rows(), .origins = efa_origins(), .exclusive = true},
      {.vendor = "Microsoft MANA",
       .drivers = {"mana"},
       .rows = mana_rows(),
       .origins = mana_origins(),
       .exclusive = true,
       .hw_scope = CounterScope::function},
      {.vendor = "Cornelis hfi1",
       .drivers = {"hfi1"},
       .rows = hfi1_rows(),
       .origins = hfi1_origins(),
       .exclusive = true},
      {.vendor = "soft-RoCE", .drivers = {"rxe"}, .rows = rxe_rows(), .origins = rxe_origins()},
      {.vendor = "all drivers", .rows = pma_rows(), .origins = pma_origins()},
  };
  return tables;
}

bool CounterTable::is_of(std::string_view driver) const { return !driver.empty() && contains(drivers, driver); }

const CounterTable* find_counter_table(std::string_view driver) {
  const auto tables = counter_tables();
  return find_where(tables, [&](const CounterTable& table) { return table.is_of(driver); });
}

std::string_view to_text(CounterClass value) {
  constexpr std::array<std::string_view, 9> kTexts{"none",     "loss", "link",    "discard", "storm",
                                                   "receiver", "pcie", "request", "ecn"};
  return kTexts[static_cast<size_t>(value)];
}

std::string_view to_text(CounterScope value) {
  constexpr std::array<std::string_view, 4> kTexts{"port", "function", "device", "InfiniBand link"};
  return kTexts[static_cast<size_t>(value)];
}

}  // namespace fabric
