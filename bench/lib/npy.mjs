import { readFileSync } from 'node:fs'

const ARRAYS = {
  f4: ['float32', Float32Array],
  f8: ['float64', Float64Array],
  i8: ['int64', BigInt64Array],
  i4: ['int32', Int32Array],
  i1: ['int8', Int8Array],
  u1: ['uint8', Uint8Array],
  b1: ['bool', Uint8Array],
}

/** A little-endian, row-major .npy file, as numpy.save writes them. */
export function readNpy(path) {
  const file = readFileSync(path)
  const start = 10 + file.readUInt16LE(8)
  const [, kind, order, sizes] = /'descr': '[<|](\w+)', 'fortran_order': (\w+), 'shape': \(([^)]*)\)/.exec(
    file.toString('latin1', 10, start),
  )
  if (order !== 'False') throw new Error(`${path}: columns first`)
  const [dtype, ArrayType] = ARRAYS[kind]
  return { dtype, shape: sizes.match(/\d+/g)?.map(Number) ?? [], data: new ArrayType(new Uint8Array(file.subarray(start)).buffer) }
}
