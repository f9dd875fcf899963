// SPDX-License-Identifier: Apache-2.0
#include "enforce/traffic.h"

#include <algorithm>
#include <bit>

#include "nic/generic/headroom.h"

namespace fabric::qos {
namespace {

bool trusts_dscp(const Qos& qos) {
  if (qos.apptrust)
    for (const uint8_t selector : qos.apptrust->selectors)
      if (selector == AppTrust::kDscp || selector == AppTrust::kPcp) return selector == AppTrust::kDscp;
  return qos.trust == Trust::dscp;
}

// Buffer and class count for a lossless priority only: the others drop packets in any case.
uint8_t guards_of(const Qos& qos, uint8_t priority, uint64_t least) {
  uint8_t out = 0;
  const auto add = [&out](bool holds, Guard guard) { out = static_cast<uint8_t>(holds ? out | guard : out); };
  add(qos.ecn_rp && qos.ecn_rp->has(priority), kReaction);
  add(qos.ecn_np && qos.ecn_np->bits != 0, kNotify);  // on for one priority, it answers the marks of all
  add(qos.cc == true, kControl);
  const PrioSet lossless = qos.pfc.value_or(PrioSet{});
  if (!lossless.has(priority)) return out;
  add(true, kPfc);
  if (qos.prio2buffer && qos.buffer_size)
    add(qos.buffer_size->bytes[(*qos.prio2buffer)[priority] & 7] >= least, kHeadroom);
  if (!qos.ets) return out;
  const uint8_t own = qos.ets->prio_tc[priority] & 7;
  bool is_alone = true;
  for (size_t other = 0; other < kPriorities; ++other)
    if (other != priority && (qos.ets->prio_tc[other] & 7) == own && !lossless.has(other)) is_alone = false;
  add(is_alone, kOwnClass);
  add(qos.ets->tsa[own] != Tsa::ets || qos.ets->bw[own] > 0, kShare);
  return out;
}

bool is_lost(uint8_t before, uint8_t after) { return (before & ~after) != 0; }

}  // namespace

bool is_protection_on(SettingId id, const Qos& qos) {
  if (id == SettingId::pfc) return qos.pfc && qos.pfc->bits != 0;
  return qos.pause && (qos.pause->rx || qos.pause->tx);
}

Lanes TrafficGuard::lanes(const Qos& qos) const {
  std::array<uint8_t, kPriorities> guards{};
  for (uint8_t priority = 0; priority < kPriorities; ++priority) guards[priority] = guards_of(qos, priority, least_);
  Lanes out;
  const auto set = [&](size_t lane, unsigned priority) {
    if (priority < kPriorities) out[lane] = {static_cast<uint8_t>(priority), guards[priority]};
  };
  const bool by_dscp = trusts_dscp(qos);
  if (by_dscp) {
    const DscpMap map = qos.dscp_map.value_or(DscpMap{});
    for (unsigned dscp = 0; dscp < kTags; ++dscp) {
      const auto entry = map.find(static_cast<uint8_t>(dscp));
      set(dscp, entry == map.end() ? 0 : entry->second);
    }
  } else if (qos.trust || qos.apptrust) {
    for (unsigned tag = 0; tag < (is_tagged_ ? kPriorities : 1U); ++tag) set(kTags + tag, tag);
  }
  const auto mark = [&](size_t lane, std::optional<uint32_t> dscp) {
    if (dscp && *dscp < kTags) out[lane] = by_dscp ? out[*dscp] : out[kTags];
  };
  if (qos.roce_tos && qos.roce_mode != RoceMode::v1) mark(kMarks, *qos.roce_tos >> 2U);
  if (qos.traffic_class && qos.traffic_class->value) mark(kMarks + 1, *qos.traffic_class->value >> 2U);
  mark(kMarks + 2, qos.roce_dscp);
  if (qos.roce_prio) set(kMarks + 3, *qos.roce_prio);
  return out;
}

void TrafficGuard::update(const Reading& have, const Qos& want, const std::string& netdev) {
  have_ = have;
  want_ = want;
  const Qos& now = have.values;
  headroom::LinkProperties link;
  link.speed = have.capacity.speed.value_or(0);
  link.max_mtu = have.capacity.max_mtu.value_or(0);
  link.mtu = std::max(now.mtu.value_or(0), want.mtu.value_or(0));
  link.cable =
      std::max(now.cable_length.value_or(headroom::kDefaultCable), want.cable_length.value_or(headroom::kDefaultCable));
  least_ = headroom::minimum(link);

  // The state after all writes. A setting that protects is part of it even if the driver cannot have the wanted value,
  // if without it some traffic would have less protection than now: the traffic must not move there without it.
  differing_.reset();
  Keys possible, impossible;
  for (const Setting& setting : kSettings) {
    if (!has_key(keys_, setting.id) || !has_value(setting, want) || !has_value(setting, now)) continue;
    const bool can_be = why_not(driver_, setting, want, have, netdev).empty();
    if (can_be) possible.set(index(setting.id));
    else if (setting.traffic == TrafficPart::protects) impossible.set(index(setting.id));
  }
  const auto with = [&](const Keys& set) {
    Qos out = now;
    for (const SettingId id : driver_.order)
      if (has_key(set, id) && !same_value(setting_of(id), want, out)) driver_.effect(setting_of(id), want, out);
    for (const Setting& setting : kSettings)
      if (has_key(set, setting.id)) copy_value(setting, want, out);
    return out;
  };
  // A policy that trusts PCP says that tags count. On the way to DSCP they count if the NIC trusts them now.
  is_tagged_ = !trusts_dscp(with(possible));
  if (!is_tagged_ && !trusts_dscp(now) && now.pfc && now.pfc->bits != 0) {
    if (!known_tags_) known_tags_ = has_tags_();
    is_tagged_ = *known_tags_;
  }
  now_ = lanes(now);
  const Lanes all = lanes(with(possible | impossible)), most = lanes(with(possible));
  bool is_less = false;
  for (size_t lane = 0; lane < kLanes; ++lane)
    is_less = is_less || is_lost(now_[lane].guards & all[lane].guards, most[lane].guards);
  const Keys set = is_less ? possible | impossible : possible;
  const Qos goal = with(set);
  goal_ = is_less ? all : most;
  for (const Setting& setting : kSettings)
    if (has_key(set, setting.id) && setting.traffic != TrafficPart::none &&
        (!same_value(setting, want, now) || has_key(have.notes.unread, setting.id)))
      differing_.set(index(setting.id));
  constexpr PrioSet kEvery{0xff};
  PrioSet one;
  if (now.pfc && goal.pfc) one.bits = static_cast<uint8_t>(goal.pfc->bits & ~now.pfc->bits);
  one.bits = static_cast<uint8_t>(one.bits & -one.bits);
  steps_ = {step(goal, kEvery, false, false), step(goal, kEvery, false, true), step(goal, kEvery, true, false),
            step(goal, kEvery, true, true), step(goal, one, true, false)};
}

// Packets that PFC protects before or after count, and those that the host marks as RoCE.
bool TrafficGuard::counts(size_t lane) const {
  return lane >= kMarks || ((now_[lane].guards | goal_[lane].guards) & kPfc) != 0;
}

bool TrafficGuard::is_moving() const {
  for (size_t lane = 0; lane < kLanes; ++lane)
    if ((now_[lane].guards & kPfc) != 0 &&
        (now_[lane].priority != goal_[lane].priority || is_lost(now_[lane].guards, goal_[lane].guards)))
      return true;
  return false;
}

bool TrafficGuard::differs(SettingId id) const { return has_key(differing_, id); }

Qos TrafficGuard::after(SettingId id, const Qos& value) const {
  Qos out = have_.values;
  driver_.effect(setting_of(id), value, out);
  return out;
}

bool TrafficGuard::moves(SettingId id) const {
  if (setting_of(id).traffic != TrafficPart::classifies) return false;
  const Lanes next = lanes(after(id, want_));
  for (size_t lane = 0; lane < kLanes; ++lane)
    if ((now_[lane].guards & kPfc) != 0 && now_[lane].priority != next[lane].priority) return true;
  return false;
}

bool TrafficGuard::takes_away(SettingId id) const { return loses(lanes(after(id, want_))); }

// Whether a counted lane has protection now that it lacks in `next`.
bool TrafficGuard::loses(const Lanes& next) const {
  for (size_t lane = 0; lane < kLanes; ++lane)
    if (counts(lane) && is_lost(now_[lane].guards, next[lane].guards)) return true;
  return false;
}

bool TrafficGuard::adds(const Lanes& next) const {
  for (size_t lane = 0; lane < kLanes; ++lane)
    if (counts(lane) && is_lost(next[lane].guards, now_[lane].guards)) return true;
  return false;
}

bool TrafficGuard::only_protects(SettingId id) const {
  return !takes_away(id) && !moves(id) && adds(lanes(after(id, want_)));
}

// Whether the state `next`, after a write of the setting, may follow the present one.
bool TrafficGuard::may_follow(SettingId id, const Lanes& next) const {
  uint8_t released = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (!counts(lane)) continue;
    const uint8_t now = now_[lane].guards;
    if (is_lost(now & goal_[lane].guards, next[lane].guards)) return false;
    if (is_lost(now, next[lane].guards)) released |= now;
  }
  if (released == 0) return true;
  // Protection that the policy removes goes last. RoCE may use a mark that only the jobs know: it keeps its protection
  // until all traffic that the policy protects is protected, and the traffic has moved.
  for (size_t lane = 0; lane < kLanes; ++lane)
    if (counts(lane) && is_lost(goal_[lane].guards & released, next[lane].guards)) return false;
  if (setting_of(id).traffic != TrafficPart::protects) return true;
  return std::ranges::none_of(kSettings, [&](const Setting& other) {
    return other.id != id && differs(other.id) && other.traffic == TrafficPart::classifies;
  });
}

// A step towards the policy, in which the old and the new priorities are protected. Traffic that the policy releases
// stays on its priority, which joins the class and the buffer of the policy's lossless priority; `by_share`: which gets
// half of that class's share, for drivers that do not let a priority change its class. `keeps_unused`: lossless
// priorities without traffic stay lossless, too; they may be in the class of one that has traffic, but a NIC may have
// only two lossless classes. `added`: the priorities that become lossless; one at a time, with the others in the class
// that they have, if all of them and the present ones are in more classes than that.
Qos TrafficGuard::step(const Qos& goal, PrioSet added, bool keeps_unused, bool by_share) const {
  Qos out = policy_;
  Qos now = have_.values;
  PrioSet used;
  for (const Lane& lane : now_)
    if (lane.priority) used.bits = static_cast<uint8_t>(used.bits | 1U << *lane.priority);
  // Without trust, the traffic is unknown; with two selectors, a tag counts for packets of an unmapped DSCP.
  const bool is_unknown = (!now.trust && !now.apptrust) || (now.apptrust && now.apptrust->selectors.size() > 1);
  if (keeps_unused || is_unknown) used.bits = 0xff;
  if (now.pfc) now.pfc->bits &= used.bits;
  const auto join = [](std::optional<PrioSet>& to, const std::optional<PrioSet>& from) {
    if (to && from) to->bits |= from->bits;
  };
  const PrioSet before = now.pfc.value_or(PrioSet{}), wanted = want_.pfc.value_or(before);
  if (out.pfc) out.pfc->bits &= added.bits;
  join(out.pfc, now.pfc);
  join(out.ecn_rp, now.ecn_rp);
  join(out.ecn_np, now.ecn_np);
  if (out.cc && now.cc == true) out.cc = true;
  if (out.dscp_map && !out.dscp_map->empty() && now.dscp_map)
    for (const auto& [dscp, priority] : *now.dscp_map)
      if (dscp < kTags && (now_[dscp].guards & kPfc) != 0 && (goal_[dscp].guards & kPfc) == 0)
        (*out.dscp_map)[dscp] = priority;
  if (wanted.bits != 0) {
    const auto guards = [this](const Qos& qos, size_t priority) {
      return guards_of(qos, static_cast<uint8_t>(priority), least_);
    };
    auto model = static_cast<size_t>(std::countr_zero(wanted.bits));
    for (size_t priority = model; priority < kPriorities && (guards(goal, model) & kShare) == 0; ++priority)
      if ((guards(goal, priority) & kShare) != 0) model = priority;
    for (size_t priority = 0; priority < kPriorities; ++priority) {
      const bool waits = wanted.has(priority) && !before.has(priority) && added.bits != 0xff;
      if (waits && out.ets && now.ets) out.ets->prio_tc[priority] = now.ets->prio_tc[priority];
      if (!before.has(priority) || priority == model || !is_lost(guards(now, priority), guards(goal, priority)))
        continue;
      if (out.prio2buffer) (*out.prio2buffer)[priority] = (*out.prio2buffer)[model];
      if (!out.ets) continue;
      Ets& ets = *out.ets;
      if (!by_share) {
        ets.prio_tc[priority] = ets.prio_tc[model];
        continue;
      }
      const size_t from = ets.prio_tc[model] & 7, to = ets.prio_tc[priority] & 7;
      if (ets.tsa[to] != Tsa::ets || ets.bw[to] != 0 || ets.tsa[from] != Tsa::ets) continue;
      const auto half = static_cast<uint8_t>(ets.bw[from] / 2);
      ets.bw[to] = half;
      ets.bw[from] = static_cast<uint8_t>(ets.bw[from] - half);
    }
  }
  return expected_of(driver_, out, have_);
}

std::optional<Qos> TrafficGuard::next_value(SettingId id, bool keeps_all) const {
  const auto is_possible = [&](const Lanes& next) { return may_follow(id, next) && !(keeps_all && loses(next)); };
  if (setting_of(id).traffic == TrafficPart::none) {  // it has no steps
    if (keeps_all) return std::nullopt;
    return want_;
  }
  if (is_possible(lanes(after(id, want_)))) return want_;
  const Setting& setting = setting_of(id);
  for (const Qos& step : steps_) {
    if (!has_value(setting, step) || same_value(setting, step, have_.values)) continue;
    const Lanes next = lanes(after(id, step));
    if (!is_possible(next) || (keeps_all && !adds(next))) continue;
    if (why_not(driver_, setting, after(id, step), have_, {}).empty()) return step;
  }
  if (keeps_all) return std::nullopt;
  // A driver that resets ETS with this write (ice with the last DSCP) has no better order: ETS is written next. The
  // port is idle, because the traffic moves.
  if (!moves(id)) return std::nullopt;
  Qos alone = after(id, want_);
  for (const Setting& other : kSettings)
    if (other.id != id && other.traffic == TrafficPart::protects && has_key(keys_, other.id) && has_value(other, want_))
      copy_value(other, have_.values, alone);
  if (!may_follow(id, lanes(alone))) return std::nullopt;
  return want_;
}

}  // namespace fabric::qos
