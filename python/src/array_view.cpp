#include "array_view.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "dlpack.h"
#include "errors.h"
#include "numpy_arrays.h"

namespace nb = nanobind;

namespace tilewise::python {
namespace {

// The exchange interface of the type met last: nearly always the one met next.
struct KnownType {
  PyTypeObject* type = nullptr;
  const dlpack::ExchangeApi* api = nullptr;
  bool may_be_negated = false;
};
KnownType known_type;

const dlpack::ExchangeApi* exchange_api(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (type == known_type.type) return known_type.api;
  const nb::handle of_type(reinterpret_cast<PyObject*>(type));
  if (!nb::hasattr(of_type, "__dlpack_c_exchange_api__")) return nullptr;
  const nb::object capsule = of_type.attr("__dlpack_c_exchange_api__");
  const auto* api = static_cast<const dlpack::ExchangeApi*>(
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (api == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  while (api != nullptr && api->version.major != 1) api = api->previous;
  if (api == nullptr || api->tensor_from_object == nullptr) return nullptr;
  Py_INCREF(reinterpret_cast<PyObject*>(type));  // kept: there are a few such types in all
  known_type = {type, api, nb::hasattr(of_type, "is_neg")};
  return api;
}

std::string of(std::string_view what) { return "matmul: " + std::string(what); }

// PyTorch may keep the negative of a tensor's elements and a bit that says so, which DLPack does
// not carry: such a tensor is replaced by a copy with the elements themselves.
PyObject* without_negation(PyObject* object, ArrayView& view) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  const nb::handle tensor(object);
  if (!nb::cast<bool>(tensor.attr(nb::handle(is_neg))())) return object;
  view.resolved = tensor.attr("resolve_neg")();
  return view.resolved.ptr();
}

// Sparse tensors and those without memory: the first line of what their library says.
[[noreturn]] void raise_unreadable(std::string_view what) {
  std::string text = "it gives no reason";
  if (PyErr_Occurred()) {
    const nb::python_error error;
    text = nb::cast<std::string>(nb::str(error.value()));
    text = text.substr(0, text.find('\n'));
  }
  raise(PyExc_TypeError, of(what) + " is no dense array with memory: " + text);
}

void fill_from_dlpack(const dlpack::Tensor& t, std::string_view what, ArrayView& view) {
  if (!type_of_dlpack(t.type.code, t.type.bits, t.type.lanes, view.type)) {
    raise(PyExc_TypeError,
          of(what) + " has an element type (DLPack code " + std::to_string(t.type.code) + ", " +
              std::to_string(t.type.bits) +
              " bits) that is not multiplied; valid are float16, bfloat16, float32 and float64");
  }
  if (t.num_dims > ArrayView::kMaxDims) {
    raise(PyExc_ValueError, of(what) + " has " + std::to_string(t.num_dims) +
                                " dimensions; at most " + std::to_string(ArrayView::kMaxDims) +
                                " are taken");
  }
  switch (t.device.type) {
    case dlpack::kCpu:
    case dlpack::kCudaHost:
      view.memory = Memory::host;
      break;
    case dlpack::kCuda:
    case dlpack::kCudaManaged:
      view.memory = Memory::gpu;
      break;
    default:
      raise(PyExc_ValueError, of(what) + " is on a device of DLPack type " +
                                  std::to_string(t.device.type) + "; valid are CPU and CUDA");
  }
  view.device_index = t.device.index;
  view.data = static_cast<char*>(t.data) + t.byte_offset;
  view.num_dims = t.num_dims;
  const std::int64_t bytes = size_bytes(view.type);
  std::int64_t dense = bytes;
  for (int i = t.num_dims - 1; i >= 0; --i) {
    view.shape[i] = t.shape[i];
    view.strides[i] = t.strides != nullptr ? t.strides[i] * bytes : dense;
    dense *= t.shape[i];
  }
}

// What an object says of itself may be anything: a description that does not read as the protocol's
// is a TypeError that names the argument and the field.
[[noreturn]] void raise_malformed(std::string_view what, std::string_view field,
                                  std::string_view wanted) {
  raise(PyExc_TypeError, of(what) + " has " + std::string(field) + " that is not " +
                             std::string(wanted) + "; its library describes it wrongly");
}

// The integers of a tuple, `size` of them where it is given.
std::vector<std::int64_t> integers_of(nb::handle value, std::string_view what,
                                      std::string_view field, std::optional<std::size_t> size) {
  std::vector<std::int64_t> integers;
  bool right = nb::isinstance<nb::tuple>(value);
  if (right) {
    for (const nb::handle entry : nb::borrow<nb::tuple>(value)) {
      std::int64_t integer = 0;
      right = right && nb::try_cast(entry, integer);
      integers.push_back(integer);
    }
  }
  if (!right || (size && integers.size() != *size)) {
    raise_malformed(what, field,
                    size ? "a tuple of " + std::to_string(*size) + " integers"
                         : std::string("a tuple of integers"));
  }
  return integers;
}

void view_capsule(nb::object capsule, std::string_view what, ArrayView& view) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    const auto* versioned = static_cast<dlpack::VersionedTensor*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    fill_from_dlpack(versioned->tensor, what, view);
    view.writable = (versioned->flags & dlpack::VersionedTensor::kReadOnly) == 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    const auto* plain =
        static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    fill_from_dlpack(plain->tensor, what, view);
  } else {
    raise_malformed(what, "a __dlpack__()", "a new capsule of DLPack");
  }
  view.keeps_alive = std::move(capsule);  // not consumed: its own destructor frees it
}

nb::object dlpack_capsule(nb::handle object, std::string_view what, void* stream) {
  nb::dict arguments;
  const auto device =
      integers_of(object.attr("__dlpack_device__")(), what, "a __dlpack_device__()", 2);
  if (device[0] == dlpack::kCuda) {
    const auto address = reinterpret_cast<std::uintptr_t>(stream);
    arguments["stream"] = address == 0 ? 1 : static_cast<std::int64_t>(address);
  }
  const nb::object export_ = object.attr("__dlpack__");
  try {
    return export_(nb::arg("max_version") = nb::make_tuple(1, 1), **arguments);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;  // a producer from before versions
  }
  return export_(**arguments);
}

// An entry of __cuda_array_interface__; None where it is absent.
nb::object cuda_field(nb::handle fields, const char* name) {
  PyObject* const value = PyDict_GetItemString(fields.ptr(), name);
  return value != nullptr ? nb::borrow(value) : nb::none();
}

// __cuda_array_interface__, version 3.
void view_cuda_interface(nb::handle object, std::string_view what, ArrayView& view) {
  const nb::object fields = object.attr("__cuda_array_interface__");
  if (!PyDict_Check(fields.ptr())) {
    raise_malformed(what, "a __cuda_array_interface__", "a dict");
  }
  std::string text;
  if (!nb::try_cast(cuda_field(fields, "typestr"), text)) {
    raise_malformed(what, "a typestr", "a str");
  }
  const bool is_float = text.size() == 3 && text[0] == '<' && text[1] == 'f';
  if (!is_float || !type_of_dlpack(dlpack::kFloat, static_cast<std::uint8_t>(8 * (text[2] - '0')),
                                   1, view.type)) {
    raise(PyExc_TypeError, of(what) + " has typestr \"" + text +
                               "\"; valid through __cuda_array_interface__ are <f2, <f4 and <f8");
  }
  if (!cuda_field(fields, "mask").is_none()) {
    raise(PyExc_TypeError, of(what) + " is a masked array; fill it, or pass its data");
  }
  const auto shape = integers_of(cuda_field(fields, "shape"), what, "a shape", std::nullopt);
  if (shape.size() > static_cast<std::size_t>(ArrayView::kMaxDims)) {
    raise(PyExc_ValueError, of(what) + " has " + std::to_string(shape.size()) +
                                " dimensions; at most " + std::to_string(ArrayView::kMaxDims) +
                                " are taken");
  }
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    raise_malformed(what, "a shape", "of extents of 0 or more");
  }
  view.num_dims = static_cast<int>(shape.size());
  std::vector<std::int64_t> strides;
  if (const nb::object given = cuda_field(fields, "strides"); !given.is_none()) {
    strides = integers_of(given, what, "strides", shape.size());
  }
  std::int64_t dense = size_bytes(view.type);
  for (int i = view.num_dims - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    view.shape[i] = shape[at];
    view.strides[i] = strides.empty() ? dense : strides[at];
    dense *= view.shape[i];
  }
  const nb::object data = cuda_field(fields, "data");
  std::uintptr_t address = 0;
  bool read_only = false;
  if (!nb::isinstance<nb::tuple>(data) || nb::len(data) != 2 ||
      !nb::try_cast(nb::object(data[0]), address) ||
      !nb::try_cast(nb::object(data[1]), read_only)) {
    raise_malformed(what, "data", "an address and whether it is read-only");
  }
  view.data = reinterpret_cast<char*>(address);
  view.writable = !read_only;
  view.memory = Memory::gpu;
  if (const nb::object stream = cuda_field(fields, "stream"); !stream.is_none()) {
    if (!nb::try_cast(stream, address) || address == 0) {
      raise_malformed(what, "a stream", "None or a stream's address, which is not 0");
    }
    view.stream = reinterpret_cast<void*>(address);
  }
}

nb::object new_exchanged(const ArrayView& like, const std::int64_t* shape, int num_dims,
                         Type type) {
  const dlpack::ExchangeApi* api = exchange_api(like.object);
  dlpack::Tensor prototype;
  prototype.device = {like.memory == Memory::gpu ? dlpack::kCuda : dlpack::kCpu, like.device_index};
  prototype.num_dims = num_dims;
  dlpack_of_type(type, prototype.type.code, prototype.type.bits);
  prototype.shape = const_cast<std::int64_t*>(shape);
  dlpack::VersionedTensor* tensor = nullptr;
  const auto report = [](void*, const char*, const char* message) {
    PyErr_SetString(PyExc_RuntimeError, message);
  };
  void* object = nullptr;
  if (api->allocate(&prototype, &tensor, nullptr, report) != 0 ||
      api->object_from_managed(tensor, &object) != 0) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "matmul: no memory for the result");
    throw nb::python_error();
  }
  return nb::steal(static_cast<PyObject*>(object));
}

}  // namespace

std::int64_t ArrayView::num_elements() const {
  std::int64_t count = 1;
  for (int i = 0; i < num_dims; ++i) count *= shape[i];
  return count;
}

ArrayView::Extent ArrayView::extent() const {
  std::int64_t low = 0, high = size_bytes(type);
  for (int i = 0; i < num_dims; ++i) {
    if (shape[i] == 0) return {data, data};
    const std::int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return {data + low, data + high};
}

void view_array(PyObject* object, std::string_view what, ArrayView& view, void* stream) {
  if (view_numpy(object, what, view)) return;
  view.object = object;
  if (const dlpack::ExchangeApi* api = exchange_api(object); api != nullptr) {
    if (known_type.may_be_negated) view.object = object = without_negation(object, view);
    dlpack::Tensor tensor;
    if (api->tensor_from_object(object, &tensor) != 0) raise_unreadable(what);
    fill_from_dlpack(tensor, what, view);
    view.library = Library::dlpack_exchange;
    if (view.memory == Memory::gpu &&
        api->current_stream(dlpack::kCuda, view.device_index, &view.stream) != 0) {
      throw nb::python_error();
    }
    return;
  }
  view.library = Library::other;
  if (nb::hasattr(nb::handle(object), "is_neg")) {
    view.object = object = without_negation(object, view);
  }
  const nb::handle handle(object);
  if (nb::hasattr(handle, "__dlpack__") && nb::hasattr(handle, "__dlpack_device__")) {
    view_capsule(dlpack_capsule(handle, what, stream), what, view);
  } else if (nb::hasattr(handle, "__cuda_array_interface__")) {
    view_cuda_interface(handle, what, view);
  } else {
    raise(PyExc_TypeError, of(what) + " is " + nb::cast<std::string>(nb::inst_name(handle)) +
                               ", not an array; pass a NumPy array or anything with DLPack or "
                               "__cuda_array_interface__");
  }
}

bool type_of_dlpack(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes, Type& type) {
  if (lanes != 1) return false;
  if (code == dlpack::kFloat && bits == 32) return type = Type::f32, true;
  if (code == dlpack::kFloat && bits == 64) return type = Type::f64, true;
  if (code == dlpack::kFloat && bits == 16) return type = Type::f16, true;
  if (code == dlpack::kBfloat && bits == 16) return type = Type::bf16, true;
  if (code == dlpack::kFloat8E4m3fn && bits == 8) return type = Type::f8e4m3, true;
  if (code == dlpack::kFloat8E5m2 && bits == 8) return type = Type::f8e5m2, true;
  return false;
}

void dlpack_of_type(Type type, std::uint8_t& code, std::uint8_t& bits) {
  bits = static_cast<std::uint8_t>(8 * size_bytes(type));
  code = type == Type::bf16     ? dlpack::kBfloat
         : type == Type::f8e4m3 ? dlpack::kFloat8E4m3fn
         : type == Type::f8e5m2 ? dlpack::kFloat8E5m2
                                : dlpack::kFloat;
}

std::string shape_text(const std::int64_t* shape, int num_dims) {
  std::string text = "(";
  for (int i = 0; i < num_dims; ++i) {
    text += std::to_string(shape[i]) + (num_dims == 1 ? "," : i + 1 < num_dims ? ", " : "");
  }
  return text + ")";
}

nb::object new_array_like(const ArrayView& like, const std::int64_t* shape, int num_dims,
                          Type type) {
  if (like.library == Library::numpy) return new_numpy(shape, num_dims, type);
  if (like.library == Library::dlpack_exchange) return new_exchanged(like, shape, num_dims, type);
  nb::list extents;
  for (int i = 0; i < num_dims; ++i) extents.append(shape[i]);
  return nb::module_::import_("tilewise._arrays")
      .attr("new_array_like")(nb::handle(like.object), nb::tuple(extents),
                              std::string(numpy_name(type)));
}

std::string_view numpy_name(Type type) {
  switch (type) {
    case Type::f64:
      return "float64";
    case Type::f32:
      return "float32";
    case Type::bf16:
      return "bfloat16";
    case Type::f16:
      return "float16";
    case Type::f8e4m3:
      return "float8_e4m3fn";
    case Type::f8e5m2:
      return "float8_e5m2";
  }
  return "";
}

}  // namespace tilewise::python
