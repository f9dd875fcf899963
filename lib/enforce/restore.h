// SPDX-License-Identifier: Apache-2.0
// Restores the original settings.
#pragma once

#include "enforce/reconcile.h"
#include "node/state.h"

namespace fabric::qos {

// Reconciles the port to its entry in `originals`; empty when it has none. When nothing is left to do, the restored
// settings are erased from the entry, so that the next first write saves them again; while a setting is pending or
// refused the entry is kept. Settings that the port does not offer now stay in it, and so do those that are not the
// port's own. What is in conflict is restored all the same. The caller holds the lock and saves `originals` afterwards.
Changes restore(Kernel& kernel, Port& port, state::Originals& originals, Terms terms);
// What restore() would write. Writes nothing.
Changes plan_restore(Kernel& kernel, Port& port, state::Originals& originals, Terms terms);

// The saved settings of absent ports (driver not loaded, NIC removed): pending, under the port's key in `originals`.
Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports);

}  // namespace fabric::qos
