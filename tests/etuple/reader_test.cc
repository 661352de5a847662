#include "etuple/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "etuple/printer.h"

namespace retuple {
namespace {

using ::testing::HasSubstr;

struct Case {
  const char* text;
  const char* printed;  // null: the same
};

TEST(ReaderTest, ReadsAndPrints) {
  const Case cases[] = {
      {"x", nullptr},
      {"()", nullptr},
      {"(f)", nullptr},
      {"(Add ?x 0)", nullptr},
      {"((Conv :group 1 ..?a) ?x ?w)", nullptr},
      {"(f :b 2 :a 1)", "(f :a 1 :b 2)"},
      {"  ( f\n; a comment (\n  x )  ", "(f x)"},
      {"-12", nullptr},
      {"+12", "12"},
      {"9223372036854775807", nullptr},
      {"-9223372036854775808", nullptr},
      {"1.5", nullptr},
      {"1e3", "1000.0"},
      {".5", "0.5"},
      {"-.5e-7", "-5e-08"},
      {"+inf.0", nullptr},
      {"-inf.0", nullptr},
      {"+nan.0", nullptr},
      {"\"a\\n\\\"b\\\\\\x01\"", nullptr},
      {"|a symbol|", nullptr},
      {"|12|", nullptr},
      {"|let|", nullptr},
      {"+", nullptr},
      {"-", nullptr},
      {"com.acme::Foo", nullptr},
      {"(let ((%a (f u v w x y)) (%b (g %a %a))) (h %b %b))", "(let ((%0 (f u v w x y))\n      (%1 (g %0 %0)))\n  (h %1 %1))"},
      {"(let ((%a (f x))) (h %a %a))", "(h (f x) (f x))"},  // small tuples are shorter written out
      {"(f (let ((%a 1)) %a) 2)", "(f 1 2)"},
      {"(let ((%a 1)) (let ((%a 2)) %a))", "2"},
  };
  for (const Case& c : cases) {
    Context ctx;
    auto t = ReadTerm(ctx, c.text);
    ASSERT_TRUE(t.ok()) << c.text << ": " << t.status();
    const std::string printed = PrintTerm(ctx, *t);
    EXPECT_EQ(printed, c.printed == nullptr ? c.text : c.printed);
    EXPECT_EQ(*ReadTerm(ctx, printed), *t) << printed;
  }
}

TEST(ReaderTest, ErrorsHaveAPosition) {
  const Case cases[] = {
      {"(f\n  (g x)", "1:1: ( is never closed"},
      {"(f x))", "1:6: unbalanced )"},
      {"\"abc", "1:1: string without end"},
      {"(f\n \"a\\q\")", "2:4: unknown escape \\q"},
      {"(f |ab)", "1:4: symbol in bars without end"},
      {"(f 12x)", "1:4: \"12x\" is not a number"},
      {"99999999999999999999", "1:1: integer outside 64 bits"},
      {"1e999", "1:1: real outside"},
      {"(f ?)", "1:4: a variable needs a name"},
      {"%a", "1:1: %a is bound by no let"},
      {"(let ((%a 1)) x) %a", "1:18: %a is bound by no let"},
      {"(let (%a 1) x)", "1:7: %a is bound by no let"},
      {"(let ((a 1)) x)", "1:7: a let binding is a list"},
      {"(let x y)", "1:6: let needs a list of bindings first"},
      {"(let ((%a 1)))", "1:1: let takes a list of bindings and one term"},
      {"#<f32[] 1>", "1:1: an object #<…> cannot be read here"},
      {"#<f32", "1:1: object #< without >"},
      {"a b", "1:3: one term was expected"},
      {"", "1:1: a term is missing"},
  };
  for (const Case& c : cases) {
    Context ctx;
    auto t = ReadTerm(ctx, c.text);
    ASSERT_FALSE(t.ok()) << c.text;
    EXPECT_THAT(std::string(t.status().message()), HasSubstr(c.printed)) << c.text;
  }
}

TEST(ReaderTest, FormsKeepPositionsOfTheirItems) {
  Context ctx;
  auto forms = ReadForms(ctx, "(a (b c)\n   (d))\n(e)", {.object_reader = nullptr, .locate_depth = 2, .file = "F"});
  ASSERT_TRUE(forms.ok());
  ASSERT_EQ(forms->size(), 2u);
  ASSERT_EQ((*forms)[0].items.size(), 3u);
  EXPECT_EQ((*forms)[0].items[2].position.ToString(), "2:4");
  EXPECT_EQ((*forms)[0].items[1].items[1].position.ToString(), "1:7");
  EXPECT_EQ((*forms)[1].position.ToString(), "3:1");
}

// The scanner works in batches: nothing may depend on where one ends.
TEST(ReaderTest, BatchesDoNotShow) {
  for (int before = 0; before < 140; ++before) {
    std::string prefix = "(f";
    for (int i = 0; i < before; ++i) prefix += " a";
    Context ctx;
    auto t = ReadTerm(ctx, prefix + " (let ((%a (g \"s\"))) %a) ; b\n (h 1.5 ?x))");
    ASSERT_TRUE(t.ok()) << t.status();
    EXPECT_EQ(PrintTerm(ctx, *t), prefix + " (g \"s\") (h 1.5 ?x))");
    auto bad = ReadTerm(ctx, prefix + "\n 1x)");
    ASSERT_FALSE(bad.ok());
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("2:2: \"1x\" is not a number"));
  }
}

TEST(ReaderTest, DeepAndSharedTermsGoThrough) {
  const int deep = 1'000'000;
  std::string text;
  for (int i = 0; i < deep; ++i) text += "(s ";
  text += "x" + std::string(deep, ')');
  Context ctx;
  auto t = ReadTerm(ctx, text);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(ctx.Depth(*t), static_cast<uint32_t>(deep));
  EXPECT_EQ(PrintTerm(ctx, *t), text);
  EXPECT_FALSE(ReadTerm(ctx, text.substr(0, text.size() - 1)).ok());
  EXPECT_FALSE(ReadTerm(ctx, std::string(deep, '(')).ok());

  Term d = ctx.Tuple({ctx.Sym("leaf"), ctx.Integer(1), ctx.Integer(2), ctx.Integer(3), ctx.Integer(4)});
  for (int i = 0; i < 200; ++i) d = ctx.Tuple({ctx.Sym("pair"), d, d, ctx.Integer(i), ctx.Integer(i)});
  const std::string printed = PrintTerm(ctx, d);
  EXPECT_LT(printed.size(), 20'000u);
  EXPECT_EQ(*ReadTerm(ctx, printed), d);
}

// A random term over all kinds of atoms.
Term RandomTerm(Context& ctx, std::mt19937& random) {
  const std::string odd = "a b\"|\\\n\t()#;:?%é";
  std::vector<Term> pool;
  auto word = [&] {
    std::string s;
    for (size_t i = 0; i < random() % 6; ++i) s += odd[random() % odd.size()];
    return s;
  };
  for (int i = 0; i < 30; ++i) {
    switch (random() % 8) {
      case 0:
        pool.push_back(ctx.Integer(static_cast<int64_t>(random()) - (1 << 30)));
        break;
      case 1:
        pool.push_back(ctx.Real(std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 200) - 100)));
        break;
      case 2:
        pool.push_back(ctx.String(word()));
        break;
      case 3: {
        std::string w = word();
        if (w.empty() || w[0] != ':') pool.push_back(ctx.Sym(w));
        break;
      }
      case 4:
        pool.push_back(ctx.Variable("v" + std::to_string(random() % 5)));
        break;
      default: {
        std::vector<Term> children;
        for (size_t k = 0; k < random() % 5; ++k) {
          if (!pool.empty()) children.push_back(pool[random() % pool.size()]);
        }
        pool.push_back(ctx.Tuple(children));
      }
    }
  }
  return pool.empty() ? Term() : pool.back();
}

TEST(ReaderTest, ParseOfPrintIsTheSame) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    Context ctx;
    const Term t = RandomTerm(ctx, random);
    const std::string text = PrintTerm(ctx, t);
    auto back = ReadTerm(ctx, text);
    ASSERT_TRUE(back.ok()) << text << back.status();
    EXPECT_EQ(*back, t) << text;
    EXPECT_EQ(*ReadTerm(ctx, PrintTerm(ctx, t, {.let = false})), t);
  }
}

TEST(PrinterTest, BriefIsBounded) {
  Context ctx;
  std::vector<Term> many(1000, ctx.Sym("abcdefgh"));
  EXPECT_LT(Brief(ctx, ctx.Tuple(many), 100).size(), 130u);
}

}  // namespace
}  // namespace retuple
