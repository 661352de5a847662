#include "ir_bridge/onnx/proto_io.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

namespace retuple::internal {
namespace {

absl::Status Bad(const onnx::TensorProto& p, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("tensor \"%s\": %s", p.has_name() ? p.name() : std::string(), what));
}

// A read-only mapping of a whole file.
struct MappedFile {
  void* base = nullptr;
  size_t size = 0;
  ~MappedFile() {
    if (base != nullptr) munmap(base, size);
  }
};

absl::StatusOr<std::shared_ptr<MappedFile>> MapFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(absl::StrFormat("cannot open external data %s", path));
  auto file = std::make_shared<MappedFile>();
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return absl::InvalidArgumentError(absl::StrFormat("external data %s is not a regular file", path));
  }
  if (st.st_size > 0) {
    void* base = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED) {
      close(fd);
      return absl::InternalError(absl::StrFormat("cannot map external data %s", path));
    }
    file->base = base;
    file->size = static_cast<size_t>(st.st_size);
  }
  close(fd);
  return file;
}

// The file that `location` names inside `folder`; refuses whatever could lead out of it.
absl::StatusOr<std::string> ConfinedPath(const std::string& folder, const std::string& location) {
  namespace fs = std::filesystem;
  if (folder.empty()) {
    return absl::InvalidArgumentError("external data in a model that was not read from a file");
  }
  fs::path rel(location);
  if (location.empty() || rel.is_absolute()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("external data path \"%s\" must be relative to the model", location));
  }
  for (const auto& part : rel) {
    if (part == "..") {
      return absl::InvalidArgumentError(
          absl::StrFormat("external data path \"%s\" leaves the model's folder", location));
    }
  }
  std::error_code ec;
  fs::path root = fs::canonical(folder, ec);
  if (ec) return absl::NotFoundError(absl::StrFormat("folder %s: %s", folder, ec.message()));
  fs::path full = fs::canonical(root / rel, ec);
  if (ec) {
    return absl::NotFoundError(absl::StrFormat("external data \"%s\": %s", location, ec.message()));
  }
  auto mismatch = std::mismatch(root.begin(), root.end(), full.begin(), full.end());
  if (mismatch.first != root.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("external data path \"%s\" is a link that leaves the model's folder", location));
  }
  return full.string();
}

// Copies a repeated field of wider integers into the element type.
template <typename T, typename Field>
void Narrow(const Field& field, Tensor& t) {
  T* out = t.mutable_data<T>();
  for (int i = 0; i < field.size(); ++i) out[i] = static_cast<T>(field.Get(i));
}

bool IsFourBit(DType t) { return t == DType::kU4 || t == DType::kI4; }

}  // namespace

struct TensorSource::Files {
  std::map<std::string, std::shared_ptr<MappedFile>> open;
};

TensorSource::TensorSource(std::shared_ptr<const void> owner, std::string folder)
    : owner_(std::move(owner)), folder_(std::move(folder)), files_(std::make_unique<Files>()) {}
TensorSource::~TensorSource() = default;

absl::StatusOr<Tensor> TensorSource::ReadExternal(const onnx::TensorProto& p, DType dtype, Dims dims,
                                                  size_t bytes) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& e : p.external_data()) {
    if (e.key() == "location") location = e.value();
    bool ok = true;
    if (e.key() == "offset") ok = absl::SimpleAtoi(e.value(), &offset);
    if (e.key() == "length") ok = absl::SimpleAtoi(e.value(), &length);
    if (!ok) return Bad(p, absl::StrFormat("external data %s \"%s\" is not a number", e.key(), e.value()));
  }
  auto path = ConfinedPath(folder_, location);
  if (!path.ok()) return Bad(p, std::string(path.status().message()));
  auto& file = files_->open[*path];
  if (file == nullptr) {
    auto mapped = MapFile(*path);
    if (!mapped.ok()) {
      files_->open.erase(*path);
      return mapped.status();
    }
    file = *mapped;
  }
  if (length >= 0 && static_cast<size_t>(length) != bytes) {
    return Bad(p, absl::StrFormat("external data holds %d bytes, dims need %d", length, bytes));
  }
  if (offset < 0 || static_cast<uint64_t>(offset) > file->size || bytes > file->size - static_cast<size_t>(offset)) {
    return Bad(p, absl::StrFormat("external data ends at byte %d, the file at %d",
                                  static_cast<uint64_t>(offset) + bytes, file->size));
  }
  const char* at = static_cast<const char*>(file->base) + offset;
  if (reinterpret_cast<uintptr_t>(at) % std::max<size_t>(DTypeSize(dtype), 1) != 0) {
    Tensor t(dtype, std::move(dims));
    if (bytes > 0) std::memcpy(t.mutable_data(), at, bytes);
    return t;
  }
  return Tensor::View(dtype, std::move(dims), at, file);
}

absl::StatusOr<Tensor> TensorSource::Read(const onnx::TensorProto& p) {
  if (p.has_segment()) return Bad(p, "segmented tensors are not supported");
  int code = p.data_type();
  DType dtype = DType::kUndefined;
  for (DType t : AllDTypes()) {
    if (static_cast<int>(t) == code) dtype = t;
  }
  if (dtype == DType::kUndefined) return Bad(p, absl::StrFormat("unknown element type %d", code));
  Dims dims(p.dims().begin(), p.dims().end());
  auto count = CheckedNumElements(dims);
  if (!count) return Bad(p, "negative or overflowing dimensions");
  const int64_t n = *count;

  if (p.data_location() == onnx::TensorProto::EXTERNAL) {
    if (dtype == DType::kString) return Bad(p, "strings cannot be external");
    if (IsFourBit(dtype)) return Bad(p, "external 4-bit tensors are not supported");
    if (n > (int64_t{1} << 56)) return Bad(p, "dimensions overflow");
    return ReadExternal(p, dtype, std::move(dims), static_cast<size_t>(n) * DTypeSize(dtype));
  }
  auto fits = [&](int64_t have) -> absl::Status {
    if (have != n) return Bad(p, absl::StrFormat("%d elements of data, dims need %d", have, n));
    return absl::OkStatus();
  };
  if (dtype == DType::kString) {
    if (auto s = fits(p.string_data_size()); !s.ok()) return s;
    Tensor t(dtype, std::move(dims));
    for (int64_t i = 0; i < n; ++i) t.mutable_data<std::string>()[i] = p.string_data(static_cast<int>(i));
    return t;
  }
  if (p.has_raw_data()) {
    const std::string& raw = p.raw_data();
    if (IsFourBit(dtype)) {
      if (static_cast<int64_t>(raw.size()) != n / 2 + n % 2) return Bad(p, "raw data of the wrong size");
      Tensor t(dtype, std::move(dims));
      for (int64_t i = 0; i < n; ++i) {
        int v = (static_cast<uint8_t>(raw[i / 2]) >> (i % 2 * 4)) & 15;
        if (dtype == DType::kI4 && v > 7) v -= 16;
        t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(v);
      }
      return t;
    }
    const size_t size = DTypeSize(dtype);
    if (raw.size() % size != 0 || static_cast<int64_t>(raw.size() / size) != n) {
      return Bad(p, absl::StrFormat("%d bytes of raw data, %d elements of %s need %d", raw.size(), n,
                                    std::string(DTypeName(dtype)), static_cast<uint64_t>(n) * size));
    }
    if (owner_ != nullptr && reinterpret_cast<uintptr_t>(raw.data()) % size == 0) {
      return Tensor::View(dtype, std::move(dims), raw.data(), owner_);
    }
    Tensor t(dtype, std::move(dims));
    if (!raw.empty()) std::memcpy(t.mutable_data(), raw.data(), raw.size());
    return t;
  }
  auto view_or_copy = [&](const auto& field) -> absl::StatusOr<Tensor> {
    if (auto s = fits(field.size()); !s.ok()) return s;
    if (owner_ != nullptr && n > 0) return Tensor::View(dtype, dims, field.data(), owner_);
    Tensor t(dtype, dims);
    if (n > 0) std::memcpy(t.mutable_data(), field.data(), t.bytes());
    return t;
  };
  switch (dtype) {
    case DType::kF32:
      return view_or_copy(p.float_data());
    case DType::kF64:
      return view_or_copy(p.double_data());
    case DType::kI64:
      return view_or_copy(p.int64_data());
    case DType::kI32:
      return view_or_copy(p.int32_data());
    case DType::kU64:
      return view_or_copy(p.uint64_data());
    case DType::kU32: {
      if (auto s = fits(p.uint64_data_size()); !s.ok()) return s;
      Tensor t(dtype, std::move(dims));
      Narrow<uint32_t>(p.uint64_data(), t);
      return t;
    }
    case DType::kC64: {
      if (auto s = fits(p.float_data_size() / 2); !s.ok() || p.float_data_size() % 2 != 0) return Bad(p, "bad data size");
      Tensor t(dtype, std::move(dims));
      if (n > 0) std::memcpy(t.mutable_data(), p.float_data().data(), t.bytes());
      return t;
    }
    case DType::kC128: {
      if (auto s = fits(p.double_data_size() / 2); !s.ok() || p.double_data_size() % 2 != 0) return Bad(p, "bad data size");
      Tensor t(dtype, std::move(dims));
      if (n > 0) std::memcpy(t.mutable_data(), p.double_data().data(), t.bytes());
      return t;
    }
    default: {
      if (auto s = fits(p.int32_data_size()); !s.ok()) return s;
      Tensor t(dtype, std::move(dims));
      if (DTypeSize(dtype) == 2) {
        Narrow<uint16_t>(p.int32_data(), t);
      } else {
        Narrow<uint8_t>(p.int32_data(), t);
      }
      return t;
    }
  }
}

absl::StatusOr<Tensor> TensorSource::ReadSparse(const onnx::SparseTensorProto& p) {
  auto values = Read(p.values());
  if (!values.ok()) return values.status();
  auto indices = Read(p.indices());
  if (!indices.ok()) return indices.status();
  Dims dims(p.dims().begin(), p.dims().end());
  auto n = CheckedNumElements(dims);
  if (!n || *n > (int64_t{1} << 32)) return Bad(p.values(), "sparse dimensions overflow");
  if (values->dtype() == DType::kString || values->rank() != 1 || indices->dtype() != DType::kI64 ||
      indices->rank() < 1 || indices->rank() > 2 || indices->dim(0) != values->dim(0) ||
      (indices->rank() == 2 && indices->dim(1) != static_cast<int64_t>(dims.size()))) {
    return Bad(p.values(), "sparse values and indices do not fit together");
  }
  const size_t size = DTypeSize(values->dtype());
  Tensor t(values->dtype(), dims);
  if (*n > 0) std::memset(t.mutable_data(), 0, t.bytes());
  const int64_t* index = indices->data<int64_t>();
  for (int64_t k = 0; k < values->size(); ++k) {
    int64_t at = 0;
    if (indices->rank() == 1) {
      at = index[k];
      if (at < 0 || at >= *n) return Bad(p.values(), "sparse index out of range");
    } else {
      for (size_t d = 0; d < dims.size(); ++d) {
        int64_t i = index[k * static_cast<int64_t>(dims.size()) + static_cast<int64_t>(d)];
        if (i < 0 || i >= dims[d]) return Bad(p.values(), "sparse index out of range");
        at = at * dims[d] + i;
      }
    }
    std::memcpy(t.mutable_data<char>() + at * static_cast<int64_t>(size),
                values->data<char>() + k * static_cast<int64_t>(size), size);
  }
  return t;
}

Type ReadType(const onnx::TypeProto& p) {
  // Nesting of types is bounded by protobuf's own depth limit.
  switch (p.value_case()) {
    case onnx::TypeProto::kTensorType:
    case onnx::TypeProto::kSparseTensorType: {
      const bool dense = p.has_tensor_type();
      const int code = dense ? p.tensor_type().elem_type() : p.sparse_tensor_type().elem_type();
      DType dtype = DType::kUndefined;
      for (DType t : AllDTypes()) {
        if (static_cast<int>(t) == code) dtype = t;
      }
      const bool has_shape = dense ? p.tensor_type().has_shape() : p.sparse_tensor_type().has_shape();
      if (!has_shape) return Type::Tensor(dtype);
      const auto& shape = dense ? p.tensor_type().shape() : p.sparse_tensor_type().shape();
      Shape dims;
      for (const auto& d : shape.dim()) {
        if (d.has_dim_value() && d.dim_value() >= 0) {
          dims.push_back(d.dim_value());
        } else if (d.has_dim_param() && !d.dim_param().empty()) {
          dims.push_back(Dim::Named(d.dim_param()));
        } else {
          dims.push_back(Dim::Fresh());
        }
      }
      return Type::Tensor(dtype, std::move(dims));
    }
    case onnx::TypeProto::kSequenceType:
      return Type::Sequence(ReadType(p.sequence_type().elem_type()));
    case onnx::TypeProto::kOptionalType:
      return Type::Optional(ReadType(p.optional_type().elem_type()));
    default:
      return Type::Unknown();
  }
}

void WriteType(const Type& type, onnx::TypeProto* p) {
  switch (type.kind()) {
    case Type::Kind::kTensor: {
      auto* t = p->mutable_tensor_type();
      t->set_elem_type(static_cast<int>(type.dtype()));
      if (!type.has_shape()) return;
      auto* shape = t->mutable_shape();
      for (const Dim& d : type.shape()) {
        auto* out = shape->add_dim();
        if (d.known()) {
          out->set_dim_value(d.value());
        } else if (d.named()) {
          out->set_dim_param(d.ToString());
        }
      }
      return;
    }
    case Type::Kind::kSequence:
      WriteType(type.element(), p->mutable_sequence_type()->mutable_elem_type());
      return;
    case Type::Kind::kOptional:
      WriteType(type.element(), p->mutable_optional_type()->mutable_elem_type());
      return;
    case Type::Kind::kUnknown:
      return;
  }
}

void WriteTensor(const Tensor& t, const std::string& name, onnx::TensorProto* p) {
  if (!name.empty()) p->set_name(name);
  p->set_data_type(static_cast<int>(t.dtype()));
  for (int64_t d : t.dims()) p->add_dims(d);
  if (t.dtype() == DType::kString) {
    for (const std::string& s : t.strings()) p->add_string_data(s);
  } else if (IsFourBit(t.dtype())) {
    std::string raw(static_cast<size_t>(t.size() / 2 + t.size() % 2), '\0');
    for (int64_t i = 0; i < t.size(); ++i) {
      raw[static_cast<size_t>(i / 2)] |= static_cast<char>((t.data<uint8_t>()[i] & 15) << (i % 2 * 4));
    }
    p->set_raw_data(std::move(raw));
  } else {
    p->set_raw_data(t.data<char>(), t.bytes());
  }
}

absl::Status ParseMessage(std::string_view bytes, google::protobuf::MessageLite* message,
                          std::string_view what) {
  if (bytes.size() > size_t{INT32_MAX}) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: larger than 2 GB", std::string(what)));
  }
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(INT32_MAX);
  if (!message->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: not a valid protobuf message (%d bytes; truncated or damaged near byte %d)", std::string(what),
        bytes.size(), coded.CurrentPosition()));
  }
  return absl::OkStatus();
}

}  // namespace retuple::internal
