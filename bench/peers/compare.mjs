// Every real model, ours beside ONNX Runtime in one run: the optimised file must load there and give the same outputs; then times on one
// thread, rounds interleaved, minimum over the rounds.
//   node compare.mjs MODELS_DIR WORK_DIR RETUPLE [ROUNDS] [FILTER]
// Exit status 1 if an output differs or a model is missing its file while its package is there.
import fs from "node:fs";
import path from "node:path";
import { execFileSync } from "node:child_process";
import { models } from "./models.mjs";
import { readNpy, writeNpy } from "./npy.mjs";

const [modelsDir, work, retuple, rounds = "2", filter = ""] = process.argv.slice(2);
const here = path.dirname(new URL(import.meta.url).pathname);
let state = 1n;
const uniform = () => {
  state = (state * 6364136223846793005n + 1442695040888963407n) & ((1n << 64n) - 1n);
  return Number(state >> 33n) / 2147483648 * 2 - 1;
};
const run = (cmd, args) => execFileSync(cmd, args, { encoding: "utf8", maxBuffer: 1 << 28, env: process.env });

// The same bytes for both sides: f32 uniform in [-1, 1], ids 0 … 999, masks 1, token types 0.
function makeInputs(model, file, dir) {
  fs.mkdirSync(dir, { recursive: true });
  const list = [];
  for (const { name, type, dims: declared, has_default } of JSON.parse(run(retuple, ["optimize", file, "--dry-run", "--json"])).inputs) {
    if (has_default) continue;
    const dims = model.shapes[name] ?? declared.map((d) => (typeof d === "number" ? d : 1));
    const n = dims.reduce((a, b) => a * b, 1);
    const fileName = `input_${list.length}.npy`;
    if (type === "f32") {
      writeNpy(`${dir}/${fileName}`, "<f4", dims, Float32Array.from({ length: n }, uniform));
    } else {
      const value = name in model.values ? () => BigInt(model.values[name]) : /mask/.test(name) ? () => 1n : /type/.test(name) ? () => 0n
        : () => BigInt(Math.floor((uniform() + 1) * 499.5));
      writeNpy(`${dir}/${fileName}`, "<i8", dims, BigInt64Array.from({ length: n }, value));
    }
    list.push({ name, file: fileName });
  }
  fs.writeFileSync(`${dir}/inputs.json`, JSON.stringify(list));
  return list.flatMap(({ name, file: f }) => ["--input", `${name}=${dir}/${f}`]);
}

// Largest difference relative to the output's largest magnitude; Infinity when types or shapes differ.
function difference(a, b, count) {
  let worst = 0;
  for (let k = 0; k < count; ++k) {
    const x = readNpy(`${a}/output_${k}.npy`), y = readNpy(`${b}/output_${k}.npy`);
    if (x.code !== y.code || x.dims.join() !== y.dims.join()) return Infinity;
    let magnitude = 0, most = 0;
    for (let i = 0; i < x.data.length; ++i) {
      const p = Number(x.data[i]), q = Number(y.data[i]);
      magnitude = Math.max(magnitude, Math.abs(p));
      most = Math.max(most, Number.isNaN(p) === Number.isNaN(q) ? Math.abs(p - q) || 0 : Infinity);
    }
    worst = Math.max(worst, magnitude > 0 ? most / magnitude : most);
  }
  return worst;
}

let failed = 0, product = 1, counted = 0;
console.log("model               nodes       ours ms   ORT ms  ours/ORT   ORT(optimised)≈ORT   ours≈ORT");
for (const m of models.filter((m) => m.name.includes(filter))) {
  const file = `${modelsDir}/${m.file}`;
  if (!fs.existsSync(file)) {
    console.log(`${m.name.padEnd(18)}  skipped: its package is not here`);
    continue;
  }
  const dir = `${work}/${m.name}`, optimized = `${dir}/optimized.onnx`;
  for (const d of ["in", "ort", "ort_optimized", "ours"]) fs.mkdirSync(`${dir}/${d}`, { recursive: true });
  const inputArgs = makeInputs(m, file, `${dir}/in`);
  const report = JSON.parse(run(retuple, ["optimize", file, "-o", optimized, "--json", "--verify", ...inputArgs]));
  let ours = Infinity, theirs = Infinity;
  for (let r = 0; r < Number(rounds); ++r) {
    theirs = Math.min(theirs, JSON.parse(run("node", [`${here}/ort.mjs`, file, `${dir}/in`, `${dir}/ort`, "all", "0.7"])).min_ms);
    const once = JSON.parse(run(retuple, ["run", optimized, ...inputArgs, "--repeat", "3", "--json"])).min_ms;
    const repeat = String(Math.max(5, Math.min(2000, Math.floor(700 / once))));
    ours = Math.min(ours, JSON.parse(run(retuple, ["run", optimized, ...inputArgs, "--repeat", repeat, "--output", `${dir}/ours`, "--json"])).min_ms);
  }
  run("node", [`${here}/ort.mjs`, optimized, `${dir}/in`, `${dir}/ort_optimized`, "all", "0"]);
  const outputs = fs.readdirSync(`${dir}/ort`).filter((f) => f.startsWith("output_")).length;
  const d1 = difference(`${dir}/ort`, `${dir}/ort_optimized`, outputs), d2 = difference(`${dir}/ort`, `${dir}/ours`, outputs);
  const ok = d1 <= 1e-3 && d2 <= 1e-3;
  failed += ok ? 0 : 1;
  product *= ours / theirs;
  ++counted;
  console.log(`${m.name.padEnd(18)} ${String(report.nodes_in_file).padStart(4)}→${String(report.nodes_after).padEnd(4)} ${ours.toFixed(3).padStart(9)} ${theirs.toFixed(3).padStart(8)} ${(ours / theirs).toFixed(2).padStart(8)}   ${d1.toExponential(1).padStart(12)}        ${d2.toExponential(1).padStart(10)} ${ok ? "" : "  DIFFERENT"}`);
}
if (counted > 0) console.log(`geometric mean of ours/ORT over ${counted} models: ${Math.pow(product, 1 / counted).toFixed(2)}; ${failed} with different outputs`);
process.exit(failed > 0 ? 1 : 0);
