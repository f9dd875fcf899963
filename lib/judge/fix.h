// SPDX-License-Identifier: Apache-2.0
// A fix: steps of text, each with the kind of work that it is. A rule writes them with placeholders, fill_names() puts
// in the names of its subject; adapt_remedy() (remedy.h) chooses those that the operator of a machine can do, and makes
// the texts of a finding of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fabric {

struct AgentState;
struct Port;

// The kinds of work of a step, and its effect on jobs: several at once.
enum class Work : uint8_t {
  none = 0,        // a command or a look that disturbs nothing, or work at another machine
  at_link = 1,     // hands at the link: its cable, fiber, modules, or another port for it
  at_machine = 2,  // hands at the machine: slots, power, fans, firmware setup
  ends_jobs = 4,   // ends the jobs of this node: reboot, reload of a driver, reset of a NIC
  in_machine = 6,  // at_machine and ends_jobs: the machine is off, or restarts, for it
  when_idle = 8,   // its text says that no job may run
  service = 16,    // a command that controls a service of this machine, or reads its log
  as_root = 32,    // reads again, as root, what this run could not read
};
constexpr Work operator|(Work a, Work b) {
  return static_cast<Work>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}
constexpr bool has_any(Work work, Work of) { return (static_cast<uint8_t>(work) & static_cast<uint8_t>(of)) != 0; }

// A step of a row. Its text ends with the blank, semicolon or newline before the next step: the texts of the steps, one
// after the other, are the text of the fix. A literal alone is a step of no such work.
//
// The text without the steps of a kind must be a text as well: adapt_remedy() leaves them out, with the ";" before
// them. So a step with a kind is whole sentences, or the part of a sentence that begins in another step; what goes on
// after it needs no change: {"Read the log", {Work::at_link, ", then reseat the cable"}, "."}. Only the command is
// Work::service: {"Correct the file", {Work::service, ", then systemctl reload fabric-agent"}}.
struct StepRow {
  Work work = Work::none;
  std::string_view text;

  constexpr StepRow() = default;
  constexpr StepRow(const char* literal) : text(literal) {}
  constexpr StepRow(Work kind, std::string_view all) : work(kind), text(all) {}
};

// The fix of a row: "Read the log.", {Work::at_link, "Replace the cable."} or
// {"Read the log. ", {Work::at_link, "Replace the cable."}}
class FixRow {
 public:
  constexpr FixRow() = default;
  constexpr FixRow(const char* literal) : steps_{literal} {}
  constexpr FixRow(std::string_view text) : steps_{StepRow(Work::none, text)} {}
  constexpr FixRow(Work work, std::string_view text) : steps_{StepRow(work, text)} {}
  constexpr FixRow(std::initializer_list<StepRow> steps) { std::ranges::copy(steps, steps_.begin()); }

  [[nodiscard]] constexpr bool empty() const { return steps_.front().text.empty(); }
  [[nodiscard]] constexpr auto begin() const { return steps_.begin(); }
  [[nodiscard]] constexpr auto end() const { return std::ranges::find(steps_, std::string_view(), &StepRow::text); }
  [[nodiscard]] std::string text() const;

 private:
  std::array<StepRow, 5> steps_{};  // the first ones are used
};

// A step of a fix, with the names of its subject.
struct Step {
  Work work = Work::none;
  std::string text;

  Step(const char* literal) : text(literal) {}
  Step(std::string all) : text(std::move(all)) {}
  Step(Work kind, std::string all) : work(kind), text(std::move(all)) {}
  Step(const StepRow& row) : work(row.work), text(row.text) {}
  bool operator==(const Step& other) const = default;
};

// A fix, or a line of it.
struct Fix {
  std::vector<Step> steps;

  Fix() = default;
  Fix(const char* literal) : Fix(std::string(literal)) {}
  Fix(std::string text) : Fix(Work::none, std::move(text)) {}
  Fix(Work work, std::string text);  // no step if the text is empty
  Fix(std::initializer_list<Step> all) : steps(all) {}
  Fix(const FixRow& row) : steps(row.begin(), row.end()) {}
  bool operator==(const Fix& other) const = default;

  Fix& operator+=(Step step);
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::string text() const;
};

// Replaces {netdev}, {rdma}, {pci} and {peer} of a remedy by names of the port, or by `subject` if `port` is null.
// If the port's driver has no `devlink dev reload`, rebind_commands() replaces it.
std::string fill_names(std::string_view text, const Port* port, const std::string& subject,
                       const std::string& peer = {});
// The fix of a row, with these names.
Fix fix_of(const FixRow& row, const Port* port, const std::string& subject, const std::string& peer = {});
// Commands that unbind the function from its driver and bind it again; an empty driver is shown as "DRIVER".
std::string rebind_commands(const std::string& pci, const std::string& driver);
// How to end the suspension of enforcement (AgentState::held).
Fix fix_of_suspension(const AgentState& agent);

}  // namespace fabric
