// SPDX-License-Identifier: Apache-2.0
#include "enforce/restore.h"

#include "enforce/rounds.h"

namespace fabric::qos {
namespace {

void add_unknown(const Port& port, const state::Original& original, Changes& out) {
  for (const Setting& setting : kSettings) {
    if (!has_key(original.unknown & own_keys(port), setting.id)) continue;
    Change& change = out.emplace_back();
    change.port = port.id();
    change.setting = setting.id;
    change.outcome = Outcome::unsupported;
    change.from = change.to = "-";
    change.detail =
        "its original is unknown, because this driver shows the mode in use only, and there was no link at the first "
        "write: it stays as it is";
  }
}

}  // namespace

std::optional<Restorable> restorable_of(const Root& root, const Port& port, state::Originals& originals) {
  const std::string bond = bond_above(root, port);
  state::end_bond(originals, port, bond);
  const auto original = state::original_for(originals, port);
  if (!original) return std::nullopt;
  Restorable out{*original, {}};
  if (original->bond == bond || !original->mtu || !has_key(own_keys(port), SettingId::mtu)) return out;
  Change& kept = out.kept.emplace_back();
  kept.port = port.id();
  kept.setting = SettingId::mtu;
  kept.outcome = Outcome::unsupported;
  kept.from = "-";
  kept.to = value_text(setting_of(SettingId::mtu), *original);
  kept.detail = bond + " sets the MTU of its members: kept until the port has left it";
  out.values.mtu.reset();
  return out;
}

WantedOf saved_settings(const std::vector<Port>& all, const state::Originals& saved) {
  return wanted_among(all, [&saved](const Port& other) -> std::optional<Qos> {
    if (auto original = state::original_for(saved, other)) return std::move(*original);
    return Qos{};
  });
}

Reconciled restore(Kernel& kernel, const Port& port, state::Originals& originals, const WriteTerms& terms) {
  const auto original = restorable_of(kernel.root, port, originals);
  if (!original) return {};
  Reconciled done = write_back(kernel, port, original->values, terms);
  done.changes.insert(done.changes.end(), original->kept.begin(), original->kept.end());
  Keys restored = own_keys(port);
  bool is_left = false;
  for (const Change& change : done.changes) {
    if (change.outcome == Outcome::unsupported) restored.reset(index(change.setting));
    else if (!is_done(change.outcome)) is_left = true;
  }
  add_unknown(port, original->values, done.changes);
  if (!is_left) state::forget(originals, port, restored);
  return done;
}

Changes plan_restore(Kernel& kernel, const Port& port, const state::Originals& originals, const Terms& terms) {
  state::Originals present = originals;
  const auto original = restorable_of(kernel.root, port, present);
  if (!original) return {};
  Changes changes = original->kept;
  const Changes planned = plan(kernel, port, original->values, terms).changes;
  changes.insert(changes.end(), planned.begin(), planned.end());
  add_unknown(port, original->values, changes);
  return changes;
}

Keys safely_back(const Kernel& kernel, const Port& port, const Changes& changes, bool (*is_back)(const Change&)) {
  const Driver& driver = driver_for(port.kernel_driver, &kernel.root, port.netdev);
  Keys back, at_risk;
  for (const Change& change : changes) {
    if (is_back(change)) back.set(index(change.setting));
    else at_risk |= keys_reached(op_of(driver, change.setting), change.setting);
  }
  return back & ~at_risk;
}

Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports) {
  Changes out;
  for (const auto& entry : originals) {
    const auto& [key, before] = entry;
    Keys present;
    std::string bond;
    for (const Port& port : ports) {
      if (!state::is_entry_of(entry, port)) continue;
      present |= own_keys(port);
      bond = port.bond;
    }
    std::string why = "the port is absent or excluded; its original settings are kept until it returns";
    if (!before.place.empty())
      why = "this card, last in " + before.place +
            ", is absent or excluded; its original settings are kept until it returns";
    const std::string place = before.place.empty() ? key.substr(0, key.find(' ')) : before.place;
    for (const Port& port : ports)
      if (state::port_place(port) == place && !before.driver.empty() && before.driver != port.kernel_driver)
        why = "saved for " + before.driver + "; " + place + " has a card of " + port.kernel_driver +
              " now, which does not get them; they are kept until the other card returns";
    if (present.any())
      why = "a setting of " + bond + " while the port is part of that bond; kept until the bond has ended";
    for (const Setting& setting : kSettings)
      if (has_value(setting, before) && !has_key(present, setting.id))
        out.push_back({key, setting.id, Outcome::pending, 0, false, "-", value_text(setting, before), why, {}});
  }
  return out;
}

}  // namespace fabric::qos
