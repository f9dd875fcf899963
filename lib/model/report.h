// SPDX-License-Identifier: Apache-2.0
// What the checks say. The table, the exit code, the JSON, the journal and the metric all come from one Report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fabric {

// Exit codes of monitoring plugins.
enum class Status : uint8_t { ok = 0, warning = 1, critical = 2, unknown = 3 };
std::string_view to_text(Status value);

// 0 for the worst: critical, warning, unknown, ok. The order in which findings are shown and judged.
int rank(Status value);

// An id and a subject come together at most once in a report: they are a metric's labels.
struct Finding {
  std::string id;       // of the check: "pfc"
  std::string subject;  // "mlx5_0/1", "GPU3", "host"
  Status status = Status::ok;
  std::string observed;           // what is
  std::string expected;           // what should be
  std::string meaning;            // why it matters, one sentence; empty when ok
  std::string remedy;             // what to do, one sentence; empty when ok
  std::string since{};            // RFC 3339: since when, where somebody has watched
  bool acknowledged = false;      // an operator knows: it is shown, and does not count for the verdict
  std::string acknowledgement{};  // by whom, until when, and why
};

struct Report {
  std::vector<Finding> findings;
};

// critical beats warning beats unknown beats ok. An empty report is ok, and what was acknowledged counts as ok.
Status worst(const Report& report);

// {"verdict": "critical", "checks": [{"id","subject","status","observed","expected","meaning","remedy"}]},
// where it applies with "since" and "acknowledged":
// a contract with scripts; members are added, never renamed.
Json to_json(const Report& report);

}  // namespace fabric
