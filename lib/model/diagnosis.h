// SPDX-License-Identifier: Apache-2.0
// Whose fault it is: what a rule of check/diagnosis.h concluded of one port over a window.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "model/report.h"

namespace fabric {

enum class Culprit : uint8_t {
  none,     // nothing is wrong
  host,     // this host: its settings, slot, memory, CPU or application
  cable,    // cable, connector or module of this link
  network,  // switches and their settings, or traffic of others
  peer,     // the host at the far end of the connections, or the device at the far end of the cable
  unknown,  // something is wrong, and what was read does not say where
};
std::string_view to_text(Culprit value);

struct Diagnosis {
  std::string subject;  // port id: "mlx5_0/1"
  std::string rule;     // which rule says so: "far-numa"; "not-enough-evidence"
  Culprit culprit = Culprit::unknown;
  Status status = Status::warning;    // of a finding with the same words
  double confidence = 0;              // 0..1; how well the evidence excludes everything else. 0 for unknown
  std::string conclusion;             // one sentence
  std::vector<std::string> evidence;  // what was seen, a line each
  std::vector<std::string> next;      // what to do or to collect, in that order
};
using Diagnoses = std::vector<Diagnosis>;

// critical beats warning beats unknown beats ok; ok when there is none.
Status worst(std::span<const Diagnosis> diagnoses);

// [{"port","rule","culprit","status","confidence","conclusion","evidence":[],"next":[]}]
Json to_json(std::span<const Diagnosis> diagnoses);

}  // namespace fabric
