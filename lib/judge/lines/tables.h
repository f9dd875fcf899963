// SPDX-License-Identifier: Apache-2.0
// The messages, one table for each source. The first message that matches a line explains it.
#pragma once

#include "judge/lines.h"

namespace fabric::lines {

// The columns that few rows have.
constexpr LineMessage consequence(LineMessage row) {
  row.role = Role::consequence;
  return row;
}
constexpr LineMessage consequence_of(std::string_view families, LineMessage row) {
  row.follows = families;
  return consequence(row);
}
// The message refers to the error line before it.
constexpr LineMessage wrapping(LineMessage row) {
  row.needs_line_before = true;
  return row;
}
constexpr LineMessage on_silence(LineMessage row) {
  row.is_silence = true;
  return row;
}

extern const std::span<const LineMessage> kHarmlessMessages;    // harmless.cpp: first, before the words of errors
extern const std::span<const LineMessage> kCompletionMessages;  // completions.cpp
extern const std::span<const LineMessage> kNcclMessages;        // nccl.cpp
extern const std::span<const LineMessage> kLibraryMessages;     // libraries.cpp
extern const std::span<const LineMessage> kDriverMessages;      // drivers.cpp
extern const std::span<const LineMessage> kKernelMessages;      // kernel.cpp
extern const std::span<const LineMessage> kGpuMessages;         // gpus.cpp
extern const std::span<const LineMessage> kProgramMessages;     // programs.cpp
extern const std::span<const LineMessage> kPlatformMessages;    // platforms.cpp
extern const std::span<const LineMessage> kMpiMessages;         // mpi.cpp
extern const std::span<const LineMessage> kDeviceMessages;      // devices.cpp
extern const std::span<const LineMessage> kServiceMessages;     // services.cpp
extern const std::span<const LineMessage> kCallMessages;        // calls.cpp: of any library, by call and errno
extern const std::span<const LineMessage> kTransportMessages;   // transports.cpp
extern const std::span<const LineMessage> kTrainingMessages;    // training.cpp
// sources.cpp: any other error of libraries and programs, by the source file.
extern const std::span<const LineMessage> kSourceMessages;
// components.cpp: any other error, by the part of a program or the driver that prints it. The last table.
extern const std::span<const LineMessage> kComponentMessages;

}  // namespace fabric::lines
