// SPDX-License-Identifier: Apache-2.0
// Node::host: what of the machine outside its ports bears on jobs.
#pragma once

#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric::scanning {

// Fills node.host; ports and topology must be filled. Failures are named in node.unseen.
void read_host(const Root& root, Node& node);

}  // namespace fabric::scanning
