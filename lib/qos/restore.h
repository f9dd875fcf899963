// SPDX-License-Identifier: Apache-2.0
// Back to what stood before the agent's first write.
#pragma once

#include "qos/reconcile.h"
#include "qos/state.h"

namespace fabric::qos {

// Reconciles the port to its entry in `originals` (`options` as for reconcile, without its conflict and save_original).
// When nothing is left to do, the entry is erased, so that a later first write saves anew; while a setting is pending or
// refused it is kept. The caller holds the lock and saves `originals` afterwards. Empty when the port has no entry.
Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Options options);

}  // namespace fabric::qos
