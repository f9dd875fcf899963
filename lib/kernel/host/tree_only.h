// SPDX-License-Identifier: Apache-2.0
// A library that opens files itself, on a captured tree.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"

namespace fabric {

// From now on the calling process finds by name only the files of `root`, below the name `top` ("/tree/sys/class"), and
// as Root::read() reads them: links stay inside the tree, a FIFO or a device is not opened, a file has at most 1 MiB
// and does not change. No other name exists. Reading only, and for a child process with one thread. An Error: the
// kernel lacks openat2(2) (Linux 5.6) or seccomp, or the architecture is another than x86-64 and ARM64; then nothing
// changed.
Result<void> show_only(Root root, std::string top);

}  // namespace fabric
