import { readFileSync } from 'node:fs'
import t from 'tap'
import { npyToTensor, readNpy, writeNpy } from '../../src/cli/npy.js'
import { type DTypeName, PtliteError, Tensor, tensor } from '../../src/index.js'

interface Case {
  readonly name: string
  readonly file: string
  readonly dtype: DTypeName
  readonly shape: number[]
  /** Row-major; integers as decimal strings. */
  readonly values: (number | boolean | string)[]
}

// written by NumPy 1.24
const cases = JSON.parse(readFileSync(new URL('fixtures/numpy.json', import.meta.url), 'utf8')) as Case[]
const bytesOf = (c: Case): Uint8Array => new Uint8Array(Buffer.from(c.file, 'base64'))
const flat = (x: unknown): unknown[] => (Array.isArray(x) ? x.flatMap(flat) : [x])

t.test('reads what NumPy writes', (t) => {
  for (const c of cases) {
    const x = npyToTensor(readNpy(bytesOf(c)))
    t.equal(x.dtype, c.dtype, `${c.name}: dtype`)
    t.strictSame(x.shape, c.shape, `${c.name}: shape`)
    const values = flat(x.toArray()).map((v, i) => (typeof c.values[i] === 'string' ? String(v) : v))
    t.strictSame(c.shape.includes(0) ? [] : values, c.values, `${c.name}: values`)
  }
  t.end()
})

t.test('writes what it reads', (t) => {
  for (const c of cases) {
    const first = npyToTensor(readNpy(bytesOf(c)))
    const second = readNpy(writeNpy(first))
    t.strictSame([second.dtype, second.shape, [...second.data]], [first.dtype, first.shape, [...first.data()]], c.name)
  }
  t.end()
})

t.test('writes the header as NumPy does', (t) => {
  const file = Buffer.from(writeNpy(tensor([[1, 2, 3]])))
  t.equal((10 + file.readUInt16LE(8)) % 64, 0, 'data are aligned')
  t.match(file.toString('latin1', 10), /^\{'descr': '<f4', 'fortran_order': False, 'shape': \(1, 3\), \} *\n/)
  t.match(Buffer.from(writeNpy(tensor([1, 2]))).toString('latin1', 10), /'shape': \(2,\)/, 'a comma after a lone size')
  t.match(Buffer.from(writeNpy(tensor(1))).toString('latin1', 10), /'shape': \(\)/)
  t.end()
})

t.test('bfloat16 is written as float32, quantized tensors as their integers', (t) => {
  const half = Tensor.fromStorage(new Uint16Array([0x3f80, 0xc000]), { dtype: 'bfloat16', shape: [2] })
  t.strictSame([...readNpy(writeNpy(half)).data], [1, -2])
  const quantized = Tensor.fromStorage(new Uint8Array([3, 255]), { dtype: 'quint8', shape: [2], quant: { scale: 0.5, zeroPoint: 1 } })
  t.strictSame(readNpy(writeNpy(quantized)).dtype, 'uint8')
  t.strictSame([...readNpy(writeNpy(quantized)).data], [3, 255])
  t.end()
})

function withHeader(text: string, data = 16): Uint8Array {
  const header = Buffer.from(`${text}\n`)
  const head = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1')
  head.writeUInt16LE(header.length, 8)
  return new Uint8Array(Buffer.concat([head, header, Buffer.alloc(data)]))
}

t.test('refuses hostile files', (t) => {
  const good = `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }`
  t.strictSame(readNpy(withHeader(good)).shape, [2, 2])
  const bad: Record<string, Uint8Array> = {
    empty: new Uint8Array(0),
    'not npy': new TextEncoder().encode('PK\x03\x04 something else'),
    'too little data': withHeader(good, 15),
    'huge shape': withHeader(good.replace('(2, 2)', '(4294967296, 4294967296)')),
    'overflowing shape': withHeader(good.replace('(2, 2)', '(999999999999999, 999999999999999, 999999999999999)')),
    'negative size': withHeader(good.replace('(2, 2)', '(-1, 2)')),
    'fractional size': withHeader(good.replace('(2, 2)', '(1.5, 2)')),
    'size that is no number': withHeader(good.replace('(2, 2)', '(a, 2)')),
    'no shape': withHeader(`{'descr': '<f4', 'fortran_order': False}`),
    'no descr': withHeader(`{'fortran_order': False, 'shape': (2,)}`),
    'header past the end': Uint8Array.from([0x93, ...Buffer.from('NUMPY'), 1, 0, 255, 255, 0]),
    'version 9': Uint8Array.from([0x93, ...Buffer.from('NUMPY'), 9, 0, 0, 0, 0, 0]),
  }
  for (const [name, bytes] of Object.entries(bad)) t.throws(() => readNpy(bytes), { name: 'PtliteError', code: 'INVALID_FILE' }, name)
  for (const descr of ['<c8', '|O', '|S4', '<M8[ns]', '<u8', 'toString', '__proto__']) {
    t.throws(() => readNpy(withHeader(good.replace('<f4', descr))), { name: 'PtliteError', code: 'UNSUPPORTED_DTYPE' }, descr)
  }
  t.end()
})

t.test('survives mutations', (t) => {
  let state = 20240
  const random = (n: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  let refused = 0
  for (let round = 0; round < 3000; round++) {
    const bytes = bytesOf(cases[random(cases.length)]!).slice()
    for (let k = 0; k <= random(3); k++) bytes[random(Math.min(bytes.length, 128))] = random(256)
    const cut = random(4) === 0 ? bytes.subarray(0, random(bytes.length)) : bytes
    try {
      npyToTensor(readNpy(cut)).dispose()
    } catch (error) {
      if (!(error instanceof PtliteError)) throw error
      refused++
    }
  }
  t.ok(refused > 500, `${refused} of 3000 refused`)
  t.end()
})
