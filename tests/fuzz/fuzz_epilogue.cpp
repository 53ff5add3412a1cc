// The parser of epilogue expressions, and all that reads what it returns: printing, evaluation,
// device code, cost. A text is either refused with a message or round-trips.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/cost.h"
#include "epilogue/device_code.h"
#include "epilogue/evaluate.h"
#include "tilewise/epilogue.h"

namespace {

using namespace tilewise;

void require(bool holds) {
  if (!holds) std::abort();
}

// Evaluates a tile that fills no chunk, with every operand in a dense array of its own.
void evaluate(Epilogue epilogue) {
  constexpr int kRows = 3, kColumns = 21;
  set_contiguous_operands(epilogue, kRows, kColumns);
  std::vector<std::vector<float>> values(static_cast<std::size_t>(epilogue.num_operands));
  std::vector<const void*> operands;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const EpilogueOperand& operand = epilogue.operands[i];
    values[i].assign((operand.index_m ? kRows : 1U) * (operand.index_n ? kColumns : 1U), 0.25f);
    operands.push_back(values[i].data());
  }
  const std::vector<float> c(kRows * kColumns, -0.5f);
  std::vector<float> tile(kRows * kColumns, 1.5f);
  evaluate_portable(epilogue,
                    {.rows = kRows,
                     .columns = kColumns,
                     .row_stride = kColumns,
                     .operands = operands.data(),
                     .c = c.data(),
                     .c_strides = {kColumns, 1, 0}},
                    tile.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Epilogue> epilogue = parse_epilogue(text);
  if (!epilogue) {
    require(epilogue.error().code == ErrorCode::bad_request);
    require(epilogue.error().message.find('^') != std::string::npos);
    require(epilogue.error().message.size() < 1000);
    return 0;
  }
  require(validate(*epilogue).has_value());
  require(parse_epilogue(print_epilogue(*epilogue)) == *epilogue);
  require(!print_device_code(*epilogue, Type::f32, Type::bf16).empty());
  require(!epilogue_cost(*epilogue, {.m = 5, .n = 7}).saved_bytes.overflowed());
  evaluate(*epilogue);
  return 0;
}
