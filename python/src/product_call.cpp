#include "product_call.h"

#include <algorithm>
#include <cstdlib>

#include "errors.h"
#include "numpy_arrays.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

std::string_view text_of(PyObject* object, const char* what) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &size) : nullptr;
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  PyErr_Clear();
  if (PyUnicode_Check(object)) {
    raise(PyExc_ValueError, "matmul: " + std::string(what) + " holds a lone surrogate");
  }
  raise(PyExc_TypeError, "matmul: " + std::string(what) + " is " +
                             nb::cast<std::string>(nb::inst_name(nb::handle(object))) +
                             "; a str is taken");
}

Type type_argument(PyObject* dtype) {
  std::string name;
  if (PyUnicode_Check(dtype)) {
    name = text_of(dtype, "dtype");
  } else {
    name = nb::cast<std::string>(nb::str(nb::handle(dtype)));
    if (!name.starts_with("torch.")) return type_of_dtype(dtype, "dtype");
    name = name.substr(6);
  }
  for (const Type type :
       {Type::f64, Type::f32, Type::bf16, Type::f16, Type::f8e4m3, Type::f8e5m2}) {
    if (name == numpy_name(type) || name == to_string(type)) return type;
  }
  raise(PyExc_TypeError,
        "matmul: dtype is \"" + name + "\"; valid are float16, bfloat16, float32 and float64");
}

// The narrowest type that holds both.
Type common_type(Type x, Type y) {
  if (x == y) return x;
  if (x == Type::f64 || y == Type::f64) return Type::f64;
  return Type::f32;
}

bool is_f8(Type type) { return type == Type::f8e4m3 || type == Type::f8e5m2; }

void* stream_argument(PyObject* stream) {
  const nb::handle handle(stream);
  nb::object number = nb::borrow(handle);
  if (nb::hasattr(handle, "cuda_stream")) {  // PyTorch
    number = handle.attr("cuda_stream");
  } else if (nb::hasattr(handle, "__cuda_stream__")) {
    const nb::object pair = handle.attr("__cuda_stream__")();  // (version, address)
    number = nb::isinstance<nb::tuple>(pair) && nb::len(pair) == 2 ? nb::object(pair[1]) : pair;
  } else if (nb::hasattr(handle, "ptr")) {  // CuPy
    number = handle.attr("ptr");
  }
  const auto address = PyLong_Check(number.ptr()) ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (!PyLong_Check(number.ptr()) || PyErr_Occurred()) {
    PyErr_Clear();
    raise(PyExc_TypeError,
          "matmul: stream is " + nb::cast<std::string>(nb::repr(handle)) +
              "; an integer (a CUstream) or a stream of PyTorch, CuPy or another library is taken");
  }
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

std::string shape_of(const Stack& stack) {
  return shape_text(stack.view.shape, stack.view.num_dims);
}

// The last two dimensions are a matrix's, those before them the batch's.
void set_dims(Stack& stack) {
  const int num_dims = stack.view.num_dims;
  stack.column_dim = num_dims - 1;
  stack.row_dim = num_dims - 2;
  stack.own_batch_dims = num_dims - 2;
}

}  // namespace

template <class Body>
void ProductCall::for_each_other(const Body& body) {
  for (Stack& stack : others_) {
    if (stack.view.object != nullptr) body(stack);
  }
}

template <class Body>
void ProductCall::for_each_input(const Body& body) {
  body(a_);
  body(b_);
  for_each_other(body);
}

void ProductCall::resolve(bool with_result) {
  PlanStore::instance().make_room();
  if (arguments_.stream != nullptr) stream_ = stream_argument(arguments_.stream);
  a_.name = "a";
  b_.name = "b";
  d_.name = "out";
  view_array(arguments_.a, "a", a_.view, stream_);
  view_array(arguments_.b, "b", b_.view, stream_);
  read_options();
  set_shapes();
  if (request_.epilogue != 0) view_operands();
  if (request_.epilogue == 0 && arguments_.operands != nullptr) {
    raise(PyExc_ValueError,
          "matmul: operands are given but no epilogue; name them in one, like \"acc + bias[n]\"");
  }
  set_result(with_result);
  check_memory();
  for_each_input([&](Stack& stack) { make_usable(stack, false); });
  make_usable(d_, true);
  std::copy_n(batch_, num_batch_dims_, merged_);
  std::array<Stack*, 3 + 1 + Epilogue::kMaxOperands> stacks{};
  std::size_t count = 0;
  for_each_input([&](Stack& stack) { stacks[count++] = &stack; });
  stacks[count++] = &d_;
  num_merged_ = num_batch_dims_ == 0
                    ? 0
                    : merge_batch(std::span(stacks.data(), count), merged_, num_batch_dims_);
  fill_request();
  if (arguments_.out != nullptr && (copies_ || num_merged_ > 0)) check_overlap();
}

void ProductCall::read_options() {
  PlanStore& store = PlanStore::instance();
  if (arguments_.schedule != nullptr) {
    nb::object schedule = nb::borrow(nb::handle(arguments_.schedule));
    if (nb::hasattr(schedule, "to_json")) schedule = schedule.attr("to_json")();
    request_.schedule = value_or_raise(store.schedule(text_of(schedule.ptr(), "schedule")));
  }
  if (arguments_.epilogue != nullptr) {
    request_.epilogue = value_or_raise(store.epilogue(text_of(arguments_.epilogue, "epilogue")));
  }
  request_.type_a = a_.view.type;
  request_.type_b = b_.view.type;
  if ((request_.type_a == Type::f64) != (request_.type_b == Type::f64)) {
    raise(PyExc_TypeError, "matmul: a is " + std::string(numpy_name(request_.type_a)) + " and b " +
                               std::string(numpy_name(request_.type_b)) +
                               "; float64 goes with float64 only: convert one of them");
  }
  request_.compute = request_.type_a == Type::f64 ? Compute::f64 : Compute::f32;
  if (arguments_.compute != nullptr) {
    request_.compute = value_or_raise(parse_compute(text_of(arguments_.compute, "compute")));
  }
}

void ProductCall::set_shapes() {
  for (const Stack* stack : {&a_, &b_}) {
    if (stack->view.num_dims == 0) {
      raise(PyExc_ValueError, "matmul: " + std::string(stack->name) +
                                  " is a scalar; a product needs one dimension or more");
    }
  }
  const bool a_is_vector = a_.view.num_dims == 1, b_is_vector = b_.view.num_dims == 1;
  set_dims(a_);
  set_dims(b_);
  if (a_is_vector) a_.own_batch_dims = 0;  // row_dim is -1: one row
  if (b_is_vector) {                       // one column
    b_.own_batch_dims = 0;
    std::swap(b_.row_dim, b_.column_dim);
  }
  a_.follow_view(0);
  b_.follow_view(0);
  if (a_.columns != b_.rows) {
    raise(PyExc_ValueError, "matmul: a is " + shape_of(a_) + " and b is " + shape_of(b_) +
                                "; the columns of a (" + std::to_string(a_.columns) +
                                ") must be as many as the rows of b (" + std::to_string(b_.rows) +
                                ")");
  }
  request_.m = a_.rows;
  request_.n = b_.columns;
  request_.k = a_.columns;

  const int a_dims = a_.own_batch_dims, b_dims = b_.own_batch_dims;
  num_batch_dims_ = std::max(a_dims, b_dims);
  for (int i = 1; i <= num_batch_dims_; ++i) {  // from the last one
    const std::int64_t x = i <= a_dims ? a_.view.shape[a_dims - i] : 1;
    const std::int64_t y = i <= b_dims ? b_.view.shape[b_dims - i] : 1;
    if (x != y && x != 1 && y != 1) {
      raise(PyExc_ValueError, "matmul: a is " + shape_of(a_) + " and b is " + shape_of(b_) +
                                  "; their batch dimensions " + std::to_string(x) + " and " +
                                  std::to_string(y) + " do not broadcast");
    }
    batch_[num_batch_dims_ - i] = x == 1 ? y : x;
  }
  num_result_dims_ = num_batch_dims_;
  std::copy_n(batch_, num_batch_dims_, result_shape_);
  if (!a_is_vector) result_shape_[num_result_dims_++] = request_.m;
  if (!b_is_vector) result_shape_[num_result_dims_++] = request_.n;
  a_.follow_view(num_batch_dims_);
  b_.follow_view(num_batch_dims_);
}

void ProductCall::view_operands() {
  const Epilogue& epilogue = PlanStore::instance().epilogue_of(request_.epilogue);
  reads_c_ = epilogue.reads_c();
  const std::size_t count = epilogue.num_operands + (reads_c_ ? 1 : 0);
  others_ = std::vector<Stack>(count);
  const nb::handle given(arguments_.operands != nullptr ? arguments_.operands : Py_None);
  if (arguments_.operands != nullptr && !PyDict_Check(arguments_.operands)) {
    raise(PyExc_TypeError, "matmul: operands is " + nb::cast<std::string>(nb::inst_name(given)) +
                               "; a dict of names to arrays is taken");
  }
  const auto value_of = [&](std::string_view name) -> PyObject* {
    PyObject* value = nullptr;
    if (arguments_.operands != nullptr) {
      value = PyDict_GetItemString(arguments_.operands, std::string(name).c_str());
    }
    if (value != nullptr) return value;
    raise(PyExc_ValueError, "matmul: the epilogue names " + std::string(name) +
                                ", and operands has no such entry; pass operands={\"" +
                                std::string(name) + "\": ...}");
  };
  std::size_t at = 0;
  if (reads_c_) view_source(value_of("c")), ++at;
  for (int i = 0; i < epilogue.num_operands; ++i, ++at) {
    const EpilogueOperand& operand = epilogue.operands[static_cast<std::size_t>(i)];
    others_[at].name = operand.name_view();
    view_operand(value_of(operand.name_view()), operand, others_[at]);
  }
  if (arguments_.operands == nullptr ||
      static_cast<std::size_t>(PyDict_Size(arguments_.operands)) == count) {
    return;
  }
  for (const auto [key, value] : nb::borrow<nb::dict>(given)) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    if (std::ranges::none_of(others_, [&](const Stack& s) { return s.name == name; })) {
      raise(PyExc_ValueError, "matmul: operands has \"" + name +
                                  "\", which the epilogue does not name; leave it out");
    }
  }
}

void ProductCall::view_source(PyObject* value) {
  Stack& c = others_[0];
  c.name = "c";
  view_array(value, "operand c", c.view, stream_);
  if (c.view.num_dims < 2 || c.view.dim(2) != request_.m || c.view.dim(1) != request_.n) {
    raise(PyExc_ValueError, "matmul: operand c is " + shape_of(c) + "; as c[m,n] it has shape (" +
                                std::to_string(request_.m) + ", " + std::to_string(request_.n) +
                                "), batch dimensions before them");
  }
  set_dims(c);
  if (c.own_batch_dims > num_batch_dims_) {
    raise(PyExc_ValueError, "matmul: operand c is " + shape_of(c) + ", and the product has " +
                                std::to_string(num_batch_dims_) + " batch dimensions");
  }
  c.follow_view(num_batch_dims_);
}

void ProductCall::view_operand(PyObject* value, const EpilogueOperand& operand, Stack& stack) {
  const bool is_scalar = !operand.index_m && !operand.index_n && !operand.index_b;
  if (is_scalar && (PyFloat_Check(value) || PyLong_Check(value) || is_numpy_number(value))) {
    const double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) throw nb::python_error();
    // In float64: the library rounds it to what the epilogue computes in.
    const auto index = static_cast<std::size_t>(&stack - others_.data()) - (reads_c_ ? 1 : 0);
    scalars_[index] = number;
    stack.view.type = Type::f64;
    stack.view.library = Library::numpy;
    stack.view.object = value;
    stack.view.data = reinterpret_cast<char*>(&scalars_[index]);
    stack.follow_view(num_batch_dims_);
    return;
  }
  view_array(value, "operand " + std::string(stack.name), stack.view, stream_);
  std::int64_t wanted[2];
  int count = 0;
  if (operand.index_m) wanted[count++] = request_.m;
  if (operand.index_n) wanted[count++] = request_.n;
  const ArrayView& view = stack.view;
  const int extra = view.num_dims - count;
  bool fits = operand.index_b ? extra >= 1 : extra == 0;
  for (int i = 0; fits && i < count; ++i) fits = view.shape[extra + i] == wanted[i];
  // Batch dimensions broadcast to those of the product.
  fits = fits && extra <= num_batch_dims_;
  for (int i = 1; fits && i <= extra; ++i) {
    const std::int64_t extent = view.shape[extra - i];
    fits = extent == 1 || extent == batch_[num_batch_dims_ - i];
  }
  if (!fits) {
    raise(PyExc_ValueError,
          "matmul: operand " + std::string(stack.name) + " is " + shape_of(stack) +
              ", but as the epilogue writes it, it has shape " + shape_text(wanted, count) +
              (operand.index_b ? ", the product's batch dimensions before them" : ""));
  }
  stack.own_batch_dims = extra;
  if (operand.index_m) stack.row_dim = extra;
  if (operand.index_n) stack.column_dim = view.num_dims - 1;
  stack.follow_view(num_batch_dims_);
}

void ProductCall::set_result(bool with_result) {
  Type type = is_f8(request_.type_a) ? Type::bf16 : common_type(request_.type_a, request_.type_b);
  if (arguments_.dtype != nullptr) type = type_argument(arguments_.dtype);
  if (arguments_.out != nullptr) {
    view_array(arguments_.out, "out", d_.view, stream_);
    if (d_.view.num_dims != num_result_dims_ ||
        !std::equal(result_shape_, result_shape_ + num_result_dims_, d_.view.shape)) {
      raise(PyExc_ValueError, "matmul: out is " + shape_of(d_) + ", but the result has shape " +
                                  shape_text(result_shape_, num_result_dims_));
    }
    if (!d_.view.writable || d_.view.resolved.is_valid()) {
      raise(
          PyExc_ValueError,
          "matmul: out is read-only (or PyTorch's lazy negative of another tensor); pass an array "
          "that can be written");
    }
    if (arguments_.dtype != nullptr && type != d_.view.type) {
      raise(PyExc_TypeError, "matmul: out is " + std::string(numpy_name(d_.view.type)) +
                                 ", but dtype is " + std::string(numpy_name(type)) +
                                 "; leave one of them out");
    }
    result_ = nb::borrow(nb::handle(arguments_.out));
  } else if (with_result) {
    result_ = new_array_like(a_.view, result_shape_, num_result_dims_, type);
    view_array(result_.ptr(), "out", d_.view, stream_);
  } else {
    d_.view.type = type;
    d_.view.memory = a_.view.memory;
    d_.view.library = a_.view.library;
    d_.view.num_dims = num_result_dims_;
    std::int64_t dense = size_bytes(type);
    for (int i = num_result_dims_ - 1; i >= 0; --i) {
      d_.view.shape[i] = result_shape_[i];
      d_.view.strides[i] = dense;
      dense *= result_shape_[i];
    }
  }
  request_.type_d = d_.view.type;
  // The matrix dimensions that vectors do not give the result have one element.
  const bool has_m = a_.view.num_dims > 1, has_n = b_.view.num_dims > 1;
  d_.own_batch_dims = num_batch_dims_;
  if (has_m) d_.row_dim = num_batch_dims_;
  if (has_n) d_.column_dim = num_batch_dims_ + (has_m ? 1 : 0);
  d_.follow_view(num_batch_dims_);
}

void ProductCall::check_memory() {
  const Memory memory = a_.view.memory;
  request_.device = memory == Memory::gpu ? Device::gpu : Device::cpu;
  const auto place = [](Memory m) { return m == Memory::gpu ? "a GPU's memory" : "host memory"; };
  const auto check = [&](const Stack& stack) {
    if (stack.view.memory == memory) return;
    raise(PyExc_ValueError, "matmul: a is in " + std::string(place(memory)) + " and " +
                                std::string(stack.name) + " in " + place(stack.view.memory) +
                                "; move one of them");
  };
  check(b_);
  check(d_);
  for_each_other(check);
  if (arguments_.device != nullptr) {
    const std::string_view device = text_of(arguments_.device, "device");
    if (device != "cpu" && device != "gpu" && device != "cuda") {
      raise(PyExc_ValueError,
            "matmul: device is \"" + std::string(device) + "\"; valid are \"cpu\" and \"gpu\"");
    }
    if ((device == "cpu") != (memory == Memory::host)) {
      raise(PyExc_ValueError, "matmul: device is \"" + std::string(device) +
                                  "\", but the arrays are in " + place(memory) +
                                  "; move them there, or leave device out");
    }
  }
  if (memory == Memory::host && arguments_.stream != nullptr) {
    raise(PyExc_ValueError,
          "matmul: stream is given, but the arrays are in host memory, where none is used");
  }
  if (memory == Memory::gpu && arguments_.stream == nullptr) stream_ = a_.view.stream;
}

// Leaves a stack as it is, or puts a dense copy in its place.
void ProductCall::make_usable(Stack& stack, bool is_result) {
  const std::span<const std::int64_t> batch(batch_, static_cast<std::size_t>(num_batch_dims_));
  if (is_result && arguments_.out != nullptr && !elements_apart(stack, batch)) {
    raise(PyExc_ValueError,
          "matmul: elements of out share memory (a stride of it is 0 or too short); pass an array "
          "of its own");
  }
  if (is_direct(stack)) return;
  copies_ = true;
  std::string note = std::string(stack.name) + ": " + std::to_string(stack.rows) + " x " +
                     std::to_string(stack.columns) + " with strides (" +
                     std::to_string(stack.row_bytes) + ", " + std::to_string(stack.column_bytes) +
                     ") bytes, copied once";
  notes_.push_back(std::move(note));
  if (stack.view.memory == Memory::gpu) return copy_on_gpu(stack, is_result);
  if (!make_dense(stack, batch, !is_result)) {
    raise(PyExc_MemoryError, "matmul: no memory for a dense copy of " + std::string(stack.name));
  }
}

// The array's own library copies it.
void ProductCall::copy_on_gpu(Stack& stack, bool is_result) {
  if (is_result) {
    raise(PyExc_ValueError,
          "matmul: out is on a GPU and has no contiguous rows or columns; pass a dense array");
  }
  keeps_alive_.push_back(
      nb::module_::import_("tilewise._arrays").attr("dense_copy")(nb::handle(stack.view.object)));
  view_array(keeps_alive_.back().ptr(), stack.name, stack.view, stream_);
  stack.follow_view(num_batch_dims_);
}

// The library checks the memory that one run reads and writes; this is for what it does not see:
// arrays that were copied, and runs of a loop.
void ProductCall::check_overlap() {
  check_result_apart(a_, false);
  check_result_apart(b_, false);
  const Epilogue& epilogue = PlanStore::instance().epilogue_of(request_.epilogue);
  for_each_other([&](const Stack& stack) {
    const auto index = static_cast<int>(&stack - others_.data()) - (reads_c_ ? 1 : 0);
    const auto& operand = epilogue.operands[static_cast<std::size_t>(std::max(index, 0))];
    check_result_apart(stack, index < 0 || (operand.index_m && operand.index_n));
  });
}

void ProductCall::check_result_apart(const Stack& stack, bool may_be_same) {
  const ArrayView::Extent x = d_.view.extent(), y = stack.view.extent();
  if (x.end <= y.begin || y.end <= x.begin) return;
  if (may_be_same && is_same_view(d_, stack)) return;
  if (stack.view.library == Library::numpy && d_.view.library == Library::numpy &&
      !nb::cast<bool>(
          nb::module_::import_("tilewise._arrays")
              .attr("overlap")(nb::handle(d_.view.object), nb::handle(stack.view.object)))) {
    return;
  }
  raise(PyExc_ValueError, "matmul: out overlaps " + std::string(stack.name) + " in memory; " +
                              (may_be_same ? "it may be exactly that array or apart from it"
                                           : "give out memory of its own"));
}

void ProductCall::fill_request() {
  // The library takes the last batch dimension where no stride of it is negative.
  request_.batch = 1;
  bool by_library = num_merged_ > 0;
  const int last = num_merged_ - 1;
  if (by_library) {
    const auto forward = [&](const Stack& s) {
      by_library = by_library && s.batch_bytes[last] >= 0;
    };
    for_each_input(forward);
    forward(d_);
    const std::int64_t reach = (d_.rows - 1) * std::abs(d_.row_bytes) +
                               (d_.columns - 1) * std::abs(d_.column_bytes) + d_.element_bytes();
    by_library = by_library && (merged_[last] <= 1 || d_.batch_bytes[last] >= reach);
  }
  const auto strides_of = [&](const Stack& stack) {
    Strides s = stack.strides();
    s.batch = by_library ? stack.batch_bytes[last] / stack.element_bytes() : 0;
    return s;
  };
  if (by_library) request_.batch = merged_[last];
  request_.a = strides_of(a_);
  request_.b = strides_of(b_);
  request_.d = strides_of(d_);
  request_.type_c = reads_c_ ? others_[0].view.type : request_.type_d;
  request_.c = reads_c_ ? strides_of(others_[0]) : Strides{0, 0, 0};
  if (request_.epilogue != 0) {
    const Epilogue& epilogue = PlanStore::instance().epilogue_of(request_.epilogue);
    for (int i = 0; i < epilogue.num_operands; ++i) {
      const EpilogueOperand& operand = epilogue.operands[static_cast<std::size_t>(i)];
      const Stack& stack = others_[static_cast<std::size_t>(i + (reads_c_ ? 1 : 0))];
      Strides s = strides_of(stack);
      if (!operand.index_m) s.row = 0;
      if (!operand.index_n) s.column = 0;
      if (operand.index_m && !operand.index_n) {
        s.row = stack.rows > 1 ? stack.row_bytes / stack.element_bytes() : 1;
      }
      if (!operand.index_b) s.batch = 0;
      request_.operands[i] = s;
      request_.operand_types[i] = stack.view.type;
    }
  }
  // What is left for the loop.
  if (by_library) --num_merged_;
}

Plan ProductCall::plan() {
  PlanStore& store = PlanStore::instance();
  if (const Plan* plan = store.find(request_)) return *plan;
  return value_or_raise(store.prepare(request_));
}

Result<void> ProductCall::run_all(const Plan& plan) {
  const void* operands[Epilogue::kMaxOperands];
  const std::size_t first = reads_c_ ? 1 : 0;
  const std::size_t num_operands = others_.size() - std::min(first, others_.size());
  std::int64_t index[kMaxBatchDims] = {};
  for (;;) {
    const auto at = [&](const Stack& stack) {
      const char* data = stack.data;
      for (int i = 0; i < num_merged_; ++i) data += index[i] * stack.batch_bytes[i];
      return const_cast<char*>(data);
    };
    for (std::size_t i = 0; i < num_operands; ++i) operands[i] = at(others_[i + first]);
    if (auto ok = plan.run(at(a_), at(b_), reads_c_ ? at(others_[0]) : nullptr, at(d_),
                           {operands, num_operands}, {}, stream_);
        !ok) {
      return ok;
    }
    int i = num_merged_ - 1;
    for (; i >= 0; --i) {
      if (++index[i] < merged_[i]) break;
      index[i] = 0;
    }
    if (i < 0) return {};
  }
}

nb::object ProductCall::run() {
  const Plan chosen = plan();
  bool is_empty = false;
  for (int i = 0; i < num_merged_; ++i) is_empty = is_empty || merged_[i] == 0;
  Result<void> done;
  if (!is_empty) {
    PyThreadState* const state = PyEval_SaveThread();
    done = run_all(chosen);
    if (done && d_.copy != nullptr) {
      scatter(d_, {batch_, static_cast<std::size_t>(num_batch_dims_)});
    }
    PyEval_RestoreThread(state);
  }
  if (!done) raise(done.error());
  return std::move(result_);
}

nb::dict ProductCall::describe() {
  const Plan chosen = plan();
  nb::dict d;
  d["m"] = request_.m;
  d["n"] = request_.n;
  d["k"] = request_.k;
  d["batch"] = request_.batch;
  std::int64_t loop = 1;
  for (int i = 0; i < num_merged_; ++i) loop *= merged_[i];
  d["loop"] = loop;
  d["dtype"] = std::string(numpy_name(request_.type_d));
  d["compute"] = std::string(to_string(request_.compute));
  d["schedule"] = chosen.schedule().name;
  d["schedule_json"] = to_json(chosen.schedule());
  d["device"] = std::string(to_string(chosen.device()));
  d["target"] = std::string(chosen.target());
  d["threads"] = chosen.threads();
  d["workspace_bytes"] = chosen.workspace_bytes();
  nb::list notes;
  for (const std::string& note : notes_) notes.append(note);
  d["copies"] = notes;
  return d;
}

}  // namespace tilewise::python
