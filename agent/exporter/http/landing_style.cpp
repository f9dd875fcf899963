// SPDX-License-Identifier: Apache-2.0
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "exporter/http/page.h"

namespace fabric::exporter {

// Every color of text has a contrast of 4.5 or more with its background, in light and dark (tests/integration/landing).
constexpr std::string_view kLandingStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1a1d21;--dim:#555c66;--line:#cfd4db;--card:#f5f6f8;--link:#0b57d0;
--critical:#b3261e;--warning:#8a5300;--unknown:#4a5568;--ok:#1e6b34;--gpu:#e3f1dd;--nic:#dfeafb;--bad:#fde4e2;--odd:#fdf0d5}
.critical{--tone:var(--critical)}.warning{--tone:var(--warning)}.unknown{--tone:var(--unknown)}.ok{--tone:var(--ok)}
header{--critical:#b3261e;--warning:#8a5300;--unknown:#4a5568;--ok:#1e6b34}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e8eaed;--dim:#a9b0ba;--line:#3a414a;--card:#1d2125;
--link:#8ab4f8;--critical:#ff8a80;--warning:#ffc266;--unknown:#b6c0cc;--ok:#7fd69a;--gpu:#22351f;--nic:#1d2f4a;
--bad:#4a1f1c;--odd:#40300c}header{--critical:#8c1d18;--warning:#6b4100;--unknown:#3c4654;--ok:#175428}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
header{background:var(--tone);color:#fff}
header>div,main{max-width:1240px;margin:auto;padding:12px 10px}
h1{font-size:1.1rem;font-weight:600;margin:0}
.verdict{font-size:2rem;font-weight:700;line-height:1.2;margin:0}
header p{margin:4px 0 0}
h2{font-size:1.15rem;margin:20px 0 8px}
section:first-child>h2{margin-top:4px}
h3{font-size:1rem;margin:0}
h3 .status{color:var(--tone);text-transform:uppercase}
small,figcaption,.dim{color:var(--dim);font-size:.85rem}
a{color:var(--link)}
code{font:.9em ui-monospace,monospace}
ol,ul{margin:0;padding:0;list-style:none}
.card{border-left:5px solid var(--tone);background:var(--card);padding:8px 12px;margin-bottom:10px}
.card p{margin:4px 0}
.card:target{outline:2px solid var(--tone)}
dl{display:grid;grid-template-columns:5.5em minmax(0,1fr);gap:2px 8px;margin:4px 0}
dt{color:var(--dim)}dd{margin:0}
.next{font-weight:600}details ul,.next{padding-left:1.2em;list-style:disc}
dt.fix,dd.fix{color:var(--fg);font-weight:600}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:5px 8px 5px 0;border-bottom:1px solid var(--line)}
thead th{overflow-wrap:normal;color:var(--dim);font-size:.85rem}
tbody th{font-weight:600}
td small,th small{display:block;font-weight:400}
tbody th{min-width:6rem}td:last-child{white-space:nowrap}
.tone{color:var(--tone);font-weight:600}
figure{margin:0}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--fg)}svg .dim{fill:var(--dim);font-size:11px}svg .name{font-size:12px;font-weight:600}
.box{fill:none;stroke:var(--line)}.gpu{fill:var(--gpu);stroke:var(--line)}.nic{fill:var(--nic);stroke:var(--line)}
rect.critical,rect.warning{fill:var(--bad);stroke:var(--tone);stroke-width:2}rect.warning{fill:var(--odd)}
path{fill:none;stroke:var(--tone);stroke-width:2}path.warning,path.critical{stroke-dasharray:5 3}
svg text.path{fill:var(--tone)}
summary{cursor:pointer}
@media(min-width:1000px){main{display:grid;grid-template-columns:minmax(0,1fr) 340px;gap:32px}}
)css";

namespace {

std::string style_hash() {
  std::array<unsigned char, 32> hash{};
  gnutls_datum_t raw{hash.data(), hash.size()}, encoded{};
  if (::gnutls_hash_fast(GNUTLS_DIG_SHA256, kLandingStyle.data(), kLandingStyle.size(), hash.data()) < 0 ||
      ::gnutls_base64_encode2(&raw, &encoded) < 0)
    return {};
  std::string out(reinterpret_cast<char*>(encoded.data), encoded.size);
  ::gnutls_free(encoded.data);
  return out;
}

}  // namespace

const std::string& content_policy() {
  static const std::string kPolicy = "default-src 'none'; style-src 'sha256-" + style_hash() +
                                     "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return kPolicy;
}

}  // namespace fabric::exporter
