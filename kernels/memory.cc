#include "kernels/memory.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace retuple {
namespace {

// Classes are 64 · (1, 1.25, 1.5, 1.75) · 2^e bytes, so that at most a fifth of a buffer is slack.
int SizeClass(size_t bytes) {
  const size_t units = std::max<size_t>((bytes + 63) / 64, 1) * 4;  // quarters of 64 bytes
  const int e = std::bit_width(units) - 3;                          // 4·2^e <= units < 8·2^e
  const size_t step = size_t{1} << e;
  const size_t m = (units + step - 1) / step;  // 4 … 8
  return e * 4 + static_cast<int>(m) - 4;
}

size_t ClassBytes(int c) {
  const size_t bytes = (static_cast<size_t>(4 + c % 4) << (c / 4)) * 16;
  return (bytes + kMemoryAlignment - 1) & ~(kMemoryAlignment - 1);
}

}  // namespace

namespace internal {

void* AllocateAligned(size_t bytes) {
  constexpr size_t kHuge = size_t{2} << 20;
  if (bytes > kMaxBufferBytes) throw std::bad_alloc();
  const size_t alignment = bytes >= kHuge ? kHuge : kMemoryAlignment;
  const size_t size = (std::max<size_t>(bytes, 1) + kMemoryAlignment - 1) & ~(kMemoryAlignment - 1);
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes >= kHuge) madvise(p, size, MADV_HUGEPAGE);  // a hint: no matter if it fails
#endif
  return p;
}

void FreeAligned(void* p) { std::free(p); }

}  // namespace internal

Buffer* BufferPool::Take(size_t bytes) {
  if (bytes > kMaxBufferBytes) return nullptr;
  const int c = SizeClass(bytes);
  auto take = [&]() -> Buffer* {
    // A buffer of up to twice the size still serves.
    for (int k = c; k < std::min(c + 4, kClasses); ++k) {
      if (free_[k].empty()) continue;
      Buffer* b = free_[k].back();
      free_[k].pop_back();
      b->idle = false;
      return b;
    }
    return nullptr;
  };
  if (Buffer* b = take()) return b;
  if (!strays_.empty()) {
    Sweep();
    if (Buffer* b = take()) return b;
  }
  const size_t capacity = ClassBytes(c);
  void* p = std::aligned_alloc(kMemoryAlignment, capacity);
  if (p == nullptr) return nullptr;
  auto b = std::make_unique<Buffer>();
  b->data = p;
  b->capacity = capacity;
  b->size_class = c;
  b->keep = std::shared_ptr<const void>(p, [](const void* q) { std::free(const_cast<void*>(q)); });
  total_bytes_ += capacity;
  all_.push_back(std::move(b));
  return all_.back().get();
}

void BufferPool::Sweep() {
  if (strays_.empty()) return;
  size_t kept = 0;
  for (Buffer* b : strays_) {
    if (b->idle || b->holders() == 0) {
      if (!b->idle) {
        b->idle = true;
        free_[b->size_class].push_back(b);
      }
      b->stray = false;
    } else {
      strays_[kept++] = b;
    }
  }
  strays_.resize(kept);
  // Pairs with the release in the last holder's decrement, which may have been on another thread.
  std::atomic_thread_fence(std::memory_order_acquire);
}

void ScratchArena::Free::operator()(void* p) const { std::free(p); }

void* ScratchArena::Allocate(size_t bytes) {
  if (bytes > kMaxBufferBytes) return nullptr;
  bytes = (std::max<size_t>(bytes, 1) + kMemoryAlignment - 1) & ~(kMemoryAlignment - 1);
  while (now_.block < blocks_.size()) {
    Block& b = blocks_[now_.block];
    if (b.size - now_.used >= bytes) {
      void* p = static_cast<char*>(b.data.get()) + now_.used;
      now_.used += bytes;
      return p;
    }
    if (now_.used == 0 && now_.block + 1 == blocks_.size()) {
      blocks_.pop_back();  // an unused block that is too small: replaced
      break;
    }
    ++now_.block;
    now_.used = 0;
  }
  const size_t size =
      std::max<size_t>(bytes + bytes / 4, size_t{64} << 10) & ~(kMemoryAlignment - 1);
  void* p = std::aligned_alloc(kMemoryAlignment, size);
  if (p == nullptr) return nullptr;
  blocks_.push_back({std::unique_ptr<void, Free>(p), size});
  now_ = {blocks_.size() - 1, bytes};
  return p;
}

size_t ScratchArena::total_bytes() const {
  size_t n = 0;
  for (const Block& b : blocks_) n += b.size;
  return n;
}

}  // namespace retuple
