// SPDX-License-Identifier: Apache-2.0
// The limits of jobs.
#pragma once

#include "judge/view.h"

namespace fabric {

// The memlock limit of a container that has too low a one: "64 KiB"; empty: it suffices, or is unknown.
std::string low_container_limit(const View& view);

}  // namespace fabric
