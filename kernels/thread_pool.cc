#include "kernels/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/denormals.h"

namespace retuple {
namespace {

thread_local bool inside_loop = false;

}  // namespace

// One loop at a time: the caller publishes it under the mutex and raises `epoch`; each worker that
// sees the new epoch enters, takes chunks from `next` until none is left, and leaves. The loop is
// over when every chunk is taken and no worker is inside.
struct ThreadPool::Impl {
  std::mutex mutex;
  std::mutex loop_mutex;  // callers take turns
  std::condition_variable wake, done;
  std::atomic<uint64_t> epoch{0};
  bool stop = false;
  int inside = 0;
  Body fn = nullptr;
  void* body = nullptr;
  int64_t n = 0, chunk = 0;
  uint64_t float_control = 0;
  std::atomic<int64_t> next{0};
  std::vector<std::thread> workers;

  void Work() {
    for (;;) {
      const int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= n) return;
      fn(body, begin, std::min(n, begin + chunk));
    }
  }

  void Worker() {
    inside_loop = true;
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < 2000 && epoch.load(std::memory_order_acquire) == seen; ++spin) {
#if defined(__SSE__)
        _mm_pause();
#endif
      }
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || epoch.load(std::memory_order_relaxed) != seen; });
        if (stop) return;
        seen = epoch.load(std::memory_order_relaxed);
        if (fn == nullptr) continue;  // woke after the loop was over
        ++inside;
      }
      SetFloatControl(float_control);
      Work();
      std::lock_guard lock(mutex);
      if (--inside == 0) done.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : threads_(std::clamp(threads, 1, 256)) {
  if (threads_ == 1) return;
  impl_ = std::make_unique<Impl>();
  for (int i = 1; i < threads_; ++i) impl_->workers.emplace_back([this] { impl_->Worker(); });
}

ThreadPool::~ThreadPool() {
  if (impl_ == nullptr) return;
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stop = true;
  }
  impl_->wake.notify_all();
  for (std::thread& t : impl_->workers) t.join();
}

void ThreadPool::Run(int64_t n, int64_t grain, Body fn, void* body) {
  if (inside_loop) {
    fn(body, 0, n);
    return;
  }
  Impl& p = *impl_;
  std::lock_guard turn(p.loop_mutex);
  const int64_t pieces = int64_t{4} * threads_;
  const int64_t chunk = std::max({grain, (n + pieces - 1) / pieces, int64_t{1}});
  {
    std::lock_guard lock(p.mutex);
    p.fn = fn;
    p.body = body;
    p.n = n;
    p.chunk = chunk;
    p.float_control = FloatControl();
    p.next.store(0, std::memory_order_relaxed);
    p.epoch.fetch_add(1, std::memory_order_release);
  }
  p.wake.notify_all();
  inside_loop = true;
  p.Work();
  inside_loop = false;
  std::unique_lock lock(p.mutex);
  p.fn = nullptr;
  p.done.wait(lock, [&] { return p.inside == 0; });
}

}  // namespace retuple
