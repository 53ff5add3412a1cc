#include "gpu/cublaslt.h"

#include <cstdlib>
#include <mutex>

#include "gpu/dynamic_library.h"

namespace tilewise::gpu {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;

Result<void> check_status(int status, const char* function) {
  if (status == 0) return {};
  return std::unexpected(Error{
      ErrorCode::internal, std::string(function) + ": cuBLAS status " + std::to_string(status)});
}

std::vector<std::string> candidates() {
  if (const char* named = std::getenv("TILEWISE_CUBLASLT"); named != nullptr && *named != '\0') {
    return {named};
  }
  std::vector<std::string> files;
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12"}) {
    files.emplace_back(name);
    for (std::string& path : find_toolkit_files("lib", name)) files.push_back(std::move(path));
  }
  return files;
}

std::string version_text(std::size_t version) {  // 130102 is 13.1.2
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Result<CublasLt> open_cublaslt() {
  auto library = DynamicLibrary::open("cuBLASLt", candidates());
  if (!library) return std::unexpected(library.error());
  CublasLt lt;
  lt.path = library->path();
#define TILEWISE_LOAD(member, symbol, ...)                                         \
  lt.call.member = reinterpret_cast<int (*)(__VA_ARGS__)>(library->find(#symbol)); \
  if (lt.call.member == nullptr) return missing_capability(lt.path + " has no " #symbol);
  TILEWISE_CUBLASLT_FUNCTIONS(TILEWISE_LOAD)
#undef TILEWISE_LOAD
  if (const auto version =
          reinterpret_cast<std::size_t (*)()>(library->find("cublasLtGetVersion"))) {
    lt.version = version_text(version());
  }
  return lt;
}

// One handle a process; it belongs to the context that was current first, which is the primary one.
Result<LtHandle> the_handle(const CublasLt& lt) {
  static std::mutex mutex;
  static LtHandle handle = nullptr;
  const std::lock_guard lock(mutex);
  if (handle == nullptr) {
    if (auto ok = check_status(lt.call.create(&handle), "cublasLtCreate"); !ok) {
      return std::unexpected(ok.error());
    }
  }
  return handle;
}

// A row-major matrix as the column-major one that cuBLASLt sees: its transpose.
struct ColumnMajor {
  std::uint64_t rows, columns;
  std::int64_t pitch;
  bool transposed;  // the operation transposes it back
};

Result<ColumnMajor> column_major(const char* name, const Strides& s, std::int64_t rows,
                                 std::int64_t columns) {
  const auto r = static_cast<std::uint64_t>(rows), c = static_cast<std::uint64_t>(columns);
  if (s.column == 1) return ColumnMajor{c, r, s.row, false};
  if (s.row == 1) return ColumnMajor{r, c, s.column, true};
  return bad_request(std::string("cuBLASLt: neither rows nor columns of ") + name +
                     " are contiguous");
}

}  // namespace

Result<const CublasLt*> cublaslt() {
  static const Result<CublasLt> opened = open_cublaslt();
  if (!opened) return std::unexpected(opened.error());
  return &*opened;
}

struct CublasLtProduct::Descriptors {
  explicit Descriptors(const CublasLtFunctions& functions) : call(functions) {}
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  ~Descriptors() {
    for (LtMatrixLayout layout : {a, b, d}) {
      if (layout != nullptr) call.layout_destroy(layout);
    }
    if (product != nullptr) call.desc_destroy(product);
  }

  Result<void> add_layout(LtMatrixLayout& layout, Type type, const ColumnMajor& matrix,
                          std::int64_t batch, std::int64_t batch_stride) const {
    int status =
        call.layout_create(&layout, data_type(type), matrix.rows, matrix.columns, matrix.pitch);
    const int count = static_cast<int>(batch);
    if (status == 0 && batch > 1) {
      status = call.layout_set(layout, kLayoutBatchCount, &count, sizeof(count));
    }
    if (status == 0 && batch > 1) {
      status = call.layout_set(layout, kLayoutBatchStride, &batch_stride, sizeof(batch_stride));
    }
    return check_status(status, "cublasLtMatrixLayoutCreate");
  }

  // a and b in cuBLASLt's order: D' = B' A', so its first operand is our B.
  Result<void> fill(const Problem& p) {
    const bool is_f64 = p.type_a == Type::f64;
    const int compute = is_f64                       ? kCompute64
                        : p.compute == Compute::tf32 ? kComputeTf32
                                                     : kCompute32;
    const auto first = column_major("B", p.b, p.k, p.n);
    const auto second = column_major("A", p.a, p.m, p.k);
    const auto result = column_major("D", p.d, p.m, p.n);
    if (!first) return std::unexpected(first.error());
    if (!second) return std::unexpected(second.error());
    if (!result) return std::unexpected(result.error());
    if (result->transposed) return bad_request("cuBLASLt: D's columns are not contiguous");
    int status = call.desc_create(&product, compute, data_type(is_f64 ? Type::f64 : Type::f32));
    const auto set = [&](int attribute, const auto& value) {
      if (status == 0) status = call.desc_set(product, attribute, &value, sizeof(value));
    };
    if (first->transposed) set(kDescTransA, kTransposed);
    if (second->transposed) set(kDescTransB, kTransposed);
    if (size_bytes(p.type_a) == 1) set(kDescFastAccumulation, std::int8_t{1});
    if (auto ok = check_status(status, "cublasLtMatmulDescCreate"); !ok) return ok;
    if (auto ok = add_layout(b, p.type_b, *first, p.batch, p.b.batch); !ok) return ok;
    if (auto ok = add_layout(a, p.type_a, *second, p.batch, p.a.batch); !ok) return ok;
    return add_layout(d, p.type_d, *result, p.batch, p.d.batch);
  }

  Result<std::vector<LtHeuristic>> heuristics(LtHandle handle) const {
    LtPreference preference = nullptr;
    std::vector<LtHeuristic> found(kMaxAlgorithms);
    int count = 0;
    int status = call.preference_create(&preference);
    if (status == 0) {
      status = call.preference_set(preference, kPreferenceWorkspace, &kWorkspaceBytes,
                                   sizeof(kWorkspaceBytes));
    }
    if (status == 0) {
      status = call.get_heuristic(handle, product, b, a, d, d, preference, kMaxAlgorithms,
                                  found.data(), &count);
    }
    if (preference != nullptr) call.preference_destroy(preference);
    if (auto ok = check_status(status, "cublasLtMatmulAlgoGetHeuristic"); !ok) {
      return std::unexpected(ok.error());
    }
    found.resize(static_cast<std::size_t>(count));
    std::erase_if(found, [](const LtHeuristic& h) { return h.state != 0; });
    return found;
  }

  const CublasLtFunctions& call;
  LtMatmulDesc product = nullptr;
  LtMatrixLayout a = nullptr, b = nullptr, d = nullptr;
  LtHandle handle = nullptr;
  bool is_f64 = false;
};

CublasLtProduct::CublasLtProduct() = default;

Result<CublasLtProduct> CublasLtProduct::create(const Problem& problem) {
  const auto lt = cublaslt();
  if (!lt) return std::unexpected(lt.error());
  const auto handle = the_handle(**lt);
  if (!handle) return std::unexpected(handle.error());
  CublasLtProduct product;
  product.library_ = *lt;
  product.descriptors_ = std::make_shared<Descriptors>((*lt)->call);
  product.descriptors_->handle = *handle;
  product.descriptors_->is_f64 = problem.type_a == Type::f64;
  if (auto ok = product.descriptors_->fill(problem); !ok) return std::unexpected(ok.error());
  auto algorithms = product.descriptors_->heuristics(*handle);
  if (!algorithms) return std::unexpected(algorithms.error());
  if (algorithms->empty())
    return missing_capability("cuBLASLt offers no algorithm for this product");
  product.algorithms_ = std::move(*algorithms);
  auto workspace = DeviceBuffer::allocate(kWorkspaceBytes);
  if (!workspace) return std::unexpected(workspace.error());
  product.workspace_ = std::make_shared<DeviceBuffer>(std::move(*workspace));
  return product;
}

std::string CublasLtProduct::describe(std::size_t algorithm) const {
  const auto get = [&](int attribute) {
    std::uint32_t value = 0;
    std::size_t written = 0;
    // The cluster's shape is 16 bits wide, the others 32; a wrong size only leaves the value at 0.
    const std::size_t bytes = attribute == kAlgorithmCluster ? 2 : 4;
    library_->call.algorithm_get(&algorithms_[algorithm].algorithm, attribute, &value, bytes,
                                 &written);
    return std::to_string(value);
  };
  return "algorithm " + get(kAlgorithmId) + ", tile " + get(kAlgorithmTile) + ", stages " +
         get(kAlgorithmStages) + ", cluster " + get(kAlgorithmCluster) + ", split " +
         get(kAlgorithmSplitK);
}

Result<void> CublasLtProduct::enqueue(std::size_t algorithm, const void* a, const void* b, void* d,
                                      CuStream stream) const {
  const float one = 1, zero = 0;
  const double one64 = 1, zero64 = 0;
  const bool is_f64 = descriptors_->is_f64;
  const void* alpha = is_f64 ? static_cast<const void*>(&one64) : &one;
  const void* beta = is_f64 ? static_cast<const void*>(&zero64) : &zero;
  return check_status(
      library_->call.matmul(descriptors_->handle, descriptors_->product, alpha, b, descriptors_->b,
                            a, descriptors_->a, beta, d, descriptors_->d, d, descriptors_->d,
                            &algorithms_[algorithm].algorithm, workspace_->data(),
                            workspace_->bytes(), stream),
      "cublasLtMatmul");
}

}  // namespace tilewise::gpu
