// SPDX-License-Identifier: Apache-2.0
// Compares a port with its wanted settings, writes only the differences, one setting at a time, and reads back. No
// other code changes a NIC. A class of traffic moves as a whole (traffic.h).
//
// The defaults are safe: the caller must pass a check for users of the port, the wanted settings of the other ports of
// its bond, a function that saves the original settings, and the turn of the port (WriteTerms); the maintenance window
// counts as closed unless the caller opens it, and wanted settings that are not this port's own (own_keys()) are
// ignored.
#pragma once

#include "enforce/in_use.h"
#include "node/port_settings.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::qos {

// While the maintenance window is closed, disruptive writes wait.
enum class Maintenance : uint8_t { closed, open };

// The wanted settings of another port of the same bond. RoCE's class of a bond is spread over its ports: the mark is
// the bond's, the map and PFC are the members'. nullopt: the function does not know the port, which counts as having
// the policy of this one. It has no default, so that it cannot be forgotten.
class WantedOf {
 public:
  template <class Ask>
  requires(!std::same_as<Ask, WantedOf> && std::is_invocable_r_v<std::optional<Qos>, Ask, const Port&>)
      WantedOf(Ask ask)
      : ask_(std::move(ask)) {}
  // All ports of the bond have the policy of this one.
  static WantedOf same_policy() {
    return {[](const Port&) -> std::optional<Qos> { return std::nullopt; }};
  }
  [[nodiscard]] std::optional<Qos> operator()(const Port& port) const {
    if (!ask_) return std::nullopt;
    return ask_(port);
  }

 private:
  std::function<std::optional<Qos>(const Port&)> ask_;
};

// The conditions of a pass over a port.
struct Terms {
  UseCheck in_use;
  WantedOf wanted_of;
  Disruptive disruptive = Disruptive::idle;
  Maintenance window = Maintenance::closed;
  // True if the operator's entry names the port as one that carries the default route: without it such a port is never
  // written disruptively, whatever `disruptive` is.
  bool front_end = false;
  // True for a setting of the port that another writer keeps changing back, or that the driver has just refused: it is
  // reported, not written. Null: none.
  std::function<bool(SettingId)> in_conflict{};
  // Settings derived from others (traffic, cnp): not reported if the driver does not offer them.
  Keys derived{};
  // The saved original settings of the port, or Reconciled::lost_protection; nullopt: there are none. Null: no earlier
  // pass over the port was cut short (its program was killed, an answer was lost, the driver refused both). One that
  // was may have switched off the global pause or the PFC that they show, and not have come to the other one, which
  // replaces it.
  std::function<std::optional<Qos>(const Port&)> original{};
};

// The conditions of a pass that writes. Only Turns::terms_for() creates them: it knows whether the port has its turn
// among the members of its bond, and records the ports whose links the writes take down.
class WriteTerms {
 public:
  [[nodiscard]] const Terms& terms() const { return terms_; }
  // Call it before each write.
  void note_write(const Port& port, SettingId setting, bool disruptive) const { on_write_(port, setting, disruptive); }

 private:
  friend class Turns;
  using OnWrite = std::function<void(const Port&, SettingId, bool disruptive)>;
  WriteTerms(Terms terms, OnWrite on_write) : terms_(std::move(terms)), on_write_(std::move(on_write)) {}

  Terms terms_;
  OnWrite on_write_;
};

// Called before the first write of a port, with the values read before it, and again for settings that appear later;
// must store them durably. `before.fec` is kUnknownFec if FEC is written although its original is unknown: no later
// value is its original. After a failure nothing is written. It has no default, so that it cannot be forgotten; if it
// was made from an empty function, it fails.
class SaveOriginal {
 public:
  template <class Save>
  requires std::is_invocable_r_v < Result<void>, Save,
  const Port&, const Qos& > &&(!std::same_as<Save, SaveOriginal>)SaveOriginal(Save save) : save_(std::move(save)) {}
  [[nodiscard]] Result<void> operator()(const Port& port, const Qos& before) const {
    if (!save_) return error(EINVAL, port.id() + ": there is no place to save its original settings");
    return save_(port, before);
  }

 private:
  std::function<Result<void>(const Port&, const Qos& before)> save_;
};

// The result of a pass.
struct Reconciled {
  Changes changes{};  // one per setting in `want`, in the order of kSettings
  // The last reading, of a plan the first: the settings in `want`, and always_read(). nullopt: none of `want` is the
  // port's own, or the port could not be read.
  std::optional<Qos> have{};
  // The settings before the pass, if it has switched global pause or PFC off, and the driver then refused the other
  // one, and this one, too: Terms::original of the next pass.
  std::optional<Qos> lost_protection{};
  bool is_settled = true;  // false: the link is up, and settle() was refused after a write: call it again soon
};

// A second call writes only the settings that this one reported as pending, refused or ignored. Does not wait for a
// link that its writes took down: call settle() when the carrier is back.
Reconciled reconcile(Kernel& kernel, const Port& port, const Qos& want, const WriteTerms& terms,
                     const SaveOriginal& save);
// Like reconcile(), with saved originals as the wanted values: does not save any originals.
Reconciled write_back(Kernel& kernel, const Port& port, const Qos& saved, const WriteTerms& terms);
// The changes that reconcile() would make now, reported as "differs" or "pending". Writes nothing.
Reconciled plan(Kernel& kernel, const Port& port, const Qos& want, const Terms& terms);

// Runs Driver::settle, except of a port of is_audit_only(). Call it when the port's carrier has come up. `want`: the
// policy of the port, if it is enforced.
Result<void> settle(Kernel& kernel, const Port& port, const Qos& want = {});

}  // namespace fabric::qos
