// SPDX-License-Identifier: Apache-2.0
#include "kernel/telemetry.h"
#include "support/test.h"

namespace fabric {
namespace {

TEST(CounterName, IsItsText) {
  const CounterName name("out_of_sequence");
  EXPECT_EQ(name, "out_of_sequence");
  EXPECT_EQ(name, std::string("out_of_sequence"));
  EXPECT_NE(name, "out_of_sequenc");
  EXPECT_EQ(name.str() + "!", "out_of_sequence!");
  EXPECT_EQ((std::ostringstream() << name).str(), "out_of_sequence");
  EXPECT_LT(name, CounterName("packet_seq_err"));
  EXPECT_LT(name, "packet_seq_err");
  const std::map<std::string, int, std::less<>> by_name{{"out_of_sequence", 3}};
  EXPECT_EQ(by_name.find(name)->second, 3);
}

TEST(CounterName, OneTextIsKeptOnce) {
  std::string text = "a_name_that_is_too_long_for_a_small_string";
  const CounterName first(text), second(text);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.text().data(), second.text().data());
  text[0] = 'b';
  EXPECT_EQ(first, "a_name_that_is_too_long_for_a_small_string") << "it is its own";
  EXPECT_NE(first, CounterName(text));
}

TEST(CounterName, AnEmptyOneIsNone) {
  EXPECT_EQ(CounterName(), CounterName(""));
  EXPECT_EQ(CounterName().text(), "");
  EXPECT_NE(CounterName(), CounterName("x"));
}

TEST(CounterName, ThreadsAgree) {
  std::vector<std::vector<CounterName>> kept(4);
  std::vector<std::thread> threads;
  for (auto& mine : kept)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 2000; ++i) mine.emplace_back("thread_counter_" + std::to_string(i % 500));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : kept) EXPECT_EQ(mine, kept.front());
  EXPECT_EQ(kept[3][499], "thread_counter_499");
}

}  // namespace
}  // namespace fabric
