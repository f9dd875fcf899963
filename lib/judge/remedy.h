// SPDX-License-Identifier: Apache-2.0
// The texts of a finding's fix, as the operator of this machine can do it. Pure.
#pragma once

#include "judge/report.h"
#include "judge/view.h"

namespace fabric {

// The steps in one line: a sentence after ". ", other steps after "; ", and both after a space if the step before them
// ends in a period or colon.
std::string joined_steps(const std::vector<std::string>& steps);

// Without work with hands, which the operator of the host does: he gets the fault.
Fix fix_of_guest(Fix fix, const std::string& hypervisor);

// Makes remedy and next of the fix as it is.
void write_remedy(Finding& finding);

// Makes remedy and next of the fix. If the finding is not ok, the fix is changed first, by the work of its steps
// (fix.h):
// - in a virtual machine, work with hands is left out, and the operator of the host gets the fault;
// - of a captured tree, commands that control services are left out: they would act on another machine;
// - work that would end a job begins with "Drain the node first.", unless the port is down and only its link is
// touched,
//   or the fix says when to do it.
void adapt_remedy(Finding& finding, const View& view);

}  // namespace fabric
