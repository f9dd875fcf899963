// SPDX-License-Identifier: Apache-2.0
// diagnose: the causes of the symptoms of each port, with evidence and next steps.
#pragma once

#include "ctl/output/terminal.h"
#include "ctl/verbs/samples.h"
#include "judge/report.h"

namespace fabric::ctl {

// Prints the findings of the chosen ports, the causes of each port first. Returns the exit status. `rules` are those of
// the configuration by which the report was made.
int print_diagnosis(Report report, const Samples& samples, const RulePolicy& rules, const Options& options,
                    Output& output);

}  // namespace fabric::ctl
