// SPDX-License-Identifier: Apache-2.0
// The page of / for people: the verdict, what to do, the ports, a picture of the node. HTML without scripts.
#pragma once

#include "exporter/http/page.h"

namespace fabric::exporter {

// Pure. Text from outside is escaped; unread values are shown as not known.
std::string render_landing(const Snapshot& snapshot, const Findings& findings, const PageContext& context,
                           Clock::time_point now);

// The Content-Security-Policy of every answer: the page's own style sheet, by its hash, and nothing else.
const std::string& content_policy();
extern const std::string_view kLandingStyle;

// GPUs and NICs below their switches, root buses and NUMA nodes, with lines of the best pairing: inline SVG, as wide as
// a phone. `status`: the worst finding of each subject.
std::string topology_picture(const Node& node, const std::map<std::string, Status>& status);

}  // namespace fabric::exporter
