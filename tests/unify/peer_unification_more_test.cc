// logical-unification: tests/test_more.py. An object of a user's class is a term, `(Foo :a 1 :b ?x)`, as far as it takes part in
// unification; what must stay opaque is an Object, an atom with an equality of its own.
#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <typeinfo>

#include "absl/strings/str_cat.h"
#include "etuple/printer.h"
#include "etuple/reader.h"
#include "unify/substitution.h"

namespace retuple {
namespace {

// A foreign class, as ast.Num is to the peer.
class Num : public Object {
 public:
  explicit Num(int n) : n_(n) {}
  uint64_t Hash() const override { return static_cast<uint64_t>(n_); }
  bool Equals(const Object& o) const override {
    return typeid(o) == typeid(*this) && static_cast<const Num&>(o).n_ == n_;  // the exact class, as in the peer
  }
  std::string ToString(bool) const override { return absl::StrCat("num ", n_); }

 private:
  int n_;
};

class SubNum : public Num {
 public:
  using Num::Num;
};

absl::StatusOr<ObjectPtr> ReadNum(std::string_view text) {
  int n = 0;
  const size_t space = text.find(' ');
  const char* end = text.data() + text.size();
  if (text.substr(0, space) != "num" || std::from_chars(text.data() + space + 1, end, n).ptr != end) {
    return absl::InvalidArgumentError("no num");
  }
  return std::make_shared<Num>(n);
}

Term Read(Context& ctx, const char* text) {
  auto t = ReadTerm(ctx, text, {.object_reader = ReadNum});
  EXPECT_TRUE(t.ok()) << t.status();
  return *t;
}

struct Case {
  const char* a;
  const char* b;
  const char* unified;  // null: they do not unify
};

void Check(std::span<const Case> cases) {
  for (const Case& c : cases) {
    Context ctx;
    const Term a = Read(ctx, c.a), b = Read(ctx, c.b);
    Substitution s, t;
    ASSERT_EQ(Unify(ctx, a, b, s), c.unified != nullptr) << c.a << " ~ " << c.b;
    ASSERT_EQ(Unify(ctx, b, a, t), c.unified != nullptr) << c.b << " ~ " << c.a;
    if (c.unified == nullptr) continue;
    EXPECT_EQ(Reify(ctx, a, s), Read(ctx, c.unified)) << c.a << " ~ " << c.b;
    EXPECT_EQ(Reify(ctx, b, s), Read(ctx, c.unified)) << c.a << " ~ " << c.b;
    EXPECT_EQ(s.size(), Variables(ctx, ctx.Tuple({a, b})).size()) << "every variable is bound, nothing else";
  }
}

// test_unify_object, test_objects_full, test_unifiable_dict, test_unifiable_slots.
TEST(PeerUnificationMore, UnifyObjects) {
  Check(std::to_array<Case>({
      {"(Foo :a 1 :b 2)", "(Foo :a 1 :b 2)", "(Foo :a 1 :b 2)"},
      {"(Foo :a 1 :b 2)", "(Foo :a 1 :b 3)", nullptr},
      {"(Foo :a 1 :b 2)", "(Foo :a 1 :b ?x)", "(Foo :a 1 :b 2)"},
      {"(Foo :a 1 :b 2)", "(Foo :b ?x :a ?y)", "(Foo :a 1 :b 2)"},
      {"(Foo :a 1 :b 2)", "(Bar :c 1)", nullptr},
      {"(Foo :a 1 :b 2)", "(Bar :a 1 :b 2)", nullptr},
      {"(Foo :a 1 :b (Bar :c 2))", "(Foo :a 1 :b (Bar :c ?x))", "(Foo :a 1 :b (Bar :c 2))"},
      {"(Foo :a 1 :b (Bar :c 2))", "(Foo :a ?y :b ?x)", "(Foo :a 1 :b (Bar :c 2))"},
      {"(Foo :a 1 :b 2)", "(SubFoo :a 1 :b 2)", nullptr},
      {"(Foo :a 1 :b 2)", "(?class :a 1 :b ?x)", "(Foo :a 1 :b 2)"},
  }));
}

// test_unify_nonstandard_object: a foreign object without variables is an atom; with one it is a term.
TEST(PeerUnificationMore, UnifyForeignObjects) {
  Check(std::to_array<Case>({
      {"#<num 1>", "#<num 1>", "#<num 1>"},
      {"#<num 1>", "#<num 2>", nullptr},
      {"#<num 1>", "1", nullptr},
      {"#<num 1>", "?x", "#<num 1>"},
      {"(f #<num 1> ?x)", "(f ?y #<num 2>)", "(f #<num 1> #<num 2>)"},
      {"(f ?x ?x)", "(f #<num 1> #<num 2>)", nullptr},
      {"(Num :n 1)", "(Num :n 1)", "(Num :n 1)"},
      {"(Num :n 1)", "(Num :n 2)", nullptr},
      {"(Num :n 1)", "(Num :n ?x)", "(Num :n 1)"},
  }));
  Context ctx;
  const auto first = std::make_shared<Num>(1);
  const Term one = ctx.Obj(first);
  EXPECT_EQ(ctx.Obj(std::make_shared<Num>(1)), one);
  EXPECT_EQ(ctx.ObjectValue(one), first) << "equal objects are one atom, which keeps the first";
  Substitution s;
  EXPECT_FALSE(Unify(ctx, ctx.Obj(std::make_shared<SubNum>(1)), one, s)) << "a subclass, of equal hash and text";
}

// test_reify_object, test_reify_nonstandard_object, test_reify_slots.
TEST(PeerUnificationMore, ReifyObjects) {
  struct {
    const char* term;
    const char* reified;
  } cases[] = {
      {"(Foo :a 1 :b ?x)", "(Foo :a 1 :b 4)"},
      {"(Foo :a ?x :b (Bar :c (Foo :a ?y :b 3)))", "(Foo :a 4 :b (Bar :c (Foo :a 2 :b 3)))"},
      {"(Slots :myattr ?x)", "(Slots :myattr 4)"},
      {"(Num :n ?x)", "(Num :n 4)"},
      {"(Num :n ?z)", "(Num :n ?z)"},
      {"(f #<num 1> ?x)", "(f #<num 1> 4)"},
  };
  for (const auto& c : cases) {
    Context ctx;
    Substitution s;
    s.Bind(ctx.Variable("x"), ctx.Integer(4));
    s.Bind(ctx.Variable("y"), ctx.Integer(2));
    EXPECT_EQ(Reify(ctx, Read(ctx, c.term), s), Read(ctx, c.reified)) << c.term;
  }
}

// The same object comes back, and nothing is built, when nothing changes.
TEST(PeerUnificationMore, ReifyBuildsOnlyWhatChanges) {
  for (const char* text : {"(Foo :a 1 :b 2)", "(Foo :a 1 :b ?z)", "(Foo :a (Bar :c ?z) :b #<num 7>)", "(Slots :myattr 1)"}) {
    Context ctx;
    Substitution s;
    s.Bind(ctx.Variable("x"), ctx.Integer(4));
    const Term t = Read(ctx, text);
    const size_t nodes = ctx.num_nodes();
    EXPECT_EQ(Reify(ctx, t, s), t) << text;
    EXPECT_EQ(ctx.num_nodes(), nodes) << text;
  }
  Context ctx;
  Substitution s;
  s.Bind(ctx.Variable("x"), ctx.Integer(4));
  const Term t = Read(ctx, "(Foo :a (Bar :c ?z) :b (Bar :c ?x))");
  const size_t nodes = ctx.num_nodes();
  const Term reified = Reify(ctx, t, s);
  EXPECT_EQ(*ctx.KeywordValue(reified, ctx.Keyword("a")), *ctx.KeywordValue(t, ctx.Keyword("a")));
  EXPECT_EQ(ctx.num_nodes(), nodes + 2) << "the inner and the outer tuple";
}

}  // namespace
}  // namespace retuple
