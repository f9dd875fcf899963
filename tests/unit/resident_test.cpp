// SPDX-License-Identifier: Apache-2.0
#include "exporter/resident.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace fabric::exporter {
namespace {

std::string written = "before";
const char constant[] = "never written to";

// Pages of this program and its libraries that are mapped here and backed by a file, in kB.
long resident_files() {
  long kilobytes = -1;
  FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return kilobytes;
  char line[256];
  while (std::fgets(line, sizeof line, status) != nullptr)
    if (std::sscanf(line, "RssFile: %ld kB", &kilobytes) == 1) break;
  std::fclose(status);
  return kilobytes;
}

TEST(Resident, WhatIsNeverWrittenToIsGivenBackAndComesAgain) {
  written = "after";
  const long before = resident_files();
  if (before < 0) GTEST_SKIP() << "this kernel tells no RssFile";
  forget_start();
  const long now = resident_files();
  EXPECT_LT(now, before);
  EXPECT_EQ(written, "after") << "data stays";
  EXPECT_STREQ(constant, "never written to");
  EXPECT_EQ(std::to_string(3.5), "3.500000") << "a library's code";
  forget_start();
}

}  // namespace
}  // namespace fabric::exporter
