// SPDX-License-Identifier: Apache-2.0
// Rails: the RoCE ports for collectives of the GPUs.
#pragma once

#include "judge/view.h"

namespace fabric {

// Active RoCE ports with a netdev that serve jobs and a GPU (serves_gpu()), in the order of the node. View::rails, or
// computed if it is absent.
std::shared_ptr<const std::vector<const Port*>> rails(const View& view);

// The faults that the check `rails` found in the port's subnet; empty: none, or the port shares no subnet.
std::string rails_fault(const View& view, const Port& port);

}  // namespace fabric
