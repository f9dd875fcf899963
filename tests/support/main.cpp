// SPDX-License-Identifier: Apache-2.0
// main() of every test program: gtest's, and a wait for the threads that a test let go of. Arguments are names of files
// without "_test.cpp": only their cases run. FABRIC_TEST_FILES has such names after that of their program:
// "judge/check". A program that it does not name runs all of its cases.
#include <pthread.h>

#include "support/test.h"

// AddressSanitizer before LLVM 17 does not lock its allocator at fork(2) as glibc locks malloc's: a child forked while
// another thread allocates can wait forever. These are the functions that LLVM 17 calls there itself.
#if defined(__clang__) && __clang_major__ < 17
#if __has_feature(address_sanitizer)
#define FABRIC_LOCK_AT_FORK
namespace __lsan {
void LockAllocator();
void UnlockAllocator();
}  // namespace __lsan
namespace __sanitizer {
void StackDepotLockAll();
void StackDepotUnlockAll();
}  // namespace __sanitizer
#endif
#endif

namespace {

void lock_sanitizer_at_fork() {
#ifdef FABRIC_LOCK_AT_FORK
  const auto lock = [] {
    __lsan::LockAllocator();
    __sanitizer::StackDepotLockAll();
  };
  const auto unlock = [] {
    __sanitizer::StackDepotUnlockAll();
    __lsan::UnlockAllocator();
  };
  ::pthread_atfork(lock, unlock, unlock);
#endif
}

// A reader thread that hung is detached. It ends after main(), when the tables that it uses are destroyed. The programs
// leave by _exit(); here the leak checker runs at the end.
void await_other_threads() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 10s;
  const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  while (threads() > 1 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
}

// Takes the cases of other files out of GoogleTest's filter. False: the files have no case.
bool run_only(const std::set<std::string>& files) {
  std::string filter = testing::GTEST_FLAG(filter);
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  bool found = false;
  for (int i = 0; i < all.total_test_suite_count(); ++i)
    for (int j = 0; j < all.GetTestSuite(i)->total_test_count(); ++j) {
      const testing::TestInfo& test = *all.GetTestSuite(i)->GetTestInfo(j);
      const std::string name = std::filesystem::path(test.file()).stem();
      const bool is_chosen = files.contains(name.substr(0, name.rfind("_test")));
      found = found || is_chosen;
      if (is_chosen) continue;
      filter += filter.find('-') == std::string::npos ? "-" : ":";
      filter += std::string(test.test_suite_name()) + "." + test.name();
    }
  testing::GTEST_FLAG(filter) = filter;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  lock_sanitizer_at_fork();
  testing::InitGoogleTest(&argc, argv);
  std::set<std::string> files(argv + 1, argv + argc);
  if (const char* more = std::getenv("FABRIC_TEST_FILES")) {
    std::string program = std::filesystem::path(argv[0]).filename();
    program = program.substr(0, program.rfind("_test")) + "/";
    std::istringstream words(more);
    for (std::string word; words >> word;)
      if (word.starts_with(program)) files.insert(word.substr(program.size()));
  }
  if (!files.empty() && !run_only(files)) {
    std::fprintf(stderr, "no test case is in a file of these names\n");
    return 2;
  }
  const int status = RUN_ALL_TESTS();
  await_other_threads();
  return status;
}
