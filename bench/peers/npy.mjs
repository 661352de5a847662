// .npy files of the element types that the models use.
import fs from "node:fs";
const types = { "<f4": Float32Array, "<i8": BigInt64Array, "<i4": Int32Array, "|b1": Uint8Array, "|u1": Uint8Array, "<f8": Float64Array };

export function writeNpy(path, code, dims, array) {
  let header = `{'descr': '${code}', 'fortran_order': False, 'shape': (${dims.map((d) => d + ",").join(" ")}), }`;
  while ((10 + header.length + 1) % 64 !== 0) header += " ";
  header += "\n";
  const head = Buffer.alloc(10 + header.length);
  head.write("\x93NUMPY\x01\x00", 0, "latin1");
  head.writeUInt16LE(header.length, 8);
  head.write(header, 10, "latin1");
  fs.writeFileSync(path, Buffer.concat([head, Buffer.from(array.buffer, array.byteOffset, array.byteLength)]));
}

export function readNpy(path) {
  const b = fs.readFileSync(path), n = b.readUInt16LE(8), header = b.toString("latin1", 10, 10 + n);
  const code = /'descr': '([^']*)'/.exec(header)[1];
  const dims = /'shape': \(([^)]*)\)/.exec(header)[1].split(",").filter((s) => s.trim()).map(Number);
  const body = b.subarray(10 + n), copy = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength);
  return { code, dims, data: new types[code](copy) };
}
