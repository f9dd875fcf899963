// SPDX-License-Identifier: Apache-2.0
// Writes metric families as text. prometheus-cpp's own TextSerializer prints only 16 digits and no OpenMetrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/family.h"

namespace fabric {

enum class TextFormat : uint8_t {
  prometheus,   // text format 0.0.4
  openmetrics,  // OpenMetrics 1.0.0, without _created
};
std::string_view content_type(TextFormat format);

// An element of an HTTP list: "gzip;q=0.5", "text/plain;version=0.0.4". The quality is 1 if it is not given, and 0 if
// it is invalid (RFC 9110, 12.4.2).
struct Accepted {
  std::string name, version;  // the name in lower case
  double quality = 1;
};
std::vector<Accepted> parse_accepted(std::string_view header);

// The format that an HTTP Accept header asks for: OpenMetrics only if the header names it with a quality that is not
// below that of text/plain.
TextFormat negotiate(std::string_view accept);

// Writes each value as the shortest text that reads back as the same double, and integers up to 2^53 without an
// exponent. Supports counters, gauges, histograms and untyped metrics.
std::string serialize(const FamilySet& families, TextFormat format = TextFormat::prometheus);

}  // namespace fabric
