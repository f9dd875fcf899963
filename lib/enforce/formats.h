// SPDX-License-Identifier: Apache-2.0
// After a downgrade, the files with the settings from before our writes may have a format that this release cannot
// read.
#pragma once

#include "base/result.h"

namespace fabric::qos {

// kNewerFormat: a newer release wrote the original settings of the ports or of the host, or the record of a self-test
// (state::kOriginalsFile, kSysctlOriginalsFile, state::kSelfTestFile). Then no setting may be written: its original may
// be in that file, or cannot be added to it. The text names the file and what to do. Call it before the first write, in
// every program. The previous settings of an unconfirmed apply are in a file of their own (confirm::load()), and its
// revert does not depend on these files.
Result<void> check_formats(const std::string& directory);

}  // namespace fabric::qos
