// SPDX-License-Identifier: Apache-2.0
#include "ctl/options.h"

#include <getopt.h>

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/topo/topo.h"
#include "ctl/verbs.h"
#include "policy/config.h"
#include "policy/span.h"

namespace fabric::ctl {
namespace {

bool set_interval(Options& options, const std::string& value) {
  const auto span = parse_span(value);
  if (!span || (span->count() != 0 && *span < kMinInterval) || *span > std::chrono::hours(1)) return false;
  options.interval = *span;
  options.has_interval = true;
  return true;
}

bool set_confirm(Options& options, const std::string& value) {
  const auto span = parse_span(value);
  if (!span || *span < std::chrono::seconds(1) || *span > std::chrono::hours(24)) return false;
  options.confirm = std::chrono::duration_cast<std::chrono::seconds>(*span);
  return true;
}

bool set_lasting(Options& options, const std::string& value) {
  options.lasting = parse_span(value);
  return options.lasting && *options.lasting >= std::chrono::seconds(1);
}

bool set_format(Options& options, const std::string& value) {
  options.format = value;
  options.json = value == "json";
  return find_topo_format(value) != nullptr;
}

bool set_disruptive(Options& options, const std::string& value) {
  options.disruptive = parse_word<Disruptive>(value);
  return options.disruptive.has_value();
}

bool set_peers(Options& options, const std::string& value) {
  for (const std::string_view part : split(value, ',')) {
    const auto ip = parse_ip(std::string(trim(part)));
    if (!ip) return false;
    options.peers.push_back(*ip);
  }
  return true;
}

template <auto Member>
bool set_flag(Options& options, const std::string&) {
  return options.*Member = true;
}
template <auto Member>
bool set_text(Options& options, const std::string& value) {
  options.*Member = value;
  return !value.empty();
}
template <auto Member>
bool set_list(Options& options, const std::string& value) {
  for (const std::string_view part : split(value, ','))
    if (!trim(part).empty()) (options.*Member).emplace_back(trim(part));
  return !(options.*Member).empty();
}

constexpr OptionRow kRows[] = {
    {"json", 'j', "", "", "print JSON", set_flag<&Options::json>},
    {"root", 'r', "DIR", "", "read the machine captured in DIR", set_text<&Options::root>},
    {"config", 'c', "FILE", "", "read FILE instead of /etc/fabric-agent/fabric-agent.toml", set_text<&Options::config>},
    {"no-pager", 0, "", "", "do not start a pager", set_flag<&Options::no_pager>},
    {"only", 'o', "ID,...", " check ", "run only these checks or groups (see explain)", set_list<&Options::only>},
    {"strict", 's', "", " check ", "treat warnings as failures: exit status 2", set_flag<&Options::strict>},
    {"brief", 'b', "", " check ", "print one line, as a monitoring plugin", set_flag<&Options::brief>},
    {"interval", 'i', "TIME", " check diagnose counters capture ",
     "time between the two readings of the counters, 100ms to 1h (default: 1s); 0: one reading, no comparison",
     set_interval, "out of range (100ms to 1h, or 0)"},
    {"watch", 'w', "", " check counters ", "repeat until q or Ctrl-C", set_flag<&Options::watch>},
    {"verbose",
     'v',
     "",
     " check plan apply counters ",
     "",
     set_flag<&Options::verbose>,
     "",
     {{{" check ", "list also the checks that are ok"},
       {" plan apply ", "list also the settings in sync"},
       {" counters ", "list also the idle counters"}}}},
    {"port",
     'p',
     "PORT,...",
     " diagnose plan apply restore status show counters neighbors ",
     "only these ports: mlx5_0/1, mlx5_0 or the netdev",
     set_list<&Options::ports>,
     "invalid value",
     {{{" plan apply restore status ",
        "only these ports: mlx5_0/1, mlx5_0 or the netdev; host: the sysctl settings"}}}},
    {"peer", 'P', "ADDRESS,...", " diagnose ",
     "IP addresses of another host: each port must have a route to one of them", set_peers,
     "must be IPv4 or IPv6 addresses"},
    {"disruptive", 'd', "WHEN", " plan apply restore ",
     "when to make writes that stop traffic: idle, now or never (default: as configured)", set_disruptive,
     "must be idle, now or never"},
    {"confirm", 'C', "SECONDS", " apply ",
     "restore the previous settings unless fabric-agentctl confirm is called within SECONDS", set_confirm,
     "out of range (1s to 24h)"},
    {"dry-run", 'n', "", " restore ", "list the settings that differ from their originals, write nothing",
     set_flag<&Options::dry_run>},
    {"force",
     'f',
     "",
     " restore selftest ",
     "",
     set_flag<&Options::force>,
     "",
     {{{" restore ", "restore even if the agent enforces, and will set the ports again"},
       {" selftest ", "test even if the default route goes through the port"}}}},
    {"yes", 'y', "", " selftest ", "agree that the link of the port goes down", set_flag<&Options::yes>},
    {"format", 'F', "FORMAT", " topo ", "text, tree, json, dot, svg, nccl, ucx, nvshmem, cpuset, slurm or rankfile",
     set_format, "must be text, tree, json, dot, svg, nccl, ucx, nvshmem, cpuset, slurm or rankfile"},
    {"hwloc-xml", 'x', "FILE", " topo ", "read only the topology in FILE (from lstopo FILE.xml)",
     set_text<&Options::hwloc_xml>},
    {"with-addresses", 'a', "", " capture ",
     "keep the host name, MAC addresses, GUIDs, UUIDs and serial numbers (default: replace them by pseudonyms)",
     set_flag<&Options::with_addresses>},
    {"for", 't', "TIME", " ack ", "duration: 8h, 3d (default: 24h)", set_lasting,
     "out of range (1s to 366 days: 8h, 3d)"},
    {"comment", 'm', "TEXT", " ack ", "reason, shown with the finding", set_text<&Options::comment>},
    {"list", 'l', "", " ack ", "list acknowledged findings", set_flag<&Options::list>},
    {"remove", 'R', "", " ack ", "remove an acknowledgement", set_flag<&Options::remove>},
    {"log", 'L', "FILE", " explain ", "explain the errors in the log FILE; -: standard input", set_text<&Options::log>},
    {"help", 'h', "", "", "show help", set_flag<&Options::help>},
    {"version", 'V', "", "", "print the version", set_flag<&Options::version>},
};

constexpr int kLong = 256;  // getopt_long(3) returns kLong plus the row's index for a long option

const OptionRow* row_of(int found) {
  if (found >= kLong) return &kRows[found - kLong];
  return find_where(kRows, [&](const OptionRow& row) { return row.letter != 0 && row.letter == found; });
}

// The error of a word that getopt_long(3) refused. getopt_long(3) leaves the option in optopt, or 0 for an unknown long
// option.
Error option_error(bool lacks_value, const std::string& word) {
  const size_t equals = std::min(word.find('='), word.size());
  if (optopt != 0) {
    const OptionRow* row = row_of(optopt);
    if (row == nullptr)
      return error(0, "unknown option '-" + std::string{static_cast<char>(optopt)} + "'; see fabric-agentctl --help");
    const std::string name = "--" + std::string(row->name);
    if (lacks_value) return error(0, name + " requires a value: " + std::string(row->argument));
    return error(0, name + ": unexpected value: " + word.substr(std::min(equals + 1, word.size())));
  }
  const std::string name = word.substr(2, equals - 2);
  std::vector<std::string_view> names;
  std::string candidates;
  for (const OptionRow& row : kRows) {
    names.push_back(row.name);
    if (row.name.starts_with(name)) append_item(candidates, "--" + std::string(row.name), " or ");
  }
  if (!candidates.empty()) return error(0, "ambiguous option '" + word + "': " + candidates);
  return error(0, "unknown option '" + word + "'" + suggestion(name, names, "--help", "--"));
}

// `verbs` as in OptionRow.
bool lists(std::string_view verbs, std::string_view verb) {
  return verbs.find(" " + std::string(verb) + " ") != std::string_view::npos;
}

}  // namespace

std::span<const OptionRow> option_rows() { return kRows; }

bool takes(std::string_view verb, const OptionRow& row) { return row.verbs.empty() || lists(row.verbs, verb); }

std::string_view help_of(std::string_view verb, const OptionRow& row) {
  for (const HelpOfVerbs& other : row.others)
    if (lists(other.verbs, verb)) return other.help;
  return row.help;
}

std::string Options::config_file() const {
  if (!config.empty()) return config;
  return config_file_below(root);
}

Result<Options> parse_options(std::span<const std::string> words) {
  // kRows for getopt_long(3). "-": in the order of the command line, even if the environment has POSIXLY_CORRECT. ":":
  // a missing value is reported as ':'.
  std::string letters = "-:";
  std::vector<option> names;
  for (const OptionRow& row : kRows) {
    option& name =
        names.emplace_back(option{row.name.data(), no_argument, nullptr, kLong + static_cast<int>(&row - kRows)});
    if (!row.argument.empty()) name.has_arg = required_argument;
    if (row.letter == 0) continue;
    letters += row.letter;
    if (!row.argument.empty()) letters += ':';
  }
  names.push_back({});

  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> argv{const_cast<char*>("fabric-agentctl")};
  for (std::string& word : copies) argv.push_back(word.data());
  const int count = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  Options options;
  std::vector<const OptionRow*> given;
  std::vector<std::string> plain_words;  // neither options nor their values
  opterr = 0;
  optind = 0;  // glibc: restart the scan
  for (int at = 1, found; (found = ::getopt_long(count, argv.data(), letters.c_str(), names.data(), nullptr)) != -1;
       at = optind) {
    if (found == 1) {
      plain_words.emplace_back(optarg);
      continue;
    }
    if (found == '?' || found == ':') return option_error(found == ':', argv[static_cast<size_t>(at)]);
    const OptionRow& row = *row_of(found);
    std::string value;
    if (optarg != nullptr) value = optarg;
    if (!row.set(options, value))
      return error(0, "--" + std::string(row.name) + " " + value + ": " + std::string(row.invalid));
    given.push_back(&row);
  }
  for (int i = optind; i < count; ++i) plain_words.emplace_back(argv[static_cast<size_t>(i)]);
  for (const std::string& word : plain_words) {
    if (options.verb.empty()) options.verb = word;
    else options.arguments.push_back(word);
  }

  if (options.verb.empty()) return options;
  if (find_verb(options.verb) == nullptr) {
    std::vector<std::string_view> known;
    for (const Verb& verb : verbs()) known.push_back(verb.name);
    return error(0, "unknown command '" + options.verb + "'" + suggestion(options.verb, known, "--help"));
  }
  for (const OptionRow* row : given)
    if (!takes(options.verb, *row))
      return error(0, options.verb + ": unknown option --" + std::string(row->name) + "; see fabric-agentctl help " +
                          options.verb);
  return options;
}

std::string suggestion(std::string_view word, const std::vector<std::string_view>& known, const std::string& see,
                       const std::string& dashes) {
  std::string_view nearest;
  size_t least = std::min(word.size() - 1, std::max<size_t>(2, word.size() / 3)) + 1;  // a nearer one is a misspelling
  for (const std::string_view name : known) {
    const size_t distance = edit_distance(word, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  if (nearest.empty()) return "; see fabric-agentctl " + see;
  return "; did you mean " + dashes + std::string(nearest) + "?";
}

}  // namespace fabric::ctl
