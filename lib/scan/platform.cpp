// SPDX-License-Identifier: Apache-2.0
#include "scan/platform.h"

#include <utility>

#include "qos/pci_state.h"
#include "sys/platform.h"

namespace fabric::scanning {

void read_platform(const Root& root, Node& node) {
  node.platform = platform::read(root, node.topology);
  auto published = state::load_pci_state(root);
  if (published) node.pci_settings = std::move(published).value();
  else node.unseen.push_back("PCI configuration space: " + published.error().text());
}

}  // namespace fabric::scanning
