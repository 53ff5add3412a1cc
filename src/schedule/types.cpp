#include "tilewise/types.h"

#include "schedule/names.h"

namespace tilewise {
namespace {

constexpr NameTable<Type> kTypes[] = {
    {Type::f64, "f64"}, {Type::f32, "f32"},       {Type::bf16, "bf16"},
    {Type::f16, "f16"}, {Type::f8e4m3, "f8e4m3"}, {Type::f8e5m2, "f8e5m2"},
};
constexpr NameTable<Compute> kComputes[] = {
    {Compute::f32, "f32"},
    {Compute::f64, "f64"},
    {Compute::tf32, "tf32"},
    {Compute::f32_tf32x3, "f32_tf32x3"},
    {Compute::f32_bf16x6, "f32_bf16x6"},
    {Compute::f32_bf16x9, "f32_bf16x9"},
};
constexpr NameTable<Scale> kScales[] = {
    {Scale::none, "none"},
    {Scale::tensor, "tensor"},
    {Scale::row_column, "row_column"},
    {Scale::block_1x128_128x128, "block_1x128_128x128"},
};

}  // namespace

std::string_view to_string(Type type) { return name_of(kTypes, type); }
std::string_view to_string(Compute compute) { return name_of(kComputes, compute); }
std::string_view to_string(Scale scale) { return name_of(kScales, scale); }

Result<Type> parse_type(std::string_view name) { return value_of(kTypes, "type", name); }
Result<Compute> parse_compute(std::string_view name) {
  return value_of(kComputes, "compute", name);
}
Result<Scale> parse_scale(std::string_view name) { return value_of(kScales, "scale", name); }

}  // namespace tilewise
