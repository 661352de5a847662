// Attributes of quantisation, random numbers, signal processing, text, and training operators.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_MISC_H_
#define RETUPLE_IR_BRIDGE_ATTRS_MISC_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

// block_size, output_dtype: opset 21; saturate: 19
struct QuantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
  int64_t output_dtype = 0;
  int64_t saturate = 1;
};

struct DequantizeLinearAttrs {
  int64_t axis = 1;
  int64_t block_size = 0;
};

struct BernoulliAttrs {
  std::optional<int64_t> dtype;
  std::optional<float> seed;
};

struct MultinomialAttrs {
  int64_t dtype = 6;
  int64_t sample_size = 1;
  std::optional<float> seed;
};

struct RandomNormalAttrs {
  int64_t dtype = 1;
  float mean = 0.0f;
  float scale = 1.0f;
  std::optional<float> seed;
  Required<Ints> shape;
};

struct RandomNormalLikeAttrs {
  std::optional<int64_t> dtype;
  float mean = 0.0f;
  float scale = 1.0f;
  std::optional<float> seed;
};

struct RandomUniformAttrs {
  int64_t dtype = 1;
  float high = 1.0f;
  float low = 0.0f;
  std::optional<float> seed;
  Required<Ints> shape;
};

struct RandomUniformLikeAttrs {
  std::optional<int64_t> dtype;
  float high = 1.0f;
  float low = 0.0f;
  std::optional<float> seed;
};

struct DftAttrs {
  int64_t axis = 1;
  int64_t inverse = 0;
  int64_t onesided = 0;
};

struct StftAttrs {
  int64_t onesided = 1;
};

struct WindowAttrs {
  int64_t output_datatype = 1;
  int64_t periodic = 1;
};

using BlackmanWindowAttrs = WindowAttrs;
using HammingWindowAttrs = WindowAttrs;
using HannWindowAttrs = WindowAttrs;

struct MelWeightMatrixAttrs {
  int64_t output_datatype = 1;
};

struct StringNormalizerAttrs {
  std::string case_change_action = "NONE";
  int64_t is_case_sensitive = 0;
  std::optional<std::string> locale;
  std::optional<Strings> stopwords;
};

struct TfIdfVectorizerAttrs {
  Required<int64_t> max_gram_length;
  Required<int64_t> max_skip_count;
  Required<int64_t> min_gram_length;
  Required<std::string> mode;
  Required<Ints> ngram_counts;
  Required<Ints> ngram_indexes;
  std::optional<Ints> pool_int64s;
  std::optional<Strings> pool_strings;
  std::optional<Floats> weights;
};

struct AdagradAttrs {
  float decay_factor = 0.0f;
  float epsilon = 1e-6f;
  float norm_coefficient = 0.0f;
};

struct AdamAttrs {
  float alpha = 0.9f;
  float beta = 0.999f;
  float epsilon = 1e-6f;
  float norm_coefficient = 0.0f;
  float norm_coefficient_post = 0.0f;
};

struct MomentumAttrs {
  Required<float> alpha;
  Required<float> beta;
  Required<std::string> mode;
  Required<float> norm_coefficient;
};

struct GradientAttrs {
  Required<Strings> xs;
  Required<std::string> y;
  std::optional<Strings> zs;
};

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::QuantizeLinearAttrs,
                        axis, block_size, output_dtype, saturate);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DequantizeLinearAttrs, axis, block_size);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BernoulliAttrs, dtype, seed);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MultinomialAttrs, dtype, sample_size, seed);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RandomNormalAttrs, dtype, mean, scale, seed, shape);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RandomNormalLikeAttrs, dtype, mean, scale, seed);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RandomUniformAttrs, dtype, high, low, seed, shape);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RandomUniformLikeAttrs, dtype, high, low, seed);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DftAttrs, axis, inverse, onesided);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::StftAttrs, onesided);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::WindowAttrs, output_datatype, periodic);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MelWeightMatrixAttrs, output_datatype);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::StringNormalizerAttrs,
                        case_change_action, is_case_sensitive, locale, stopwords);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::TfIdfVectorizerAttrs,
                        max_gram_length, max_skip_count, min_gram_length, mode, ngram_counts,
                        ngram_indexes, pool_int64s, pool_strings, weights);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AdagradAttrs, decay_factor, epsilon, norm_coefficient);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AdamAttrs,
                        alpha, beta, epsilon, norm_coefficient, norm_coefficient_post);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MomentumAttrs, alpha, beta, mode, norm_coefficient);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GradientAttrs, xs, y, zs);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_MISC_H_
