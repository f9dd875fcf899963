// SPDX-License-Identifier: Apache-2.0
// The fix of a finding, as the operator of this machine can do it. Pure.
#pragma once

#include "judge/report.h"
#include "judge/view.h"

namespace fabric {

// The steps in one line: sentences with a space between them, other steps with "; ".
std::string joined_steps(const std::vector<std::string>& steps);

// Changes remedy and next steps of a finding that is not ok:
// - in a virtual machine, work at the hardware (reseat, replace, slot, riser) is left out, and the operator of the host
//   gets the fault;
// - of a captured tree, commands that control services are left out: they would act on another machine;
// - work that would end a job begins with "Drain the node first.", unless the port is down and only its cable is
// touched,
//   or the fix says when to do it.
void adapt_remedy(Finding& finding, const View& view);

}  // namespace fabric
