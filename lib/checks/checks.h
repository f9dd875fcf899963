// SPDX-License-Identifier: Apache-2.0
// The `ask` functions of the table (rows.h); each is defined in the file of its name.
#pragma once

#include <array>
#include <vector>

#include "checks/check.h"

namespace fabric {

using Findings = std::vector<Finding>;

void ask_port_state(const View& view, Findings& findings);
void ask_rate(const View& view, Findings& findings);
void ask_roce_mtu(const View& view, Findings& findings);
void ask_gid(const View& view, Findings& findings);
void ask_pfc_and_pause(const View& view, Findings& findings);
void ask_locality(const View& view, Findings& findings);
void ask_pairing(const View& view, Findings& findings);
void ask_pcie(const View& view, Findings& findings);
void ask_acs(const View& view, Findings& findings);
void ask_iommu(const View& view, Findings& findings);
void ask_aer(const View& view, Findings& findings);
void ask_gpu_bar(const View& view, Findings& findings);
void ask_gpudirect(const View& view, Findings& findings);
void ask_pci_tuning(const View& view, Findings& findings);
void ask_pci_power(const View& view, Findings& findings);
void ask_cabling(const View& view, Findings& findings);
void ask_peer_pfc(const View& view, Findings& findings);
void ask_peer_ets(const View& view, Findings& findings);
void ask_peer_app(const View& view, Findings& findings);
void ask_memlock(const View& view, Findings& findings);
void ask_limits_conf(const View& view, Findings& findings);
void ask_nofile(const View& view, Findings& findings);
void ask_numa_balancing(const View& view, Findings& findings);
void ask_governor(const View& view, Findings& findings);
void ask_c_states(const View& view, Findings& findings);
void ask_irq_affinity(const View& view, Findings& findings);
void ask_clock_source(const View& view, Findings& findings);
void ask_snc(const View& view, Findings& findings);
void ask_huge_pages(const View& view, Findings& findings);
void ask_lockdown(const View& view, Findings& findings);
void ask_address(const View& view, Findings& findings);
void ask_rails(const View& view, Findings& findings);
void ask_gateway(const View& view, Findings& findings);
void ask_gid_index(const View& view, Findings& findings);
void ask_mtu_chain(const View& view, Findings& findings);
void ask_firmware(const View& view, Findings& findings);
void ask_expect(const View& view, Findings& findings);
void ask_agent(const View& view, Findings& findings);
void ask_kept(const View& view, Findings& findings);

// One check per row of kSettings, and one per row of kHealthChecks.
void ask_setting(size_t row, const View& view, Findings& findings);
std::string_view setting_runbook(SettingId setting);
void ask_congestion(const View& view, Findings& findings);

// Answered by the rules of that check (health/rule.h), but for "congestion".
struct HealthCheck {
  std::string_view id, group, question, runbook;
};
extern const std::array<HealthCheck, 17> kHealthChecks;

}  // namespace fabric
