// SPDX-License-Identifier: Apache-2.0
// Constructors of the rows that components.cpp and sources.cpp share: an error by the component that prints it.
#pragma once

#include "judge/lines/tables.h"

namespace fabric::lines {

constexpr LineMessage component(Severity severity, std::string_view id, FaultLocation cause, std::string_view printer,
                                std::string_view patterns, const FixRow& meaning, std::string_view next,
                                std::string_view source, Printer kind = Printer::other) {
  LineMessage out{id, cause, patterns, meaning, next, source};
  out.printer = printer;
  out.severity = severity;
  out.kind = kind;
  return out;
}

// `printer` contains the word that marks an error.
constexpr LineMessage marked(std::string_view id, FaultLocation cause, std::string_view printer,
                             std::string_view patterns, const FixRow& meaning, std::string_view next,
                             std::string_view source, Printer kind = Printer::other) {
  return component(Severity::plain, id, cause, printer, patterns, meaning, next, source, kind);
}

// Programs, and drivers that refuse a request.
constexpr LineMessage complaining(std::string_view id, FaultLocation cause, std::string_view printer,
                                  std::string_view patterns, const FixRow& meaning, std::string_view next,
                                  std::string_view source, Printer kind = Printer::other) {
  return component(Severity::complaint, id, cause, printer, patterns, meaning, next, source, kind);
}

inline constexpr std::string_view kUcx =
    "UCX  ERROR|UCX  WARN|UCX  FATAL|UCX ERROR|UCX WARN|UCX FATAL|.c:*  Fatal: |.c:*UCX Fatal: ";
inline constexpr std::string_view kOfi = "libfabric:*<warn>|libfabric:*<critical>|libfabric:*<error>";

}  // namespace fabric::lines
