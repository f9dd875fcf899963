// SPDX-License-Identifier: Apache-2.0
#include "enforce/sysctl.h"

#include <algorithm>

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "node/state.h"

namespace fabric::qos {
namespace {

std::string single_spaced(std::string_view text) { return joined(words(text), " "); }

Change with(Change change, Outcome outcome, std::string detail, int code = 0) {
  change.outcome = outcome;
  change.code = code;
  change.detail = std::move(detail);
  return change;
}

// Adds the remedy for the errno.
Change refused(Change change, const Error& failure) {
  const Sysctl* row = find_sysctl(change.sysctl);
  const int code = failure.code;
  std::string detail = failure.text();
  if (row != nullptr && row->sys_admin && (code == EPERM || code == EACCES || code == EROFS))
    detail += "; requires CAP_SYS_ADMIN: systemctl restart fabric-agent-pci writes it";
  else if (code == EINVAL) detail += "; this kernel does not accept the value";
  else if (code == EROFS)
    detail += "; /proc/sys is read-only here (a container, or ProtectKernelTunables= of the service)";
  else if (code == EACCES || code == EPERM) detail += "; requires root, and CAP_NET_ADMIN for net.*";
  return with(std::move(change), Outcome::refused, std::move(detail), code);
}

// "sys/class/net/eth0.100/ifindex" for net.ipv4.conf.eth0/100.arp_ignore; empty: not of an interface.
std::string index_file_of(const std::string& name) {
  constexpr std::string_view kHead = "net.ipv4.conf.";
  if (!name.starts_with(kHead)) return {};
  std::string interface = name.substr(kHead.size(), name.rfind('.') - kHead.size());
  std::ranges::replace(interface, '/', '.');
  return "sys/class/net/" + interface + "/ifindex";
}

enum class SysctlPass : uint8_t { plan, reconcile, write_back };

Change reconcile_name(const Root& root, const std::string& name, const std::string& wanted, SysctlPass pass,
                      const SaveSysctl& save, const SysctlConflict& in_conflict) {
  Change change;
  change.port = kHostSubject;
  change.sysctl = name;
  change.from = "-";
  change.to = wanted;
  // The kernel has accepted an original, also one that the configuration may not have.
  if (pass == SysctlPass::reconcile || find_sysctl(name) == nullptr)
    if (std::string problem = sysctl_problem(name, wanted); !problem.empty())
      return with(std::move(change), Outcome::refused, std::move(problem), EINVAL);
  change.to = single_spaced(wanted);

  // As in sysctl(8), a dot separates folders, and a slash replaces a dot in an interface's name.
  std::string file = "proc/sys/";
  for (const char letter : name) {
    if (letter == '.') file += '/';
    else if (letter == '/') file += '.';
    else file += letter;
  }
  const std::string index_file = index_file_of(name);
  const std::string index = index_file.empty() ? std::string() : root.line_of(index_file);
  const auto before = root.read(file);
  if (!before && before.error().code == ENOENT)
    return with(std::move(change), Outcome::unsupported,
                "unknown to this kernel, or the network interface does not exist");
  if (!before) return refused(std::move(change), before.error());
  change.from = single_spaced(*before);
  if (change.from == change.to) return change;
  if (in_conflict && in_conflict(name))
    return with(std::move(change), Outcome::conflict, "another writer keeps changing it back");
  if (pass == SysctlPass::plan) return with(std::move(change), Outcome::differs, "");

  if (pass == SysctlPass::reconcile) {
    auto saved =
        save ? save(name, change.from) : error(EINVAL, name + ": there is no place to save its original value");
    if (!saved) return with(std::move(change), Outcome::unsaved, saved.error().text());
  }
  if (!index_file.empty() && root.line_of(index_file) != index)
    return with(std::move(change), Outcome::refused, "another interface has this name since the value was read",
                ENODEV);
  if (auto written = root.write(file, change.to); !written) return refused(std::move(change), written.error());
  const auto after = root.read(file);
  if (!after) return refused(std::move(change), after.error());
  const std::string now = single_spaced(*after);
  if (now == change.to) return with(std::move(change), Outcome::applied, "");
  return with(std::move(change), Outcome::ignored, "accepted, but reads back as " + now);
}

Changes changes_of(const Root& root, const SysctlValues& wanted, SysctlPass pass, const SaveSysctl& save,
                   const SysctlConflict& in_conflict) {
  Changes out;
  for (const auto& [name, value] : wanted) out.push_back(reconcile_name(root, name, value, pass, save, in_conflict));
  return out;
}

struct SysctlOriginals {
  SysctlValues values;
};

void from_json(const Json& json, SysctlOriginals& originals) { read_required(json, "values", originals.values); }

}  // namespace

Changes reconcile_sysctl(const Root& root, const SysctlValues& wanted, const SaveSysctl& save,
                         const SysctlConflict& in_conflict) {
  return changes_of(root, wanted, SysctlPass::reconcile, save, in_conflict);
}

Changes write_back_sysctl(const Root& root, const SysctlValues& saved) {
  return changes_of(root, saved, SysctlPass::write_back, {}, {});
}

Changes plan_sysctl(const Root& root, const SysctlValues& wanted, const SysctlConflict& in_conflict) {
  return changes_of(root, wanted, SysctlPass::plan, {}, in_conflict);
}

std::string sysctl_originals_text(const SysctlValues& originals) { return state_text({{"values", originals}}); }

Result<SysctlValues> parse_sysctl_originals(std::string_view text, const std::string& file) {
  auto originals = read_state<SysctlOriginals>(text, file);
  if (!originals) return originals.error();
  return std::move(originals->values);
}

Result<SysctlValues> load_sysctl_originals(const std::string& directory) {
  auto root = Root::open(directory);
  if (!root) return root.error();
  auto values = parse_file(root->read(kSysctlOriginalsFile), kSysctlOriginalsFile, parse_sysctl_originals);
  if (values) return values->value_or(SysctlValues{});
  Error why = values.error();
  if (why.code == EBADMSG) why.what += "; repair the file, or move it away (the original values are lost then)";
  if (why.code == kNewerFormat)
    why.what += "; install that release again, or move the file away (the original values are lost then)";
  return why;
}

Result<void> save_sysctl_originals(const std::string& directory, const SysctlValues& originals) {
  return state::replace_kept_file(directory, kSysctlOriginalsFile, sysctl_originals_text(originals));
}

Result<void> save_sysctl_original(const std::string& directory, SysctlValues& originals, const std::string& name,
                                  const std::string& before) {
  if (originals.contains(name)) return {};
  SysctlValues next = originals;
  next.emplace(name, before);
  if (auto saved = save_sysctl_originals(directory, next); !saved) return saved;
  originals = std::move(next);
  return {};
}

}  // namespace fabric::qos
