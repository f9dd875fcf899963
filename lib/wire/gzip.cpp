// SPDX-License-Identifier: Apache-2.0
#include "wire/gzip.h"

#include <zlib.h>

#include <algorithm>

namespace fabric {

std::optional<std::string> gunzip(std::string_view file, size_t most) {
  constexpr int kGzip = 15 + 16;  // 15: the largest window; 16: gzip's header
  constexpr size_t kFirst = 64 * 1024;
  z_stream stream{};
  if (::inflateInit2(&stream, kGzip) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  std::string out;
  int state = Z_OK;
  while (state == Z_OK && out.size() <= most) {
    const size_t done = out.size();
    out.resize(std::min(most + 1, std::max(kFirst, done * 2)));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(out.size() - done);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() > most) return std::nullopt;
  return out;
}

}  // namespace fabric
