#include "tilewise/schedule.h"

#include <gtest/gtest.h>

#include "schedule/nearest.h"

namespace tilewise {
namespace {

std::string message(const Schedule& s) {
  const auto ok = validate(s);
  return ok ? std::string() : ok.error().message;
}

TEST(ParseTile, AcceptsBareAndNamedTiles) {
  EXPECT_EQ(parse_tile("64").value(), (Tile{Level::block, 64, 64, 64, 1, 1}));
  EXPECT_EQ(parse_tile("warp:64x32").value(), (Tile{Level::warp, 64, 32, 0, 1, 1}));
  EXPECT_EQ(parse_tile("block:128x256x64").value(), (Tile{Level::block, 128, 256, 64, 1, 1}));
  EXPECT_EQ(parse_tile("nc:0x4080").value(), (Tile{Level::nc, 0, 4080, 0, 1, 1}));
}

TEST(ParseTile, RefusesWhatIsNoTile) {
  for (const char* text :
       {"", "x", "64x", "x64", "1x2x3x4", "-1", "blok:4x4", "block:", "1.5", " 4",
        "99999999999999999999", "4x4x", "block:4X4", "0", "0x0", "kc:0x0x0"}) {
    const auto tile = parse_tile(text);
    ASSERT_FALSE(tile.has_value()) << text;
    EXPECT_FALSE(tile.error().message.empty());
  }
  EXPECT_NE(parse_tile("blok:4x4").error().message.find("did you mean \"block\""),
            std::string::npos);
}

TEST(ValidateSchedule, OrderAndDeviceOfLevels) {
  Schedule s;
  s.tiles = {{Level::block, 8, 8, 8, 1, 1}, {Level::thread, 2, 2, 1, 1, 1}};
  EXPECT_EQ(message(s), "");
  std::swap(s.tiles[0], s.tiles[1]);
  EXPECT_NE(message(s).find("outside in"), std::string::npos);
  s.tiles = {{Level::block, 8, 8, 8, 1, 1}, {Level::block, 2, 2, 1, 1, 1}};
  EXPECT_NE(message(s), "");
  s.tiles = {{Level::nc, 0, 8, 0, 1, 1}};
  EXPECT_NE(message(s).find("does not exist on device \"gpu\""), std::string::npos);
}

TEST(ValidateSchedule, RepeatsStandInnermostAndDivide) {
  Schedule s;
  s.tiles = {{Level::block, 8, 8, 8, 2, 1}, {Level::thread, 2, 2, 1, 1, 1}};
  EXPECT_NE(message(s).find("innermost"), std::string::npos);
  s.tiles = {{Level::thread, 6, 2, 1, 4, 1}};
  EXPECT_NE(message(s).find("divide"), std::string::npos);
  s.tiles = {{Level::thread, 0, 2, 1, 2, 1}};
  EXPECT_NE(message(s), "");
}

TEST(ValidateSchedule, RangesOfTheOtherFields) {
  const auto changed = [](auto change) {
    Schedule s;
    s.name = "x";
    change(s);
    return message(s);
  };
  EXPECT_NE(changed([](Schedule& s) { s.stages = 0; }).find("stages is 0"), std::string::npos);
  EXPECT_NE(changed([](Schedule& s) { s.cluster.m = 17; }).find("cluster m"), std::string::npos);
  EXPECT_NE(changed([](Schedule& s) { s.vector_bytes.global = 3; }).find("vector_bytes"),
            std::string::npos);
  EXPECT_NE(changed([](Schedule& s) {
              s.shared_layout = {SharedLayout::Kind::swizzle, 48};
            }).find("swizzle:32"),
            std::string::npos);
  EXPECT_NE(changed([](Schedule& s) { s.split_k.ways = 0; }).find("split_k"), std::string::npos);
  EXPECT_NE(changed([](Schedule& s) { s.order.group = 0; }).find("order group"), std::string::npos);
}

TEST(ReadsFrom, NamesTheMemory) {
  Schedule s;
  s.tiles = {{Level::block, 128, 128, 64, 1, 1},
             {Level::warp, 64, 64, 0, 1, 1},
             {Level::instruction, 16, 8, 16, 1, 1}};
  s.copy = Copy::cp_async;
  EXPECT_EQ(reads_from(s, 0), "global");
  EXPECT_EQ(reads_from(s, 1), "shared");
  EXPECT_EQ(reads_from(s, 2), "registers");
  s.copy = Copy::direct;  // rung 11: a warp's fragments come straight from global memory
  EXPECT_FALSE(stages_in_shared(s));
  EXPECT_EQ(reads_from(s, 1), "global");
  s.tiles = {{Level::block, 128, 128, 64, 1, 1}, {Level::instruction, 64, 128, 16, 1, 1}};
  EXPECT_EQ(reads_from(s, 1), "shared");
  s.tiles = {{Level::thread, 1, 1, 1, 1, 1}};
  EXPECT_EQ(reads_from(s, 0), "global");
}

TEST(Nearest, FindsASlipAndNothingElse) {
  EXPECT_EQ(nearest_name("sqare_tile", {"naive", "square_tile"}), "square_tile");
  EXPECT_EQ(nearest_name("niave", {"naive", "mma"}), "naive");
  EXPECT_EQ(nearest_name("completely", {"naive", "mma"}), "");
  EXPECT_EQ(nearest_name(std::string(5000, 'a'), {"naive"}), "");
  EXPECT_EQ(edit_distance("abc", "acb"), 1u);
}

}  // namespace
}  // namespace tilewise
