// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/parse.h"

namespace fabric {
namespace {

Error failed(const std::string& path, const char* act) { return error(errno, "/" + path + ": " + act); }

}  // namespace

Result<Fd> make_directory_of(const std::string& directory, const std::string& path) {
  auto parts = split(path, '/');
  parts.pop_back();
  // The last directory is opened for reading, so that it can be synced. Its parents need not be readable.
  int flags = O_DIRECTORY | O_CLOEXEC;
  if (!parts.empty()) flags |= O_PATH;
  Fd at(::open(directory.c_str(), flags));
  for (std::string_view part : parts) {
    if (!at) break;
    std::string name(part);
    const bool is_new = ::mkdirat(at.get(), name.c_str(), 0755) == 0;
    if (!is_new && errno != EEXIST) return failed(path, "cannot create its directory");
    at = Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // fchmod(): the mode does not depend on the umask.
    if (is_new && at && ::fchmod(at.get(), 0755) != 0) return failed(path, "cannot create its directory");
  }
  if (!at) return failed(path, "cannot open its directory");
  return at;
}

Result<void> replace_file(const std::string& directory, const std::string& path, std::string_view text) {
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  const std::string name = base_name(path);
  const std::string temporary = "." + name + ".new";
  Fd file(::openat(folder->get(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  // fchmod(): all users may read the file, whatever the umask.
  if (!file || ::fchmod(file.get(), 0644) != 0 || !write_all(file.get(), text) || ::fsync(file.get()) != 0)
    return failed(path, "cannot write");
  if (::renameat(folder->get(), temporary.c_str(), folder->get(), name.c_str()) != 0)
    return failed(path, "cannot rename into place");
  if (::fsync(folder->get()) != 0) return failed(path, "cannot sync its directory");
  return {};
}

Result<void> remove_file(const std::string& directory, const std::string& path) {
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  if (::unlinkat(folder->get(), base_name(path).c_str(), 0) != 0 && errno != ENOENT)
    return failed(path, "cannot remove");
  if (::fsync(folder->get()) != 0) return failed(path, "cannot sync its directory");
  return {};
}

}  // namespace fabric
