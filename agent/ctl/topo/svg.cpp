// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "base/find.h"
#include "base/parse.h"
#include "ctl/topo/view.h"
#include "node/port.h"
#include "node/topology.h"
#include "topology/boxes.h"

namespace fabric::ctl {
namespace {

constexpr int kTileWidth = 108, kTileHeight = 46, kGap = 8, kPad = 6, kTitle = 18, kLane = 36, kLabel = 16, kPerRow = 4,
              kWide = 1240;

struct Point {
  int x = 0, y = 0;
};
struct Size {
  int width = 0, height = 0;
};

struct TileColors {
  const char* fill;
  const char* stroke;
};
constexpr TileColors kGpuColors{"#dff0d8", "#4f8a3d"}, kNicColors{"#d9e8fb", "#3b6fb5"};
constexpr const char* kProblemFill = "#fde4e4";
constexpr const char* kProblemColor = "#d00000";

std::string rectangle(Point at, Size size, const char* fill, const char* stroke, int line) {
  return "<rect x=\"" + std::to_string(at.x) + "\" y=\"" + std::to_string(at.y) + "\" width=\"" +
         std::to_string(size.width) + "\" height=\"" + std::to_string(size.height) + "\" rx=\"4\" fill=\"" + fill +
         "\" stroke=\"" + stroke + "\" stroke-width=\"" + std::to_string(line) + "\"/>\n";
}

std::string text_element(Point at, std::string_view what, const std::string& color, int size,
                         const char* anchor = "start") {
  return "<text x=\"" + std::to_string(at.x) + "\" y=\"" + std::to_string(at.y) + "\" fill=\"" + color +
         "\" font-size=\"" + std::to_string(size) + "\" text-anchor=\"" + anchor + "\">" + escape_xml(what) +
         "</text>\n";
}

// The height of the rows of `count` tiles, without a gap below.
int rows_height(size_t count) {
  const int rows = (static_cast<int>(count) + kPerRow - 1) / kPerRow;
  return std::max(0, rows * (kTileHeight + kGap) - kGap);
}

// The place of tile `i` in rows that begin at `at`.
Point tile_place(Point at, size_t i) {
  const int column = static_cast<int>(i) % kPerRow, row = static_cast<int>(i) / kPerRow;
  return {at.x + column * (kTileWidth + kGap), at.y + row * (kTileHeight + kGap)};
}

std::string color_of(PathClass path) {
  if (is_on_switch(path)) return "#2e7d32";
  if (path == PathClass::SYS) return "#d00000";
  return "#a85f00";
}

class Picture {
 public:
  explicit Picture(const TopoView& view) : view_(view) {}

  std::string draw() {
    const TopologyBox machine = topology_boxes(view_.topology, shown_nics(view_.topology));
    const int top = 30;
    const Size size = place_boxes(machine.boxes, {kPad, top});
    const int width = std::max(size.width + 2 * kPad, 640);
    int y = top + size.height + 24;
    const std::string footer = notes(y, static_cast<size_t>(width - 2 * kPad) / 6);
    const std::string title = "GPUs and NICs of " + host_title(view_);
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"" + std::to_string(width) +
                      "\" height=\"" + std::to_string(y) + "\" viewBox=\"0 0 " + std::to_string(width) + " " +
                      std::to_string(y) + "\" font-family=\"sans-serif\" font-size=\"12\">\n";
    out += "<title>" + escape_xml(title) + "</title>\n";
    out += rectangle({0, 0}, {width, y}, "#ffffff", "#ffffff", 1);
    out += text_element({kPad, 20}, title, "#222222", 15);
    return out + joined(frames_, "") + pairing_lines() + tiles_ + footer + "</svg>\n";
  }

 private:
  void add_tile(Point at, std::string name, const std::string& below, const std::string& pci, TileColors colors) {
    std::string problems;
    for (const Finding* problem : problems_of(view_, name))
      append_item(problems, problem->observed + ", expected " + problem->expected, "; ");
    std::string hover = name + "  " + pci + "  " + below;
    const char* color = "#111111";
    int line = 1;
    if (!problems.empty()) {
      hover += "\n" + problems;
      name.insert(0, "⚠ ");
      colors = {kProblemFill, kProblemColor};
      color = kProblemColor;
      line = 3;
    }
    tiles_ += "<g>\n<title>" + escape_xml(hover) + "</title>\n";
    tiles_ += rectangle(at, {kTileWidth, kTileHeight}, colors.fill, colors.stroke, line);
    tiles_ += text_element({at.x + 6, at.y + 15}, shortened(name, 14), color, 12);
    tiles_ += text_element({at.x + 6, at.y + 28}, shortened(below, 16), "#444444", 10);
    tiles_ += text_element({at.x + 6, at.y + 40}, pci, "#777777", 9) + "</g>\n";
  }

  // GPUs in rows above, NICs in rows below, with a lane for the lines between. Returns the size of all.
  Size place_tiles(const TopologyBox& box, Point at) {
    for (size_t i = 0; i < box.gpus.size(); ++i) {
      const Gpu& gpu = view_.topology.gpus[box.gpus[i]];
      const Point where = gpus_[box.gpus[i]] = tile_place(at, i);
      add_tile(where, gpu.name, short_model(gpu), gpu.pci, kGpuColors);
    }
    int y = at.y + rows_height(box.gpus.size());
    if (!box.gpus.empty() && box.nics.empty()) y += kLabel;
    if (!box.gpus.empty() && !box.nics.empty()) y += kLane;
    for (size_t i = 0; i < box.nics.size(); ++i) {
      const Nic& nic = view_.topology.nics[box.nics[i]];
      const Point where = nics_[box.nics[i]] = tile_place({at.x, y}, i);
      std::string detail;
      for (const Port& port : view_.node.ports) {
        if (!contains(nic.rdma, port.rdma)) continue;
        append_item(detail, link_summary(port), " ");
      }
      for (const std::string& netdev : nic.netdevs) append_item(detail, netdev, " ");
      add_tile(where, nic.name, detail, nic.pci, kNicColors);
    }
    y += rows_height(box.nics.size());
    const int columns = std::min(kPerRow, static_cast<int>(std::max(box.gpus.size(), box.nics.size())));
    return {std::max(0, columns * (kTileWidth + kGap) - kGap), y - at.y};
  }

  Size place_box(const TopologyBox& box, Point at) {
    static constexpr const char* kFill[] = {"#ffffff", "#f2f2f2", "#fafafa", "#f3f0fa", "#fff7e0"};
    const size_t slot = frames_.size();
    frames_.emplace_back();
    const Point inside{at.x + kPad, at.y + kTitle + kPad};
    Size size = place_tiles(box, inside);
    int beside = 0;
    if (size.width > 0) beside = size.width + kGap;
    const Size below = place_boxes(box.boxes, {inside.x + beside, inside.y});
    if (below.width > 0) size.width = beside + below.width;
    size.height = std::max(size.height, below.height);
    const Size outer{std::max(size.width, static_cast<int>(std::min<size_t>(box.title.size(), 22)) * 6) + 2 * kPad,
                     size.height + kTitle + 2 * kPad};
    const std::string title = shortened(box.title, static_cast<size_t>(outer.width) / 6);
    frames_[slot] = rectangle(at, outer, kFill[static_cast<size_t>(box.kind)], "#aaaaaa", 1) + "<g>\n<title>" +
                    escape_xml(box.title) + "</title>\n" + text_element({at.x + 6, at.y + 14}, title, "#555555", 11) +
                    "</g>\n";
    return outer;
  }

  // Side by side, and in a new line if the picture would get too wide.
  Size place_boxes(const std::vector<TopologyBox>& boxes, Point at) {
    Size all;
    Point next = at;
    int line = 0;
    for (const TopologyBox& box : boxes) {
      const size_t frames = frames_.size(), text_size = tiles_.size();
      Size size = place_box(box, next);
      if (next.x > at.x && next.x + size.width - at.x > kWide) {
        frames_.resize(frames);
        tiles_.resize(text_size);
        next = {at.x, next.y + line + kGap};
        line = 0;
        size = place_box(box, next);
      }
      line = std::max(line, size.height);
      all.width = std::max(all.width, next.x + size.width - at.x);
      all.height = next.y + line - at.y;
      next.x += size.width + kGap;
    }
    return all;
  }

  // Lines from each GPU to its NICs, with one label for the class: all NICs paired with a GPU have the same class. The
  // label is beside the lines, on the side to which they do not turn.
  [[nodiscard]] std::string pairing_lines() const {
    std::string out;
    for (const auto& [index, gpu] : gpus_) {
      const Pair& pair = view_.pairing.pairs[index];
      if (pair.nics.empty()) continue;
      bool turns_left = false;
      for (const size_t nic : pair.nics) {
        const Point* place = find_in(nics_, nic);
        if (place == nullptr) continue;
        turns_left = turns_left || place->x < gpu.x;
        const int x1 = gpu.x + kTileWidth / 2, y1 = gpu.y + kTileHeight, x2 = place->x + kTileWidth / 2, y2 = place->y;
        const int bend = std::max(16, std::abs(y2 - y1) / 2);
        std::string curve = "M " + std::to_string(x1) + " " + std::to_string(y1) + " C";
        for (const int number : {x1, y1 + bend, x2, y2 - bend, x2, y2}) curve += " " + std::to_string(number);
        out += "<path d=\"" + curve + "\" fill=\"none\" stroke=\"" + color_of(*pair.path) + "\" stroke-width=\"2\"";
        if (!is_on_switch(pair.path)) out += " stroke-dasharray=\"5 3\"";
        out += "/>\n";
      }
      Point label{gpu.x + kTileWidth / 2 - 5, gpu.y + kTileHeight + 12};
      const char* anchor = "end";
      if (turns_left) {
        label.x += 10;
        anchor = "start";
      }
      out += text_element(label, to_text(*pair.path), color_of(*pair.path), 10, anchor);
    }
    return out;
  }

  // Legend, problems and notes below the picture, from `y` on, which becomes their end.
  std::string notes(int& y, size_t columns) const {
    struct Paragraph {
      std::string text;
      const char* color;
      int size;
    };
    std::vector<Paragraph> paragraphs{
        {"Lines: best pairing; green PIX, PXB; dashed PHB, NODE; dashed red SYS.", "#555555", 11}};
    if (!view_.problems.empty()) paragraphs.front().text += " Red boxes: see below.";
    for (const std::string& line : problem_lines(view_.problems))
      paragraphs.push_back({"⚠ " + line, kProblemColor, 12});
    for (const std::string& note : topo_notes(view_)) paragraphs.push_back({note, "#555555", 11});
    std::string out;
    for (const Paragraph& paragraph : paragraphs) {
      // Lines of about `columns` bytes, broken at blanks; a longer word is a line of its own.
      std::vector<std::string> lines;
      for (const std::string_view word : split(paragraph.text, ' ')) {
        if (lines.empty() || lines.back().size() + 1 + word.size() > columns) lines.emplace_back(word);
        else lines.back().append(" ").append(word);
      }
      for (const std::string& line : lines) {
        out += text_element({kPad, y}, line, paragraph.color, paragraph.size);
        y += 17;
      }
    }
    return out;
  }

  const TopoView& view_;
  std::map<size_t, Point> gpus_, nics_;
  std::vector<std::string> frames_;  // outer boxes first: inner boxes are drawn above them
  std::string tiles_;
};

}  // namespace

// Sockets side by side, with NUMA nodes, root buses and switches as boxes in them, GPUs above their NICs, a line from
// each GPU to the NICs that it is paired with, problems in red. Plain SVG 1.1 without external resources: shapes and
// text.
std::string topo_svg(const TopoView& view) { return Picture(view).draw(); }

}  // namespace fabric::ctl
