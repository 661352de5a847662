// Attributes of convolutions, pooling, normalisation, matrix products and recurrent layers.
#ifndef RETUPLE_IR_BRIDGE_ATTRS_NN_H_
#define RETUPLE_IR_BRIDGE_ATTRS_NN_H_

#include "ir_bridge/attrs/reflect.h"

namespace retuple::attrs {

struct ConvAttrs {
  std::string auto_pad = "NOTSET";
  std::optional<Ints> dilations;
  int64_t group = 1;
  std::optional<Ints> kernel_shape;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

using ConvIntegerAttrs = ConvAttrs;
using QLinearConvAttrs = ConvAttrs;

struct ConvTransposeAttrs {
  std::string auto_pad = "NOTSET";
  std::optional<Ints> dilations;
  int64_t group = 1;
  std::optional<Ints> kernel_shape;
  std::optional<Ints> output_padding;
  std::optional<Ints> output_shape;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

// dilations: opset 19
struct AveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  int64_t count_include_pad = 0;
  std::optional<Ints> dilations;
  Required<Ints> kernel_shape;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

struct MaxPoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  std::optional<Ints> dilations;
  Required<Ints> kernel_shape;
  std::optional<Ints> pads;
  int64_t storage_order = 0;
  std::optional<Ints> strides;
};

struct LpPoolV1Attrs {
  std::string auto_pad = "NOTSET";
  std::optional<Ints> kernel_shape;
  float p = 2.0f;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

// ceil_mode, dilations: opset 18
struct LpPoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  std::optional<Ints> dilations;
  Required<Ints> kernel_shape;
  int64_t p = 2;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

struct GlobalLpPoolV1Attrs {
  float p = 2.0f;
};

struct GlobalLpPoolAttrs {
  int64_t p = 2;
};

struct MaxUnpoolAttrs {
  Required<Ints> kernel_shape;
  std::optional<Ints> pads;
  std::optional<Ints> strides;
};

struct MaxRoiPoolAttrs {
  Required<Ints> pooled_shape;
  float spatial_scale = 1.0f;
};

struct RoiAlignV10Attrs {
  std::string mode = "avg";
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1.0f;
};

struct RoiAlignAttrs {
  std::string coordinate_transformation_mode = "half_pixel";
  std::string mode = "avg";
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1.0f;
};

struct BatchNormalizationV1Attrs {
  float epsilon = 1e-5f;
  int64_t is_test = 0;
  float momentum = 0.9f;
  int64_t spatial = 1;
};

struct BatchNormalizationV7Attrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  int64_t spatial = 1;
};

struct BatchNormalizationV9Attrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
};

struct BatchNormalizationAttrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  int64_t training_mode = 0;
};

struct InstanceNormalizationAttrs {
  float epsilon = 1e-5f;
};

struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  int64_t stash_type = 1;
};

struct GroupNormalizationV18Attrs {
  float epsilon = 1e-5f;
  Required<int64_t> num_groups;
};

struct GroupNormalizationAttrs {
  float epsilon = 1e-5f;
  Required<int64_t> num_groups;
  int64_t stash_type = 1;
};

struct MeanVarianceNormalizationAttrs {
  Ints axes = {0,2,3};
};

struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
};

struct LrnAttrs {
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1.0f;
  Required<int64_t> size;
};

struct DropoutV1Attrs {
  int64_t is_test = 0;
  float ratio = 0.5f;
};

struct DropoutV7Attrs {
  float ratio = 0.5f;
};

struct DropoutAttrs {
  std::optional<int64_t> seed;
};

struct GemmV1Attrs {
  float alpha = 1.0f;
  float beta = 1.0f;
  int64_t broadcast = 0;
  int64_t transA = 0;
  int64_t transB = 0;
};

struct GemmAttrs {
  float alpha = 1.0f;
  float beta = 1.0f;
  int64_t transA = 0;
  int64_t transB = 0;
};

struct EinsumAttrs {
  Required<std::string> equation;
};

struct RnnV1Attrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  Strings activations = {"Tanh","Tanh"};
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t output_sequence = 0;
};

struct RnnAttrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  Strings activations = {"Tanh","Tanh"};
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t layout = 0;
};

struct GruV1Attrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  std::optional<Strings> activations;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t linear_before_reset = 0;
  int64_t output_sequence = 0;
};

struct GruAttrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  std::optional<Strings> activations;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t layout = 0;
  int64_t linear_before_reset = 0;
};

struct LstmV1Attrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  std::optional<Strings> activations;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t input_forget = 0;
  int64_t output_sequence = 0;
};

struct LstmAttrs {
  std::optional<Floats> activation_alpha;
  std::optional<Floats> activation_beta;
  std::optional<Strings> activations;
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  int64_t input_forget = 0;
  int64_t layout = 0;
};

struct GridSampleAttrs {
  int64_t align_corners = 0;
  std::string mode = "bilinear";
  std::string padding_mode = "zeros";
};

struct UpsampleV1Attrs {
  Required<float> height_scale;
  std::string mode = "nearest";
  Required<float> width_scale;
};

struct UpsampleV7Attrs {
  std::string mode = "nearest";
  Required<Floats> scales;
};

struct UpsampleAttrs {
  std::string mode = "nearest";
};

using ResizeV10Attrs = UpsampleAttrs;

// antialias, axes, keep_aspect_ratio_policy: opset 18
struct ResizeAttrs {
  int64_t antialias = 0;
  std::optional<Ints> axes;
  std::string coordinate_transformation_mode = "half_pixel";
  float cubic_coeff_a = -0.75f;
  int64_t exclude_outside = 0;
  float extrapolation_value = 0.0f;
  std::string keep_aspect_ratio_policy = "stretch";
  std::string mode = "nearest";
  std::string nearest_mode = "round_prefer_floor";
};

struct NonMaxSuppressionAttrs {
  int64_t center_point_box = 0;
};

}  // namespace retuple::attrs

BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConvAttrs,
                        auto_pad, dilations, group, kernel_shape, pads, strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ConvTransposeAttrs,
                        auto_pad, dilations, group, kernel_shape, output_padding, output_shape,
                        pads, strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::AveragePoolAttrs,
                        auto_pad, ceil_mode, count_include_pad, dilations, kernel_shape, pads,
                        strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MaxPoolAttrs,
                        auto_pad, ceil_mode, dilations, kernel_shape, pads, storage_order,
                        strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LpPoolV1Attrs, auto_pad, kernel_shape, p, pads, strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LpPoolAttrs,
                        auto_pad, ceil_mode, dilations, kernel_shape, p, pads, strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GlobalLpPoolV1Attrs, p);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GlobalLpPoolAttrs, p);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MaxUnpoolAttrs, kernel_shape, pads, strides);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MaxRoiPoolAttrs, pooled_shape, spatial_scale);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RoiAlignV10Attrs,
                        mode, output_height, output_width, sampling_ratio, spatial_scale);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RoiAlignAttrs,
                        coordinate_transformation_mode, mode, output_height, output_width,
                        sampling_ratio, spatial_scale);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BatchNormalizationV1Attrs,
                        epsilon, is_test, momentum, spatial);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BatchNormalizationV7Attrs, epsilon, momentum, spatial);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BatchNormalizationV9Attrs, epsilon, momentum);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::BatchNormalizationAttrs, epsilon, momentum, training_mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::InstanceNormalizationAttrs, epsilon);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LayerNormalizationAttrs, axis, epsilon, stash_type);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GroupNormalizationV18Attrs, epsilon, num_groups);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GroupNormalizationAttrs, epsilon, num_groups, stash_type);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::MeanVarianceNormalizationAttrs, axes);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LpNormalizationAttrs, axis, p);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LrnAttrs, alpha, beta, bias, size);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DropoutV1Attrs, is_test, ratio);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DropoutV7Attrs, ratio);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::DropoutAttrs, seed);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GemmV1Attrs, alpha, beta, broadcast, transA, transB);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GemmAttrs, alpha, beta, transA, transB);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::EinsumAttrs, equation);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RnnV1Attrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, output_sequence);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::RnnAttrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, layout);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GruV1Attrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, linear_before_reset, output_sequence);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GruAttrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, layout, linear_before_reset);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LstmV1Attrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, input_forget, output_sequence);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::LstmAttrs,
                        activation_alpha, activation_beta, activations, clip, direction,
                        hidden_size, input_forget, layout);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::GridSampleAttrs, align_corners, mode, padding_mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::UpsampleV1Attrs, height_scale, mode, width_scale);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::UpsampleV7Attrs, mode, scales);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::UpsampleAttrs, mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::ResizeAttrs,
                        antialias, axes, coordinate_transformation_mode, cubic_coeff_a,
                        exclude_outside, extrapolation_value, keep_aspect_ratio_policy, mode,
                        nearest_mode);
BOOST_HANA_ADAPT_STRUCT(retuple::attrs::NonMaxSuppressionAttrs, center_point_box);

#endif  // RETUPLE_IR_BRIDGE_ATTRS_NN_H_
