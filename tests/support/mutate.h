// SPDX-License-Identifier: Apache-2.0
// Plants faults of a machine's parts in a scanned node, as the kernel would show them.
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

// A machine at two times, and for each fault a list of words: a finding must contain one of them.
struct Mutated {
  Node before, now;
  std::vector<std::vector<std::string>> names{};
};

// Plants the fault in one of the devices that can have it; `at` (0 to 1) selects the device. False: no device can.
bool mutate(Mutated& machine, Part part, double at);

}  // namespace fabric::test
