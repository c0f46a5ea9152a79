import { PtliteError } from '../../runtime/error.js'
import { dtypeFromName } from '../../runtime/tensor/dtype.js'
import { float8Value } from '../../runtime/tensor/float8.js'
import { type DTypeName, Tensor, type TypedArray } from '../index.js'

/** The array of a `.npy` file. */
export interface NpyArray {
  readonly dtype: DTypeName
  readonly shape: number[]
  /** In elements: Fortran order has the first one at 1. */
  readonly strides: number[]
  readonly data: Exclude<TypedArray, Uint8ClampedArray>
}

interface Kind {
  readonly bytes: number
  readonly dtype: DTypeName
  /** Element types that no tensor has are widened to the next that holds all their values. */
  read(view: DataView, at: number, little: boolean): number | bigint
  make(length: number): Exclude<TypedArray, Uint8ClampedArray>
}

const KINDS: Readonly<Record<string, Kind>> = {
  b1: { bytes: 1, dtype: 'bool', read: (v, at) => Number(v.getUint8(at) !== 0), make: (n) => new Uint8Array(n) },
  i1: { bytes: 1, dtype: 'int8', read: (v, at) => v.getInt8(at), make: (n) => new Int8Array(n) },
  u1: { bytes: 1, dtype: 'uint8', read: (v, at) => v.getUint8(at), make: (n) => new Uint8Array(n) },
  i2: { bytes: 2, dtype: 'int16', read: (v, at, le) => v.getInt16(at, le), make: (n) => new Int16Array(n) },
  u2: { bytes: 2, dtype: 'int32', read: (v, at, le) => v.getUint16(at, le), make: (n) => new Int32Array(n) },
  i4: { bytes: 4, dtype: 'int32', read: (v, at, le) => v.getInt32(at, le), make: (n) => new Int32Array(n) },
  u4: { bytes: 4, dtype: 'int64', read: (v, at, le) => BigInt(v.getUint32(at, le)), make: (n) => new BigInt64Array(n) },
  i8: { bytes: 8, dtype: 'int64', read: (v, at, le) => v.getBigInt64(at, le), make: (n) => new BigInt64Array(n) },
  f2: { bytes: 2, dtype: 'float16', read: (v, at, le) => v.getUint16(at, le), make: (n) => new Uint16Array(n) },
  f4: { bytes: 4, dtype: 'float32', read: (v, at, le) => v.getFloat32(at, le), make: (n) => new Float32Array(n) },
  f8: { bytes: 8, dtype: 'float64', read: (v, at, le) => v.getFloat64(at, le), make: (n) => new Float64Array(n) },
}

const MAGIC = '\x93NUMPY'

/**
 * Reads NumPy's `.npy` format, versions 1 to 3. uint16 becomes int32 and uint32 int64.
 * Throws INVALID_FILE for damaged files and UNSUPPORTED_DTYPE for types that no tensor can hold.
 */
export function readNpy(bytes: Uint8Array): NpyArray {
  const { header, dataStart } = splitHeader(bytes)
  const descr = field(header, 'descr', /'([^']*)'/)
  const fortran = field(header, 'fortran_order', /(True|False)/) === 'True'
  const shape = parseShape(field(header, 'shape', /\(([^()]*)\)/))
  const kind = KINDS[descr.slice(1)]
  if (!/^[<>|=][a-z]\d+$/.test(descr) || kind === undefined) {
    throw new PtliteError(
      'UNSUPPORTED_DTYPE',
      `.npy data type '${descr}' is not supported; expected one of ${Object.keys(KINDS).join(', ')}`,
    )
  }
  const length = countElements(shape, kind.bytes, bytes.length - dataStart)
  const view = new DataView(bytes.buffer, bytes.byteOffset + dataStart, length * kind.bytes)
  const data = kind.make(length)
  const little = descr[0] !== '>'
  for (let i = 0; i < length; i++) data[i] = kind.read(view, i * kind.bytes, little)
  return { dtype: kind.dtype, shape, strides: stridesOf(shape, fortran), data }
}

export function npyToTensor(array: NpyArray): Tensor {
  const { dtype, shape, strides, data } = array
  return Tensor.fromStorage(data, { dtype, shape, strides })
}

function damaged(what: string): never {
  throw new PtliteError('INVALID_FILE', `damaged .npy file: ${what}`)
}

function splitHeader(bytes: Uint8Array): { header: string; dataStart: number } {
  if (bytes.length < 10 || latin1(bytes.subarray(0, 6)) !== MAGIC) damaged('it does not begin with \\x93NUMPY')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const major = bytes[6]!
  if (major < 1 || major > 3) damaged(`expected format version 1 to 3, found ${major}`)
  const long = major > 1
  if (long && bytes.length < 12) damaged('it ends inside its header')
  const start = long ? 12 : 10
  const dataStart = start + (long ? view.getUint32(8, true) : view.getUint16(8, true))
  if (dataStart > bytes.length) damaged(`its header needs ${dataStart} bytes, the file has ${bytes.length}`)
  return { header: latin1(bytes.subarray(start, dataStart)), dataStart }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function field(header: string, name: string, value: RegExp): string {
  const found = new RegExp(`'${name}'\\s*:\\s*${value.source}`).exec(header)
  if (found === null) damaged(`its header has no valid '${name}'`)
  return found[1]!
}

function parseShape(text: string): number[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.at(-1) === '') parts.pop()
  return parts.map((part) => {
    if (!/^\d{1,15}L?$/.test(part)) damaged(`expected sizes in its shape, found '${part}'`)
    return Number.parseInt(part, 10)
  })
}

/** Elements of the shape; the product is compared with the bytes there are before it is trusted. */
function countElements(shape: readonly number[], itemBytes: number, available: number): number {
  let n = 1
  for (const size of shape) {
    n *= size
    if (n > Number.MAX_SAFE_INTEGER / 8) damaged(`shape (${shape.join(', ')}) is too large`)
  }
  if (n * itemBytes > available) damaged(`shape (${shape.join(', ')}) needs ${n * itemBytes} bytes of data, the file has ${available}`)
  return n
}

function stridesOf(shape: readonly number[], fortran: boolean): number[] {
  const strides = new Array<number>(shape.length)
  let step = 1
  for (let i = 0; i < shape.length; i++) {
    const d = fortran ? i : shape.length - 1 - i
    strides[d] = step
    step *= Math.max(shape[d]!, 1)
  }
  return strides
}

const DESCR: Readonly<Record<DTypeName, string>> = {
  bool: '|b1',
  int8: '|i1',
  uint8: '|u1',
  int16: '<i2',
  int32: '<i4',
  int64: '<i8',
  float16: '<f2',
  float32: '<f4',
  float64: '<f8',
  complex64: '<c8',
  complex128: '<c16',
  uint16: '<u2',
  uint32: '<u4',
  uint64: '<u8',
  // NumPy has none of these: they are written as float32, which holds all their values
  bfloat16: '<f4',
  float8_e5m2: '<f4',
  float8_e4m3fn: '<f4',
  float8_e5m2fnuz: '<f4',
  float8_e4m3fnuz: '<f4',
  // quantized tensors are written as their integers
  qint8: '|i1',
  quint8: '|u1',
  qint32: '<i4',
  quint4x2: '|u1',
}

/** The `.npy` file (version 1) of a tensor: row-major, little-endian. bfloat16 and floats of 8 bits become float32, quantized types their integers. */
export function writeNpy(t: Tensor): Uint8Array {
  const raw = t.data()
  const data =
    t.dtype === 'bfloat16' ? widen(raw as Uint16Array) : t.dtype.startsWith('float8') ? numbersOf(raw as Uint8Array, t.dtype) : raw
  const sizes = t.shape.length === 1 ? `${t.shape[0]},` : t.shape.join(', ')
  const text = `{'descr': '${DESCR[t.dtype]}', 'fortran_order': False, 'shape': (${sizes}), }`
  // the data begin at a multiple of 64 bytes, as NumPy itself writes them
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + '\n'
  const out = Buffer.alloc(10 + padded.length + data.byteLength)
  out.write(`${MAGIC}\x01\x00`, 'latin1')
  out.writeUInt16LE(padded.length, 8)
  out.write(padded, 10, 'latin1')
  out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 10 + padded.length)
  return out
}

function numbersOf(bits: Uint8Array, dtype: DTypeName): Float32Array {
  return Float32Array.from(bits, (element) => float8Value(element, dtypeFromName(dtype)))
}

function widen(bits: Uint16Array): Float32Array {
  const out = new Uint32Array(bits.length)
  for (let i = 0; i < bits.length; i++) out[i] = bits[i]! * 65536
  return new Float32Array(out.buffer)
}
