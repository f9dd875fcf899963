// SPDX-License-Identifier: Apache-2.0
// Any bytes as a configuration: no crash; a policy that was read is shown in a form that reads back.
#include <cstdlib>

#include "fuzzer.h"
#include "policy/config.h"
#include "policy/kept_config.h"
#include "policy/show_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto loaded = fabric::parse_config(fabric::text_of(data, size), "fuzz.toml");
  (void)fabric::kept_config(std::string(fabric::text_of(data, size)));
  if (!loaded) {
    if (!loaded.error().what.starts_with("fuzz.toml:")) std::abort();  // every fault has a place
    return 0;
  }
  auto again = fabric::parse_config(fabric::show_config(loaded->policy), "shown.toml");
  if (!again || again->policy.ports.size() != loaded->policy.ports.size()) std::abort();
  for (size_t i = 0; i < again->policy.ports.size(); ++i)
    if (!(again->policy.ports[i].want == loaded->policy.ports[i].want &&
          again->policy.ports[i].derived == loaded->policy.ports[i].derived &&
          again->policy.ports[i].match == loaded->policy.ports[i].match))
      std::abort();
  if (again->policy.maintenance != loaded->policy.maintenance || again->policy.sysctl != loaded->policy.sysctl)
    std::abort();
  return 0;
}
