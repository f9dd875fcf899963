// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"
#include "exporter/http/page.h"
#include "judge/finding.h"
#include "topology/boxes.h"

namespace fabric::exporter {
namespace {

constexpr int kWidth = 340, kStep = 5, kInset = 4 * kStep, kLane = 50, kTileWidth = (kWidth - 2 * kInset - kLane) / 2,
              kTileHeight = 48, kTitle = 18, kGap = 6, kRight = kWidth - kInset - kTileWidth;
constexpr size_t kLetters = kTileWidth / 6;  // of 11 px

std::string number(std::string_view name, int value) {
  return " " + std::string(name) + "=\"" + std::to_string(value) + "\"";
}

std::string rectangle(int x, int y, int width, int height, std::string_view css) {
  return "<rect" + number("x", x) + number("y", y) + number("width", width) + number("height", height) +
         " rx=\"4\" class=\"" + std::string(css) + "\"/>";
}

std::string text(int x, int y, std::string_view css, const std::string& what) {
  return "<text" + number("x", x) + number("y", y) + " class=\"" + std::string(css) + "\">" + escape_xml(what) +
         "</text>";
}

std::string_view tone(PathClass path) {
  return path <= PathClass::PXB ? "ok" : path == PathClass::SYS ? "critical" : "warning";
}

// One column of GPUs and one of NICs, so that a phone shows it in its own size.
class Picture {
 public:
  Picture(const Node& node, const std::map<std::string, Status>& status) : node_(node), status_(status) {}

  std::string draw() {
    std::vector<size_t> nics = shown_nics(topology_);
    const auto is_virtual = [&](size_t nic) { return topology_.nics[nic].virtual_function; };
    if (!std::ranges::all_of(nics, is_virtual)) std::erase_if(nics, is_virtual);
    for (const TopologyBox& box : topology_boxes(topology_, nics).boxes) place(box, 0);
    const std::string drawn = lines();  // and pairs_
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"picture pairs\" width=\"" +
        std::to_string(kWidth) + "\" height=\"" + std::to_string(y_) + "\" viewBox=\"0 0 " + std::to_string(kWidth) +
        " " + std::to_string(y_) +
        "\">\n<title id=\"picture\">GPUs and NICs with the best pairing</title>\n<desc id=\"pairs\">" +
        escape_xml(pairs_) + "</desc>\n";
    for (const std::string& frame : frames_) out += frame;
    return out + drawn + tiles_ + "</svg>\n";
  }

 private:
  // The tone of the device's worst finding, or of one of its ports; empty: none.
  [[nodiscard]] std::string_view trouble(const std::string& name) const {
    std::string_view out;
    for (const auto& [subject, status] : status_)
      if (status != Status::unknown && out != "critical" && (subject == name || subject.starts_with(name + "/")))
        out = to_text(status);
    return out;
  }

  void tile(int x, const std::string& name, const std::string& detail, const std::string& pci, std::string_view kind) {
    const std::string_view bad = trouble(name);
    tiles_ += "<g><title>" + escape_xml(name + " " + pci + " " + detail) + "</title>" +
              rectangle(x, y_, kTileWidth, kTileHeight, bad.empty() ? kind : bad) +
              text(x + 5, y_ + 14, "name", shortened((bad.empty() ? "" : "⚠ ") + name, kLetters - 2)) +
              text(x + 5, y_ + 28, "", shortened(detail, kLetters)) + text(x + 5, y_ + 42, "dim", pci) + "</g>\n";
  }

  [[nodiscard]] std::string detail_of(const Nic& nic) const {
    std::string out;
    for (const Port& port : node_.ports)
      if (contains(nic.rdma, port.rdma) && !port.is_member())
        out += (!port.state ? "unknown" : !is_active(port) ? "down" : port.rate ? rate_text(*port.rate) : "up") + " ";
    out += nic.netdevs.empty() ? "" : nic.netdevs.front();
    return out.empty() ? "state not known" : out;
  }

  void place(const TopologyBox& first, int depth) {
    const TopologyBox* box = &first;
    std::string title = box->title;
    const auto is_chain = [](const TopologyBox& outer) {
      return outer.boxes.size() == 1 && outer.gpus.empty() && outer.nics.empty() &&
             outer.kind != TopologyBox::Kind::numa;
    };
    while (is_chain(*box)) {
      box = &box->boxes.front();
      title += " › " + box->title;
    }
    const int top = y_, x = 1 + kStep * std::min(depth, 3);
    const size_t slot = frames_.size();
    frames_.emplace_back();
    y_ += kTitle;
    for (size_t i = 0; i < std::max(box->gpus.size(), box->nics.size()); ++i, y_ += kTileHeight + kGap) {
      if (i < box->gpus.size()) place_gpu(box->gpus[i]);
      if (i < box->nics.size()) place_nic(box->nics[i]);
    }
    for (const TopologyBox& inner : box->boxes) place(inner, depth + 1);
    frames_[slot] = rectangle(x, top, kWidth - 2 * x, y_ - top, "box") + "<g><title>" + escape_xml(title) + "</title>" +
                    text(x + 5, top + 13, "dim", shortened(title, static_cast<size_t>(kWidth - 2 * x) / 6)) + "</g>\n";
    y_ += kGap;
  }

  void place_gpu(size_t index) {
    const Gpu& gpu = topology_.gpus[index];
    gpus_[index] = y_;
    tile(kInset, gpu.name,
         gpu.model.empty() ? "model not known" : gpu.model.substr(gpu.model.starts_with("NVIDIA ") ? 7 : 0), gpu.pci,
         "gpu");
  }
  void place_nic(size_t index) {
    const Nic& nic = topology_.nics[index];
    nics_[index] = y_;
    tile(kRight, nic.name, detail_of(nic), nic.pci, "nic");
  }

  std::string lines() {
    std::string out;
    const Pairing pairing = best_pairing(topology_, node_.ports);
    for (size_t gpu = 0; gpu < pairing.pairs.size(); ++gpu) {
      const Pair& pair = pairing.pairs[gpu];
      if (gpus_.count(gpu) == 0 || !pair.path) continue;
      const int from = gpus_[gpu] + kTileHeight / 2, x = kInset + kTileWidth;
      const std::string path(to_text(*pair.path)), css(tone(*pair.path));
      for (const size_t nic : pair.nics) {
        if (nics_.count(nic) == 0) continue;
        const std::string to = std::to_string(nics_[nic] + kTileHeight / 2), middle = std::to_string(x + kLane / 2);
        out += "<path class=\"" + css + "\" d=\"M" + std::to_string(x) + " " + std::to_string(from) + "C" + middle +
               " " + std::to_string(from) + " " + middle + " " + to + " " + std::to_string(kRight) + " " + to +
               "\"/>\n";
        pairs_ += topology_.gpus[gpu].name + " " + path + " " + topology_.nics[nic].name + ". ";
      }
      out += text(x + 4, from - 5, "path " + css, path) + "\n";
    }
    return out;
  }

  const Node& node_;
  const std::map<std::string, Status>& status_;
  const Topology& topology_ = node_.topology;
  int y_ = 1;
  std::map<size_t, int> gpus_, nics_;  // to their heights
  std::vector<std::string> frames_;    // outer boxes first
  std::string tiles_, pairs_;
};

}  // namespace

std::string topology_picture(const Node& node, const std::map<std::string, Status>& status) {
  return Picture(node, status).draw();
}

}  // namespace fabric::exporter
