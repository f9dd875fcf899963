// SPDX-License-Identifier: Apache-2.0
// Prints what kernel/rdma/verbs.h asks of a device of fake_verbs.cpp, or its error. verbs.cpp looks
// ibv_query_port_speed() up in the running program, so this is a program of its own.
#include <cstdio>

#include "kernel/rdma/verbs.h"

int main(int count, char** arguments) {
  const auto text = fabric::verbs::query(count > 1 ? arguments[1] : "mlx5_4");
  std::fputs(text ? text->c_str() : text.error().text().c_str(), stdout);
  return 0;
}
