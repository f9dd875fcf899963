// SPDX-License-Identifier: Apache-2.0
// A class of traffic moves as a whole. Trust, DSCP map, RoCE's marks, ETS, buffers, PFC and ECN decide together on
// which priority RoCE's packets travel and how they are protected there. No write leaves them with less protection than
// before: the new priority is protected first, then the traffic moves, then the old priority is released. No I/O.
#pragma once

#include <functional>

#include "nic/driver.h"

namespace fabric::qos {

// Whether PFC is on for any priority (SettingId::pfc), or global pause in any direction (SettingId::pause).
bool is_protection_on(SettingId id, const Qos& qos);

// The treatment of one kind of packet.
struct Lane {
  std::optional<uint8_t> priority{};  // absent: it follows from something that the settings do not show
  uint8_t guards = 0;                 // bits of Guard
};
// The protections of a priority.
enum Guard : uint8_t {
  kPfc = 1,        // PFC is on
  kHeadroom = 2,   // its receive buffer has room for what arrives after a pause was sent
  kOwnClass = 4,   // no priority without PFC is in its traffic class
  kShare = 8,      // its traffic class has a share of the link
  kReaction = 16,  // ECN: CNPs slow the sender down
  kNotify = 32,    // ECN: marks are answered with CNPs
  kControl = 64,   // congestion control as a whole
};

// The 64 DSCPs; then the priorities of VLAN tags (0 also without a tag); then the marks that the host gives RoCE
// itself: roce_tos, traffic_class, roce_dscp and roce_prio.
inline constexpr size_t kTags = 64, kMarks = kTags + kPriorities, kLanes = kMarks + 4;
using Lanes = std::array<Lane, kLanes>;

// Judges the writes of a pass, and chooses their values.
class TrafficGuard {
 public:
  // `keys`: the settings that the pass may write. `has_tags`: whether packets may have VLAN tags (may_have_tags());
  // asked only if that matters.
  using HasTags = std::function<bool()>;
  TrafficGuard(const Driver& driver, const Qos& policy, const Keys& keys, HasTags has_tags)
      : driver_(driver), policy_(policy), keys_(keys), has_tags_(std::move(has_tags)) {}

  // Call it after each reading. `want`: the policy as the driver will show it.
  void update(const Reading& have, const Qos& want, const std::string& netdev);

  // True if traffic that PFC protects now gets another priority or less protection by the policy.
  [[nodiscard]] bool is_moving() const;
  // True if the setting belongs to the class, differs from the policy, and can be set at all.
  [[nodiscard]] bool differs(SettingId id) const;
  // True if writing the wanted value moves traffic that PFC protects now to another priority.
  [[nodiscard]] bool moves(SettingId id) const;
  // True if writing the wanted value adds protection, takes none away, and moves nothing that is protected.
  [[nodiscard]] bool only_protects(SettingId id) const;
  // True if writing the wanted value takes protection away, also from a setting beside the class (a driver that resets
  // PFC with the owner of DCBX).
  [[nodiscard]] bool takes_away(SettingId id) const;
  // The settings to write now for this one: the wanted ones; else a step towards them, which protects the old and the
  // new priority; nullopt: each would leave traffic with less protection.
  // `keeps_all`: only a value that takes no protection away, even if the policy does; the wanted one takes some.
  [[nodiscard]] std::optional<Qos> next_value(SettingId id, bool keeps_all = false) const;

 private:
  [[nodiscard]] Qos after(SettingId id, const Qos& value) const;
  [[nodiscard]] Lanes lanes(const Qos& qos) const;
  [[nodiscard]] bool counts(size_t lane) const;
  // Whether a counted lane has protection in `next` that it lacks now.
  [[nodiscard]] bool adds(const Lanes& next) const;
  [[nodiscard]] bool loses(const Lanes& next) const;
  [[nodiscard]] bool may_follow(SettingId id, const Lanes& next) const;
  [[nodiscard]] Qos step(const Qos& goal, PrioSet added, bool keeps_unused, bool by_share) const;

  const Driver& driver_;
  const Qos& policy_;
  const Keys keys_;
  const HasTags has_tags_;
  std::optional<bool> known_tags_{};  // the answer of has_tags_
  Reading have_{};
  Qos want_{};
  Keys differing_{};
  Lanes now_{}, goal_{};
  std::array<Qos, 5> steps_{};
  uint64_t least_ = 0;      // bytes of a buffer with headroom
  bool is_tagged_ = false;  // VLAN tags count
};

}  // namespace fabric::qos
