// TfIdfVectorizer: counts, per row, the n-grams of a pool; their tokens may be apart by up to max_skip_count.
//
// The pool holds the n-grams of length 1, then 2, …; ngram_counts[k] is where those of length k + 1 begin. N-gram i of
// the pool counts into column ngram_indexes[i]. Strings are mapped to numbers first, so that there is one lookup.
#include <map>

#include "kernels/core/util.h"

namespace retuple::internal {
namespace {

enum class Mode { kTf, kIdf, kTfIdf };

struct Pool {
  std::map<std::string, int64_t, std::less<>> words;  // of pool_strings
  bool strings = false;
  std::map<std::vector<int64_t>, size_t> grams;  // tokens to position in the pool
  Mode mode = Mode::kTf;
  int64_t min_length = 1, max_length = 1, max_skip = 0;
  Ints columns;
  Floats weights;
  int64_t width = 0;
};

class TfIdfKernel final : public Kernel {
 public:
  explicit TfIdfKernel(Pool pool) : pool_(std::move(pool)) {}

  absl::Status Run(KernelContext& ctx) const override {
    RT_ASSIGN_OR_RETURN(const Tensor* x, Input(ctx, 0));
    if (x->rank() > 2) return Bad(ctx, "input has rank %d, expected at most 2", x->rank());
    std::vector<int64_t> tokens(x->size());
    if (pool_.strings) {
      if (x->dtype() != DType::kString) return Bad(ctx, "the pool has strings, the input numbers");
      for (int64_t i = 0; i < x->size(); ++i) {
        auto it = pool_.words.find(x->strings()[i]);
        tokens[i] = it == pool_.words.end() ? -1 : it->second;
      }
    } else {
      if (!IsInteger(x->dtype())) return Bad(ctx, "the pool has numbers, the input not");
      tokens = x->ToInts();
    }
    const bool batch = x->rank() == 2;
    const int64_t rows = batch ? x->dim(0) : 1;
    const int64_t n = batch ? x->dim(1) : x->size();
    RT_ASSIGN_OR_RETURN(Tensor* y, ctx.Output(0, DType::kF32, batch ? Dims{rows, pool_.width} : Dims{pool_.width}));
    auto* out = y->mutable_data<float>();
    std::fill(out, out + y->size(), 0.0f);
    for (int64_t r = 0; r < rows; ++r) CountRow(tokens.data() + r * n, n, out + r * pool_.width);
    return absl::OkStatus();
  }

 private:
  void CountRow(const int64_t* tokens, int64_t n, float* out) const {
    std::vector<int64_t> gram;
    for (int64_t length = pool_.min_length; length <= pool_.max_length && length <= n; ++length) {
      // A single token has no distance to vary.
      const int64_t skips = length == 1 ? 0 : pool_.max_skip;
      for (int64_t skip = 0; skip <= skips; ++skip) {
        if (length > 1 && skip + 1 > (n - 1) / (length - 1)) break;
        const int64_t step = skip + 1;
        for (int64_t at = 0; at + (length - 1) * step < n; ++at) {
          gram.clear();
          for (int64_t k = 0; k < length; ++k) gram.push_back(tokens[at + k * step]);
          auto it = pool_.grams.find(gram);
          if (it != pool_.grams.end()) Count(it->second, out);
        }
      }
    }
  }
  void Count(size_t i, float* out) const {
    float& cell = out[pool_.columns[i]];
    const float w = pool_.weights.empty() ? 1.0f : pool_.weights[i];
    switch (pool_.mode) {
      case Mode::kTf:
        cell += 1.0f;
        break;
      case Mode::kIdf:
        cell = w;
        break;
      case Mode::kTfIdf:
        cell += w;
        break;
    }
  }
  Pool pool_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeTfIdf(const KernelInit& init) {
  const AttrMap& a = init.op.attrs;
  auto bad = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", init.op.form(), what));
  };
  Pool p;
  const std::string mode = AttrOr<std::string>(a, "mode", "TF");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") return bad("mode must be TF, IDF or TFIDF");
  p.mode = mode == "TF" ? Mode::kTf : (mode == "IDF" ? Mode::kIdf : Mode::kTfIdf);
  p.min_length = AttrOr<int64_t>(a, "min_gram_length", 1);
  p.max_length = AttrOr<int64_t>(a, "max_gram_length", 1);
  p.max_skip = AttrOr<int64_t>(a, "max_skip_count", 0);
  if (p.min_length < 1 || p.max_length < p.min_length || p.max_skip < 0) return bad("gram lengths or skips");
  const Ints starts = AttrOr<Ints>(a, "ngram_counts", {});
  p.columns = AttrOr<Ints>(a, "ngram_indexes", {});
  p.weights = AttrOr<Floats>(a, "weights", {});
  Ints tokens = AttrOr<Ints>(a, "pool_int64s", {});
  if (const Strings* s = FindAttr<Strings>(a, "pool_strings"); s != nullptr && !s->empty()) {
    if (!tokens.empty()) return bad("pool_int64s and pool_strings are both given");
    p.strings = true;
    for (const std::string& w : *s) {
      tokens.push_back(p.words.emplace(w, static_cast<int64_t>(p.words.size())).first->second);
    }
  }
  if (!p.weights.empty() && p.weights.size() != p.columns.size()) return bad("weights and ngram_indexes differ in length");
  for (int64_t c : p.columns) {
    if (c < 0 || c > int64_t{1} << 31) return bad("ngram_indexes out of range");
    p.width = std::max(p.width, c + 1);
  }
  size_t gram = 0;
  const int64_t total = static_cast<int64_t>(tokens.size());
  for (size_t k = 0; k < starts.size(); ++k) {
    const int64_t length = static_cast<int64_t>(k) + 1;
    const int64_t begin = starts[k], end = k + 1 < starts.size() ? starts[k + 1] : total;
    if (begin < 0 || end < begin || end > total || (end - begin) % length != 0) {
      return bad("ngram_counts do not fit the pool");
    }
    for (int64_t at = begin; at < end; at += length, ++gram) {
      if (gram >= p.columns.size()) return bad("more n-grams than ngram_indexes");
      p.grams.emplace(std::vector<int64_t>(tokens.begin() + at, tokens.begin() + at + length), gram);
    }
  }
  return std::make_unique<TfIdfKernel>(std::move(p));
}

}  // namespace

void RegisterTfIdf(KernelRegistry& r) { r.AddFactory("TfIdfVectorizer", MakeTfIdf); }

}  // namespace retuple::internal
