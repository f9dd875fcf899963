// SPDX-License-Identifier: Apache-2.0
// `topo --format svg`: sockets side by side, NUMA nodes, root buses and switches as boxes in them, GPUs above their
// NICs, a line from each GPU to the NICs that it is paired with, problems in red. Plain SVG 1.1: shapes and text.

#include "ctl/topo/topo.h"
#include "judge/finding.h"

namespace fabric::ctl {
namespace {

constexpr int kTileWidth = 108, kTileHeight = 46, kGap = 8, kPad = 6, kTitle = 18, kLane = 36, kLabel = 16, kPerRow = 4,
              kWide = 1240;

// Breaks at blanks into lines of about `columns` bytes; a longer word is a line of its own.
std::vector<std::string> text_lines(const std::string& text, size_t columns) {
  std::vector<std::string> out;
  for (const std::string_view word : split(text, ' ')) {
    if (out.empty() || out.back().size() + 1 + word.size() > columns) out.emplace_back(word);
    else out.back().append(" ").append(word);
  }
  return out;
}

struct Point {
  int x = 0, y = 0;
};
struct Size {
  int width = 0, height = 0;
};

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
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"" + std::to_string(width) +
                      "\" height=\"" + std::to_string(y) + "\" viewBox=\"0 0 " + std::to_string(width) + " " +
                      std::to_string(y) + "\" font-family=\"sans-serif\" font-size=\"12\">\n";
    out += "<title>GPUs and NICs of " + escape_xml(name()) + "</title>\n";
    out += rectangle({0, 0}, {width, y}, "#ffffff", "#ffffff", 1);
    out += text({kPad, 20}, "GPUs and NICs of " + name(), "#222222", 15);
    return out + joined(frames_, "") + lines() + tiles_ + footer + "</svg>\n";
  }

 private:
  [[nodiscard]] std::string name() const { return view_.node.hostname.empty() ? "this machine" : view_.node.hostname; }

  static std::string rectangle(Point at, Size size, const char* fill, const char* stroke, int line) {
    return "<rect x=\"" + std::to_string(at.x) + "\" y=\"" + std::to_string(at.y) + "\" width=\"" +
           std::to_string(size.width) + "\" height=\"" + std::to_string(size.height) + "\" rx=\"4\" fill=\"" + fill +
           "\" stroke=\"" + stroke + "\" stroke-width=\"" + std::to_string(line) + "\"/>\n";
  }
  static std::string text(Point at, std::string_view what, const std::string& color, int size,
                          const char* anchor = "start") {
    return "<text x=\"" + std::to_string(at.x) + "\" y=\"" + std::to_string(at.y) + "\" fill=\"" + color +
           "\" font-size=\"" + std::to_string(size) + "\" text-anchor=\"" + anchor + "\">" + escape_xml(what) +
           "</text>\n";
  }

  [[nodiscard]] std::string problems_of(const std::string& subject) const {
    std::string out;
    for (const Finding& problem : view_.problems)
      if (is_about(problem, subject)) append_item(out, problem.observed + ", expected " + problem.expected, "; ");
    return out;
  }

  void tile(Point at, const std::string& name, const std::string& below, const std::string& pci, bool gpu) {
    const std::string wrong = problems_of(name);
    const bool bad = !wrong.empty();
    tiles_ += "<g>\n<title>" + escape_xml(name + "  " + pci + "  " + below + (bad ? "\n" + wrong : "")) + "</title>\n";
    const char* fill = bad ? "#fde4e4" : gpu ? "#dff0d8" : "#d9e8fb";
    const char* stroke = bad ? "#d00000" : gpu ? "#4f8a3d" : "#3b6fb5";
    tiles_ += rectangle(at, {kTileWidth, kTileHeight}, fill, stroke, bad ? 3 : 1);
    tiles_ += text({at.x + 6, at.y + 15}, shortened((bad ? "⚠ " : "") + name, 14), bad ? "#d00000" : "#111111", 12);
    tiles_ += text({at.x + 6, at.y + 28}, shortened(below, 16), "#444444", 10);
    tiles_ += text({at.x + 6, at.y + 40}, pci, "#777777", 9) + "</g>\n";
  }

  [[nodiscard]] std::string nic_detail(const Nic& nic) const {
    std::vector<std::string> detail;
    for (const Port& port : view_.node.ports)
      if (contains(nic.rdma, port.rdma))
        detail.push_back(!is_active(port) ? "down" : port.rate ? rate_text(*port.rate) : "up");
    detail.insert(detail.end(), nic.netdevs.begin(), nic.netdevs.end());
    return joined(detail, " ");
  }

  // GPUs in rows above, NICs in rows below, with a lane for the lines between. Its size.
  Size place_tiles(const TopologyBox& box, Point at) {
    int width = 0, y = at.y;
    const auto rows = [&](size_t count, auto&& draw_one) {
      for (size_t i = 0; i < count; ++i) {
        const int column = static_cast<int>(i) % kPerRow, row = static_cast<int>(i) / kPerRow;
        draw_one(i, Point{at.x + column * (kTileWidth + kGap), y + row * (kTileHeight + kGap)});
        width = std::max(width, (column + 1) * (kTileWidth + kGap) - kGap);
      }
      const int lines = (static_cast<int>(count) + kPerRow - 1) / kPerRow;
      y += std::max(0, lines * (kTileHeight + kGap) - kGap);
    };
    rows(box.gpus.size(), [&](size_t i, Point where) {
      const Gpu& gpu = view_.topology.gpus[box.gpus[i]];
      gpus_[box.gpus[i]] = where;
      tile(where, gpu.name, gpu.model.substr(gpu.model.starts_with("NVIDIA ") ? 7 : 0), gpu.pci, true);
    });
    if (!box.gpus.empty()) y += box.nics.empty() ? kLabel : kLane;
    rows(box.nics.size(), [&](size_t i, Point where) {
      const Nic& nic = view_.topology.nics[box.nics[i]];
      nics_[box.nics[i]] = where;
      tile(where, nic.name, nic_detail(nic), nic.pci, false);
    });
    return {width, y - at.y};
  }

  Size place_box(const TopologyBox& box, Point at) {
    static constexpr const char* kFill[] = {"#ffffff", "#f2f2f2", "#fafafa", "#f3f0fa", "#fff7e0"};
    const size_t slot = frames_.size();
    frames_.emplace_back();
    const Point inside{at.x + kPad, at.y + kTitle + kPad};
    Size size = place_tiles(box, inside);
    const int beside = size.width > 0 ? size.width + kGap : 0;
    const Size below = place_boxes(box.boxes, {inside.x + beside, inside.y});
    size.width = beside > 0 && below.width == 0 ? size.width : beside + below.width;
    size.height = std::max(size.height, below.height);
    const Size outer{std::max(size.width, static_cast<int>(std::min<size_t>(box.title.size(), 22)) * 6) + 2 * kPad,
                     size.height + kTitle + 2 * kPad};
    frames_[slot] =
        rectangle(at, outer, kFill[static_cast<size_t>(box.kind)], "#aaaaaa", 1) + "<g>\n<title>" +
        escape_xml(box.title) + "</title>\n" +
        text({at.x + 6, at.y + 14}, shortened(box.title, static_cast<size_t>(outer.width) / 6), "#555555", 11) +
        "</g>\n";
    return outer;
  }

  // Side by side, and in a new line where the picture would get too wide.
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

  static std::string color_of(PathClass path) {
    return path <= PathClass::PXB ? "#2e7d32" : path == PathClass::SYS ? "#d00000" : "#a85f00";
  }

  [[nodiscard]] static std::string line(Point from, Point to, PathClass path) {
    const bool near = path <= PathClass::PXB;
    const int x1 = from.x + kTileWidth / 2, y1 = from.y + kTileHeight, x2 = to.x + kTileWidth / 2, y2 = to.y;
    const int bend = std::max(16, std::abs(y2 - y1) / 2);
    const auto number = [](int value) { return std::to_string(value) + " "; };
    return "<path d=\"M " + number(x1) + number(y1) + "C " + number(x1) + number(y1 + bend) + number(x2) +
           number(y2 - bend) + number(x2) + std::to_string(y2) + "\" fill=\"none\" stroke=\"" + color_of(path) +
           "\" stroke-width=\"2\"" + (near ? "" : " stroke-dasharray=\"5 3\"") + "/>\n";
  }

  // One word for each GPU, since all of its NICs are of one class; beside the lines, on the side that they do not turn
  // to.
  [[nodiscard]] std::string class_label(Point gpu, const Pair& pair) const {
    const bool turns_left =
        std::ranges::any_of(pair.nics, [&](size_t nic) { return nics_.contains(nic) && nics_.at(nic).x < gpu.x; });
    const int x = gpu.x + kTileWidth / 2 + (turns_left ? 5 : -5);
    return text({x, gpu.y + kTileHeight + 12}, std::string(to_text(*pair.path)), color_of(*pair.path), 10,
                turns_left ? "start" : "end");
  }

  [[nodiscard]] std::string lines() const {
    std::string out;
    for (size_t g = 0; g < view_.pairing.pairs.size(); ++g) {
      const Pair& pair = view_.pairing.pairs[g];
      if (!gpus_.contains(g) || pair.nics.empty()) continue;
      for (const size_t nic : pair.nics)
        if (nics_.contains(nic)) out += line(gpus_.at(g), nics_.at(nic), *pair.path);
      out += class_label(gpus_.at(g), pair);
    }
    return out;
  }

  // Below the picture, in lines of so many characters; `y` becomes the end of it.
  std::string notes(int& y, size_t columns) const {
    std::string out;
    const auto write = [&](const std::string& what, const char* color, int size) {
      for (const std::string& part : text_lines(what, columns)) {
        out += text({kPad, y}, part, color, size);
        y += 17;
      }
    };
    write(std::string("Lines: best pairing; green PIX, PXB; dashed PHB, NODE; dashed red SYS.") +
              (view_.problems.empty() ? "" : " Red boxes: see below."),
          "#555555", 11);
    for (const Finding& problem : view_.problems)
      write("⚠ " + problem.subject + ": " + problem.observed + "; expected " + problem.expected, "#d00000", 12);
    for (const std::string& note : topo_notes(view_)) write(note, "#555555", 11);
    return out;
  }

  const TopoView& view_;
  std::map<size_t, Point> gpus_, nics_;
  std::vector<std::string> frames_;  // outer boxes first, inner ones are drawn above them
  std::string tiles_;
};

}  // namespace

std::string topo_svg(const TopoView& view) { return Picture(view).draw(); }

}  // namespace fabric::ctl
