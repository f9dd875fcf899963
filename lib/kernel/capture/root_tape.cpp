// SPDX-License-Identifier: Apache-2.0
// Readings of a Root, with a tape between.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <climits>

#include "kernel/capture/root.h"

namespace fabric {
namespace {

Answer parts(Result<std::string> text) {
  if (!text) return text.error();
  return std::vector<std::string>{std::move(text).value()};
}

Answer parts(Result<void> done) {
  if (!done) return done.error();
  return std::vector<std::string>{};
}

Answer parts(bool yes) {
  if (!yes) return error(ENOENT, "");
  return std::vector<std::string>{};
}

Result<std::string> text_of(Answer answer) {
  if (!answer) return answer.error();
  return answer->empty() ? std::string{} : std::move(answer->front());
}

Result<void> done_of(const Answer& answer) {
  if (!answer) return answer.error();
  return {};
}

// A quarter of the file descriptor limit is reserved for connections and files that are open only briefly.
int most_held() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return INT_MAX;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX) / 4 * 3);
}

}  // namespace

Answer Root::on_tape(Ask ask, const std::string& file, const std::function<Answer()>& live) const {
  const size_t start = file.find_first_not_of('/');
  const std::string path = start == std::string::npos ? "." : file.substr(start);
  if (!tape_->replays()) {
    Answer answer = live();
    // A link that was refused is not part of the machine: it may lead anywhere.
    if (answer || answer.error().code != ELOOP)
      if (auto place = note_links(path)) tape_->places.emplace(path, std::move(place).value());
    tape_->note(ask, path, answer);
    return answer;
  }
  const Answer* known = tape_->find(ask, path);
  if (known == nullptr) return live();
  if (!known->ok()) return error(known->error().code, name_of(file));
  return *known;
}

Result<std::string> Root::read(const std::string& file, size_t most) const {
  if (!tape_) return read_file(file, most);
  return text_of(on_tape(Ask::read, file, [&] { return parts(read_file(file, most)); }));
}

Result<std::string> Root::read_foreign(const std::string& file, size_t most) const {
  if (!tape_) return read_file(file, most, true);
  return text_of(on_tape(Ask::read, file, [&] { return parts(read_file(file, most, true)); }));
}

Result<std::vector<std::string>> Root::list(const std::string& directory) const {
  if (!tape_) return list_folder(directory);
  auto names = on_tape(Ask::list, directory, [&]() -> Answer { return list_folder(directory); });
  if (names && !tape_->replays())  // links lead other tools through the tree
    for (const std::string& name : *names) (void)note_links(directory + "/" + name);
  return names;
}

bool Root::exists(const std::string& file) const {
  if (!tape_) return is_there(file);
  return on_tape(Ask::exists, file, [&] { return parts(is_there(file)); }).ok();
}

Result<std::string> Root::resolve(const std::string& link) const {
  if (!tape_) return follow(link);
  return text_of(on_tape(Ask::resolve, link, [&] { return parts(follow(link)); }));
}

bool Root::is_locked(const std::string& file) const {
  if (!tape_) return has_lock(file);
  return on_tape(Ask::locked, file, [&] { return parts(has_lock(file)); }).ok();
}

Result<void> Root::make_directory(const std::string& directory) const {
  if (!tape_) return make_folder(directory);
  return done_of(on_tape(Ask::make_directory, directory, [&] { return parts(make_folder(directory)); }));
}

Result<void> Root::remove_directory(const std::string& directory) const {
  if (!tape_) return remove_folder(directory);
  return done_of(on_tape(Ask::remove_directory, directory, [&] { return parts(remove_folder(directory)); }));
}

Result<Fd> Root::hold(const std::string& file) const {
  if (tape_)  // so that reads of the descriptor find their answers
    if (auto text = read(file); !text && replays()) return text.error();
  auto fd = open_regular(file, O_RDONLY);
  if (fd && fd->get() >= most_held()) return error(EMFILE, name_of(file));
  return fd;
}

}  // namespace fabric
