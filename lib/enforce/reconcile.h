// SPDX-License-Identifier: Apache-2.0
// Compares a port with its wanted settings, writes only the differences, one setting at a time, and reads back. No
// other code changes a NIC. A class of traffic moves as a whole (traffic.h).
//
// The defaults are safe: the caller must pass a check for users of the port and a function that saves the original
// settings, the maintenance window counts as closed unless the caller opens it, and wanted settings that are not this
// port's own (own_keys()) are ignored.
#pragma once

#include "enforce/in_use.h"
#include "node/port_settings.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::qos {

// While the maintenance window is closed, disruptive writes wait.
enum class Maintenance : uint8_t { closed, open };

// The wanted settings of another port of the same bond; nullopt: unknown.
using WantedOf = std::function<std::optional<Qos>(const Port&)>;

// The conditions of a write.
struct Terms {
  UseCheck in_use;
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
  // RoCE's class of a bond is spread over its ports: the mark is the bond's, the map and PFC are the members'. A port
  // that this function does not know counts as having the same policy. Null: it knows no port.
  WantedOf wanted_of{};
  // Called before each write, with whether it is disruptive. Null: not called.
  std::function<void(const Port&, SettingId, bool disruptive)> on_write{};
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

// Returns one Change per setting in `want`, in the order of kSettings, and sets `port.qos` to the last reading. A
// second call writes only the settings that this one reported as pending, refused or ignored. Does not wait for a link
// that its writes took down: call settle() when the carrier is back.
Changes reconcile(Kernel& kernel, Port& port, const Qos& want, const Terms& terms, const SaveOriginal& save);
// Like reconcile(), with saved originals as the wanted values: does not save any originals.
Changes write_back(Kernel& kernel, Port& port, const Qos& saved, const Terms& terms);
// The changes that reconcile() would make now, reported as "differs" or "pending". Writes nothing.
Changes plan(Kernel& kernel, Port& port, const Qos& want, const Terms& terms);

// Runs Driver::settle. Call it when the port's carrier has come up.
Result<void> settle(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
