// SPDX-License-Identifier: Apache-2.0
// Faults of a machine's parts, planted in a scanned node as the kernel would show them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/node.h"

namespace fabric::test {

enum class Part : uint8_t { gpu, nic, function, rdma, numa, link, port, lane };
std::string_view to_text(Part part);
inline constexpr Part kParts[] = {Part::gpu,  Part::nic,  Part::function, Part::rdma,
                                  Part::numa, Part::link, Part::port,     Part::lane};

// A machine at two moments, and the words of which one must be in a finding for each fault.
struct Mutated {
  Node before, now;
  std::vector<std::vector<std::string>> names{};
};

// Plants the fault in the device that is `at` (0 to 1) of those that can have it. False: none can.
bool mutate(Mutated& machine, Part part, double at);

}  // namespace fabric::test
