// Runs one model in ONNX Runtime on one thread, in a process of its own, denormals as zero.
//   node ort.mjs MODEL INPUT_DIR OUTPUT_DIR LEVEL SECONDS   (inputs: NAME_k.npy listed in INPUT_DIR/inputs.json)
// Prints {"create_ms", "min_ms", "median_ms"}; writes OUTPUT_DIR/output_k.npy.
import fs from "node:fs";
import { createRequire } from "node:module";
import { readNpy, writeNpy } from "./npy.mjs";

const [model, inputDir, outputDir, level, seconds] = process.argv.slice(2);
const ort = createRequire(process.env.RETUPLE_PEERS + "/package.json")("onnxruntime-node");
const ortType = { "<f4": "float32", "<i8": "int64", "<i4": "int32", "|b1": "bool" };
const code = { float32: "<f4", int64: "<i8", int32: "<i4", bool: "|b1", float64: "<f8", uint8: "|u1" };

const feeds = {};
for (const { name, file } of JSON.parse(fs.readFileSync(`${inputDir}/inputs.json`, "utf8"))) {
  const a = readNpy(`${inputDir}/${file}`);
  feeds[name] = new ort.Tensor(ortType[a.code], a.data, a.dims);
}
const t0 = performance.now();
const session = await ort.InferenceSession.create(model, {
  executionProviders: ["cpu"], intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: "sequential",
  graphOptimizationLevel: level, logSeverityLevel: 4, extra: { session: { set_denormal_as_zero: "1" } },
});
const create = performance.now() - t0;
let out = await session.run(feeds);
const times = [];
const end = performance.now() + 1000 * Number(seconds);
while (times.length < 5 || (performance.now() < end && times.length < 2000)) {
  const t = performance.now();
  out = await session.run(feeds);
  times.push(performance.now() - t);
}
times.sort((a, b) => a - b);
session.outputNames.forEach((name, k) => {
  const t = out[name];
  writeNpy(`${outputDir}/output_${k}.npy`, code[t.type], t.dims, t.data);
});
console.log(JSON.stringify({ create_ms: create, min_ms: times[0], median_ms: times[times.length >> 1] }));
