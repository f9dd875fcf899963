// SPDX-License-Identifier: Apache-2.0
#include "model/diagnosis.h"

#include "base/json.h"

namespace fabric {
namespace {

Json lines(const std::vector<std::string>& texts) {
  Json out = Json::array();
  for (const std::string& text : texts) out.push_back(text);
  return out;
}

}  // namespace

std::string_view to_text(Culprit value) {
  switch (value) {
    case Culprit::none: return "none";
    case Culprit::host: return "host";
    case Culprit::cable: return "cable";
    case Culprit::network: return "network";
    case Culprit::peer: return "peer";
    case Culprit::unknown: break;
  }
  return "unknown";
}

Status worst(std::span<const Diagnosis> diagnoses) {
  Status out = Status::ok;
  for (const Diagnosis& each : diagnoses)
    if (rank(each.status) < rank(out)) out = each.status;
  return out;
}

Json to_json(std::span<const Diagnosis> diagnoses) {
  Json out = Json::array();
  for (const Diagnosis& each : diagnoses)
    out.push_back(Json::object({{"port", each.subject},
                                {"rule", each.rule},
                                {"culprit", to_text(each.culprit)},
                                {"status", to_text(each.status)},
                                {"confidence", each.confidence},
                                {"conclusion", each.conclusion},
                                {"evidence", lines(each.evidence)},
                                {"next", lines(each.next)}}));
  return out;
}

}  // namespace fabric
