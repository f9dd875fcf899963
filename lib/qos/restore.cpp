// SPDX-License-Identifier: Apache-2.0
#include "qos/restore.h"

#include <algorithm>

namespace fabric::qos {

Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Options options) {
  auto entry = originals.find(state::port_key(port));
  if (entry == originals.end()) return {};
  options.conflict = nullptr;
  options.save_original = nullptr;
  Changes changes = reconcile(kernel, port, entry->second, options);
  const bool done = std::all_of(changes.begin(), changes.end(), [](const Change& change) {
    return change.outcome == Outcome::in_sync || change.outcome == Outcome::applied || change.outcome == Outcome::unsupported;
  });
  if (!done || options.dry_run) return changes;
  Keys back = options.only;
  for (const Change& change : changes)
    if (change.outcome == Outcome::unsupported) back.reset(*setting_index(change.key));
  state::forget(originals, port, back);
  return changes;
}

}  // namespace fabric::qos
