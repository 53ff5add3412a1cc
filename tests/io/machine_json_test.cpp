#include "io/machine_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/embedded.h"
#include "tilewise/machine.h"

namespace tilewise {

extern const EmbeddedFile tilewise_machine_files[];
extern const std::size_t tilewise_machine_files_size;

namespace {

using testing::HasSubstr;

Machine small_machine() {
  Machine machine;
  machine.name = "m1";
  machine.title = "A machine";
  machine.architecture = "sm_90a";
  machine.num_units = 4;
  machine.num_units_source = "datasheet";
  machine.boost_mhz = {1980, "datasheet"};
  machine.memory = {{"dram", {1e9, "datasheet"}, {4800, "datasheet"}, {4300, "measured"}, "device"},
                    {"shared", {233472, "datasheet"}, {}, {}, "sm"}};
  machine.peaks = {{"bf16", {989.4, "datasheet, 1.83 GHz"}, {}}};
  machine.limits.shared_bytes_per_sm = 233472;
  machine.limits.blocks_per_sm = 32;
  machine.limits.source = "a table";
  machine.notes = {"one", "two"};
  return machine;
}

std::string message(std::string_view text) {
  const Result<Machine> machine = parse_machine(text);
  return machine ? "no error" : machine.error().message;
}

TEST(MachineJson, WhatIsWrittenReadsBackEqual) {
  const Result<Machine> again = parse_machine(to_json(small_machine()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, small_machine());
  for (const Machine& machine : named_machines()) {
    const Result<Machine> named = parse_machine(to_json(machine));
    ASSERT_TRUE(named) << machine.name << ": " << named.error().message;
    EXPECT_EQ(*named, machine);
  }
}

TEST(MachineJson, EveryEmbeddedFileParses) {
  for (std::size_t i = 0; i < tilewise_machine_files_size; ++i) {
    const Result<Machine> machine = parse_machine(tilewise_machine_files[i].text);
    EXPECT_TRUE(machine) << tilewise_machine_files[i].name << ": " << machine.error().message;
  }
  EXPECT_EQ(named_machines().size(), tilewise_machine_files_size);
}

TEST(MachineJson, EachFigureNeedsItsSource) {
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x",
                          "boost_mhz": {"value": 1980}})"),
              HasSubstr("machine.boost_mhz.source"));
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x", "boost_mhz": 1980})"),
              HasSubstr("machine.boost_mhz is 1980"));
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x",
                          "boost_mhz": {"value": -1, "source": "s"}})"),
              HasSubstr("machine.boost_mhz.value is -1"));
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x",
                          "limits": {"warps_per_sm": 64}})"),
              HasSubstr("machine.limits.source"));
}

// "datasheet" alone is for what a datasheet states as it stands: clocks, bandwidths, dense peaks.
// A capacity is the driver's, since a datasheet's GB are not bytes.
TEST(MachineJson, NamedMachinesSayWhereEachFigureIsFrom) {
  EXPECT_EQ(named_machines().size(), 6u);
  for (const Machine& machine : named_machines()) {
    EXPECT_FALSE(machine.num_units_source.empty()) << machine.name;
    EXPECT_FALSE(machine.limits.source.empty()) << machine.name;
    EXPECT_GT(find_memory(machine, "dram")->capacity_bytes.value, 0) << machine.name;
    EXPECT_THAT(find_memory(machine, "dram")->capacity_bytes.source, HasSubstr("driver"))
        << machine.name;
    EXPECT_NE(find_peak(machine, "f64"), nullptr) << machine.name;
  }
}

// A peak that says how it comes about comes about so.
TEST(MachineJson, PeaksFollowFromLanesAndClocks) {
  const struct {
    const char* machine;
    const char* peak;
    double units, flops_a_clock, mhz;
  } cases[] = {{"a6000", "f32", 84, 256, 1800},     {"a6000", "f64", 84, 4, 1800},
               {"a6000", "bf16", 84, 1024, 1800},   {"a100", "f32", 108, 128, 1410},
               {"a100", "f64", 108, 64, 1410},      {"a100", "bf16", 108, 2048, 1410},
               {"h100", "f32", 132, 256, 1980},     {"h100", "f64", 132, 128, 1980},
               {"h100", "bf16", 132, 4096, 1830},   {"h200", "bf16", 132, 4096, 1830},
               {"h200", "f8", 132, 8192, 1830},     {"h200", "tf32", 132, 2048, 1830},
               {"b200", "f32", 148, 256, 1965},     {"b200", "bf16", 148, 8192, 1860},
               {"rtx4090", "f32", 128, 256, 2520},  {"rtx4090", "f64", 128, 4, 2520},
               {"rtx4090", "bf16", 128, 512, 2520}, {"rtx4090", "f8", 128, 1024, 2520}};
  for (const auto& c : cases) {
    const double derived = c.units * c.flops_a_clock * c.mhz / 1e6;
    const double stated = find_peak(*find_machine(c.machine), c.peak)->tflops.value;
    EXPECT_NEAR(stated / derived, 1, 0.01) << c.machine << " " << c.peak;
  }
}

TEST(MachineJson, ErrorsNameTheField) {
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x", "limits": {"warps": 1}})"),
              HasSubstr("machine.limits has no field \"warps\""));
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1", "name": "x", "memory": [{}]})"),
              HasSubstr("machine.memory[0].name"));
  EXPECT_THAT(message(R"({"schema": "tilewise.machine/1"})"), HasSubstr("machine.name"));
  EXPECT_THAT(message(R"({"name": "x"})"), HasSubstr("machine.schema"));
}

TEST(MachineJson, AnUnknownNameIsAnError) {
  const Result<Machine> unknown = find_machine("no such machine");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"no such machine\" is not known"));
}

}  // namespace
}  // namespace tilewise
