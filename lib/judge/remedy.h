// SPDX-License-Identifier: Apache-2.0
// The texts of a finding's fix, as the operator of this machine can do it. Pure.
#pragma once

#include "judge/report.h"
#include "judge/view.h"

namespace fabric {

// The steps in one line: a sentence after ". ", other steps after "; ", and both after a space if the step before them
// ends in a period or colon.
std::string joined_steps(const std::vector<std::string>& steps);

// The fix for the operator of a virtual machine: without manual work, and with the request to report the fault to the
// operator of the host.
Fix fix_of_guest(Fix fix, const std::string& hypervisor);

// The fix with "Drain the node first." before the sentence with the first step of such work, unless it or an earlier
// step says when to do it.
Fix drained_first(Fix fix, Work ends_jobs = Work::ends_jobs);

// The fix of a fault that is not proved, such as the usual causes of an unknown error line: it does not say to drain
// the node, but says before the first step of such work that the step ends jobs.
Fix warned_first(Fix fix);

// Fills `remedy` and `next` from the fix as it is.
void write_remedy(Finding& finding);

// Fills `remedy` and `next` from the fix. If the finding is not ok, the fix is changed first, by the work of its steps
// (fix.h):
// - In a virtual machine, and beside NICs that only clouds have, manual work is left out, and the fault is to be
//   reported to the operator of the host.
// - In a captured tree, commands that control services are left out: they would act on another machine.
// - "Drain the node first." precedes work that would end a job, unless the fix says when to do it, or the port is down
//   and only its link is touched.
void adapt_remedy(Finding& finding, const View& view);

}  // namespace fabric
