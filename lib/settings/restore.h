// SPDX-License-Identifier: Apache-2.0
// Back to what stood before the agent's first write.
#pragma once

#include <vector>

#include "settings/reconcile.h"
#include "store/state.h"

namespace fabric::qos {

// Reconciles the port to its entry in `originals` (`options` as for reconcile, without its conflict and save_original).
// When nothing is left to do, what is back is erased from the entry, so that a later first write saves anew; while a
// setting is pending or refused the entry is kept. What the port does not offer now (its files are gone with a module,
// say) stays in it, and so does what options.only leaves out. The caller holds the lock and saves `originals`
// afterwards. Empty when the port has no entry.
Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Options options);

// What is saved of ports that are none of these (a driver that is not loaded, a card that was taken out): pending,
// under the key that the port has in `originals`.
Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports);

}  // namespace fabric::qos
