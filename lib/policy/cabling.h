// SPDX-License-Identifier: Apache-2.0
// The site's plan of cables, as NetBox exports it, -> the cables of one host.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "policy/policy.h"

namespace fabric {

inline constexpr size_t kMaxCablingBytes = size_t{32} << 20;

// Either CSV with a header (RFC 4180; separated by commas, semicolons or tabs) that has, for each of both ends, a
// column of the device and one of the port, under the names of NetBox's exports and imports:
//   Device A / Side A / Termination A Device / side_a_device    and Termination A / Interface A / Termination A Name /
//   side_a_name
// or JSON as of NetBox's /api/dcim/cables/: a list, or its "results", of cables with a_terminations and b_terminations
// (termination_a and termination_b before NetBox 3.3). Cables whose status is planned or decommissioning, ends without
// a device or port, and those that have another type than an interface (patch panels, power, consoles) are left out. An
// Error is "NAME:LINE: reason". Sources: netbox/dcim/tables/cables.py, netbox/dcim/forms/bulk_import.py and
// netbox/dcim/api/serializers_/cables.py of NetBox 4.
Result<std::vector<Cable>> parse_cabling(std::string_view text, const std::string& name, const std::string& host);

// Reads policy.cabling.file, where one is given, for policy.cabling.host, which is filled with the host's name where it
// is empty. policy.cabling.problem holds the error.
void load_cabling(const Root& root, Policy& policy);

}  // namespace fabric
