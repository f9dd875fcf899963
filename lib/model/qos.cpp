// SPDX-License-Identifier: Apache-2.0
#include "model/qos.h"

#include "base/json.h"
#include "model/change.h"
#include "model/setting_table.h"

namespace fabric {

bool has_value(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) { return value.has_value(); });
}

Keys keys_of(const Qos& qos) {
  Keys out;
  for (size_t i = 0; i < kSettingCount; ++i) out[i] = has_value(kSettings[i], qos);
  return out;
}

std::string value_text(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) { return value ? to_text(*value) : std::string("-"); });
}

Json value_json(const Setting& setting, const Qos& qos) {
  return visit_member(setting, qos, [](const auto& value) { return value ? to_json(*value) : Json(); });
}

bool same_value(const Setting& setting, const Qos& a, const Qos& b) {
  return std::visit([&](auto member) { return a.*member && b.*member && *(a.*member) == *(b.*member); },
                    setting.member);
}

void copy_value(const Setting& setting, const Qos& from, Qos& to) {
  std::visit([&](auto member) { to.*member = from.*member; }, setting.member);
}

std::string_view to_text(Outcome value) {
  switch (value) {
    case Outcome::in_sync: return "in_sync";
    case Outcome::applied: return "applied";
    case Outcome::unverified: return "unverified";
    case Outcome::differs: return "differs";
    case Outcome::pending: return "pending";
    case Outcome::unsupported: return "unsupported";
    case Outcome::refused: return "refused";
    case Outcome::ignored: return "ignored";
    case Outcome::unsaved: return "unsaved";
    case Outcome::conflict: return "conflict";
  }
  return "unknown";
}

}  // namespace fabric
