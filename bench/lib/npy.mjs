import { readFileSync } from 'node:fs'

const ARRAYS = { '<f4': ['float32', Float32Array], '<i8': ['int64', BigInt64Array] }

/** A little-endian, row-major .npy file of float32 or int64, as models/export.py writes them. */
export function readNpy(path) {
  const file = readFileSync(path)
  const start = 10 + file.readUInt16LE(8)
  const header = file.toString('latin1', 10, start)
  const [dtype, ArrayType] = ARRAYS[/'descr': '([^']*)'/.exec(header)[1]]
  const shape = /\(([^)]*)\)/
    .exec(header)[1]
    .split(',')
    .filter((s) => s.trim() !== '')
    .map(Number)
  return { dtype, shape, data: new ArrayType(new Uint8Array(file.subarray(start)).buffer) }
}
