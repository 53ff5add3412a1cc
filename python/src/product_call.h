// One call of matmul, step by step: arrays to stacks, stacks to a request, a plan, the run.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <vector>

#include "batches.h"
#include "plan_store.h"
#include "request.h"

namespace tilewise::python {

// The arguments as Python gave them: borrowed, null where absent or None.
struct CallArguments {
  PyObject* a = nullptr;
  PyObject* b = nullptr;
  PyObject* out = nullptr;
  PyObject* epilogue = nullptr;
  PyObject* operands = nullptr;
  PyObject* dtype = nullptr;
  PyObject* compute = nullptr;
  PyObject* schedule = nullptr;
  PyObject* device = nullptr;
  PyObject* stream = nullptr;
};

// Every member throws python_error.
class ProductCall {
 public:
  explicit ProductCall(const CallArguments& arguments) : arguments_(arguments) {}

  // Looks at the arrays and decides what is computed. with_result: an array for the result is made
  // where none was given.
  void resolve(bool with_result);
  // Finds or makes the plan.
  [[nodiscard]] Plan plan();
  // Runs it and returns the result.
  [[nodiscard]] nanobind::object run();
  // What run() would do, as a dict.
  [[nodiscard]] nanobind::dict describe();

 private:
  void read_options();
  void view_operands();
  void view_operand(PyObject* value, const EpilogueOperand& operand, Stack& stack);
  void view_source(PyObject* value);
  void set_shapes();
  void set_result(bool with_result);
  void check_memory();
  void make_usable(Stack& stack, bool is_result);
  void copy_on_gpu(Stack& stack, bool is_result);
  void check_overlap();
  void check_result_apart(const Stack& stack, bool may_be_same);
  void fill_request();
  Result<void> run_all(const Plan& plan);
  template <class Body>
  void for_each_input(const Body& body);
  template <class Body>
  void for_each_other(const Body& body);

  CallArguments arguments_;
  Request request_;
  Stack a_, b_, d_;
  std::vector<Stack> others_;  // c first where the epilogue reads it, then its operands
  bool reads_c_ = false;
  std::array<double, Epilogue::kMaxOperands> scalars_{};  // values of operands given as numbers
  std::int64_t result_shape_[ArrayView::kMaxDims];
  int num_result_dims_ = 0;
  std::int64_t batch_[kMaxBatchDims];  // as the caller sees it
  std::int64_t
      merged_[kMaxBatchDims];  // as it is run: the last one by the library, others in a loop
  int num_batch_dims_ = 0, num_merged_ = 0;
  bool copies_ = false;
  nanobind::object result_;
  std::vector<nanobind::object> keeps_alive_;
  std::vector<std::string> notes_;  // one for each copy
  void* stream_ = nullptr;
};

}  // namespace tilewise::python
