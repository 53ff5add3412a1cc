#include "report/element_check.h"

#include <cmath>
#include <limits>

#include "epilogue/element.h"

namespace tilewise {
namespace {

// How much of its bound an element uses; more than 1 for a wrong one, infinite for a NaN.
double share_of_bound(const CheckedElement& element, Type type) {
  const double error = std::fabs(element.computed - element.expected.value);
  if (!is_within(element.computed, element.expected, type)) {
    return std::isfinite(error) && element.expected.error > 0
               ? error / element.expected.error
               : std::numeric_limits<double>::infinity();
  }
  if (!(error > 0) || !std::isfinite(error) || !std::isfinite(element.expected.error)) return 0;
  return error / element.expected.error;
}

}  // namespace

ElementCheck::ElementCheck(const ComputedProduct& product) : product_(product) {
  arithmetic_.gpu = product.schedule.device == Device::gpu;
  arithmetic_.promote_every = product.schedule.promote_every;
  if (const Tile* tile = find_tile(product.schedule, Level::kc)) arithmetic_.block_k = tile->k;
}

void ElementCheck::add(std::int64_t batch, Position position, double sum, double magnitude,
                       double sum_error) {
  const Problem& p = product_.problem;
  CheckedElement element{
      .b = batch, .m = position.m, .n = position.n, .computed = 0, .expected = {}};
  load_elements(p.type_d, product_.d,
                batch * p.d.batch + position.m * p.d.row + position.n * p.d.column, 1, 1,
                &element.computed);
  const Bounded accumulator{sum, accumulator_error(p, arithmetic_, magnitude) + sum_error};
  element.expected = reference_epilogue(
      p, {batch, position.m, position.n, product_.c, product_.operands.data()}, accumulator);
  ++result_.num_checked;
  if (!is_within(element.computed, element.expected, p.type_d)) ++result_.num_wrong;
  const double error = std::fabs(element.computed - element.expected.value);
  if (!(error <= result_.max_error) && !std::isinf(element.expected.error)) {
    const bool both_nan = std::isnan(element.computed) && std::isnan(element.expected.value);
    const bool same = element.computed == element.expected.value || both_nan;
    if (!same) result_.max_error = error;
  }
  const double share = share_of_bound(element, p.type_d);
  if (share > result_.worst_share || result_.num_checked == 1) {
    result_.worst_share = share;
    result_.worst = element;
  }
}

}  // namespace tilewise
