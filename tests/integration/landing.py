# SPDX-License-Identifier: Apache-2.0
"""Looks at a page in Chromium, by chromedriver's HTTP. Arguments: URL of the exporter, golden page, folder for files."""
import base64, http.server, json, os, socket, subprocess, sys, threading, time, urllib.error, urllib.request

URL, GOLDEN, WORK = sys.argv[1:]
SCREENS = os.path.join(os.path.dirname(GOLDEN), "screens")
SIZES = {"phone": (390, 844), "small": (360, 640), "desktop": (1280, 800)}
PICTURES = {("golden", "desktop", "light"), ("golden", "phone", "dark")}
# The lowest contrast (WCAG 2.1, 1.4.3) of all visible text, and what scrolls sideways.
LOOK = r"""
const numbers = color => color.match(/[\d.]+/g).map(Number);
const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
// What a text of the picture stands on: its tile, or the page.
const tile = e => e.tagName === 'text' && !e.classList.contains('path') && e.parentNode.querySelector('rect');
function background(e) {
  const own = tile(e);
  if (own) return numbers(getComputedStyle(own).fill);
  for (; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
}
document.querySelectorAll('details').forEach(e => e.open = true);
const texts = [], low = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
  if (!text || ['title', 'desc', 'STYLE'].includes(e.tagName) || !e.getClientRects().length) continue;
  const style = getComputedStyle(e), color = numbers(e instanceof SVGElement ? style.fill : style.color);
  const ratio = contrast(color, background(e));
  texts.push(ratio);
  if (ratio < 4.5) low.push(text + ': ' + ratio.toFixed(2));
  if (parseFloat(style.fontSize) < 11) low.push(text + ': ' + style.fontSize);
}
const root = document.documentElement;
return {texts: texts.length, least: Math.min(...texts), low, sideways: root.scrollWidth - root.clientWidth,
        scripts: document.scripts.length, images: document.images.length, styled: getComputedStyle(document.body).marginTop,
        verdict: document.querySelector('.verdict').getBoundingClientRect().bottom, h1: document.querySelector('h1').innerText,
        cut: [...document.querySelectorAll('svg text')].filter(t => t.getBBox().x + t.getBBox().width > 340).map(t => t.textContent),
        foreign: performance.getEntriesByType('resource').map(e => e.name)};
"""
failed = 0


def check(what, good, detail=""):
    global failed
    failed += not good
    print(("ok " if good else "FAIL ") + what + ("" if good else f": {detail}"), flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Driver:
    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-lcd-text",
                            f"--user-data-dir={WORK}/chromium"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode())
        try:
            return json.load(urllib.request.urlopen(request, timeout=60))["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:400]) from error

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.process.kill()
            self.process.wait()


def serve_golden(headers):
    """The golden page with the exporter's own headers."""
    kept = [(key, value) for key, value in headers if key not in ("Date", "Content-Length", "Connection")]
    page = open(GOLDEN, "rb").read()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/" else 404)
            for key, value in kept:
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def look(driver, page, url, size, scheme):
    name, (width, height) = f"{page} {size} {scheme}", SIZES[size]
    driver.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=size != "desktop")
    driver.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    driver.post("/url", url=url)
    picture = driver.call("GET", driver.session + "/screenshot")
    seen = driver.post("/execute/sync", script=LOOK, args=[])
    console = [entry["message"] for entry in driver.post("/se/log", type="browser")]
    check(f"{name}: {seen['texts']} texts, contrast {seen['least']:.1f} or more", seen["texts"] > 40 and not seen["low"], seen["low"])
    check(f"{name}: nothing scrolls sideways", seen["sideways"] <= 0, seen["sideways"])
    check(f"{name}: the picture cuts no text", not seen["cut"], seen["cut"])
    check(f"{name}: the verdict is seen first", 0 < seen["verdict"] < height / 4, seen["verdict"])
    check(f"{name}: no console message", not console, console)
    check(f"{name}: styled, no script, nothing loaded", seen["styled"] == "0px" and not seen["scripts"] and not seen["images"] and
          not [entry for entry in seen["foreign"] if not entry.endswith("/favicon.ico")], seen)
    data = base64.b64decode(picture)
    if (page, size, scheme) in PICTURES and os.environ.get("FABRIC_UPDATE_GOLDEN"):
        file = f"{SCREENS}/landing_{size}_{scheme}.png"
        subprocess.run(["pngquant", "--force", "--output", file, "64", "-"], input=data, check=True)
    check(f"{name}: screenshot", data.startswith(b"\x89PNG") and len(data) > 5000, len(data))


def main():
    with urllib.request.urlopen(URL) as answer:
        headers, text = answer.getheaders(), answer.read().decode()
    check("names of devices are text", "&lt;img src=x onerror=alert(1)&gt;" in text and "<img" not in text, text[-3000:])
    golden = serve_golden(headers)
    driver = Driver()
    try:
        for page, url in (("exporter", URL), ("golden", golden)):
            for size in SIZES:
                for scheme in ("light", "dark"):
                    look(driver, page, url, size, scheme)
        driver.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
        driver.post("/url", url=golden)  # the checks above can fail: a page that breaks each rule
        broken = ("document.body.innerHTML='<p class=verdict>x<h1>x</h1><p id=p>grey</p>';p.style.cssText='color:#999;width:2000px';"
                  "console.error('x');document.body.append(Object.assign(document.createElement('script'),{text:'1'}));")
        driver.post("/execute/sync", script=broken, args=[])
        seen = driver.post("/execute/sync", script=LOOK, args=[])
        console = " ".join(entry["message"] for entry in driver.post("/se/log", type="browser"))
        check("a broken page is noticed", seen["low"] and seen["sideways"] > 0 and seen["scripts"], seen)
        check("the policy blocks scripts and inline styles", "Content Security Policy" in console, console)
    finally:
        driver.close()
    return 1 if failed else 0


sys.exit(main())
