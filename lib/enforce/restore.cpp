// SPDX-License-Identifier: Apache-2.0
#include "enforce/restore.h"

#include <algorithm>

namespace fabric::qos {

Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Terms terms) {
  const auto entry = state::find_original(originals, port);
  if (entry == originals.end()) return {};
  terms.in_conflict = nullptr;
  Changes changes = write_back(kernel, port, entry->second, terms);
  Keys back = own_keys(port);
  for (const Change& change : changes) {
    if (change.outcome == Outcome::unsupported) back.reset(index(change.setting));
    else if (!is_done(change.outcome)) return changes;
  }
  state::forget(originals, port, back);
  return changes;
}

Changes plan_restore(Kernel& kernel, Port& port, state::Originals& originals, Terms terms) {
  const auto entry = state::find_original(originals, port);
  if (entry == originals.end()) return {};
  terms.in_conflict = nullptr;
  return plan(kernel, port, entry->second, terms);
}

Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports) {
  Changes out;
  for (const auto& entry : state::absent_originals(originals, ports)) {
    const auto& [key, before] = *entry;
    std::string why = "no such port is here now, or it is excluded; kept until it is";
    if (!before.place.empty())
      why = "this card, last in " + before.place + ", is not here now, or is excluded; kept until it is";
    for (const Setting& setting : kSettings)
      if (has_value(setting, before))
        out.push_back({key, setting.id, Outcome::pending, 0, false, "-", value_text(setting, before), why, {}});
  }
  return out;
}

}  // namespace fabric::qos
