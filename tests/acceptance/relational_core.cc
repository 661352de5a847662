// The "Must show" lines of the relational core, each with its figure.   relational_core
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "absl/strings/str_format.h"
#include "etuple/reader.h"
#include "tests/acceptance/report.h"
#include "unify/relational.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

namespace fs = std::filesystem;
// Best of eight of each, in ms, over a spine (add 1 (add 1 …)) and nested pairs of n variables, and a chain of bindings.
struct Times {
  double unify = 1e9, reify = 1e9, u6 = 1e9, u10 = 1e9;
};
Times Terms(int n) {
  Times best;
  for (int round = 0; round < 8; ++round) {
    Context ctx;
    const Term add = ctx.Sym("add"), one = ctx.Integer(1);
    Term a = ctx.Variable("x"), b = ctx.Sym("a"), l = ctx.Sym("a"), m = l;
    for (int i = 0; i < n; ++i) {
      a = ctx.Tuple({add, one, a});
      b = ctx.Tuple({add, one, b});
      l = ctx.Tuple({ctx.Variable("v" + std::to_string(i)), l});
      m = ctx.Tuple({ctx.Integer(i), m});
    }
    double start = Seconds();
    auto took = [&](double* best_of) {
      *best_of = std::min(*best_of, (Seconds() - start) * 1e3);
      start = Seconds();
    };
    Substitution s, s6, s10;
    bool ok = Unify(ctx, a, b, s);
    took(&best.unify);
    ok = ok && Reify(ctx, a, s) == b;
    took(&best.reify);
    ok = ok && Unify(ctx, l, m, s6);
    took(&best.u6);
    if (!ok) std::abort();
    for (int i = 0; i < n; ++i) {
      s10.Bind(ctx.Variable("w" + std::to_string(i)), ctx.Tuple({ctx.Variable("w" + std::to_string(i + 1))}));
    }
    start = Seconds();
    Reify(ctx, ctx.Variable("w0"), s10);
    took(&best.u10);
  }
  return best;
}

// Goals that ended in a RecursionError in Python, at 100 times their size; the number of answers.
void Deep() {
  Context ctx;
  Program p(ctx);
  const auto forms = ReadForms(ctx, R"(
    (defrel (appendo ?l ?s ?o)
      (conde ((== ?l ()) (== ?s ?o))
             ((fresh (?a ?d ?r) (== ?l (?a ..?d)) (== ?o (?a ..?r)) (appendo ?d ?s ?r)))))
    (defrel (membero ?x ?l)
      (fresh (?a ?d) (== ?l (?a ..?d)) (conde ((== ?x ?a)) ((membero ?x ?d)))))
    (defrel (adds ?t ?u) (conde ((== ?t 1) (== ?u 1)) ((fresh (?x ?y) (== ?t (add 1 ?x)) (== ?u (add 1 ?y)) (adds ?x ?y)))))
  )");
  for (const Form& f : *forms) {
    if (!p.Define(f.term).ok()) std::abort();
  }
  auto list = [&](int n) {
    std::vector<Term> out;
    for (int i = 0; i < n; ++i) out.push_back(ctx.Integer(i));
    return ctx.Tuple(out);
  };
  auto count = [&](Term goal) {
    const std::vector<Term> goals = {goal};
    auto q = p.Solve(ctx.Variable("q"), goals);
    if (!q.ok()) return size_t{0};
    size_t n = 0;
    while ((*q)->Next().has_value()) ++n;
    return n;
  };
  const Term q = ctx.Variable("q");
  Line("3", "membero over 16,500 elements", count(ctx.Tuple({ctx.Sym("membero"), q, list(16500)})) == 16500);
  const Term x = ctx.Variable("x"), y = ctx.Variable("y");
  const Term splits = ctx.Tuple({ctx.Sym("fresh"), ctx.Tuple({x, y}), ctx.Tuple({ctx.Sym("appendo"), x, y, list(19600)})});
  Line("3", "appendo, all 19,601 splits of 19,600 elements", count(splits) == 19601);
  Term t = ctx.Integer(1);
  for (int i = 0; i < 4100; ++i) t = ctx.Tuple({ctx.Sym("add"), ctx.Integer(1), t});
  Line("3", "a walk of 4,100 nested levels", count(ctx.Tuple({ctx.Sym("adds"), t, q})) == 1);
  std::vector<Term> conj = {ctx.Sym("fresh")}, vars;
  const int n = 99900;
  for (int i = 0; i < n; ++i) vars.push_back(ctx.Variable("p" + std::to_string(i)));
  conj.push_back(ctx.Tuple(vars));
  for (int i = 0; i + 1 < n; ++i) {
    const Term v = vars[i], w = vars[i + 1];
    conj.push_back(ctx.Tuple({ctx.Sym("=="), v, w}));
  }
  Line("3", "a conjunction of 99,900 goals", count(ctx.Tuple(conj)) == 1);
}

}  // namespace
}  // namespace retuple

int main(int, char** argv) {
  using namespace retuple;
  const std::string source = RETUPLE_SOURCE_DIR;
  const std::string build = fs::path(argv[0]).parent_path().parent_path().parent_path().string();
  const Times small = Terms(10'000), large = Terms(100'000);
  Line("3", absl::StrFormat("spine of 100,000: unify %.1f ms, reify %.1f ms (≤ 10)", large.unify, large.reify), large.unify <= 10 && large.reify <= 10);
  Line("3", absl::StrFormat("U6 %.1f → %.1f ms, U10 %.1f → %.1f ms for ten times the size (linear)", small.u6, large.u6, small.u10, large.u10),
       large.u6 <= 25 * small.u6 && large.u10 <= 25 * small.u10);
  Deep();
  const std::string unify = build + "/bin/unify_test", rewrite = build + "/bin/rewrite_test";
  Line("4", "AC, ACU, C and A unification and matching oracles", Tests(unify, "AcTest.*:DiophantineTest.*", 20));
  Line("5", "one output of several; a draw and its generator", Tests(rewrite, "RelateTest.OneOutput*:RelateTest.ADraw*", 2));
  Line("6", "answers of all workloads equal the recorded ones, also under constant collection", Tests(unify, "RelationalTest.Workloads*", 2));
  Line("6", "a million lazily consumed answers in bounded memory", Tests(unify, "RelationalTest.LazyAnswers*"));
  int status = 0;
  const std::string table = Output("python3 " + source + "/bench/relational/compare.py " + build + "/bin/retuple --slow", &status);
  if (table.rfind("skipped", 0) == 0) {
    Skip("2", "faster-miniKanren is not here");
  } else {
    std::cout << table;
    double mean = 99, largest = 99;
    const size_t at = table.rfind("geometric mean");
    int of = 0;
    if (at != std::string::npos) std::sscanf(table.c_str() + at, "geometric mean %lf of %d, largest %lf", &mean, &of, &largest);
    Line("2", absl::StrFormat("beside faster-miniKanren: same answers, geometric mean %.2f (≤ 0.5), largest %.2f (≤ 1), %d workloads", mean, largest, of),
         status == 0 && mean <= 0.5 && largest <= 1);
  }
  return Finish();
}
