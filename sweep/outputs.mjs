// What the exporters write of inputs and outputs, and how far a result is off.

const ARRAYS = {
  float32: Float32Array, float64: Float64Array, float16: Uint16Array, bfloat16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
  int16: Int16Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array,
} // prettier-ignore

/** Elements of a tensor that `exporting.py` described, out of the contents of its .bin file. */
export function elements(data, { dtype, shape, offset }) {
  const Kind = ARRAYS[dtype]
  if (Kind === undefined) throw new Error(`no elements of ${dtype}`)
  const count = shape.reduce((a, b) => a * b, 1)
  return new Kind(data.buffer.slice(data.byteOffset + offset, data.byteOffset + offset + count * Kind.BYTES_PER_ELEMENT))
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

const word = new DataView(new ArrayBuffer(4))
function bfloatToNumber(bits) {
  word.setUint32(0, bits << 16)
  return word.getFloat32(0)
}

const toNumber = { float16: halfToNumber, bfloat16: bfloatToNumber }

/** What is wrong with an output, where it is off by more than `bound` of the largest value, and how far it is off. */
export function compare(found, wanted, data, bound) {
  if (found?.shape === undefined) return { wrong: `expected a tensor, found ${typeof found}` }
  if (found.dtype !== wanted.dtype) return { wrong: `expected ${wanted.dtype}, found ${found.dtype}` }
  if (found.shape.join() !== wanted.shape.join()) return { wrong: `expected [${wanted.shape}], found [${found.shape}]` }
  const [a, b] = [found.data(), elements(data, wanted)]
  if (!wanted.dtype.includes('float')) {
    const index = a.findIndex((value, i) => value !== b[i])
    return index < 0 ? { error: 0 } : { wrong: `element ${index}: expected ${b[index]}, found ${a[index]}` }
  }
  const number = toNumber[wanted.dtype] ?? Number
  let [largest, error, at] = [0, 0, 0]
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [number(a[i]), number(b[i])]
    if (!Number.isFinite(y) || !Number.isFinite(x)) {
      if (Object.is(x, y)) continue
      return { wrong: `element ${i}: expected ${y}, found ${x}` }
    }
    largest = Math.max(largest, Math.abs(y))
    if (Math.abs(x - y) > error) [error, at] = [Math.abs(x - y), i]
  }
  const relative = error === 0 ? 0 : error / Math.max(largest, 1e-30)
  if (relative <= bound) return { error: relative }
  return {
    wrong: `off by ${relative.toExponential(1)} of the largest value at element ${at} of [${wanted.shape}] (bound ${bound.toExponential(1)})`,
    error: relative,
  }
}
