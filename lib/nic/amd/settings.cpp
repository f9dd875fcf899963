// SPDX-License-Identifier: Apache-2.0
// ionic (AMD Pensando DSC, Pollara): no dcbnl in any kernel (5.10 to 7.3); QoS and DCQCN are set with AMD's nicctl, and
// are lost at a reboot unless they are in the NIC's profile (AMD UG1813). MTU, rings and FEC are set through the
// kernel. Running nicctl from a service would need a program of the vendor's in the version of the firmware (AMD's own
// exporter ships several), with access to the NIC's registers, and its JSON output is undocumented: so its settings are
// not enforced, and the commands are shown instead.
//
// Pause can be read, but is not written: ionic_get_pauseparam() shows PFC, which nicctl has switched on, as pause, and
// ionic_set_pauseparam() replaces it with link pause (drivers/net/ethernet/pensando/ionic/ionic_ethtool.c of
// Linux 6.12).
#include <array>
#include <map>
#include <set>
#include <span>

#include "base/parse.h"
#include "nic/driver.h"
#include "nic/generic/upstream.h"

namespace fabric {
namespace {

constexpr SettingId kQos[]{SettingId::dcbx, SettingId::trust, SettingId::dscp_map,
                           SettingId::ets,  SettingId::pfc,   SettingId::maxrate};
constexpr SettingId kDcqcn[]{SettingId::cc, SettingId::ecn_rp, SettingId::ecn_np, SettingId::cnp_dscp,
                             SettingId::cnp_prio};

std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code) {
  if (code == 0 && setting.id == SettingId::pause)
    return "ionic shows its PFC as global pause, and a write would replace it: set the port's pause type with nicctl";
  if (code == 0 && contains(kQos, setting.id))
    return "no kernel sets QoS of this NIC: nicctl update qos, kept over a reboot by the NIC's profile (nicctl show "
           "qos)";
  if (code == 0 && contains(kDcqcn, setting.id))
    return "no kernel sets DCQCN of this NIC: give it a DCQCN profile with nicctl";
  return upstream::remedy(setting, have, netdev, code);
}

// `nicctl update qos scheduling` has a weight in percent for each priority; 0 is strict priority. Our classes have
// several priorities: the weight of a class goes to those of its priorities that carry a DSCP of the policy, and in the
// class of the other DSCPs to priority 0. Empty: the command cannot say it, as a weight below 1.
std::string scheduling(const Ets& ets, const Qos& want) {
  std::array<std::set<unsigned>, kPriorities> members;  // by class
  const auto add = [&](unsigned priority) { members[ets.prio_tc[priority] & 7].insert(priority); };
  add(0);
  if (want.dscp_map)
    for (const auto& [dscp, priority] : *want.dscp_map) add(priority & 7);
  if (want.cnp_dscp && want.cnp_prio && want.cnp_prio->value) add(*want.cnp_prio->value & 7);
  std::string priorities, weights, limits;
  unsigned sum = 0;
  for (size_t tc = 0; tc < members.size(); ++tc) {
    if (ets.tsa[tc] != Tsa::ets && ets.tsa[tc] != Tsa::strict && !members[tc].empty()) return {};
    const auto count = static_cast<unsigned>(members[tc].size());
    const bool is_weighted = ets.tsa[tc] == Tsa::ets;
    unsigned left = is_weighted ? ets.bw[tc] : 0, nth = 0;
    if (is_weighted && left < count) return {};  // one would be 0, which is strict priority
    for (const unsigned priority : members[tc]) {
      const unsigned weight = left / (count - nth++);
      left -= weight;
      sum += weight;
      append_item(priorities, std::to_string(priority), ",");
      append_item(weights, std::to_string(weight), ",");
      append_item(limits, "0", ",");
    }
  }
  if (sum != 100) return {};  // a class without a priority of the policy has a share
  return "--priority " + priorities + " --dwrr " + weights + " --rate-limit " + limits;
}

// Commands as in AMD UG1813 and in ROCm's documentation ("Configure QoS and PFC", "Configure DCQCN"). A port is named
// by a UUID that begins with its MAC address: "04908130-a7a0-4242-4242-000011010000" is 04:90:81:30:a7:a0, and `nicctl
// show port` prints it as the third word of the line "Port : UUID (eth1/1)". `nicctl update qos` accepts one UUID at a
// time, `nicctl update dcqcn` one RDMA device.
std::string vendor_command(const Setting& setting, const Qos& want, const std::string& rdma, const std::string& mac) {
  std::string port = " -p PORT";  // of `nicctl show port`
  const auto octets = split(mac, ':');
  if (octets.size() == 6)
    port = " -p \"$(nicctl show port | awk 'tolower($3) ~ /^" + lower(joined(std::span(octets).first(4), "")) + "-" +
           lower(joined(std::span(octets).last(2), "")) + "-/ {print $3}')\"";
  const std::string qos = "nicctl update qos";
  switch (setting.id) {
    case SettingId::trust:  // documented for all NICs at once only
      return qos + " --classification-type " + std::string(*want.trust == Trust::pcp ? "pcp" : "dscp");
    case SettingId::dscp_map: {
      std::map<unsigned, std::string> dscps;  // by priority
      for (const auto& [dscp, priority] : *want.dscp_map) append_item(dscps[priority], std::to_string(dscp), ",");
      return joined(dscps, " && ", [&](const auto& each) {
        return qos + " dscp-to-priority" + port + " --dscp " + each.second + " --priority " +
               std::to_string(each.first);
      });
    }
    case SettingId::pfc: {
      std::string out;
      if (want.pfc->bits != 0)
        out = "nicctl update port" + port + " --pause-type pfc --rx-pause enable --tx-pause enable";
      for (int priority = 0; priority < kPriorities; ++priority) {
        if (want.pfc->bits != 0 && !want.pfc->has(priority)) continue;
        append_item(out,
                    qos + " pfc" + port + " --priority " + std::to_string(priority) + " --no-drop " +
                        (want.pfc->has(priority) ? "enable" : "disable"),
                    " && ");
      }
      return out;
    }
    case SettingId::ets: {
      const std::string shares = scheduling(*want.ets, want);
      return shares.empty() ? shares : qos + " scheduling" + port + " " + shares;
    }
    case SettingId::cnp_dscp:
      if (rdma.empty()) return {};
      return "nicctl update dcqcn -r " + rdma + " -i 1 --cnp-dscp " + std::to_string(*want.cnp_dscp);
    case SettingId::cnp_prio:
      if (!want.cnp_dscp || !want.cnp_prio->value) return {};
      return qos + " dscp-to-priority" + port + " --dscp " + std::to_string(*want.cnp_dscp) + " --priority " +
             std::to_string(*want.cnp_prio->value);
    default: return {};
  }
}

constexpr SettingOp kOps[] = {
    {SettingId::mtu, {upstream::write_mtu, "ionic_lif.c ionic_change_mtu()"}},
};

}  // namespace

const Driver kIonic{
    .name = "ionic",
    .source = "drivers/net/ethernet/pensando/ionic",
    .kernel_names = {"ionic"},
    .remedy = remedy,
    .vendor_command = vendor_command,
    .ops = kOps,
    .fec_in_use = true,  // ionic_get_fecparam() always lists off, rs and baser
};

}  // namespace fabric
