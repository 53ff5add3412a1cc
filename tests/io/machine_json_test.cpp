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
  machine.boost_mhz = {1980, "datasheet"};
  machine.memory = {{"dram", {1e9, "datasheet"}, {4800, "datasheet"}, {4300, "measured"}, "device"},
                    {"shared", {233472, "datasheet"}, {}, {}, "sm"}};
  machine.peaks = {{"bf16", {989.4, "datasheet, 1.83 GHz"}, {}}};
  machine.limits.shared_bytes_per_sm = 233472;
  machine.limits.blocks_per_sm = 32;
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
