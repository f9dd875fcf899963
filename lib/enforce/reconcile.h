// SPDX-License-Identifier: Apache-2.0
// Compares, writes only differences, one kind at a time, and reads back. The only code that changes a NIC.
//
// The safe thing is the default: nothing is written without knowing who uses the port and where the original settings
// are saved, the maintenance window is closed unless the caller says that it is open, and of the wanted settings only
// those count that are this port's own (own_keys()).
#pragma once

#include "enforce/in_use.h"
#include "node/port_settings.h"
#include "policy/policy.h"
#include "setting/change.h"

namespace fabric::qos {

// While the maintenance window is closed, disruptive writes wait.
enum class Maintenance : uint8_t { closed, open };

// What a write has to wait for.
struct Terms {
  UseCheck in_use;
  Disruptive disruptive = Disruptive::idle;
  Maintenance window = Maintenance::closed;
  // Settings of the port that another writer keeps changing back, or that the driver has just refused: reported, not
  // written. Null: none.
  std::function<bool(SettingId)> in_conflict{};
  // Derived from others (traffic, cnp): not reported where the driver does not offer one.
  Keys derived{};
};

// Called once per port before its first write with its reading: must make it durable; on failure nothing is written.
// It cannot be left out; one that was made of an empty function fails.
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

// One Change per setting that `want` gives, in the order of kSettings. `port.qos` is set to the last reading. A second
// call finds nothing to write, but for what this one reported as pending, refused or ignored. Does not wait for a link
// that its writes took down: call settle() when the carrier is back.
Changes reconcile(Kernel& kernel, Port& port, const Qos& want, const Terms& terms, const SaveOriginal& save);
// The same with values that were saved before: they are the originals, so that nothing is saved.
Changes write_back(Kernel& kernel, Port& port, const Qos& saved, const Terms& terms);
// What reconcile() would do now: "differs" or "pending" instead. Writes nothing.
Changes plan(Kernel& kernel, Port& port, const Qos& want, const Terms& terms);
// The same on an idle port within the maintenance window.
Changes plan_on_idle_port(Kernel& kernel, Port& port, const Qos& want, Disruptive disruptive, const Keys& derived);

// To be called when the port's carrier has come up (Driver::settle).
Result<void> settle(Kernel& kernel, const Port& port);

}  // namespace fabric::qos
