// SPDX-License-Identifier: Apache-2.0
#include "enforce/reconcile.h"

#include <algorithm>

#include "kernel/netlink/rtnl.h"

namespace fabric::qos {
namespace {

constexpr Fec kNoFec{};  // read while the link is down, on drivers that show the mode in use only; never wanted

// The progress of one wanted setting.
struct Row {
  const Setting* setting;
  const Op* op;
  bool written = false;              // by us (or, in a plan, would be)
  bool disobeyed = false;            // written, accepted, and read back as something else
  bool proven = false;               // written, and read back while the reading still proved something
  bool doubtful = false;             // refused, but reads back as written: the NIC may not do what it shows
  std::optional<Outcome> blocked{};  // why it is not written: unsupported, conflict, pending
  std::optional<Error> refusal{};
  unsigned refused_at = 0;  // accepted writes of the pass until then
  std::string detail{};
};

class Pass {
 public:
  Pass(Kernel& kernel, Port& port, const Qos& want, const Options& options)
      : kernel_(kernel),
        port_(port),
        options_(options),
        driver_(driver_for(port.kernel_driver, &kernel.root, port.netdev)),
        policy_(want),
        want_(expected_of(driver_, want, {}, {})) {
    for (size_t i = 0; i < kSettingCount; ++i)
      if (options.only[i] && has_value(kSettings[i], want_))
        rows_.push_back({&kSettings[i], &op_of(driver_, kSettings[i].id)});
  }

  Changes run() {
    if (rows_.empty()) return {};
    if (refresh()) {
      before_ = have_;
      first_ = limits_;
      want_ = expected_of(driver_, policy_, have_, limits_);
      // A write can overwrite another setting; the second round writes that again. And what the driver refused because
      // of another setting (buffers that are too small for the old cable) once that is written.
      for (int round = 0; round < 2 && !lost_; ++round)
        if (!walk()) break;
      settle_port();
      port_.qos = options_.dry_run ? before_ : have_;
    }
    Changes out;
    for (const Row& row : rows_)
      // Nothing is said of one that is derived from another setting and that this driver does not offer.
      if (row.blocked != Outcome::unsupported || !options_.derived[index(row.setting->id)]) out.push_back(report(row));
    return out;
  }

 private:
  // True when something was written.
  bool walk() {
    bool wrote = false;
    for (SettingId id : order())
      if (Row* row = find(id); row != nullptr && !lost_) wrote |= step(*row);
    return wrote;
  }

  // The driver's order with three exceptions: if PFC is switched off, pause changes after it (ice and i40e refuse it
  // before); if PFC only loses priorities, the buffers change after it (they may be too small for them then); DCBX
  // returns to the firmware, or its agent starts, last (they refuse every change afterwards).
  [[nodiscard]] std::vector<SettingId> order() const {
    std::vector<SettingId> out(driver_.order.begin(), driver_.order.end());
    auto move_to_end = [&](SettingId id) {
      auto it = std::ranges::find(out, id);
      if (it != out.end()) std::rotate(it, it + 1, out.end());
    };
    if (want_.pfc && have_.pfc && (want_.pfc->bits & ~have_.pfc->bits) == 0) {
      const auto pfc = std::ranges::find(out, SettingId::pfc);
      const auto buffers = std::ranges::find(out, SettingId::prio2buffer);
      if (buffers < pfc) std::rotate(buffers, pfc, pfc + 1);
    }
    if (wants_pause() || (want_.pfc && want_.pfc->bits == 0)) move_to_end(SettingId::pause);
    if (want_.dcbx == Dcbx::firmware) move_to_end(SettingId::dcbx);
    if (want_.fw_lldp == true) move_to_end(SettingId::fw_lldp);
    return out;
  }

  bool step(Row& row) {
    if (in_sync(row) || row.blocked || row.disobeyed) return false;
    // Each try of a disruptive write may stop traffic.
    if (row.refusal && (row.refused_at == accepted_ || is_disruptive(*row.op, row.setting->id, limits_))) return false;
    row.refusal.reset();
    check_blockers(row);
    if (row.blocked) return false;
    if (options_.dry_run) {
      row.written = true;
      driver_.effect(*row.setting, want_, have_);
      limits_.unread.reset(index(row.setting->id));
      return true;
    }
    if (auto saved = save_original(); !saved) {
      row.blocked = Outcome::unsaved;
      row.detail = saved.error().text();
      return false;
    }
    return write(row);
  }

  bool write(Row& row) {
    PortIo io = port_io(kernel_, port_);
    io.limits = limits_;
    io.along = free_to_write();
    io.fec_in_use = driver_.fec_in_use;
    auto written = row.op->write(io, *row.setting, want_, have_);
    row.written = true;
    accepted_ += written ? 1 : 0;
    row.refused_at = accepted_;
    if (written && options_.wrote) options_.wrote(port_, row.setting->id);
    if (!refresh()) return true;
    // EEXIST: another writer put the same entry there in between.
    if (!written && !(written.error().code == EEXIST && in_sync(row))) row.refusal = written.error();
    if (row.refusal) row.doubtful = in_sync(row);
    if (written && !in_sync(row)) row.disobeyed = true;
    row.proven = !limits_.unverified.contains(row.setting->id);
    return true;
  }

  [[nodiscard]] Keys free_to_write() const {
    Keys keys;
    for (const Row& row : rows_) {
      const bool conflict = options_.conflict && options_.conflict(port_, row.setting->id);
      if (!row.blocked && !row.refusal && !row.disobeyed && !conflict) keys.set(index(row.setting->id));
    }
    return keys;
  }

  // Decides whether the setting must not be written (now).
  void check_blockers(Row& row) {
    auto block = [&row](Outcome outcome, std::string why) {
      row.blocked = outcome;
      row.detail = std::move(why);
    };
    const bool offered = row.op->write != nullptr && has_value(*row.setting, have_);
    if (!offered && kernel_.root.exists("sys/class/net/" + port_.netdev + "/bonding"))
      return block(Outcome::unsupported,
                   port_.netdev + " is a bond: this setting belongs to its member netdevs, which are unmanaged");
    if (std::string why = why_not(driver_, *row.setting, want_, have_, limits_, port_.netdev); !why.empty())
      return block(Outcome::unsupported, why);
    if (options_.conflict && options_.conflict(port_, row.setting->id))
      return block(Outcome::conflict, "another writer keeps changing it back");
    if (row.setting->id == SettingId::pause && waits_for_pfc())
      return block(Outcome::pending, "waits until PFC is off");
    if (!is_disruptive(*row.op, row.setting->id, limits_)) return;
    if (options_.disruptive == Disruptive::never)
      return block(Outcome::pending, "the write stops traffic, and the policy has disruptive = \"never\"");
    if (options_.disruptive == Disruptive::idle && options_.busy && options_.busy(port_))
      return block(Outcome::pending, "the write stops traffic, and a process, a guest or a container uses the port");
    if (!options_.window_open) block(Outcome::pending, "the write stops traffic and waits for the maintenance window");
  }

  [[nodiscard]] bool wants_pause() const { return want_.pause && (want_.pause->rx || want_.pause->tx); }

  // Global pause goes on while a pending write still has to take PFC off.
  bool waits_for_pfc() {
    if (!wants_pause()) return false;
    const Row* pfc = find(SettingId::pfc);
    return pfc != nullptr && pfc->blocked == Outcome::pending && have_.pfc && have_.pfc->bits != 0;
  }

  Result<void> save_original() {
    if (saved_ || !options_.save_original) return saved_.value_or(Result<void>{});
    Qos original = before_;
    if (original.fec == kNoFec) original.fec.reset();
    // What the driver does not show would be changed by a restore, though nothing of ours has changed it.
    for (const Setting& setting : kSettings)
      if (first_.unread[index(setting.id)] && find(setting.id) == nullptr) copy_value(setting, Qos{}, original);
    saved_ = options_.save_original(port_, original);
    return *saved_;
  }

  // Reads the port again; on failure nothing more is written.
  bool refresh() {
    auto now = kernel_.route ? read(kernel_, port_, keys_of(want_), &limits_)
                             : error(EOPNOTSUPP, port_.id() + ": a captured tree has no netlink");
    if (now) have_ = std::move(now).value();
    else lost_ = now.error();
    return now.ok();
  }

  // At once only where the link is up; where a write took it down, carrier-up is the time.
  void settle_port() {
    if (options_.dry_run || lost_ || driver_.settle == nullptr) return;
    if (std::ranges::none_of(rows_, [](const Row& row) {
          return row.written && (row.setting->id == SettingId::mtu || row.setting->id == SettingId::pfc);
        }))
      return;
    auto link = rtnl::link(*kernel_.route, port_.netdev);
    if (!link || !link->carrier.value_or(false)) return;
    PortIo io = port_io(kernel_, port_);
    auto settled = driver_.settle(io, have_);
    Row* pfc = settled ? nullptr : find(SettingId::pfc);
    if (pfc == nullptr) return;
    pfc->refusal = settled.error();
    pfc->doubtful = true;
  }

  [[nodiscard]] Change report(const Row& row) const {
    Change out;
    out.port = port_.id();
    out.setting = row.setting->id;
    out.disruptive = is_disruptive(*row.op, row.setting->id, limits_);
    const bool differed = !same_value(*row.setting, want_, before_);
    // Equal values have one text: what the driver has rounded is no drift.
    out.from = first_.unread[index(out.setting)] ? "-" : value_text(*row.setting, differed ? before_ : want_);
    out.to = value_text(*row.setting, want_);
    out.detail = row.detail;
    if (lost_ && !in_sync(row)) return refused(std::move(out), row, *lost_);
    if (row.refusal && (row.doubtful || !in_sync(row))) return refused(std::move(out), row, *row.refusal);
    // Refused and in sync now: another setting's write did it.
    if (in_sync(row)) {
      if (!differed && !row.written) return unverified(std::move(out));
      out.outcome = options_.dry_run ? Outcome::differs : Outcome::applied;
      if (!differed && out.from == out.to && !first_.unverified.contains(out.setting))
        out.detail = "another setting's write overwrites it; written again";
      const bool was_unread = !differed && first_.unread[index(out.setting)];
      return row.proven || (options_.dry_run && !was_unread) ? out : unverified(std::move(out));
    }
    if (!row.blocked && reads_as_wanted(row)) return unverified(std::move(out));
    out.outcome = row.blocked.value_or(options_.dry_run ? Outcome::differs : Outcome::ignored);
    if (out.outcome == Outcome::ignored)
      out.detail = row.setting->id == SettingId::fec && have_.fec == kNoFec
                       ? "accepted; whether it is in use shows when the link is up"
                       : "accepted, but reads back as " + value_text(*row.setting, have_);
    return out;
  }

  // The same, unless the reading proves nothing.
  [[nodiscard]] Change unverified(Change out) const {
    const auto why = limits_.unverified.find(out.setting);
    if (why == limits_.unverified.end()) return out;
    out.outcome = Outcome::unverified;
    out.detail = why->second;
    return out;
  }

  [[nodiscard]] Change refused(Change out, const Row& row, const Error& failure) const {
    out.outcome = Outcome::refused;
    out.code = failure.code;
    if (failure.code == ENODEV) {
      out.detail =
          is_there(kernel_, port_)
              ? "the netdev exists, but its driver answers ENODEV: it is being reset, or has failed (see dmesg)"
              : "device disappeared";
      return out;
    }
    std::string remedy = remedy_of(driver_, *row.setting, have_, port_.netdev, failure.code);
    if (remedy.empty() && failure.code == EPERM) remedy = "needs CAP_NET_ADMIN in the initial user namespace";
    out.detail = remedy.empty() ? failure.text() : failure.text() + "; " + remedy;
    return out;
  }

  [[nodiscard]] bool reads_as_wanted(const Row& row) const { return same_value(*row.setting, want_, have_); }

  [[nodiscard]] bool in_sync(const Row& row) const {
    return reads_as_wanted(row) && !limits_.unread[index(row.setting->id)];
  }

  Row* find(SettingId id) {
    return find_where(rows_, [id](const Row& row) { return row.setting->id == id; });
  }

  Kernel& kernel_;
  Port& port_;
  const Options& options_;
  const Driver& driver_;
  const Qos& policy_;
  Qos want_;  // as the driver will show it
  Limits limits_;
  Qos before_, have_;  // first and newest reading
  Limits first_;       // of the first
  std::vector<Row> rows_;
  unsigned accepted_ = 0;      // writes
  std::optional<Error> lost_;  // the port cannot be read any more
  std::optional<Result<void>> saved_;
};

}  // namespace

Changes reconcile(Kernel& kernel, Port& port, const Qos& want, const Options& options) {
  return Pass(kernel, port, want, options).run();
}

}  // namespace fabric::qos
