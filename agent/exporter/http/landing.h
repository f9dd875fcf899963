// SPDX-License-Identifier: Apache-2.0
// The page of / for people.
#pragma once

#include "exporter/http/page.h"

namespace fabric::exporter {

// The verdict, the fixes, the ports, a picture of the node. HTML without scripts. Pure. Text from outside is escaped;
// unread values are shown as not known.
std::string render_landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                           Clock::time_point now);

extern const std::string_view kLandingStyle;
// The Content-Security-Policy of every answer. It permits the style sheet of the landing page, by its hash, and nothing
// else.
const std::string& content_policy();

}  // namespace fabric::exporter
