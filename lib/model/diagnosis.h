// SPDX-License-Identifier: Apache-2.0
// The conclusion of a rule of lib/diagnosis about one port over a window.
#pragma once

#include <span>

#include "base/json_fwd.h"
#include "model/report.h"

namespace fabric {

enum class Culprit : uint8_t {
  none,     // no fault
  host,     // this host: its settings, slot, memory, CPU or application
  cable,    // cable, connector or module of this link
  network,  // switches and their settings, or traffic of others
  peer,     // the host at the far end of the connections, or the device at the far end of the cable
  unknown,  // there are symptoms, and the evidence does not identify a cause
};
std::string_view to_text(Culprit value);

struct Diagnosis {
  std::string subject;  // port id: "mlx5_0/1"
  std::string rule;     // its id: "far-numa"; "not-enough-evidence"
  Culprit culprit = Culprit::unknown;
  Status status = Status::warning;    // severity
  double confidence = 0;              // 0..1: how well the evidence excludes other causes. 0 for unknown
  std::string conclusion;             // one sentence
  std::vector<std::string> evidence;  // one line each
  std::vector<std::string> next;      // steps: actions, or values to collect
};
using Diagnoses = std::vector<Diagnosis>;

// critical, warning, unknown, ok: the first that occurs; ok if empty.
Status worst(std::span<const Diagnosis> diagnoses);

// [{"port","rule","culprit","status","confidence","conclusion","evidence":[],"next":[]}]
Json to_json(std::span<const Diagnosis> diagnoses);

}  // namespace fabric
