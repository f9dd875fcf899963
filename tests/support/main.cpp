// SPDX-License-Identifier: Apache-2.0
// main() of every test program: gtest's, and a wait for the threads that a test let go of.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace {

// Who hung in a reading is detached and finishes it once it is answered, with tables that are torn down behind main().
// The programs themselves leave by _exit(); here the leak checker has its turn at the end.
void await_other_threads() {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 10s;
  const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
  while (threads() > 1 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  await_other_threads();
  return status;
}
