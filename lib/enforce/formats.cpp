// SPDX-License-Identifier: Apache-2.0
#include "enforce/formats.h"

#include "base/files.h"
#include "base/json.h"
#include "enforce/sysctl.h"
#include "node/state.h"

namespace fabric::qos {

Result<void> check_formats(const std::string& directory) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  for (const char* file : {state::kOriginalsFile, kSysctlOriginalsFile, state::kSelfTestFile}) {
    // Another error of a file is that of the reader who needs its content.
    const auto content = parse_file(root->read(file), file, parse_state);
    if (!content && content.error().code == kNewerFormat)
      return error(kNewerFormat,
                   content.error().what +
                       "; nothing is written. Install that release again; or, if the settings in the file "
                       "may be lost: mv /" +
                       file + " /root/");
  }
  return {};
}

}  // namespace fabric::qos
