// SPDX-License-Identifier: Apache-2.0
// `fabric-agentd --pci` (fabric-agent-pci.service): applies the settings that require CAP_SYS_ADMIN, once.
#pragma once

#include "agentd/messages.h"
#include "kernel/kernel.h"

namespace fabric::agentd {

struct PciEnvironment {
  Kernel& kernel;
  std::string directory = "/";  // below it: run/fabric-agent, var/lib/fabric-agent
  JournalSink log = write_journal;
  std::function<Node(const Policy&)> scan;  // ports, and the topology: GPUs and NICs with the bridges above them
};
PciEnvironment real_pci_environment(Kernel& kernel);

// Writes the MRRS of the ports for which the policy has one, and the host settings that require CAP_SYS_ADMIN; writes
// nothing in audit mode. Then publishes in run/fabric-agent/pci.json the settings in the configuration space of every
// GPU, every NIC and the bridges above them. Returns the exit status. 0: everything matches. 1: a setting differs
// (audit), waits or is unsupported. 2: a setting was refused or ignored, or another error occurred.
int reconcile_pci(PciEnvironment& environment, const Policy& policy);

}  // namespace fabric::agentd
