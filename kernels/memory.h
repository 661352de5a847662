// Memory of a plan: buffers for values, reused by lifetime, and an arena for a kernel's
// temporaries.
//
// A buffer is handed out as a Tensor that shares its `keep` handle. The pool keeps one reference of
// its own, so a buffer is free exactly when that is the only one left. The executor tells when a
// holder went (Drop); a buffer that then still has other holders (a view, a sequence, the caller
// who keeps an output) goes to the strays, and is taken back when they have gone. In the steady
// state no run allocates.
#ifndef RETUPLE_KERNELS_MEMORY_H_
#define RETUPLE_KERNELS_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace retuple {

inline constexpr size_t kMemoryAlignment = 64;
// Larger requests fail at once; no machine that runs this serves them.
inline constexpr size_t kMaxBufferBytes = size_t{1} << 38;

namespace internal {
void* AllocateAligned(size_t bytes);
void FreeAligned(void* p);
}  // namespace internal

struct Buffer {
  void* data = nullptr;
  size_t capacity = 0;
  int size_class = 0;
  bool idle = false;   // on a free list
  bool stray = false;  // on the list of strays
  int slots = 0;       // values of a plan that hold it and will Drop it
  std::shared_ptr<const void> keep;
  int holders() const { return static_cast<int>(keep.use_count()) - 1; }
};

// Not thread-safe; holders may let go on any thread.
class BufferPool {
 public:
  // A buffer of at least `bytes`, or null when memory is short. The caller becomes a holder by
  // copying `keep`.
  Buffer* Take(size_t bytes);
  // Called when a slot let go: frees the buffer if that was the last holder.
  void Drop(Buffer* b) {
    if (--b->slots > 0 || b->idle) return;
    if (b->holders() == 0) {
      b->idle = true;
      free_[b->size_class].push_back(b);
    } else if (!b->stray) {
      b->stray = true;
      strays_.push_back(b);
    }
  }
  // The stray whose memory starts at `data`, or null.
  Buffer* FindStray(const void* data) const {
    for (Buffer* b : strays_) {
      if (b->data == data) return b;
    }
    return nullptr;
  }
  // Takes back strays that nobody holds any more.
  void Sweep();
  size_t total_bytes() const { return total_bytes_; }

 private:
  static constexpr int kClasses = 160;  // four a power of two
  std::vector<std::unique_ptr<Buffer>> all_;
  std::vector<Buffer*> free_[kClasses];
  std::vector<Buffer*> strays_;
  size_t total_bytes_ = 0;
};

// Uninitialised elements of a trivial type, aligned for vectors; large ones ask for huge pages.
// Throws std::bad_alloc.
template <typename T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(size_t n) : data_(static_cast<T*>(Allocate(n * sizeof(T)))), size_(n) {}
  AlignedArray(AlignedArray&& o) noexcept : data_(o.data_), size_(o.size_) {
    o.data_ = nullptr, o.size_ = 0;
  }
  AlignedArray& operator=(AlignedArray&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~AlignedArray() { Free(data_); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static void* Allocate(size_t bytes) { return internal::AllocateAligned(bytes); }
  static void Free(void* p) { internal::FreeAligned(p); }
  T* data_ = nullptr;
  size_t size_ = 0;
};

// A stack of temporaries. Blocks stay for the next run.
class ScratchArena {
 public:
  struct Mark {
    size_t block = 0, used = 0;
  };
  // 64-byte aligned; null when memory is short.
  void* Allocate(size_t bytes);
  Mark mark() const { return now_; }
  void Rewind(Mark m) { now_ = m; }
  size_t total_bytes() const;

 private:
  struct Free {
    void operator()(void* p) const;
  };
  struct Block {
    std::unique_ptr<void, Free> data;
    size_t size;
  };
  std::vector<Block> blocks_;
  Mark now_;
};

}  // namespace retuple

#endif  // RETUPLE_KERNELS_MEMORY_H_
