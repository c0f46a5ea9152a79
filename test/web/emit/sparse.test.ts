import t from 'tap'
import { SPARSE_CALL as CALL } from '../../../runtime/native/wasm/emit/calls.js'
import { sparseProduct, type SparseStep } from '../../../runtime/native/wasm/emit/sparse.js'
import { BINARY, UNARY } from '../../native/jit-reference.js'
import type { Algorithm } from '../../native/jit-support.js'
import { engine, on } from './run.js'

interface Case {
  readonly isChannelMajor: boolean
  readonly m: number
  readonly n: number
  readonly k: number
  /** Of a panel. */
  readonly rows: number
  readonly turns: number
  readonly hasBias: boolean
  readonly hasHalves: boolean
  readonly steps: readonly SparseStep[]
}

let state = 7
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

const step = (op: string, access: SparseStep['access'] = 'full', alpha = 0, beta = 0): SparseStep => ({ op, access, alpha, beta, scale: 1 })

/** The farthest that a product is from double precision, and whether it wrote anything else. */
function worst(c: Case, relaxed: boolean): { readonly distance: number; readonly isKept: boolean } {
  const { isChannelMajor, m, n, k, rows } = c
  const memory = new engine.Memory({ initial: 8 })
  const buffer = memory.buffer
  let top = 1024
  const floats = (count: number, value: (i: number) => number): Float32Array => {
    const array = new Float32Array(buffer, top, count)
    top += Math.ceil(count * 4 + 4)
    array.forEach((_, i) => (array[i] = Math.fround(value(i))))
    return array
  }
  const x = Array.from({ length: m * k }, () => Math.fround(random() - 0.5))
  let stride = rows
  if (!isChannelMajor) for (stride = 1; stride < rows; stride *= 2);
  const panels = floats(Math.ceil(m / rows) * k * stride, () => NaN)
  for (let r = 0; r < m; r++) for (let i = 0; i < k; i++) panels[(Math.floor(r / rows) * k + i) * stride + (r % rows)] = x[r * k + i]!
  const columns = Math.ceil(n / 16)
  const weight = new Float32Array(columns * 16 * k)
  const blocks: { readonly column: number; readonly channel: number }[] = []
  for (let column = 0; column < columns; column++) {
    for (let channel = 0; channel < k; channel++) if (random() < 0.4) blocks.push({ column, channel })
  }
  const values = floats(blocks.length * 16, () => 0)
  const halves = new Uint16Array(buffer, values.byteOffset, blocks.length * 16)
  blocks.forEach(({ column, channel }, b) => {
    for (let lane = 0; lane < 16; lane++) {
      const value = column * 16 + lane < n ? Math.round((random() - 0.5) * 64) / 64 : 0
      weight[(column * 16 + lane) * k + channel] = value
      if (c.hasHalves) halves[b * 16 + lane] = new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16
      else values[b * 16 + lane] = value
    }
  })
  const offsets = new Int32Array(buffer, floats(blocks.length + 1, () => 0).byteOffset, blocks.length)
  blocks.forEach(({ channel }, b) => (offsets[b] = channel * stride * 4))
  const bias = floats(n, () => random())
  const operands = c.steps.map(({ access }) => floats(access === 'full' ? m * n : access === 'row' ? n : 1, () => random() - 0.5))
  const out = floats(m * n + 8, () => -77)
  const place = (row: number, channel: number): number => (isChannelMajor ? channel * m + row : row * n + channel)

  const { run } = on(memory, sparseProduct(c, { relaxed })!)
  const call = new DataView(buffer, 64)
  const set = (at: number, value: number): void => call.setInt32(at, value, true)
  for (let column = 0; column < columns; column++) {
    const first = blocks.findIndex((b) => b.column === column)
    const count = blocks.filter((b) => b.column === column).length
    const channel = column * 16
    set(CALL.panels, panels.byteOffset)
    set(CALL.panelBytes, k * stride * 4)
    set(CALL.offsets, offsets.byteOffset + 4 * Math.max(first, 0))
    set(CALL.blocks, count)
    set(CALL.values, values.byteOffset + Math.max(first, 0) * (c.hasHalves ? 32 : 64))
    set(CALL.bias, c.hasBias ? bias.byteOffset + 4 * channel : 0)
    set(CALL.out, out.byteOffset + 4 * place(0, channel))
    set(CALL.m, m)
    set(CALL.outBytes, 4 * (isChannelMajor ? m : n))
    c.steps.forEach(({ access }, i) => {
      const at = access === 'full' ? place(0, channel) : access === 'row' ? channel : 0
      set(CALL.operands + 4 * i, operands[i]!.byteOffset + 4 * at)
      set(CALL.operandBytes + 8 * i, 4 * (isChannelMajor ? m : n))
    })
    set(CALL.lanes, Math.min(16, n - channel))
    run(64)
  }
  let distance = 0
  for (let row = 0; row < m; row++) {
    for (let channel = 0; channel < n; channel++) {
      let want = c.hasBias ? bias[channel]! : 0
      for (let i = 0; i < k; i++) want += weight[channel * k + i]! * x[row * k + i]!
      c.steps.forEach(({ op, access, alpha, beta, scale }, i) => {
        const at = access === 'full' ? place(row, channel) : access === 'row' ? channel : 0
        want = UNARY[op as Algorithm]?.(want, [alpha, beta, scale]) ?? BINARY[op as Algorithm]!(want, operands[i]![at]!)
      })
      const got = out[place(row, channel)]!
      distance = Math.max(distance, Number.isNaN(got) ? Infinity : Math.abs(got - want))
    }
  }
  return { distance, isKept: out.subarray(m * n).every((v) => v === -77) }
}

const CHAINS: readonly (readonly SparseStep[])[] = [
  [],
  [step('add'), step('relu')],
  [step('mul', 'row'), step('add', 'scalar'), step('clamp', 'full', -0.5, 0.5)],
  // long enough to be written once, in a loop over the sums
  [step('gelu_erf'), step('add', 'row')],
  [step('add'), step('sigmoid'), step('mul', 'row')],
]

t.test('all forms of panels, columns that are cut off, and chains', (t) => {
  for (const isChannelMajor of [false, true]) {
    for (const [m, n, k, rows] of [
      [1, 16, 20, 1],
      [2, 20, 13, 2],
      [3, 33, 9, 3],
      [5, 37, 20, 5],
      [13, 16, 33, 8],
      [29, 50, 7, 7],
      [31, 1, 8, 28],
      [17, 17, 5, 12],
    ] as const) {
      const own = isChannelMajor ? Math.ceil(rows / 4) * 4 : rows
      for (const turns of isChannelMajor || rows >= 8 ? [1] : rows >= 4 ? [1, 2] : [1, 4]) {
        CHAINS.forEach((steps, i) => {
          const hasBias = i % 2 === 0
          const { distance, isKept } = worst({ isChannelMajor, m, n, k, rows: own, turns, hasBias, hasHalves: i === 1, steps }, i === 2)
          const of = `${isChannelMajor ? 'channels' : 'rows'} of ${m} x ${n} x ${k}, panels of ${own}, ${turns} sums, chain ${i}`
          t.ok(distance < 3e-6 && isKept, `${of}: ${distance.toExponential(1)}`)
        })
      }
    }
  }
  t.end()
})

t.test('what cannot be generated', (t) => {
  const one = (steps: readonly SparseStep[], rows = 8): boolean =>
    sparseProduct({ isChannelMajor: true, rows, turns: 1, hasBias: false, hasHalves: false, steps }, { relaxed: false }) !== null
  t.ok(one([]))
  t.notOk(one([step('sin')]), 'no algorithm')
  t.notOk(one([step('dequantize')]), 'bytes')
  t.notOk(one([], 6), 'rows that are no vectors')
  t.end()
})
