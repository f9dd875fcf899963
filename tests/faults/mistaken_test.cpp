// SPDX-License-Identifier: Apache-2.0
// Faults that look like another's: the counters that rise most are not those of the culprit. Planted in one machine each.
#include <gtest/gtest.h>

#include "counter/metrics.h"
#include "faults/planted.h"

namespace fabric::faults {
namespace {

using namespace metrics;

// Held by the network for nearly the whole minute.
void hold_fast(Machine& m) {
  m.raise(kPfcSeconds, 58, "rx");
  for (const Metric* each : {&kCnpHandled, &kCnpSent, &kEcnMarked}) m.hold(*each);
}
void give_up(Machine& m) { m.raise(kRetriesExceeded, 12), m.raise(kAckTimeouts, 96); }

std::vector<Planted> held() {
  return {
      {"pause that never ends has reached this port: its connections are given up, and no peer has died", "hgx", [](Machine& m) { hold_fast(m), give_up(m); },
       {{"mlx5_1/1", "pause-spread"}}, "meanwhile: connections given up +12", "lost one by one"},
      {"the same of a Broadcom card", "mi300x", [](Machine& m) { hold_fast(m), give_up(m); }, {{"bnxt_re1/1", "pause-spread"}}, "meanwhile: ACK timeouts +96"},
      {"held so long that answers are late, and nothing is lost", "hgx", [](Machine& m) { hold_fast(m), m.raise(kAckTimeouts, 5'000); }, {{"mlx5_1/1", "pause-spread"}}},
      {"many to one, so much that connections are given up", "hgx",
       [](Machine& m) {
         m.raise(kPfcSeconds, 55, "rx");
         m.raise(kCnpHandled, 60'000);
         give_up(m);
       },
       {{"mlx5_1/1", "incast"}}},
      {"held, by whom cannot be told for its congestion control is off: then nor who does not answer", "hgx",
       [](Machine& m) {
         hold_fast(m), give_up(m);
         m.port().qos.ecn_rp = PrioSet{};
       },
       {{"mlx5_1/1", "not-enough-evidence"}}, "peer-silent (peer)"},
      {"no credits until connections are given up", "infiniband",
       [](Machine& m) {
         m.shorten(2);
         m.raise(kPortWait, 4'200'000'000 * 2.0);
         for (Node* node : {&m.before, &m.now}) node->ports[1].rate = 16e9;
         give_up(m);
       },
       {{"mlx5_1/1", "no-credits"}}},
      {"held, and the switch's watchdog throws away what waits: NAKs come back", "hgx", [](Machine& m) { hold_fast(m), m.raise(kSequenceNaks, 20'000); },
       {{"mlx5_1/1", "pause-spread loss-in-network"}}},
      {"held for a third of the time, and a host of the job died", "hgx",
       [](Machine& m) {
         hold_fast(m);
         m.hold(kPfcSeconds);
         m.raise(kPfcSeconds, 20, "rx");
         give_up(m);
       },
       {{"mlx5_1/1", "pause-spread peer-silent"}}},
  };
}

std::vector<Planted> all() {
  std::vector<Planted> out = held();
  return out;
}

class Mistaken : public testing::TestWithParam<Planted> {};

TEST_P(Mistaken, IsNotTakenForTheOther) { expect_blamed(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Faults, Mistaken, testing::ValuesIn(all()));

}  // namespace
}  // namespace fabric::faults
