// SPDX-License-Identifier: Apache-2.0
// The floors of the house: a folder includes only lower floors, each foreign library has the one place that sees it,
// functions are defined in the file of their header, and each name of a type has one meaning.
#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;

// Folders of lib/ by floor, lowest first: a folder may include itself and every lower floor.
const std::vector<std::set<std::string>> kFloors{{"base"},    {"setting"}, {"wire"},     {"kernel"},
                                                 {"nic"},     {"node"},    {"topology"}, {"policy"},
                                                 {"enforce"}, {"judge"},   {"metrics"}};
const std::set<std::string> kAgentFolders{"agentd", "exporter", "ctl"};

// Headers of a library -> the files that may include them.
struct Library {
  std::regex header, allowed;
  Library(const char* of, const char* users) : header(of), allowed(users) {}
};
const std::vector<Library> kLibraries{
    {"toml\\+\\+/.*", "lib/policy/.*"},
    {"(microhttpd|yaml|crypt)\\.h|gnutls/.*", "agent/exporter/.*"},
    {"prometheus/.*", "lib/metrics/.*|agent/exporter/.*"},
    {"zlib\\.h", "agent/exporter/.*|lib/wire/gzip\\.cpp"},
    {"hwloc.*", "lib/node/.*"},
    {"infiniband/.*", "lib/kernel/rdma/.*"},
    {"netlink/.*", "lib/kernel/.*"},
    {"(linux|rdma)/.*", "lib/(kernel|nic)/.*|agent/(agentd|exporter)/.*"},
    {"systemd/.*", "lib/base/event\\.(h|cpp)|agent/.*"},
    {"libsmartcols.*", "agent/ctl/.*"},
};

// Pure floors reach no I/O: no POSIX header, and of the standard library nothing that opens, prints, waits or reads the
// environment.
const std::regex kPure("lib/(setting|topology|judge)/.*");
const std::regex kIo(".*\\.h|fstream|iostream|filesystem|thread|mutex|future|condition_variable|cstdlib|csignal");

struct Include {
  std::string file;  // "lib/kernel/capture/root.cpp"
  std::string name;
  bool system = false;
};

// The C++ files in these folders of the root, sorted.
std::vector<fs::path> sources_in(const fs::path& root, const std::vector<std::string>& folders) {
  std::vector<fs::path> out;
  for (const std::string& folder : folders) {
    if (!fs::exists(root / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

// The lines of a file.
std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Without the comment at its end.
std::string code_in(const std::string& line) { return line.substr(0, line.find("//")); }

std::vector<Include> includes_below(const std::string& root) {
  static const std::regex kInclude("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> found;
  std::smatch match;
  for (const fs::path& file : sources_in(root, {"lib", "agent"}))
    for (const std::string& line : lines_of(file))
      if (std::regex_search(line, match, kInclude))
        found.push_back({fs::relative(file, root).string(), match[2], match[1] == "<"});
  return found;
}

std::string first_folder(const std::string& path) { return path.substr(0, path.find('/')); }

std::optional<size_t> floor_of(const std::string& folder) {
  for (size_t i = 0; i < kFloors.size(); i++)
    if (kFloors[i].count(folder) != 0) return i;
  return std::nullopt;
}

bool may_see_folder(const Include& include) {
  const std::string rest = include.file.substr(include.file.find('/') + 1);
  const std::string own = first_folder(rest), wanted = first_folder(include.name);
  if (wanted == own) return true;
  if (include.file.starts_with("agent/")) return floor_of(wanted).has_value();  // every floor, but no other program
  const auto floor = floor_of(own), lower = floor_of(wanted);
  return floor && lower && *lower < *floor;
}

bool may_see_library(const Include& include) {
  if (std::regex_match(include.file, kPure) && std::regex_match(include.name, kIo)) return false;
  return std::all_of(kLibraries.begin(), kLibraries.end(), [&](const Library& library) {
    return !std::regex_match(include.name, library.header) || std::regex_match(include.file, library.allowed);
  });
}

std::vector<std::string> violations(const std::string& root) {
  std::vector<std::string> out;
  for (const Include& include : includes_below(root)) {
    if (include.system ? may_see_library(include) : may_see_folder(include)) continue;
    out.push_back(include.file + " must not include " + include.name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string lines(const std::vector<std::string>& list) {
  std::string out;
  for (const std::string& line : list) out += line + "\n";
  return out;
}

TEST(Floors, TheHouseStands) {
  EXPECT_GT(includes_below(FABRIC_SOURCE_DIR).size(), 100u) << "no sources found";
  EXPECT_TRUE(test::same_text("", lines(violations(FABRIC_SOURCE_DIR))));
}

std::set<std::string> folders_in(const std::string& path) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(path))
    if (entry.is_directory()) names.insert(entry.path().filename().string());
  return names;
}

// The files that create, replace or rename files. The others use base/files.h, so that no other process can put a link
// or a folder in the place of a file that root writes.
TEST(Floors, FilesAreCreatedInAFewPlaces) {
  const std::set<std::string> allowed{
      "lib/base/files.cpp",             // by descriptors, in directories that only root and this user can write
      "lib/node/state.cpp",             // locks and damaged files, in such a directory
      "agent/ctl/verbs/capture.cpp",    // in such a directory
      "lib/kernel/capture/root.cpp",    // configfs, by the descriptor of the parent
      "lib/kernel/host/tree_only.cpp",  // refuses O_CREAT
  };
  const std::vector<std::string> creates{
      "O_CREAT",  "O_TMPFILE",  "mkdir(",    "mkdirat(",        "rename(",        "renameat(", "renameat2(",
      "symlink(", "symlinkat(", "::linkat(", "mkstemp",         "mkdtemp",        "mktemp",    "mknod",
      "mkfifo",   "ofstream",   "fopen(",    "create_director", "create_symlink", "copy_file", "creat("};
  std::set<std::string> found;
  for (const fs::path& file : sources_in(FABRIC_SOURCE_DIR, {"lib", "agent"}))
    for (const std::string& line : lines_of(file))
      for (const std::string& call : creates)
        if (code_in(line).find(call) != std::string::npos) found.insert(fs::relative(file, FABRIC_SOURCE_DIR).string());
  EXPECT_EQ(found, allowed);
}

// Rules ask for a capability of a NIC, not for the name of its driver. Tables of log messages contain the names.
std::vector<std::string> rules_with_drivers(const std::string& root, const std::set<std::string>& drivers) {
  static const std::regex kText("\"([a-z0-9_]+)\"");
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(fs::path(root) / "lib/judge")) {
    if (!entry.is_regular_file()) continue;
    for (const std::string& whole : lines_of(entry.path())) {
      const std::string line = code_in(whole);
      for (std::sregex_iterator at(line.begin(), line.end(), kText), end; at != end; ++at)
        if (drivers.contains((*at)[1]))
          out.push_back(entry.path().filename().string() + ": " + (*at)[1].str() + ": a member of Capabilities");
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Floors, RulesNameNoDriver) {
  std::set<std::string> drivers;  // the first text of each row
  const std::string rows = test::of_source("lib/nic/capabilities.cpp");
  static const std::regex kRow("\\{+\"([a-z0-9_]+)\",");
  for (std::sregex_iterator at(rows.begin(), rows.end(), kRow), end; at != end; ++at) drivers.insert((*at)[1]);
  for (const char* driver : {"mlx5_core", "bnxt_en", "efa", "qede"}) EXPECT_TRUE(drivers.contains(driver)) << driver;
  EXPECT_TRUE(test::same_text("", lines(rules_with_drivers(FABRIC_SOURCE_DIR, drivers))));

  test::Tree tree;
  tree.file("lib/judge/a.cpp", "bool a = driver == \"efa\";  // \"ice\"\nbool b = text == \"efficient\";\n");
  tree.file("lib/judge/lines/b.cpp", "bool c = name == \"ice\";\n");
  EXPECT_EQ(lines(rules_with_drivers(tree.path(), drivers)), "a.cpp: efa: a member of Capabilities\n");
}

// No rule compares the id of a vendor, as text or as number: kernel/pci has the names of vendors, nic the facts.
bool names_vendor(std::string_view line, const std::string& vendor) {
  for (size_t at = line.find(vendor); at != std::string_view::npos; at = line.find(vendor, at + 1)) {
    const std::string_view before = line.substr(0, at), after = line.substr(at + vendor.size());
    const bool ends = after.empty() || std::isalnum(static_cast<unsigned char>(after.front())) == 0;
    if (ends && (before.ends_with('"') || before.ends_with("0x"))) return true;
  }
  return false;
}

std::vector<std::string> vendor_ids_in(const fs::path& root, const std::vector<std::string>& vendors) {
  std::vector<std::string> out;
  for (const fs::path& file :
       sources_in(root, {"lib/kernel", "lib/node", "lib/topology", "lib/enforce", "lib/judge", "lib/metrics"})) {
    if (file.filename() == "pci_device.h") continue;  // the names
    for (const std::string& whole : lines_of(file)) {
      const std::string line = code_in(whole);
      if (std::ranges::any_of(vendors, [&](const std::string& vendor) { return names_vendor(line, vendor); }))
        out.push_back(file.filename().string() + ": a vendor by its id: " + line);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Floors, VendorsAreNotAskedForByTheirIds) {
  std::vector<std::string> vendors{"1da3"};  // Habana
  const std::string rows = test::of_source("lib/nic/capabilities.cpp");
  static const std::regex kRow("\\{0x([0-9a-f]{4}), \"[a-z]+\"");
  for (std::sregex_iterator at(rows.begin(), rows.end(), kRow), end; at != end; ++at) vendors.push_back((*at)[1]);
  for (const char* vendor : {"15b3", "14e4", "1414"})
    EXPECT_NE(std::ranges::find(vendors, vendor), vendors.end()) << vendor;
  EXPECT_TRUE(test::same_text("", lines(vendor_ids_in(FABRIC_SOURCE_DIR, vendors))));

  test::Tree tree;
  tree.file("lib/judge/a.cpp", "bool a = id.starts_with(\"15b3:\");\nbool b = vendor == \"0x15b3\";  // 0x14e4\n");
  tree.file("lib/node/b.cpp",
            "bool c = vendor == 0x1414;\nuint32_t d = 0x14140000;\nText e = \"lspci -d 15b3:2100\";\n");
  tree.file("lib/nic/c.cpp", "bool f = vendor == 0x15b3;\n");
  tree.file("lib/judge/lines/d.cpp", "bool g = id.starts_with(\"14e4:\");\n");
  tree.file("lib/kernel/pci/pci_device.cpp", "bool h = id == \"15b3:1002\";\n");
  tree.file("lib/kernel/pci/pci_device.h", "constexpr uint16_t kNvidiaNetworking = 0x15b3;\n");
  EXPECT_EQ(vendor_ids_in(tree.path(), vendors).size(), 5u);
}

// A row states what it means: no code asks for a row, a rule or a finding by a literal of its id.
std::vector<std::string> compared_ids(const fs::path& root) {
  static const std::regex kLiteral(R"re((\bid (==|!=) "|(\.|->)id\.(starts_with|ends_with|find)\("))re");
  std::vector<std::string> out;
  for (const fs::path& file : sources_in(root, {"lib", "agent"}))
    for (const std::string& line : lines_of(file))
      if (std::regex_search(code_in(line), kLiteral))
        out.push_back(file.filename().string() + ": a column of the row instead of its id: " + line);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Floors, NoRowIsAskedForByItsId) {
  EXPECT_TRUE(test::same_text("", lines(compared_ids(FABRIC_SOURCE_DIR))));

  test::Tree tree;
  tree.file("agent/a.cpp", "bool a = each.id == kPcie.id;\nbool b = id == \"pcie\";\n");
  tree.file("lib/b.cpp", "bool c = row->id.starts_with(\"nccl-\");  // id == \"x\"\n");
  EXPECT_EQ(compared_ids(tree.path()).size(), 2u);
}

// A sentence of a comment begins with its subject, which "Of", "What", "Whose" and "Those" only point at.
std::vector<std::string> fronted_comments(const fs::path& root) {
  static const std::regex kFronted("(^|[.;:?!] )(Of|What|Whose|Those|Beside) [^ ]");
  std::vector<std::string> out;
  for (const fs::path& file : sources_in(root, {"lib", "agent", "tests"}))
    for (const std::string& line : lines_of(file)) {
      const size_t begin = line.find("// ");
      const bool is_comment =
          begin != std::string::npos && std::string_view(line).substr(0, begin).find('"') == line.npos;
      if (is_comment && std::regex_search(line.substr(begin + 3), kFronted))
        out.push_back(fs::relative(file, root).string() + ": name the subject: " + line.substr(begin));
    }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Floors, CommentsBeginWithTheirSubject) {
  EXPECT_TRUE(test::same_text("", lines(fronted_comments(FABRIC_SOURCE_DIR))));

  test::Tree tree;
  tree.file("lib/a.h",
            "// Of a port.\nint a;  // a port. What of it counts\nint b;  // What is it?\n// What 0.9 does.\n");
  tree.file("lib/b.h", "// Off by one. \"What is it\"; not Whose\nconst char* a = \"// Of a port\";\n");
  EXPECT_EQ(fronted_comments(tree.path()).size(), 4u);
}

TEST(Floors, EveryFolderHasItsFloor) {
  std::set<std::string> known;
  for (const auto& floor : kFloors) known.insert(floor.begin(), floor.end());
  EXPECT_EQ(folders_in(FABRIC_SOURCE_DIR "/lib"), known);
  EXPECT_EQ(folders_in(FABRIC_SOURCE_DIR "/agent"), kAgentFolders);
}

TEST(Floors, EveryKindOfViolationIsSeen) {
  test::Tree tree;
  tree.file("lib/base/a.h", "#include \"node/node.h\"\n");
  tree.file("lib/topology/b.cpp",
            "#include <fcntl.h>\n#include <fstream>\n#include <string>\n#include \"base/result.h\"\n");
  tree.file("lib/topology/c.cpp", "#  include \"judge/engine.h\"\n");
  tree.file("lib/kernel/d.cpp", "#include <hwloc.h>\n#include <linux/dcbnl.h>\n#include \"nic/driver.h\"\n");
  tree.file("lib/node/e.cpp", "#include <toml++/toml.h>\n#include \"enforce/drift.h\"\n");
  tree.file("lib/new/f.cpp", "#include \"base/result.h\"\n");
  tree.file("agent/ctl/g.cpp",
            "#include <microhttpd.h>\n#include \"exporter/http/page.h\"\n#include \"enforce/drift.h\"\n");
  EXPECT_EQ(lines(violations(tree.path())),
            "agent/ctl/g.cpp must not include exporter/http/page.h\n"
            "agent/ctl/g.cpp must not include microhttpd.h\n"
            "lib/base/a.h must not include node/node.h\n"
            "lib/kernel/d.cpp must not include hwloc.h\n"
            "lib/kernel/d.cpp must not include nic/driver.h\n"
            "lib/new/f.cpp must not include base/result.h\n"
            "lib/node/e.cpp must not include enforce/drift.h\n"
            "lib/node/e.cpp must not include toml++/toml.h\n"
            "lib/topology/b.cpp must not include fcntl.h\n"
            "lib/topology/b.cpp must not include fstream\n"
            "lib/topology/c.cpp must not include judge/engine.h\n");
}

// ---- conditional operators: none inside another

// Past the comment or literal that begins here; `at`: none begins here.
size_t skip_text(std::string_view text, size_t at) {
  const auto behind = [&](std::string_view end, size_t from) {
    return std::min(text.size(), text.find(end, from)) + end.size();
  };
  const std::string_view two = text.substr(at, 2);
  if (two == "//") return std::min(text.size(), text.find('\n', at));
  if (two == "/*") return behind("*/", at + 2);
  if (two == "R\"") {
    const size_t open = text.find('(', at);
    return behind(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  // A digit separator follows a digit.
  const bool separates = text[at] == '\'' && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1]));
  if ((text[at] != '"' && text[at] != '\'') || separates) return at;
  size_t end = at + 1;
  while (end < text.size() && text[end] != text[at]) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}

// The numbers of the lines with a conditional operator in an operand of another one.
std::vector<size_t> nested_conditionals(std::string_view text) {
  struct Bracket {
    bool is_operand = false;  // of a conditional operator
    bool has_one = false;     // since it was opened, or since the last comma or semicolon
  };
  std::vector<size_t> out;
  std::vector<Bracket> open(1);
  size_t line = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    if (const size_t end = skip_text(text, at); end != at) {
      line += static_cast<size_t>(std::ranges::count(text.substr(at, end - at), '\n'));
      at = end - 1;
      continue;
    }
    Bracket& now = open.back();
    switch (text[at]) {
      case '\n': ++line; break;
      case '(':
      case '[': open.push_back({now.is_operand || now.has_one}); break;
      case '{': open.push_back({}); break;
      case ')':
      case ']':
      case '}':
        if (open.size() > 1) open.pop_back();
        if (text[at] == '}') open.back().has_one = false;
        break;
      case ',':
      case ';': now.has_one = false; break;
      case '?':
        if (now.is_operand || now.has_one) out.push_back(line);
        now.has_one = true;
        break;
      default: break;
    }
  }
  return out;
}

TEST(Floors, NoConditionalOperatorIsInAnother) {
  std::vector<std::string> found;
  for (const fs::path& file : sources_in(FABRIC_SOURCE_DIR, {"lib", "agent", "tests"}))
    for (const size_t line : nested_conditionals(test::slurp(file)))
      found.push_back(fs::relative(file, FABRIC_SOURCE_DIR).string() + ":" + std::to_string(line));
  EXPECT_TRUE(test::same_text("", lines(found)));

  EXPECT_EQ(nested_conditionals("a ? b : c;\n\nint x = a\n ? b : c ? d : e;"), std::vector<size_t>{4});
  EXPECT_EQ(nested_conditionals("f(a ? (b ? c : d) : e)"), std::vector<size_t>{1});
  EXPECT_EQ(nested_conditionals("f(a ? b : c, d ? e : f); (a ? b : c) + (d ? e : f); // ? ?\n"
                                "x = a ? '?' : \"?\\\"?\" + R\"(?\n?)\"; y = 1'000 ? a : b;"),
            std::vector<size_t>{});
}

// ---- where functions are defined: those of X.h in X.cpp

struct Function {
  std::string name;
  bool is_defined = false;  // with its body; else declared
};

// Functions outside classes and unnamed namespaces: what begins at the margin and has a parameter list before ; or {.
std::vector<Function> functions_of(const fs::path& path) {
  static const std::set<std::string, std::less<>> kOthers{
      "#",    "//",    "}",      "inline", "constexpr",     "template",  "using",  "struct", "class",
      "enum", "union", "extern", "static", "static_assert", "namespace", "friend", "concept"};
  std::vector<Function> out;
  std::string statement;
  bool is_unnamed = false;
  for (const std::string& whole : lines_of(path)) {
    if (whole == "namespace {") is_unnamed = true;
    if (whole == "}  // namespace") is_unnamed = false;
    const std::string line = code_in(whole);
    if (is_unnamed || line.empty()) continue;
    if (statement.empty()) {
      const std::string first = line.substr(0, line.find_first_of(" (<;{:"));
      if (line[0] == ' ' || line[0] == '#' || line[0] == '}' || kOthers.contains(first)) continue;
    }
    statement += line + ' ';
    const size_t end = statement.find_first_of(";{");
    if (end == std::string::npos) continue;
    // The name before the first parenthesis; a method of a class has "::" before it, an initialized variable "=".
    const size_t open = statement.find('(');
    if (open < end && statement.find('=') > open) {
      size_t begin = open;
      while (begin > 0 &&
             (std::isalnum(static_cast<unsigned char>(statement[begin - 1])) || statement[begin - 1] == '_'))
        --begin;
      const std::string name = statement.substr(begin, open - begin);
      if (!name.empty() && !(begin > 0 && statement[begin - 1] == ':')) out.push_back({name, statement[end] == '{'});
    }
    statement.clear();
  }
  return out;
}

// "lib/a/x.h: read() is defined in lib/a/y.cpp"
std::vector<std::string> defined_elsewhere(const std::string& root) {
  std::map<std::string, std::set<std::string>> declared, defined;  // by file without its suffix
  for (const fs::path& file : sources_in(root, {"lib", "agent"})) {
    const std::string stem = fs::relative(file, root).replace_extension().string();
    for (const Function& function : functions_of(file)) {
      if (file.extension() == ".h" && !function.is_defined) declared[stem].insert(function.name);
      if (file.extension() == ".cpp" && function.is_defined) defined[stem].insert(function.name);
    }
  }
  std::vector<std::string> out;
  for (const auto& [header, names] : declared)
    for (const std::string& name : names) {
      if (defined[header].contains(name)) continue;
      for (const auto& [file, functions] : defined) {
        if (!functions.contains(name) || (declared.contains(file) && declared.at(file).contains(name))) continue;
        out.push_back(header + ".h: " + name + "() is defined in " + file + ".cpp");
      }
    }
  return out;
}

TEST(Floors, WhatAHeaderDeclaresItsOwnFileDefines) {
  EXPECT_TRUE(test::same_text("", lines(defined_elsewhere(FABRIC_SOURCE_DIR))));
}

TEST(Floors, ADefinitionInAnotherFileIsSeen) {
  test::Tree tree;
  tree.file("lib/base/a.h",
            "namespace fabric {\nint here(int a,\n         int b);\n[[nodiscard]] int there();\nint other(int);\n"
            "inline int also() { return there(); }\nstruct A {\n  int method();\n};\n}\n");
  tree.file("lib/base/a.cpp", "namespace fabric {\nint here(int a, int b) { return a + b; }\nint A::method() {\n");
  tree.file(
      "lib/base/b.cpp",
      "namespace fabric {\nnamespace {\nint other(int) { return 1; }\n}  // namespace\nint there() { return 1; }\n");
  tree.file("agent/c.h", "int other(long);\n");
  tree.file("agent/c.cpp", "int other(long) { return 1; }\n");
  EXPECT_EQ(lines(defined_elsewhere(tree.path())), "lib/base/a.h: there() is defined in lib/base/b.cpp\n");
}

// ---- one noun means one type

// Enums inside a class whose members are written with the class (InventoryChange::Kind::moved).
const std::set<std::string> kEnumsOfClasses{"Kind", "State"};

struct TypeDefinition {
  std::string name;  // without its class: "Cause"
  // The type that a `using` outside classes names, if it has another name. Several files may give one type one name.
  std::string alias_of{};
};

// Types defined in a file, also those in classes and functions; not specializations, nor `using X = Y::X`.
std::vector<TypeDefinition> types_of(const fs::path& path) {
  static const std::regex kTemplate("^ *template <.*?> ");
  static const std::regex kType(
      "^( *)(struct|class|union|enum|enum class) (?:\\[\\[\\w+\\]\\] )?(?:\\w+::)*(\\w+)"
      "(?: final)?(?: *: [^{]*| ?)\\{.*");
  static const std::regex kAlias("^using (\\w+) = ([^;]*);.*");
  static const std::regex kSame("(?:.*::)?(\\w+)");
  std::vector<TypeDefinition> out;
  std::string statement;
  for (const std::string& whole : lines_of(path)) {
    const std::string line = std::regex_replace(code_in(whole), kTemplate, "");
    if (statement.empty()) {
      const size_t begin = line.find_first_not_of(' ');
      if (begin == std::string::npos) continue;
      const std::string first = line.substr(begin, line.find(' ', begin) - begin);
      const bool is_type = first == "struct" || first == "class" || first == "union" || first == "enum";
      if (!is_type && (first != "using" || begin > 0)) continue;
    }
    statement += line;
    if (statement.find_first_of(";{") == std::string::npos) {
      statement += ' ';
      continue;
    }
    std::smatch match, same;
    if (std::regex_match(statement, match, kType)) {
      const bool is_nested_enum = match.length(1) > 0 && match[2].str().starts_with("enum");
      if (!is_nested_enum || !kEnumsOfClasses.contains(match[3])) out.push_back({match[3]});
    } else if (std::regex_match(statement, match, kAlias)) {
      const std::string of = match[2];
      if (!std::regex_match(of, same, kSame) || same[1] != match[1]) out.push_back({match[1], of});
    }
    statement.clear();
  }
  return out;
}

// "Cause: lib/a/x.h, lib/b/y.cpp": names with several meanings.
std::vector<std::string> nouns_of_several_types(const std::string& root) {
  std::map<std::string, std::vector<std::string>> places;
  std::set<std::pair<std::string, std::string>> aliases;
  for (const fs::path& file : sources_in(root, {"lib", "agent"}))
    for (const TypeDefinition& type : types_of(file))
      if (type.alias_of.empty() || aliases.emplace(type.name, type.alias_of).second)
        places[type.name].push_back(fs::relative(file, root).string());
  std::vector<std::string> out;
  for (const auto& [name, where] : places) {
    if (where.size() < 2) continue;
    std::string text = name + ":";
    for (size_t i = 0; i < where.size(); i++) text += (i == 0 ? " " : ", ") + where[i];
    out.push_back(text);
  }
  return out;
}

TEST(Floors, OneNounIsOneType) {
  const std::vector<TypeDefinition> types = types_of(FABRIC_SOURCE_DIR "/lib/judge/rule.h");
  EXPECT_TRUE(std::any_of(types.begin(), types.end(), [](const TypeDefinition& each) { return each.name == "Rule"; }));
  EXPECT_TRUE(test::same_text("", lines(nouns_of_several_types(FABRIC_SOURCE_DIR))));
}

TEST(Floors, ANounOfTwoTypesIsSeen) {
  test::Tree tree;
  tree.file("lib/base/a.h",
            "namespace fabric {\nstruct Cause;\nclass Row final : public Base {\n  struct Line {\n  };\n"
            "  enum class Kind : uint8_t { one, two };\n  using Entry = int;\n  struct Shared;\n};\n"
            "template <class T>\nstruct Slot {};\nusing Time = std::chrono::steady_clock;\n// struct Word {\n"
            "struct Word {};\n}\n");
  tree.file("lib/base/a.cpp",
            "struct Row::Shared {\n};\nvoid f() {\n  struct Row {\n  };\n}\nusing Time = std::chrono::steady_clock;\n"
            "using Kind = Row::Kind;\nusing Word = std::string;\n");
  tree.file(
      "agent/b.h",
      "class Cause {};\nenum class Line { a, b };\nstruct Other {\n  enum class Kind { c };\n  struct Entry {};\n};\n"
      "template <class T> struct Slot<T*> {};\nclass Long\n    : public Base {\n};\n");
  tree.file("agent/b.cpp", "struct Long {};\nfriend struct Cause;\nusing Time = double;\n");
  EXPECT_EQ(lines(nouns_of_several_types(tree.path())),
            "Line: agent/b.h, lib/base/a.h\n"
            "Long: agent/b.cpp, agent/b.h\n"
            "Row: lib/base/a.cpp, lib/base/a.h\n"
            "Time: agent/b.cpp, lib/base/a.cpp\n"
            "Word: lib/base/a.cpp, lib/base/a.h\n");
}

}  // namespace
}  // namespace fabric
