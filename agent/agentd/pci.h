// SPDX-License-Identifier: Apache-2.0
// `fabric-agentd --pci`, the work of fabric-agent-pci.service: settings that require CAP_SYS_ADMIN, once.
#pragma once

#include "agentd/messages.h"
#include "kernel/kernel.h"

namespace fabric::agentd {

struct PciEnvironment {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  Log log = write_journal;
  std::function<Node(const Policy&)> scan;  // ports, and the topology: GPUs and NICs with the bridges above them
};
PciEnvironment real_pci_environment(Kernel& kernel);

// Writes MRRS, and nothing else, of the ports for which the policy gives one, and the host settings that require
// CAP_SYS_ADMIN (nothing in audit mode), then publishes what configuration space says of every GPU and NIC and the
// bridges above them in run/fabric-agent/pci.json. The exit status: 0; 1 something differs (audit) or is unsupported; 2
// something was refused or ignored, or could not be done at all.
int reconcile_pci(PciEnvironment& environment, const Policy& policy);

}  // namespace fabric::agentd
