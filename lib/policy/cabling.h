// SPDX-License-Identifier: Apache-2.0
// Reads the site's cable plan, as NetBox exports it, and finds the cables of one host.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "policy/policy.h"

namespace fabric {

// The text is one of:
// - CSV with a header (RFC 4180; separated by commas, semicolons or tabs). For each end it has a column of the device
//   (Device A, Side A, Termination A Device, side_a_device) and one of the port (Termination A, Interface A,
//   Termination A Name, side_a_name), under the names of NetBox's exports and imports.
// - JSON as from NetBox's /api/dcim/cables/: a list, or its "results", of cables with a_terminations and b_terminations
//   (termination_a and termination_b before NetBox 3.3).
// Omits cables whose status is planned or decommissioning, ends without a device or port, and ends that are not
// interfaces (patch panels, power, consoles). An Error is "NAME:LINE: reason". Sources: netbox/dcim/tables/cables.py,
// netbox/dcim/forms/bulk_import.py and netbox/dcim/api/serializers_/cables.py of NetBox 4.
Result<std::vector<Cable>> parse_cabling(std::string_view text, const std::string& name, const std::string& host);

// Reads policy.cabling.file, if it is set, for policy.cabling.host; fills in the name of this host if that is empty.
// Puts an error into policy.cabling.problem.
void load_cabling(const Root& root, Policy& policy);

}  // namespace fabric
