// SPDX-License-Identifier: Apache-2.0
// Restores the original settings.
#pragma once

#include "enforce/reconcile.h"
#include "node/state.h"

namespace fabric::qos {

// The entry of a port, as far as it may be written now.
struct Restorable {
  state::Original values;
  Changes kept;  // as unsupported: the MTU that the port had before it joined a bond, which sets that of its members
};
// nullopt: there is no entry. Forgets an MTU that was saved below a bond that the port has left (state::end_bond()).
std::optional<Restorable> restorable_of(const Root& root, const Port& port, state::Originals& originals);

// Reconciles the port to its entry in `originals`; returns nothing if there is no entry. When nothing is left to do,
// the restored settings are erased from the entry, so that the next first write saves them again. While a setting is
// pending or refused, the whole entry is kept. Settings that the port does not offer now, or that are not its own, stay
// in the entry; so does the MTU of a port that has become a member of a bond. A setting whose original is unknown
// (state::Original::unknown) is reported as unsupported, and erased. The caller holds the lock and saves `originals`
// afterwards. A setting in conflict is restored if Terms::in_conflict is null.
Reconciled restore(Kernel& kernel, const Port& port, state::Originals& originals, const WriteTerms& terms);
// The changes that restore() would make. Writes nothing.
Changes plan_restore(Kernel& kernel, const Port& port, const state::Originals& originals, const Terms& terms);
// Terms::wanted_of of a restore to `saved`: nothing is wanted of a port without an entry. `all`: the ports that are
// present, among them the other ports of each bond, with which its class of traffic moves. The result refers to both.
WantedOf saved_settings(const std::vector<Port>& all, const state::Originals& saved);

// The settings of the port that are back, by `is_back`, and that no write which is left can change again (Op::reach;
// ice: the last DSCP takes ETS and PFC along).
Keys safely_back(const Kernel& kernel, const Port& port, const Changes& changes, bool (*is_back)(const Change&));

// The saved settings that no present port has, as pending changes: of absent ports (driver not loaded, NIC removed),
// and those that a port lacks while it is a member of a bond. Change::port is the port's key in `originals`.
Changes restore_of_absent(const state::Originals& originals, const std::vector<Port>& ports);

}  // namespace fabric::qos
