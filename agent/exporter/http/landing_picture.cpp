// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/landing_picture.h"

#include "base/find.h"
#include "base/parse.h"
#include "node/port.h"
#include "topology/boxes.h"
#include "topology/built.h"

namespace fabric::exporter {
namespace {

constexpr int kWidth = 340, kStep = 5, kInset = 4 * kStep, kLane = 50, kTileWidth = (kWidth - 2 * kInset - kLane) / 2,
              kTileHeight = 48, kTitle = 18, kGap = 6, kRight = kWidth - kInset - kTileWidth;
constexpr size_t kLetters = kTileWidth / 6;  // letters of 11 px that fit a tile

// ` x="5"`
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

// One column of GPUs and one of NICs, so that a phone shows the picture without scaling.
class LandingPicture {
 public:
  LandingPicture(const Node& node, const std::map<std::string, Status>& status) : node_(node), status_(status) {}

  std::string draw() {
    std::vector<size_t> nics = shown_nics(topology_);
    const auto is_virtual = [&](size_t nic) { return topology_.nics[nic].is_virtual_function(); };
    if (!std::ranges::all_of(nics, is_virtual)) std::erase_if(nics, is_virtual);
    for (const TopologyBox& box : topology_boxes(topology_, nics).boxes) place(box, 0);

    std::string lines, pairs;  // the pairs are the text for screen readers
    const Pairing pairing = best_pairing(topology_, node_.ports, recorded_in(node_));
    for (size_t gpu = 0; gpu < pairing.pairs.size(); ++gpu) {
      const Pair& pair = pairing.pairs[gpu];
      if (gpus_.count(gpu) == 0 || !pair.path) continue;
      const int from = gpus_[gpu] + kTileHeight / 2, x = kInset + kTileWidth;
      const std::string path(to_text(*pair.path));
      std::string css = "warning";
      if (is_on_switch(pair.path)) css = "ok";
      else if (*pair.path == PathClass::SYS) css = "critical";
      for (const size_t nic : pair.nics) {
        if (nics_.count(nic) == 0) continue;
        const std::string to = std::to_string(nics_[nic] + kTileHeight / 2), middle = std::to_string(x + kLane / 2);
        lines += "<path class=\"" + css + "\" d=\"M" + std::to_string(x) + " " + std::to_string(from) + "C" + middle +
                 " " + std::to_string(from) + " " + middle + " " + to + " " + std::to_string(kRight) + " " + to +
                 "\"/>\n";
        pairs += topology_.gpus[gpu].name + " " + path + " " + topology_.nics[nic].name + ". ";
      }
      lines += text(x + 4, from - 5, "path " + css, path) + "\n";
    }

    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"picture pairs\" width=\"" +
        std::to_string(kWidth) + "\" height=\"" + std::to_string(y_) + "\" viewBox=\"0 0 " + std::to_string(kWidth) +
        " " + std::to_string(y_) +
        "\">\n<title id=\"picture\">GPUs and NICs with the best pairing</title>\n<desc id=\"pairs\">" +
        escape_xml(pairs) + "</desc>\n";
    for (const std::string& frame : frames_) out += frame;
    return out + lines + tiles_ + "</svg>\n";
  }

 private:
  void tile(int x, const std::string& name, const std::string& detail, const std::string& pci, std::string_view css) {
    std::string shown_name = name;
    std::optional<Status> worst;  // of the findings of the device and of its ports; nullopt: there is none
    for (const auto& [subject, status] : status_)
      if (status != Status::unknown && worst != Status::critical && is_of_device(subject, name)) worst = status;
    if (worst) {
      css = to_text(*worst);
      shown_name.insert(0, "⚠ ");
    }
    tiles_ += "<g><title>" + escape_xml(name + " " + pci + " " + detail) + "</title>" +
              rectangle(x, y_, kTileWidth, kTileHeight, css) +
              text(x + 5, y_ + 14, "name", shortened(shown_name, kLetters - 2)) +
              text(x + 5, y_ + 28, "", shortened(detail, kLetters)) + text(x + 5, y_ + 42, "dim", pci) + "</g>\n";
  }

  void place(const TopologyBox& first, int depth) {
    // A chain of boxes that contain only the next one is drawn as one box.
    const TopologyBox* box = &first;
    std::string title = box->title;
    while (box->boxes.size() == 1 && box->gpus.empty() && box->nics.empty() && box->kind != TopologyBox::Kind::numa) {
      box = &box->boxes.front();
      title += " › " + box->title;
    }
    const int top = y_, x = 1 + kStep * std::min(depth, 3);
    const size_t slot = frames_.size();
    frames_.emplace_back();
    y_ += kTitle;
    for (size_t i = 0; i < std::max(box->gpus.size(), box->nics.size()); ++i, y_ += kTileHeight + kGap) {
      if (i < box->gpus.size()) {
        const Gpu& gpu = topology_.gpus[box->gpus[i]];
        gpus_[box->gpus[i]] = y_;
        const std::string model = gpu.model.empty() ? "model not known" : short_model(gpu);
        tile(kInset, gpu.name, model, gpu.pci, "gpu");
      }
      if (i < box->nics.size()) {
        const Nic& nic = topology_.nics[box->nics[i]];
        nics_[box->nics[i]] = y_;
        std::string detail;
        for (const Port& port : node_.ports) {
          if (!contains(nic.rdma, port.rdma) || port.is_member()) continue;
          detail += link_summary(port) + " ";
        }
        if (!nic.netdevs.empty()) detail += nic.netdevs.front();
        if (detail.empty()) detail = "state not known";
        tile(kRight, nic.name, detail, nic.pci, "nic");
      }
    }
    for (const TopologyBox& inner : box->boxes) place(inner, depth + 1);
    frames_[slot] = rectangle(x, top, kWidth - 2 * x, y_ - top, "box") + "<g><title>" + escape_xml(title) + "</title>" +
                    text(x + 5, top + 13, "dim", shortened(title, static_cast<size_t>(kWidth - 2 * x) / 6)) + "</g>\n";
    y_ += kGap;
  }

  const Node& node_;
  const std::map<std::string, Status>& status_;
  const Topology& topology_ = node_.topology;
  int y_ = 1;
  std::map<size_t, int> gpus_, nics_;  // the top of each tile
  std::vector<std::string> frames_;    // outer boxes first
  std::string tiles_;
};

}  // namespace

std::string topology_picture(const Node& node, const std::map<std::string, Status>& status) {
  return LandingPicture(node, status).draw();
}

}  // namespace fabric::exporter
