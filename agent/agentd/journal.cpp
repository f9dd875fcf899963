// SPDX-License-Identifier: Apache-2.0
#include "agentd/journal.h"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

namespace fabric::agentd {

void write_journal(const Entry& entry) {
  static const bool to_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  if (!to_journal) {
    std::fprintf(stderr, "%s\n", entry.message.c_str());
    return;
  }
  std::vector<std::string> lines{"MESSAGE=" + entry.message, "PRIORITY=" + std::to_string(entry.priority),
                                 "MESSAGE_ID=" + std::string(entry.id), "SYSLOG_IDENTIFIER=fabric-agentd"};
  for (const auto& [name, value] : entry.fields) lines.push_back(name + "=" + value);
  std::vector<iovec> parts;
  for (std::string& line : lines) parts.push_back({line.data(), line.size()});
  if (sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0)
    std::fprintf(stderr, "%s\n", entry.message.c_str());
}

}  // namespace fabric::agentd
