// What `tilewise run` tells about a product.
#pragma once

#include <string>

#include "cli/product_inputs.h"
#include "cli/verb.h"
#include "report/run_product.h"

namespace tilewise::cli {

struct RunReport {
  const ProductInputs& inputs;
  const ProductReport& product;
  std::string repeat;  // the command line that repeats it, every default written out
  std::string output;  // where D was written, or ""
};

[[nodiscard]] std::string run_text(const RunReport& report);
[[nodiscard]] std::string run_json(const RunReport& report, const Console& console);

// "3 of 4096 checked elements are wrong: D[1,2] is 7, expected 6.5 +- 0.001"
[[nodiscard]] std::string failure_sentence(const Verification& verification);

}  // namespace tilewise::cli
