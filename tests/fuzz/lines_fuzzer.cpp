// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log: no crash, and each name in the result is a part of the line that can be printed.
#include "base/parse.h"
#include "fuzzer.h"
#include "judge/lines.h"
#include "judge/lines/envelope.h"
#include "judge/lines/log.h"
#include "judge/lines/names.h"

namespace {

using fabric::require;

fabric::Node node() {
  fabric::Node out;
  fabric::Port& port = out.ports.emplace_back();
  port.rdma = "mlx5_0", port.netdev = "ens1", port.pci = "0000:17:00.0";
  port.gids = {{3, "0000:0000:0000:0000:0000:ffff:0a01:0001", "RoCE v2", "ens1"}};
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fabric::Node kNode = node();
  const std::string_view line = fabric::text_of(data, size);
  (void)fabric::lines::recognize(fabric::lines::read_line(line));
  (void)fabric::lines::not_text(line);
  const auto named = fabric::lines::names_in(line, kNode);
  require(named.ports.size() == named.by.size() && named.ports.size() <= 1);
  require(fabric::clean_text(named.peer) == named.peer);
  for (const std::string& text : named.elsewhere) require(fabric::clean_text(text) == text);
  const fabric::lines::PortsByLid lids;
  fabric::lines::Log log(kNode, lids, 1'795'996'800, 1000);
  for (const std::string_view each : fabric::split(line, '\n')) log.add(each);
  log.finish();
  for (const auto& found : log.found()) require(found.count > 0);
  return 0;
}
