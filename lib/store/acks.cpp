// SPDX-License-Identifier: Apache-2.0
#include "store/acks.h"

#include "store/files.h"
#include "store/record.h"

namespace fabric {
namespace {

struct AckFile {
  std::vector<Ack> acks;
};

}  // namespace

template <>
inline constexpr std::tuple kFields<Ack>{Field{"id", &Ack::id, {.required = true}},
                                         Field{"subject", &Ack::subject},
                                         Field{"at", &Ack::at},
                                         Field{"until", &Ack::until},
                                         Field{"by", &Ack::by},
                                         Field{"comment", &Ack::comment}};
template <>
inline constexpr std::tuple kFields<AckFile>{Field{"ack", &AckFile::acks, {.strict = true}}};

std::string acks_toml(const std::vector<Ack>& acks) {
  return document_toml("# Written by fabric-agentctl ack; see fabric-agentctl(1). Times are seconds since 1970.\n",
                       AckFile{acks});
}

Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name) {
  auto file = parse_record<AckFile>(text, name);
  if (!file) return file.error();
  return std::move(file->acks);
}

Result<std::vector<Ack>> load_acks(const Root& root) {
  auto acks = parse_file(root.read(kAckFile), kAckFile, parse_acks);
  if (!acks) return acks.error();
  return std::move(*acks).value_or(std::vector<Ack>{});
}

Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks) {
  return replace_file(directory, kAckFile, acks_toml(acks));
}

}  // namespace fabric
