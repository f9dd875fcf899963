// SPDX-License-Identifier: Apache-2.0
#include "enforce/restore.h"

#include <algorithm>

namespace fabric::qos {

Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Options options) {
  auto entry = state::find_original(originals, port);
  if (entry == originals.end()) return {};
  options.conflict = nullptr;
  options.save_original = nullptr;
  Changes changes = reconcile(kernel, port, entry->second, options);
  const bool done = std::ranges::all_of(
      changes, [](const Change& change) { return is_done(change.outcome) || change.outcome == Outcome::unsupported; });
  if (!done || options.dry_run) return changes;
  Keys back = options.only;
  for (const Change& change : changes)
    if (change.outcome == Outcome::unsupported) back.reset(index(change.setting));
  state::forget(originals, port, back);
  return changes;
}

Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports) {
  Changes out;
  for (const auto& entry : state::absent_originals(originals, ports)) {
    const auto& [key, before] = *entry;
    const std::string why = before.place.empty() ? "no such port is here now, or it is excluded; kept until it is"
                                                 : "this card, last in " + before.place +
                                                       ", is not here now, or is excluded; kept until it is";
    for (const Setting& setting : kSettings)
      if (has_value(setting, before))
        out.push_back({key, setting.id, Outcome::pending, 0, false, "-", value_text(setting, before), why, {}});
  }
  return out;
}

}  // namespace fabric::qos
