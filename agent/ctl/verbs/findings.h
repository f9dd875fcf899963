// SPDX-License-Identifier: Apache-2.0
// The findings of this machine, from which check and diagnose print: they have one verdict.
#pragma once

#include "ctl/verbs/samples.h"

namespace fabric::ctl {

// With the exporter's health states and the operator's acknowledgements, at `wall` (seconds since 1970). `only`: rules
// and groups; if nothing was checked of one of them, or at all, a finding with status unknown says so.
Report find_faults(Machine& machine, Samples& samples, const Options& options, int64_t wall);

bool is_of_rule(const Finding& finding, const std::string& id_or_group);
// The names of --only, or "check" for all, of which the report has nothing: nothing checked is no success.
std::vector<std::string> unchecked(const Report& report, const std::vector<std::string>& only);

// --strict: a warning fails.
Status verdict_of(const Report& report, const Options& options);

}  // namespace fabric::ctl
