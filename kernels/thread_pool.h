// A fixed set of threads for loops inside one kernel.
//
//   ctx.threads().ParallelFor(rows, 64, [&](int64_t begin, int64_t end) { … });
//
// The calling thread works too; a pool of one has no threads and calls the body directly. Workers
// take over the caller's floating-point mode for the loop, so that flushing of subnormals and
// rounding are the same everywhere. A ParallelFor inside a body runs inline. The body may not
// throw.
#ifndef RETUPLE_KERNELS_THREAD_POOL_H_
#define RETUPLE_KERNELS_THREAD_POOL_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace retuple {

class ThreadPool {
 public:
  // `threads` counts the caller; values below 1 mean 1. At most 256.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls body(begin, end) on disjoint ranges that cover [0, n); each but the last has at least
  // `grain` elements. Returns when all are done. How the ranges are cut depends on n, grain and
  // threads() alone.
  template <typename F>
  void ParallelFor(int64_t n, int64_t grain, F&& body) {
    if (n <= 0) return;
    if (threads_ == 1 || n <= grain) {
      body(int64_t{0}, n);
      return;
    }
    Run(n, grain, &Invoke<std::remove_reference_t<F>>,
        const_cast<void*>(static_cast<const void*>(&body)));
  }

 private:
  using Body = void (*)(void* body, int64_t begin, int64_t end);
  template <typename F>
  static void Invoke(void* body, int64_t begin, int64_t end) {
    (*static_cast<F*>(body))(begin, end);
  }
  void Run(int64_t n, int64_t grain, Body fn, void* body);

  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace retuple

#endif  // RETUPLE_KERNELS_THREAD_POOL_H_
