// SPDX-License-Identifier: Apache-2.0
// The messages, one table for each source. The first message that matches a line explains it.
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
