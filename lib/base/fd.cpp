// SPDX-License-Identifier: Apache-2.0
#include "base/fd.h"

#include <poll.h>

#include <algorithm>

namespace fabric {

Result<std::string> read_all(int fd, size_t most) {
  std::string text;
  for (;;) {
    const size_t had = text.size();
    text.resize(had + std::max<size_t>(4096, had));
    const ssize_t size = ::read(fd, text.data() + had, text.size() - had);
    const int code = errno;
    text.resize(had + static_cast<size_t>(std::max<ssize_t>(size, 0)));
    if (size == 0) return text;
    if (size < 0 && code != EINTR) return error(code, "");
    if (text.size() > most) return error(EFBIG, "");
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (size < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
  return true;
}

}  // namespace fabric
