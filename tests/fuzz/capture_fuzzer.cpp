// SPDX-License-Identifier: Apache-2.0
// Any bytes as the recorded answers of a capture: no crash; the result of a reading is written in a form that reads
// back the same; anonymization keeps the length of every message; hwloc's XML is reduced to XML that is not reduced
// further.
#include <cstdlib>

#include "ctl/verbs/kept.h"
#include "fuzzer.h"
#include "kernel/capture/anonymize.h"
#include "kernel/capture/tape.h"
#include "node/topology_xml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fabric;
  const std::string_view text = text_of(data, size);
  const std::string xml = kept_hwloc_xml(text);
  if (kept_hwloc_xml(xml) != xml) std::abort();
  auto answers = parse_answers(text, "fuzz");
  if (!answers) return 0;
  const std::string written = answers_text(*answers);
  auto again = parse_answers(written, "written");
  if (!again || answers_text(*again) != written) std::abort();
  Tape tape(true);
  tape.answers = std::move(*answers);
  const auto length = [&] {
    size_t sum = 0;
    for (const auto& [question, samples] : tape.answers)
      for (const auto& [sample, answer] : samples)
        if (answer && is_of_netlink(question.first))
          for (const std::string& part : *answer) sum += part.size();
    return sum;
  };
  Tape reduced = tape;
  (void)ctl::keep_used(reduced, {});
  const size_t before = length();
  (void)anonymize(tape);
  if (tape.answers.size() == again->size() && length() != before) std::abort();
  return 0;
}
