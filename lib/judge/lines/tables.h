// SPDX-License-Identifier: Apache-2.0
// The messages, a table for each source; each in the .cpp of its name. A line is the first message that fits it.
#pragma once

#include "judge/lines.h"

namespace fabric::lines {

extern const std::span<const Message> kCompletionMessages;  // completions.cpp
extern const std::span<const Message> kNcclMessages;        // nccl.cpp
extern const std::span<const Message> kLibraryMessages;     // libraries.cpp
extern const std::span<const Message> kDriverMessages;      // drivers.cpp
extern const std::span<const Message> kKernelMessages;      // kernel.cpp
extern const std::span<const Message> kGpuMessages;         // gpus.cpp
extern const std::span<const Message> kProgramMessages;     // programs.cpp

}  // namespace fabric::lines
