#include "request.h"

namespace tilewise::python {

Problem problem_of(const Request& request, const Epilogue& epilogue) {
  Problem p;
  p.m = request.m;
  p.n = request.n;
  p.k = request.k;
  p.batch = request.batch;
  p.type_a = request.type_a;
  p.type_b = request.type_b;
  p.type_c = request.type_c;
  p.type_d = request.type_d;
  p.a = request.a;
  p.b = request.b;
  p.c = request.c;
  p.d = request.d;
  p.compute = request.compute;
  p.epilogue = epilogue;
  for (int i = 0; i < epilogue.num_operands; ++i) {
    EpilogueOperand& operand = p.epilogue.operands[static_cast<std::size_t>(i)];
    operand.type = request.operand_types[i];
    operand.strides = request.operands[i];
  }
  return p;
}

}  // namespace tilewise::python
