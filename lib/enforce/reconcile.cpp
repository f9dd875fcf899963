// SPDX-License-Identifier: Apache-2.0
#include "enforce/reconcile.h"

#include <algorithm>

#include "enforce/traffic.h"
#include "kernel/netlink/rtnl.h"
#include "node/netdev_use.h"

namespace fabric::qos {
namespace {

// The most rounds of a pass and writes of a setting: a class of traffic moves in three steps, and a setting may have to
// be written twice.
constexpr int kRounds = 6;
constexpr unsigned kTimes = 2;
// Written after global pause has been switched off.
constexpr SettingId kNeedPauseOff[]{SettingId::prio2buffer, SettingId::buffer_size, SettingId::pfc};

// How far the pass has come with a wanted setting.
enum class Progress : uint8_t {
  untouched,  // no write was tried
  blocked,    // must not be written, or not now: WantedSetting::blocker
  planned,    // a plan would write it
  unproven,   // written; the reading does not prove that the NIC uses the value
  proven,     // written, and a reading that proves it matches
  ignored,    // written and accepted, but another value reads back
  refused,    // the driver refused it; retried after another write has been accepted
  doubtful,   // refused, but it reads back as wanted: the NIC may not do what it shows
};

// Why a setting must not be written, or not now.
struct Blocker {
  Outcome outcome{};  // unsupported, conflict, pending or unsaved
  std::string why{};
  std::optional<WaitsFor> wait{};        // if pending
  std::optional<SettingId> waits_for{};  // if pending: the setting of its class that it waits for
};

// A wanted setting.
struct WantedSetting {
  const Setting* setting;
  const Op* op;
  Progress progress = Progress::untouched;
  Blocker blocker{};               // if blocked
  std::optional<Blocker> waits{};  // what the wanted value, which takes protection away, waits for
  Error refusal{};                 // if refused or doubtful
  unsigned refused_at = 0;         // accepted_writes_ at that time
  unsigned times = 0;              // the wanted value was written
  bool was_disruptive = false;     // a write was; the next one may not be (Notes::harmless)
};

bool was_refused(const WantedSetting& row) {
  return row.progress == Progress::refused || row.progress == Progress::doubtful;
}

// `now` lacks something of the global pause or the PFC of `before`.
bool is_less(SettingId id, const Qos& now, const Qos& before) {
  if (id == SettingId::pfc) return now.pfc && before.pfc && (before.pfc->bits & ~now.pfc->bits) != 0;
  if (!now.pause || !before.pause) return false;
  return (before.pause->rx && !now.pause->rx) || (before.pause->tx && !now.pause->tx);
}

// One pass over a port's settings: reads, writes, reads back, reports.
class PortPass {
 public:
  // `writes` null: a dry run. `save` null: the wanted values are saved originals, so that nothing is saved before the
  // first write.
  PortPass(Kernel& kernel, const Port& port, const Qos& want, const Terms& terms, const WriteTerms* writes,
           const SaveOriginal* save)
      : kernel_(kernel),
        port_(port),
        terms_(terms),
        writes_(writes),
        dry_run_(writes == nullptr || is_audit_only(port)),
        save_(save),
        driver_(driver_for(port.kernel_driver, &kernel.root, port.netdev)),
        policy_(want),
        want_(expected_of(driver_, want, {})),
        others_(others_of_bond(kernel.root, port)) {
    keys_ = keys_wanted();
    add_guards();
    for (const Setting& setting : kSettings)
      if (has_key(keys_, setting.id)) rows_.push_back({&setting, &op_of(driver_, setting.id)});
  }

  Reconciled run() {
    Reconciled out;
    if (rows_.empty()) return out;
    if (read_port()) {
      first_ = have_;
      want_ = expected_of(driver_, policy_, have_);
      note_protection();
      // A later round writes a setting again that another write has overwritten, retries one that the driver refused
      // because of another setting's old value (buffers that are too small for the old cable length), and goes on with
      // a class of traffic that moves in steps.
      for (int round = 0; round < kRounds && !read_error_; ++round) {
        bool wrote = false;
        for (SettingId id : order()) {
          WantedSetting* row = find(id);
          if (row != nullptr && !read_error_ && !is_handover(id) && process(*row)) wrote = true;
        }
        // The firmware takes over when nothing else is left to write.
        for (SettingId id : {SettingId::dcbx, SettingId::fw_lldp})
          if (WantedSetting* row = find(id); !wrote && row != nullptr && !read_error_ && is_handover(id))
            wrote = process(*row);
        if (!wrote) break;
        // Finds changes that a write has made beyond its Op::reach.
        if (partly_read_ && !read_error_) read_port();
      }
      for (WantedSetting& row : rows_)
        if (row.progress == Progress::untouched && !in_sync(row)) wait_for_class(row);
      restore_protection();
      if (lost_protection_) out.lost_protection = protection_;
      out.is_settled = settle_port();
      out.have = dry_run_ ? first_.values : have_.values;
    }
    for (const WantedSetting& row : rows_) {
      // A setting that is derived from another one and that this driver does not offer is not reported.
      const bool is_offered = row.progress != Progress::blocked || row.blocker.outcome != Outcome::unsupported;
      if (is_offered || !has_key(terms_.derived, row.setting->id)) out.changes.push_back(leave_to_owner(report(row)));
    }
    return out;
  }

 private:
  // One guard; of a bond one for each member. It sees the settings of the class that belong to the other port, also if
  // nothing is wanted of them, and the values that are wanted of that port.
  void add_guards() {
    if (keys_.none()) others_.clear();
    for (const Port& other : others_) {
      Qos& combined = combined_.emplace_back(policy_);
      const Keys theirs = own_keys(other) & ~own_keys(port_);
      if (const auto want = terms_.wanted_of(other)) {
        for (const Setting& setting : kSettings)
          if (has_key(theirs, setting.id)) copy_value(setting, *want, combined);
      }
      const Keys wanted = keys_of(expected_of(driver_, combined, {})) & ~own_keys(port_);
      const Keys seen = wanted | (theirs & always_read());
      for (const Setting& setting : kSettings)
        if (setting.traffic == TrafficPart::classifies || setting.traffic == TrafficPart::protects ||
            setting.id == SettingId::pause)
          foreign_[index(setting.id)] = foreign_[index(setting.id)] || has_key(seen, setting.id);
    }
    if (foreign_.none()) others_.clear();
    if (others_.empty()) combined_ = {policy_};
    for (const Qos& combined : combined_)
      guards_.emplace_back(driver_, combined, keys_ | foreign_, [this] {
        if (!may_have_tags_) may_have_tags_ = may_have_tags(kernel_, port_);
        return *may_have_tags_;
      });
  }

  // DCBX returns to the firmware, or the firmware's LLDP agent starts: they refuse every change afterwards.
  [[nodiscard]] bool is_handover(SettingId id) const {
    return (id == SettingId::dcbx && want_.dcbx == Dcbx::firmware) ||
           (id == SettingId::fw_lldp && want_.fw_lldp == true);
  }

  // The driver's order with these exceptions:
  // - If PFC only loses priorities, the buffers change after it (they may be too small for those priorities then).
  // - PFC that replaces global pause comes as soon as possible after it. The rest of the class is written before both,
  //   except the buffers, which depend on pause: pause stays if it is refused.
  // - Global pause that replaces PFC comes directly after it, before the rest of the class is changed.
  // - Otherwise pause that is on, or without PFC, comes last.
  [[nodiscard]] std::vector<SettingId> order() {
    std::vector<SettingId> out(driver_.order.begin(), driver_.order.end());
    // Moves `id`, which is behind `other`, in front of it.
    const auto move_before = [&](SettingId id, SettingId other) {
      const auto to = std::ranges::find(out, other), from = std::ranges::find(to, out.end(), id);
      if (from != out.end()) std::rotate(to, from, from + 1);
    };
    const std::optional<PrioSet>& now = have_.values.pfc;
    if (want_.pfc && now && (want_.pfc->bits & ~now->bits) == 0) move_before(SettingId::pfc, SettingId::prio2buffer);
    const auto pair = replacement();
    const bool wants_pause = is_protection_on(SettingId::pause, want_);
    if (pair && wants_pause && is_protection_on(SettingId::pfc, have_.values)) {
      move_before(SettingId::pfc, SettingId::pause);
    } else if (pair || wants_pause || (want_.pfc && want_.pfc->bits == 0)) {
      const auto pause = std::ranges::find(out, SettingId::pause);
      const auto end = pair && !wants_pause ? std::ranges::find_first_of(out, kNeedPauseOff) : out.end();
      if (pause < end) std::rotate(pause, pause + 1, end);
    }
    // The marks, too: pause protects every priority, PFC only those that the marks lead to.
    const WantedSetting* pfc = find(SettingId::pfc);
    if ((pair && !wants_pause) || (pfc != nullptr && ends_pause(*pfc)))
      std::stable_partition(std::ranges::find(out, SettingId::pause), out.end(), [](SettingId id) {
        return setting_of(id).traffic == TrafficPart::classifies || id == SettingId::cc;  // bnxt's marks follow cc
      });
    return out;
  }

  // Writes the setting if it must and may be written now; a dry run computes the effect of the write instead. True if
  // it was written or, in a dry run, would be.
  bool process(WantedSetting& row) {
    if (in_sync(row) || row.progress == Progress::blocked || row.progress == Progress::ignored) return false;
    // A refused write is retried after another one was accepted, except a disruptive one: each try may stop traffic.
    if (was_refused(row) && (row.refused_at == accepted_writes_ || is_disruptive(row))) return false;
    if (row.times == kTimes) return false;
    const auto pair = replacement();
    // The old protection goes off first, maybe in a later round.
    if (pair && &row == pair->to && pair->from->progress == Progress::untouched && !in_sync(*pair->from)) return false;
    update_guards();
    if (pair && must_wait_for_pair(row, *pair)) return false;
    in_use_.reset();
    default_route_.reset();
    check_blockers(row);
    if (row.progress == Progress::blocked) return false;
    // A write that only takes protection away waits for an idle port, unless a step towards it takes none.
    // Pause protects every priority, also beside a PFC that is on for some.
    const bool takes_pause =
        row.setting->id == SettingId::pause && !pair && is_less(SettingId::pause, want_, have_.values);
    const bool takes = !is_disruptive(row) && !moves(row.setting->id) && (takes_away(row.setting->id) || takes_pause);
    row.waits =
        takes ? harm_blocker("the write takes protection away from RoCE's traffic", !takes_pause) : std::nullopt;
    // Global pause will protect every priority: PFC is released in one step.
    const bool is_replaced = pair && &row == pair->from && !row.waits;
    std::optional<Qos> value = is_replaced ? want_ : next_value(*row.setting, row.waits.has_value());
    if (!value) return false;
    // A driver that writes several settings with one message writes the present value of one in conflict.
    for (const WantedSetting& other : rows_)
      if (is_in_conflict(other) && has_value(*other.setting, have_.values))
        copy_value(*other.setting, have_.values, *value);
    const bool is_wanted = same_value(*row.setting, *value, want_);
    if (is_wanted) ++row.times;
    if (dry_run_) {
      if (is_wanted) row.progress = Progress::planned;
      driver_.effect(*row.setting, *value, have_.values);
      have_.notes.unread.reset(index(row.setting->id));
      return true;
    }
    save_originals(row.setting->id);
    if (saved_ && !*saved_) {
      block(row, {Outcome::unsaved, saved_->error().text()});
      return false;
    }

    released_ = released_ || (pair && releases(row, *pair));
    const auto written = write(row, *value);
    row.refused_at = accepted_writes_;
    row.progress = is_wanted ? Progress::unproven : Progress::untouched;
    if (read_error_) return true;
    const bool matches =
        same_value(*row.setting, *value, have_.values) && !has_key(have_.notes.unread, row.setting->id);
    // EEXIST: another writer added the same entry in the meantime.
    if (!written && !(written.error().code == EEXIST && matches)) {
      row.progress = matches ? Progress::doubtful : Progress::refused;
    } else if (!matches) {
      row.progress = Progress::ignored;
    } else if (is_wanted && !have_.notes.unverified.contains(row.setting->id)) {
      row.progress = Progress::proven;
    }
    return true;
  }

  // Call it before each write of a setting: sets saved_.
  void save_originals(SettingId id) {
    // Settings that the port did not offer at first have their originals in the newest reading: all of them, because a
    // write may reach more than its own.
    bool is_new = false;
    for (const Setting& setting : kSettings) {
      if (has_value(setting, first_.values) || !has_value(setting, have_.values)) continue;
      copy_value(setting, have_.values, first_.values);
      if (has_key(have_.notes.unread, setting.id)) first_.notes.unread.set(index(setting.id));
      is_new = true;
    }
    // Once we have written it, a later reading shows our own mode.
    const bool stays_unknown = id == SettingId::fec && first_.values.fec == kUnknownFec;
    if (save_ == nullptr || (saved_ && !(*saved_ && (is_new || stays_unknown)))) return;
    Qos original = first_.values;
    if (original.fec == kUnknownFec && !stays_unknown) original.fec.reset();
    // A setting that is neither shown by the driver nor wanted is left out: we never write it, and a restore would.
    for (const Setting& setting : kSettings)
      if (has_key(first_.notes.unread, setting.id) && find(setting.id) == nullptr) copy_value(setting, Qos{}, original);
    saved_ = (*save_)(port_, original);
  }

  // Writes the value, and reads again what the write can touch.
  Result<void> write(WantedSetting& row, const Qos& value) {
    PortIo io = port_io(kernel_, port_);
    for (const WantedSetting& other : rows_)
      if (other.progress != Progress::blocked && other.progress != Progress::ignored && !was_refused(other) &&
          !is_in_conflict(other))
        io.writable.set(index(other.setting->id));
    row.was_disruptive = row.was_disruptive || is_disruptive(row);
    writes_->note_write(port_, row.setting->id, is_disruptive(row));
    auto written = write_setting(*row.op, io, *row.setting, value, have_);
    wrote_mtu_or_pfc_ |= row.setting->id == SettingId::mtu || row.setting->id == SettingId::pfc;
    if (is_protection_on(row.setting->id, value) && (written || is_transient(written.error())))
      may_have_.set(index(row.setting->id));
    if (written) ++accepted_writes_;
    else row.refusal = written.error();
    if (row.op->reach == Reach::everything) {
      read_port();
      return written;
    }
    const Keys reached = keys_reached(*row.op, row.setting->id) & (keys_ | always_read());
    const auto done = read_again(kernel_, port_, reached, have_);
    partly_read_ = true;
    if (!done) read_error_ = done.error();
    if (!done && done.error().code != ENODEV) unknown_ |= reached;
    return written;
  }

  // Global pause and PFC: drivers refuse one beside the other, and each protects RoCE.
  struct Replacement {
    WantedSetting *from, *to;
  };
  // nullopt: the policy does not replace one by the other. It wants neither or both, or a PFC that the port cannot
  // have: then global pause ends by the policy.
  std::optional<Replacement> replacement() {
    WantedSetting *pause = find(SettingId::pause), *pfc = find(SettingId::pfc);
    if (pause == nullptr || pfc == nullptr) return std::nullopt;
    const bool is_to_pfc = is_protection_on(SettingId::pfc, want_);
    if (is_to_pfc == is_protection_on(SettingId::pause, want_)) return std::nullopt;
    if (!is_to_pfc) return Replacement{pfc, pause};
    if (why_unsupported(*pfc)) return std::nullopt;
    return Replacement{pause, pfc};
  }

  // Call it after the first reading. An earlier pass that was cut short between the two may have left neither: then the
  // saved original shows what RoCE has lost.
  void note_protection() {
    const auto pair = replacement();
    if (!pair) return;
    const SettingId from = pair->from->setting->id, to = pair->to->setting->id;
    was_cut_ = !is_protection_on(from, first_.values);
    if (!was_cut_) protection_ = first_.values;
    else if (terms_.original && !is_protection_on(to, first_.values)) protection_ = terms_.original(port_);
  }

  // True if the write ends the old protection, alone or as its effect (a driver that resets PFC with the owner of
  // DCBX), and the new one is not on yet.
  [[nodiscard]] bool releases(const WantedSetting& row, const Replacement& pair) const {
    const SettingId id = row.setting->id;
    if (&row == pair.to) return false;
    // PFC that is on beside pause does not protect every priority, as pause does.
    const bool is_from_pause = pair.from->setting->id == SettingId::pause;
    if (is_protection_on(pair.to->setting->id, have_.values) && !(&row == pair.from && is_from_pause)) return false;
    if (&row == pair.from) return is_less(id, want_, have_.values);
    return row.setting->traffic == TrafficPart::none && takes_away(id);
  }

  // The rest of RoCE's class changes when global pause protects it, because PFC, if it has to come back, needs the rest
  // as it is.
  [[nodiscard]] bool must_wait_for_pair(const WantedSetting& row, const Replacement& pair) const {
    const SettingId id = row.setting->id;
    return pair.to->setting->id == SettingId::pause && &row != pair.from && protection_ &&
           is_protection_on(SettingId::pfc, *protection_) && !is_protection_on(SettingId::pause, have_.values) &&
           differs(id) &&
           !std::ranges::all_of(guards_, [=](const TrafficGuard& guard) { return guard.only_protects(id); });
  }

  // The same in a bond: the setting is the bond's, pause and PFC are the members'.
  [[nodiscard]] bool must_wait_for_members_pause(SettingId id) const {
    if (dry_run_ || !differs(id) ||
        std::ranges::all_of(guards_, [=](const TrafficGuard& guard) { return guard.only_protects(id); }))
      return false;
    for (size_t i = 0; i < foreign_have_.size(); ++i) {
      const Qos &want = combined_[i], &now = foreign_have_[i].values;
      const bool is_replaced = want.pfc && want.pfc->bits == 0 && is_protection_on(SettingId::pause, want);
      if (has_key(foreign_, SettingId::pause) && is_replaced && is_protection_on(SettingId::pfc, now) &&
          !is_protection_on(SettingId::pause, now))
        return true;
    }
    return false;
  }

  // True if the write also ends global pause: that of PFC does in the NIC (mlx5), also if the policy does not name
  // pause.
  [[nodiscard]] bool ends_pause(const WantedSetting& row) const {
    if (row.setting->id == SettingId::pause || !has_value(*row.setting, have_.values) || in_sync(row)) return false;
    Qos after = have_.values;
    driver_.effect(*row.setting, want_, after);
    return is_less(SettingId::pause, after, have_.values);
  }

  // Why RoCE does not reach the priorities of PFC: a setting that leads it there was refused or ignored, or waits, or
  // is another port's of the bond and differs.
  [[nodiscard]] std::optional<Blocker> classification_blocker() const {
    for (const WantedSetting& other : rows_) {
      const std::string why = failure_of(other);
      // A setting that waits for another one does not hold that one.
      const bool may_come = other.progress == Progress::blocked && other.blocker.outcome != Outcome::conflict &&
                            (other.blocker.outcome != Outcome::pending || other.blocker.waits_for);
      if (!why.empty() && !may_come && other.setting->traffic == TrafficPart::classifies && differs(other.setting->id))
        return wait_for(other, why);
    }
    // RoCE's mark is the bond's, PFC the members': the pass over the other port writes it. Pause needs no mark, and a
    // mark that leaves a priority that PFC protects now waits for PFC on the new one.
    if (!is_protection_on(SettingId::pfc, want_)) return std::nullopt;
    for (const Setting& setting : kSettings)
      if (has_key(foreign_, setting.id) && setting.traffic == TrafficPart::classifies && differs(setting.id) &&
          !moves(setting.id))
        return wait_for_other_port(setting);
    return std::nullopt;
  }

  // Why the new protection cannot come or would not reach RoCE, or not now.
  [[nodiscard]] std::optional<Blocker> blocker_of_new(const WantedSetting& to) {
    if (!in_sync(to)) {
      if (to.progress == Progress::blocked) return to.blocker;
      if (std::string why = failure_of(to); !why.empty()) return Blocker{Outcome::pending, std::move(why)};
    }
    if (auto blocker = classification_blocker()) return blocker;
    if (in_sync(to)) return std::nullopt;
    auto blocker = blocker_of(to);
    if (!blocker) blocker = firmware_blocker(to);
    return blocker ? blocker : class_blocker(to.setting->id);
  }

  // If the new protection did not come after the old one went off (it or what it needs was refused or ignored or waits,
  // or an answer was lost before), the old one is what protects RoCE: it is written again.
  void restore_protection() {
    const auto pair = replacement();
    if (dry_run_ || !pair || !protection_) return;
    auto [from, to] = *pair;
    const SettingId id = from->setting->id;
    // After a lost answer the newest reading may be older than the writes.
    const bool is_lost = read_error_.has_value();
    if (is_lost && (!is_transient(*read_error_) || has_key(may_have_, to->setting->id) || !(released_ || was_cut_)))
      return;
    // A PFC that was on beside pause, and lacks a priority of the new one, is not the new one.
    const bool has_come =
        is_protection_on(to->setting->id, have_.values) && !is_less(to->setting->id, have_.values, want_);
    if (has_come || !is_less(id, is_lost ? want_ : have_.values, *protection_)) return;
    if (was_cut_ && !may_restore_after_cut(*from, *to)) return;
    // Before it went off by our write, and after a pass that was cut short, its original is known to be saved.
    if (!released_ && !was_cut_) {
      save_originals(id);
      if (saved_ && !*saved_) return;
    }
    const std::string why = failure_of(*to);
    // Global pause needs its buffers: the policy's may be too small for the priorities without PFC.
    if (id == SettingId::pause && !is_lost)
      for (const SettingId buffers : {SettingId::prio2buffer, SettingId::buffer_size}) {
        WantedSetting* row = find(buffers);
        if (row == nullptr || is_in_conflict(*row) || !has_value(*row->setting, *protection_)) continue;
        if (!same_value(*row->setting, *protection_, have_.values)) {
          Qos old = have_.values;  // one message has both; that of another writer stays
          for (const WantedSetting& other : rows_)
            if (other.setting->id == SettingId::prio2buffer || other.setting->id == SettingId::buffer_size)
              if (!is_in_conflict(other)) copy_value(*other.setting, *protection_, old);
          (void)write(*row, old);
          if (read_error_) return;
        }
        // The write of the map has set the sizes back, too.
        if (same_value(*row->setting, *protection_, have_.values) && !in_sync(*row) && failure_of(*row).empty())
          block(*row, wait_for(*to, why));
      }
    Qos value = have_.values;
    copy_value(*from->setting, *protection_, value);
    const auto written = write(*from, value);
    if (is_lost) return;
    if (!written) {
      if (!was_cut_) from->progress = Progress::refused;
      lost_protection_ = released_;
      return;
    }
    copy_value(*from->setting, have_.values, first_.values);  // what the report calls the value before
    block(*from, wait_for(*to, why));
  }

  // A new protection that is in conflict is not tried in this pass; the old one is not, either.
  bool may_restore_after_cut(const WantedSetting& from, const WantedSetting& to) {
    if (is_in_conflict(from)) return false;
    if (to.progress == Progress::blocked && to.blocker.outcome != Outcome::pending) return false;
    in_use_.reset();
    default_route_.reset();
    return !is_disruptive(from) || !harm_blocker("the write stops traffic", true);
  }

  // Why a setting was not written, or has no effect; empty: unknown.
  static std::string failure_of(const WantedSetting& row) {
    if (was_refused(row)) return row.refusal.text();
    if (row.progress == Progress::ignored) return "the driver accepted it and shows another value";
    return row.blocker.why;
  }

  static void block(WantedSetting& row, Blocker blocker) {
    row.progress = Progress::blocked;
    row.blocker = std::move(blocker);
  }

  // Blocks the setting if it must not be written, or not now.
  void check_blockers(WantedSetting& row) {
    auto blocker = blocker_of(row);
    // Comes before waits that end by themselves: on an idle port the firmware refuses the write, too.
    if (!blocker || blocker->outcome == Outcome::pending)
      if (auto firmware = firmware_blocker(row)) blocker = std::move(firmware);
    if (!blocker) blocker = class_blocker(row.setting->id);
    if (!blocker && must_wait_for_members_pause(row.setting->id))
      blocker = wait_for_other_port(setting_of(SettingId::pause));
    // Also beside a pause that is to go off, but is in conflict or cannot be written.
    if (!blocker && ends_pause(row)) blocker = classification_blocker();
    const auto pair = replacement();
    if (pair && !blocker) {
      const auto& [from, to] = *pair;
      // Until the new protection is on, the old one stays until the new one may be written, too.
      if (releases(row, *pair)) {
        if (const auto why = blocker_of_new(*to)) {
          blocker = in_sync(*to) ? *why : wait_for(*to, why->why);
          if (why->outcome == Outcome::unsupported) blocker = {Outcome::unsupported, blocker->why};
        }
      } else if (&row == to && from->progress == Progress::blocked && from->blocker.outcome == Outcome::pending &&
                 is_protection_on(from->setting->id, have_.values)) {
        blocker = blocker_of_new(*to);
        if (!blocker) blocker = wait_for(*from, from->blocker.why);
      }
    }
    if (blocker) block(row, std::move(*blocker));
  }

  // Why the setting has to wait until the host owns DCBX. Not part of blocker_of(): the write that takes DCBX over may
  // belong to the class, and would wait for itself.
  [[nodiscard]] std::optional<Blocker> firmware_blocker(const WantedSetting& row) const {
    const std::string why = why_firmware_refuses(driver_, *row.setting, have_.values, port_.netdev);
    if (why.empty() || (row.setting->id == SettingId::dcbx && want_.dcbx == Dcbx::firmware)) return std::nullopt;
    const bool stops_agent = want_.fw_lldp == false && have_.values.fw_lldp == true;
    if (stops_agent)
      return Blocker{Outcome::pending, "waits for fw_lldp: " + why, WaitsFor::other_setting, SettingId::fw_lldp};
    if (want_.dcbx == Dcbx::host && have_.values.fw_lldp != true)
      return Blocker{Outcome::pending, "waits for dcbx: " + why, WaitsFor::other_setting, SettingId::dcbx};
    return Blocker{Outcome::pending, why};
  }

  // Why the setting has to wait for another one of RoCE's class.
  [[nodiscard]] std::optional<Blocker> class_blocker(SettingId id) {
    if (!may_wait_for_class(id)) return std::nullopt;
    for (const WantedSetting& other : rows_) {
      const SettingId member = other.setting->id;
      if (member == id || !differs(member)) continue;
      if (const auto blocker = blocker_of(other)) return wait_for(other, blocker->why);
    }
    return std::nullopt;
  }

  static Blocker wait_for(const WantedSetting& other, const std::string& why) {
    const SettingId id = other.setting->id;
    return {Outcome::pending, "waits for " + std::string(key_text(id)) + ": " + why, WaitsFor::other_setting, id};
  }

  // The setting is one of foreign_.
  [[nodiscard]] Blocker wait_for_other_port(const Setting& setting) const {
    const std::string whose = port_.is_member() ? port_.bond : "the members of " + port_.netdev;
    return {Outcome::pending,
            "waits for " + std::string(setting.key) + " of " + whose +
                ": without it RoCE's traffic would have less protection",
            WaitsFor::other_setting, setting.id};
  }

  // True if the setting must not be written while another one of RoCE's class cannot be: the class moves as a whole.
  // A write that only adds protection does not wait.
  [[nodiscard]] bool may_wait_for_class(SettingId id) const {
    if (differs(id))
      return std::ranges::any_of(guards_, &TrafficGuard::is_moving) &&
             !std::ranges::all_of(guards_, [=](const TrafficGuard& guard) { return guard.only_protects(id); });
    return setting_of(id).traffic == TrafficPart::none && takes_away(id);
  }

  [[nodiscard]] bool differs(SettingId id) const {
    return std::ranges::any_of(guards_, [=](const TrafficGuard& guard) { return guard.differs(id); });
  }
  [[nodiscard]] bool moves(SettingId id) const {
    return std::ranges::any_of(guards_, [=](const TrafficGuard& guard) { return guard.moves(id); });
  }
  [[nodiscard]] bool takes_away(SettingId id) const {
    return std::ranges::any_of(guards_, [=](const TrafficGuard& guard) { return guard.takes_away(id); });
  }
  // TrafficGuard::next_value(); of a bond, a value that no member forbids.
  [[nodiscard]] std::optional<Qos> next_value(const Setting& setting, bool keeps_all) const {
    std::optional<Qos> value;
    for (const TrafficGuard& guard : guards_) {
      std::optional<Qos> next = guard.next_value(setting.id, keeps_all);
      if (!next) return std::nullopt;
      if (!value || !same_value(setting, *next, want_)) value = std::move(next);
    }
    return value;
  }

  // Call it after each reading. The guard of a port sees the settings of the class that the bond or a member has.
  void update_guards() {
    for (size_t i = 0; i < guards_.size(); ++i) {
      if (foreign_have_.size() <= i) {
        guards_[i].update(have_, want_, port_.netdev);
        continue;
      }
      Reading seen = have_;
      update(seen, foreign_have_[i], foreign_);
      const Qos want = expected_of(driver_, combined_[i], seen);
      // A plan also shows the writes that wait for those of the other ports.
      if (dry_run_)
        for (const Setting& setting : kSettings)
          if (has_key(foreign_, setting.id) && has_value(setting, seen.values) && has_value(setting, want))
            copy_value(setting, want, seen.values);
      guards_[i].update(seen, want, others_[i].is_member() ? others_[i].netdev : port_.netdev);
    }
  }

  // Why the port cannot have the wanted value.
  [[nodiscard]] std::optional<Blocker> why_unsupported(const WantedSetting& row) const {
    const bool offered = row.op->write != nullptr && has_value(*row.setting, have_.values);
    if (!offered && kernel_.root.exists("sys/class/net/" + port_.netdev + "/bonding"))
      return Blocker{Outcome::unsupported,
                     port_.netdev + " is a bond: this setting belongs to its member netdevs, which are unmanaged"};
    if (std::string why = why_not(driver_, *row.setting, want_, have_, port_.netdev); !why.empty()) {
      if (const std::string command = vendor_command(port_, *row.setting, want_); !command.empty())
        why += "; it is not enforced. To set it: " + command;
      return Blocker{Outcome::unsupported, why};
    }
    return std::nullopt;
  }

  // Why the setting itself must not be written, or not now.
  [[nodiscard]] std::optional<Blocker> blocker_of(const WantedSetting& row) {
    if (auto blocker = why_unsupported(row)) return blocker;
    if (is_in_conflict(row))
      return Blocker{Outcome::conflict, "another writer keeps changing it back, or the driver has refused it"};
    if (is_disruptive(row)) return harm_blocker("the write stops traffic", true);
    if (moves(row.setting->id)) return harm_blocker("the write moves RoCE to another priority", false);
    return std::nullopt;
  }

  // Why a write that harms the traffic of the port has to wait.
  std::optional<Blocker> harm_blocker(const std::string& what, bool for_default_route) {
    if (for_default_route && !terms_.front_end) {
      if (!default_route_) default_route_ = default_route_of(kernel_, port_);
      if (!in_use_ && terms_.disruptive != Disruptive::never) in_use_ = terms_.in_use(port_);
      // A network service that restarts takes the route away for a moment (hold_default_route()).
      if (!*default_route_ && in_use_ && in_use_->has_default_route)
        default_route_->why = in_use_->held.empty() ? "the default route leaves by " + port_.netdev : in_use_->held;
      if (*default_route_)
        return Blocker{Outcome::pending,
                       what + ", and " + default_route_->why +
                           ": only an entry that names the port and has front_end = true allows it",
                       WaitsFor::front_end};
    }
    if (terms_.disruptive == Disruptive::never)
      return Blocker{Outcome::pending, what + ", and the policy has disruptive = \"never\"", WaitsFor::disruptive};
    if (terms_.disruptive == Disruptive::idle) {
      if (!in_use_) in_use_ = terms_.in_use(port_);
      if (static_cast<bool>(*in_use_) && !(terms_.front_end && in_use_->is_front_end()))
        return Blocker{Outcome::pending, what + ", and " + in_use_->why, WaitsFor::idle_port};
    }
    if (terms_.window == Maintenance::closed)
      return Blocker{Outcome::pending, what + " and waits for the maintenance window", WaitsFor::maintenance};
    return std::nullopt;
  }

  // Called at the end of the pass, for a setting whose write, alone, would leave RoCE's traffic with less protection.
  void wait_for_class(WantedSetting& row) {
    if (row.waits) return block(row, std::move(*row.waits));
    update_guards();
    const WantedSetting* cause = nullptr;
    // First the settings that were refused or are blocked, and those that protect: without them the others cannot go
    // on.
    const auto rank = [](const WantedSetting& other) {
      const bool failed =
          was_refused(other) || other.progress == Progress::ignored || other.progress == Progress::blocked;
      return std::pair(failed, other.setting->traffic == TrafficPart::protects);
    };
    for (const WantedSetting& other : rows_)
      if (other.setting != row.setting && differs(other.setting->id) && !other.blocker.waits_for &&
          (cause == nullptr || rank(other) > rank(*cause)))
        cause = &other;
    const bool failed_here = cause != nullptr && rank(*cause).first;
    const Setting* elsewhere = nullptr;
    for (const Setting& setting : kSettings)
      if (has_key(foreign_, setting.id) && differs(setting.id) &&
          (elsewhere == nullptr || setting.traffic == TrafficPart::protects))
        elsewhere = &setting;
    if (elsewhere != nullptr && !failed_here) return block(row, wait_for_other_port(*elsewhere));
    if (cause == nullptr)
      return block(row, {Outcome::pending, "the write would leave RoCE's traffic with less protection",
                         WaitsFor::other_setting});
    std::string why = "without it RoCE's traffic would have less protection";
    if (was_refused(*cause)) why += "; " + cause->refusal.text();
    else if (cause->progress == Progress::ignored) why += "; the driver accepted it and shows another value";
    else if (cause->progress == Progress::blocked) why += "; " + cause->blocker.why;
    const SettingId member = cause->setting->id;
    block(row, {Outcome::pending, "waits for " + std::string(key_text(member)) + ": " + why, WaitsFor::other_setting,
                member});
  }

  [[nodiscard]] bool is_in_conflict(const WantedSetting& row) const {
    return terms_.in_conflict && terms_.in_conflict(row.setting->id);
  }
  // The deletion of the last DSCP is a change of the trust.
  [[nodiscard]] bool is_disruptive(const WantedSetting& row) const {
    SettingId id = row.setting->id;
    if (id == SettingId::dscp_map && want_.dscp_map->empty()) id = SettingId::trust;
    return fabric::is_disruptive(*row.op, id, have_.notes);
  }

  // Reads all wanted settings. After a failure nothing more is written.
  bool read_port() {
    partly_read_ = false;
    if (!kernel_.route) {
      read_error_ = error(EOPNOTSUPP, port_.id() + ": a captured tree has no netlink");
      return false;
    }
    auto now = read(kernel_, port_, keys_);
    if (now) have_ = std::move(now).value();
    else read_error_ = now.error();
    foreign_have_.clear();
    for (const Port& other : others_) {
      const auto done = read_again(kernel_, other, foreign_, foreign_have_.emplace_back());
      // A member that is gone has left the bond.
      if (!done && done.error().code != ENODEV && !read_error_) read_error_ = done.error();
    }
    if (read_error_ && read_error_->code != ENODEV) unknown_.set();
    return !read_error_;
  }

  // Settles the port if the link is up; false if that was refused. If a write took the link down, the caller does it
  // after carrier-up.
  bool settle_port() {
    if (dry_run_ || read_error_ || driver_.settle == nullptr) return true;
    if (!wrote_mtu_or_pfc_) return true;
    const auto link = rtnl::link(*kernel_.route, port_.netdev);
    if (!link && link.error().code == ENODEV) return true;
    if (link && !link->carrier.value_or(false)) return true;
    PortIo io = port_io(kernel_, port_);
    for (const WantedSetting& row : rows_) io.writable[index(row.setting->id)] = in_sync(row);
    const auto settled = driver_.settle(io, have_.values);
    if (settled) return true;
    if (WantedSetting* pfc = find(SettingId::pfc)) {
      pfc->refusal = settled.error();
      pfc->progress = Progress::doubtful;
    }
    return false;
  }

  [[nodiscard]] Change report(const WantedSetting& row) const {
    const Setting& setting = *row.setting;
    const bool differed = !same_value(setting, want_, first_.values);
    const bool was_unread = has_key(first_.notes.unread, setting.id);
    Change out;
    out.port = port_.id();
    out.setting = setting.id;
    out.disruptive = row.was_disruptive || is_disruptive(row);
    // A value that the driver has rounded equals the wanted one and must not look like drift.
    out.from = value_text(setting, differed ? first_.values : want_);
    if (was_unread) out.from = "-";
    out.to = value_text(setting, want_);
    out.detail = row.blocker.why;
    out.waits_for = row.blocker.waits_for;
    if (row.progress == Progress::blocked) out.wait = row.blocker.wait;
    if (read_error_ && (!in_sync(row) || has_key(unknown_, setting.id))) {
      out.is_lost = is_transient(*read_error_);
      return refused(std::move(out), row, *read_error_);
    }
    if (row.progress == Progress::doubtful || (row.progress == Progress::refused && !in_sync(row)))
      return refused(std::move(out), row, row.refusal);
    // A refused setting may be in sync, too: another setting's write has set it.
    if (in_sync(row)) {
      const bool was_tried = row.progress != Progress::untouched && row.progress != Progress::blocked;
      if (!differed && !was_tried) return mark_unverified(std::move(out));
      out.outcome = dry_run_ ? Outcome::differs : Outcome::applied;
      if (!differed && out.from == out.to && !first_.notes.unverified.contains(setting.id))
        out.detail = "another setting's write overwrites it; written again";
      const bool will_be_known = dry_run_ && (differed || !was_unread);
      if (row.progress == Progress::proven || will_be_known) return out;
      return mark_unverified(std::move(out));
    }
    if (row.progress == Progress::blocked) {
      out.outcome = row.blocker.outcome;
      return out;
    }
    if (reads_as_wanted(row)) return mark_unverified(std::move(out));
    out.outcome = Outcome::differs;
    if (dry_run_) return out;
    out.outcome = Outcome::ignored;
    out.detail = "accepted, but reads back as " + value_text(setting, have_.values);
    if (setting.id == SettingId::fec && have_.values.fec == kUnknownFec)
      out.detail = "accepted; the mode in use is known once the link is up";
    return out;
  }

  // No pass over a port of is_audit_only() writes, now or later: nothing is due or waits.
  [[nodiscard]] Change leave_to_owner(Change out) const {
    if (!is_audit_only(port_) || (out.outcome != Outcome::differs && out.outcome != Outcome::pending)) return out;
    out.outcome = Outcome::unsupported;
    out.disruptive = false;
    out.wait.reset();
    out.waits_for.reset();
    out.detail = "observed only, never written: a DPU owns this port. Set it on the DPU, from its Arm cores";
    return out;
  }

  // Marks the change as unverified if the reading does not prove the value.
  [[nodiscard]] Change mark_unverified(Change out) const {
    const auto why = have_.notes.unverified.find(out.setting);
    if (why == have_.notes.unverified.end()) return out;
    out.outcome = Outcome::unverified;
    out.detail = why->second;
    return out;
  }

  [[nodiscard]] Change refused(Change out, const WantedSetting& row, const Error& failure) const {
    out.outcome = Outcome::refused;
    out.code = failure.code;
    if (failure.code == ENODEV) {
      out.detail = "device disappeared";
      if (const std::string now = renamed_to(kernel_, port_); !now.empty())
        out.detail = port_.netdev + " was renamed to " + now + ": written after the next scan";
      else if (const auto rdma = check_rdma_name(port_io(kernel_, port_)); !rdma) out.detail = rdma.error().what;
      else if (is_there(kernel_, port_))
        out.detail = "the netdev exists, but its driver returns ENODEV: it is being reset, or has failed (see dmesg)";
      if (row.refusal.code == ESTALE) out.detail += "; " + row.refusal.what;
      return out;
    }
    out.is_unprotected = leaves_unprotected(row.setting->id);
    std::string remedy = remedy_of(driver_, *row.setting, have_.values, port_.netdev, failure.code);
    if (remedy.empty() && failure.code == EPERM) remedy = "requires CAP_NET_ADMIN in the initial user namespace";
    out.detail = failure.text();
    if (!remedy.empty()) out.detail += "; " + remedy;
    if (row.progress == Progress::doubtful) out.detail += "; the reading shows the wanted value";
    return out;
  }

  // Whether the port lacks something of the wanted PFC or global pause, and the other one of them is off.
  [[nodiscard]] bool leaves_unprotected(SettingId id) const {
    if (id != SettingId::pfc && id != SettingId::pause) return false;
    const SettingId other = id == SettingId::pfc ? SettingId::pause : SettingId::pfc;
    return is_less(id, have_.values, want_) && !is_protection_on(other, have_.values);
  }

  [[nodiscard]] bool reads_as_wanted(const WantedSetting& row) const {
    return same_value(*row.setting, want_, have_.values);
  }

  [[nodiscard]] bool in_sync(const WantedSetting& row) const {
    return reads_as_wanted(row) && !has_key(have_.notes.unread, row.setting->id);
  }

  // The wanted settings that are this port's own.
  [[nodiscard]] Keys keys_wanted() const {
    Keys out;
    const Keys own = own_keys(port_);
    for (const Setting& setting : kSettings)
      out[index(setting.id)] = has_key(own, setting.id) && has_value(setting, want_);
    return out;
  }

  WantedSetting* find(SettingId id) {
    return find_where(rows_, [id](const WantedSetting& row) { return row.setting->id == id; });
  }

  Kernel& kernel_;
  const Port& port_;
  const Terms& terms_;
  const WriteTerms* const writes_;
  const bool dry_run_;
  const SaveOriginal* const save_;
  const Driver& driver_;
  const Qos& policy_;
  Qos want_;                           // `policy_` as the driver will show it
  std::vector<Port> others_;           // others_of_bond(), if the policy has settings of the class that are theirs
  Keys foreign_;                       // these settings, and global pause
  std::vector<Reading> foreign_have_;  // of each of others_
  std::vector<Qos> combined_;          // of each guard: `policy_` with the wanted values of others_[i] for foreign_
  std::vector<TrafficGuard> guards_;
  std::optional<bool> may_have_tags_;  // may_have_tags(), once it was asked
  std::vector<WantedSetting> rows_;
  Keys keys_;                 // the settings in rows_
  Reading first_, have_;      // the first and the newest reading
  bool partly_read_ = false;  // only some settings were read since the last reading of the whole port
  unsigned accepted_writes_ = 0;
  bool wrote_mtu_or_pfc_ = false;
  Keys may_have_;                  // pause, PFC: a write that switches it on was accepted, or its answer was lost
  bool released_ = false;          // a write that ends the protection of a Replacement was tried
  bool was_cut_ = false;           // a Replacement without its old protection: maybe an earlier pass was cut short
  bool lost_protection_ = false;   // it is off, and so is the new one
  std::optional<Qos> protection_;  // the values of the old protection of a Replacement
  std::optional<Use> in_use_;      // the answer before the next write
  std::optional<DefaultRoute> default_route_;  // default_route_of(), before the next write
  std::optional<Error> read_error_;            // the port cannot be read any more
  Keys unknown_;                               // settings that a write may have changed since they were read
  std::optional<Result<void>> saved_;          // the result of saving the originals
};

}  // namespace

Reconciled reconcile(Kernel& kernel, const Port& port, const Qos& want, const WriteTerms& terms,
                     const SaveOriginal& save) {
  return PortPass(kernel, port, want, terms.terms(), &terms, &save).run();
}

Reconciled write_back(Kernel& kernel, const Port& port, const Qos& saved, const WriteTerms& terms) {
  return PortPass(kernel, port, saved, terms.terms(), &terms, nullptr).run();
}

Reconciled plan(Kernel& kernel, const Port& port, const Qos& want, const Terms& terms) {
  return PortPass(kernel, port, want, terms, nullptr, nullptr).run();
}

Result<void> settle(Kernel& kernel, const Port& port, const Qos& want) {
  const Driver& driver = driver_for(port.kernel_driver, &kernel.root, port.netdev);
  if (driver.settle == nullptr || !kernel.route || is_audit_only(port)) return {};
  const auto have = read(kernel, port, keys_in(SettingGroup::dcb) & keys_of(want));
  if (!have) return have.error();
  PortIo io = port_io(kernel, port);
  for (const Setting& setting : kSettings)
    io.writable[index(setting.id)] = has_value(setting, want) && same_value(setting, want, have->values);
  return driver.settle(io, have->values);
}

}  // namespace fabric::qos
