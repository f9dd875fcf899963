// SPDX-License-Identifier: Apache-2.0
// Profiles, and the settings that follow from `traffic` and `cnp`: a site's DSCPs and priorities are written once.
#include "policy/reader.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

constexpr uint8_t kRest = 0, kLossless = 1, kNotifications = 2;  // traffic classes
constexpr uint32_t kEct0 = 2;                                    // RFC 3168: ECN-capable

PrioSet one(uint8_t prio) { return {static_cast<uint8_t>(1U << prio)}; }

// Half of the link for lossless traffic, half for the rest; CNPs, few and urgent, are strict.
Ets classes(PrioSet lossless, const std::optional<Mark>& cnp) {
  Ets out;
  for (int prio = 0; prio < kPriorities; ++prio)
    if (lossless.has(prio)) out.prio_tc[static_cast<size_t>(prio)] = kLossless;
  if (cnp && !lossless.has(cnp->priority)) out.prio_tc[cnp->priority] = kNotifications;
  out.tsa[kRest] = out.tsa[kLossless] = Tsa::ets;
  out.bw[kRest] = out.bw[kLossless] = 50;
  return out;
}

Qos from_traffic(const Mark& data, const std::optional<Mark>& cnp, const Qos& want) {
  Qos out;
  const PrioSet lossless{static_cast<uint8_t>(want.pfc.value_or(PrioSet{}).bits | one(data.priority).bits)};
  out.pfc = one(data.priority);
  out.ets = classes(lossless, cnp);
  out.ecn_rp = out.ecn_np = PrioSet{0xff};  // as shipped: RoCE on any other priority needs DCQCN even more, without PFC
  out.roce_prio = data.priority;
  if (want.trust == Trust::pcp) return out;
  out.trust = Trust::dscp;
  out.dscp_map = DscpMap{{data.dscp, data.priority}};
  if (cnp) out.dscp_map->emplace(cnp->dscp, cnp->priority);
  out.roce_dscp = data.dscp;
  out.roce_mode = RoceMode::v2;  // v1 has no IP header that could carry a DSCP
  out.roce_tos = data.dscp << 2U | kEct0;
  return out;
}

Qos from_cnp(const Mark& cnp) {
  Qos out;
  out.cnp_dscp = cnp.dscp;
  out.cnp_prio = OrNone{cnp.priority};
  return out;
}

// Adds to the entry each setting that it lacks; `note` is its origin.
template <class Note>
void fill(Entry& entry, const Qos& from, Note&& note) {
  for (size_t row = 0; row < kSettingCount; ++row) {
    if (!has_value(kSettings[row], from) || has_value(kSettings[row], entry.port.want)) continue;
    copy_value(kSettings[row], from, entry.port.want);
    note(row);
  }
}

void derive(Entry& entry, const Qos& follows, const MarkKey& from, const std::string& origin) {
  fill(entry, follows, [&](size_t row) {
    entry.port.derived.set(row);
    entry.port.origin[row] = origin;
    entry.places[row] = from.at;
  });
}

// True if CNPs and data have different marks.
bool differ(const Entry& entry, Faults& faults) {
  const auto& data = entry.traffic.mark;
  const auto& cnp = entry.cnp.mark;
  if (!data || !cnp) return true;
  if (data->priority == cnp->priority)
    faults.fail(entry.cnp.at, "cnp: priority " + std::to_string(cnp->priority) +
                                  " is the lossless one of traffic: where PFC pauses it, the CNPs that are to end the "
                                  "congestion wait, too; write another priority");
  else if (data->dscp == cnp->dscp)
    faults.fail(entry.cnp.at, "cnp: DSCP " + std::to_string(cnp->dscp) + " is that of traffic, which has priority " +
                                  std::to_string(data->priority) + "; write another DSCP");
  return data->priority != cnp->priority && data->dscp != cnp->dscp;
}

}  // namespace

void apply_profile(Entry& entry, const Entry& profile) {
  fill(entry, profile.port.want, [&](size_t row) {
    entry.port.origin[row] = profile.port.origin[row];
    entry.places[row] = profile.places[row];
  });
}

void follow_marks(Entry& entry, const Document& document, const Entry* profile, Faults& faults) {
  if (entry.leaves_alone) return;
  const auto choose = [](MarkKey& own, const MarkKey& top, const MarkKey* below) {
    if (!own.given && top.given) own = top;
    if (!own.given && below != nullptr) own = *below;
  };
  choose(entry.traffic, document.traffic, profile != nullptr ? &profile->traffic : nullptr);
  choose(entry.cnp, document.cnp, profile != nullptr ? &profile->cnp : nullptr);
  if (!differ(entry, faults)) return;
  PortPolicy& port = entry.port;
  port.traffic = entry.traffic.mark;
  port.cnp = entry.cnp.mark;
  if (port.traffic) port.traffic_origin = faults.line(entry.traffic.at);
  if (port.cnp) port.cnp_origin = faults.line(entry.cnp.at);
  if (port.traffic)
    derive(entry, from_traffic(*port.traffic, port.cnp, port.want), entry.traffic,
           port.traffic_origin + " (from traffic)");
  if (port.cnp) derive(entry, from_cnp(*port.cnp), entry.cnp, port.cnp_origin + " (from cnp)");
}

}  // namespace fabric::config
