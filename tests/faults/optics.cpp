// SPDX-License-Identifier: Apache-2.0
// Optics: the module and its light.
#include "faults/fault.h"
#include "nic/metrics.h"

namespace fabric::faults {
namespace {

void lose_link(Machine& m) { ++*m.port().counters.carrier_down; }

Faults light() {
  return {
      {"little-light", "dust on a connector: low rx power on one lane, the link stays up",
       "rx power of lane 3 at 0.12 mW, warning below 0.15",
       in_module([](Transceiver& t) { t.lanes[2].rx_power.value = 0.12e-3; }), "optics", W, "", "", "health: 11 be 04"},
      {"hardly-any-light", "a bent fiber: one lane is below its alarm limit",
       "rx power of lane 3 at 0.05 mW, alarm below 0.10",
       in_module([](Transceiver& t) { t.lanes[2].rx_power.value = 0.05e-3; }), "optics", C, "", "", "health: 11 be 01"},
      {"little-light-and-flaps", "dust on a connector: the link goes down now and then",
       "rx power of lane 3 at 0.12 mW, and the link went down once",
       both(in_module([](Transceiver& t) { t.lanes[2].rx_power.value = 0.12e-3; }), at_port(lose_link)), "optics", W,
       "", "damaged-link", "", "link-flap"},
      {"laser-fault", "a laser of our module failed", "tx fault of lane 2, and the link went down once",
       both(in_module([](Transceiver& t) { t.lanes[1].tx_fault = true; }), at_port(lose_link)), "optics", C, "",
       "bad-module", "", "link-flap"},
      {"laser-wears-out", "laser bias rises: a worn laser", "bias of lane 2 at 95 mA, warning above 90",
       in_module([](Transceiver& t) { t.lanes[1].tx_bias.value = 0.095; }), "optics", W},
      {"module-warm", "a fan failed: the module is warmer than its warning limit", "72 degrees, warning above 70",
       in_module([](Transceiver& t) { t.temperature.value = 72; }), "module-temperature", W, "", "", "health: 0 0e 48"},
      {"module-hot", "the airflow is blocked: the module is about to turn its lasers off", "78 degrees, alarm above 75",
       in_module([](Transceiver& t) { t.temperature.value = 78; }), "module-temperature", C},
      {"no-light-at-all", "the fiber is cut", "Port::state DOWN, every lane without signal",
       [](Machine& m) {
         if (!m.port().module) return std::string();
         m.port().state = 1;
         m.port().phys_state = 2;
         m.port().carrier = false;
         if (m.port().link_status) m.port().link_status->up = false;
         for (ModuleLane& lane : m.port().module->lanes) {
           lane.rx_los = true;
           lane.rx_power.value = 0.0;
         }
         return m.port().id();
       },
       "port-state", C, "", "no-partner"},
  };
}

// The module measures the ratios of damaged bits that arrive, and FEC meets `words` that it cannot correct.
// Only modules with CMIS measure them.
Plant errors_at_module(double from_cable, double from_nic, double words) {
  return [=](Machine& m) {
    if (!m.port().module || !m.port().module->standard.starts_with("CMIS")) return std::string();
    if (words > 0 && !m.raise(metrics::kPhyUncorrectableWords, words)) return std::string();
    m.port().module->inputs = {{.side = ModuleSide::medium, .lane = 1, .error_ratio = from_cable, .snr = {}},
                               {.side = ModuleSide::host, .lane = 1, .error_ratio = from_nic, .snr = {}}};
    return m.port().id();
  };
}

Faults correction() {
  return {
      {"fec-margin-gone", "a worn cable: FEC corrects 1 bit in 20000", "bits corrected by FEC: 5e-5 of the minute's",
       [](Machine& m) {
         return m.raise(metrics::kPhyCorrectedBits, 5e-5 * *m.port().rate * 8 * 60) ? m.port().id() : std::string();
       },
       "pre-fec-ber", W, "", "", "health: rx_corrected_bits_phy"},
      {"beyond-correction", "a dirty connector: code words that FEC cannot correct",
       "uncorrectable words +400, symbol errors +200",
       [](Machine& m) {
         if (!m.raise(metrics::kPhyUncorrectableWords, 400)) return std::string();
         m.raise(metrics::kPhySymbolErrors, 200);
         return m.port().id();
       },
       "link-errors", W, "", "damaged-link", "health: fec_uncorrectable_blocks"},
      {"one-bad-lane", "one lane of the cable is broken: all FEC errors are on it",
       "uncorrectable words +400, all of them on lane 2",
       [](Machine& m) {
         if (!m.port().fec) return std::string();
         for (Port* port : {&m.before.ports[1], &m.port()}) {
           port->fec->uncorrectable_blocks.lanes = {0, 0, 0, 0};
           port->fec->uncorrectable_blocks.total = 0;
         }
         m.port().fec->uncorrectable_blocks.lanes[2] = m.events(400);
         m.port().fec->uncorrectable_blocks.total = m.port().fec->uncorrectable_blocks.lanes[2];
         return m.port().id();
       },
       "link-errors", W, "", "damaged-link"},
      {"damaged-in-fiber", "a dirty connector: the bits are damaged when they reach the module",
       "uncorrectable words +400, and the module measures 1e-3 of the bits from the cable as damaged",
       errors_at_module(1e-3, 1e-9, 400), "link-errors", W,
       "0.001 of those from the cable|the errors come over the cable", "damaged-link", "", "pre-fec-ber"},
      {"damaged-in-cage", "a bent contact of the cage: bits are damaged between the module and the NIC",
       "uncorrectable words +400, and the module measures 3e-5 of the bits from the NIC as damaged",
       errors_at_module(1e-9, 3e-5, 400), "link-errors", W, "the errors arise between the module and the NIC",
       "damaged-in-host", "", "pre-fec-ber"},
      {"sends-damaged", "a worn contact of the cage: what the NIC sends is damaged, and only the far end counts it",
       "the module measures 3e-5 of the bits from the NIC as damaged", errors_at_module(1e-9, 3e-5, 0), "pre-fec-ber",
       W, "of the bits from the NIC reach the module damaged"},
      {"arrives-damaged", "the fiber ages, and the NIC does not count the bits that FEC corrects",
       "the module measures 5e-5 of the bits from the cable as damaged", errors_at_module(5e-5, 1e-9, 0), "pre-fec-ber",
       W, "of the bits from the cable reach the module damaged"},
      {"module-memory-damaged", "the memory of a module is damaged", "each of its checksums is wrong",
       in_module([](Transceiver& t) {
         t.checksum_matched = false;
         t.bad_checksums = {"page 00h bytes 128-190", "page 00h bytes 192-222"};
       }),
       "module-memory", W},
  };
}

}  // namespace

Faults optics_faults() { return together({light(), correction()}); }

}  // namespace fabric::faults
