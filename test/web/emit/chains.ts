import { ELEMENTWISE_CALL as CALL } from '../../../runtime/native/wasm/emit/calls.js'
import { elementwise } from '../../../runtime/native/wasm/emit/elementwise.js'
import type { Level } from '../../../runtime/native/wasm/emit/floats.js'
import type { ElementType, Step, StepGraph } from '../../../runtime/native/wasm/emit/step-graph.js'
import { ELEMENT_BYTES } from '../../../runtime/native/wasm/emit/transfer.js'
import { engine, on } from './run.js'

type Data = Float32Array | Uint16Array | Uint8Array | Int8Array

/** A step with its numbers left out where they do not matter. */
export const step = (op: string, a: number, b = 0, [alpha = 0, beta = 0, scale = 1]: readonly number[] = []): Step => ({
  op,
  a,
  b,
  alpha,
  beta,
  scale,
})

export interface Operand {
  readonly dtype: ElementType
  readonly data: Data
  /** Elements from row to row; one element stands for a row's columns where it is broadcast. */
  readonly rowStep: number
  readonly isBroadcast?: boolean
}

export interface Chain {
  readonly inputs: readonly Operand[]
  readonly steps: readonly Step[]
  readonly rows: number
  readonly length: number
  readonly out?: ElementType
  readonly kept?: StepGraph['kept']
  /** Elements from row to row of outputs. */
  readonly outStep?: number
  /** The output lies where the first input does. */
  readonly inPlace?: boolean
  /** Bytes by which data are moved from where vectors are aligned. */
  readonly shift?: number
}

const ARRAYS = { float32: Float32Array, bfloat16: Uint16Array, float16: Uint16Array, bool: Uint8Array, uint8: Uint8Array, int8: Int8Array }

/** What generated code makes of a chain: the output, and outputs of steps that are kept. Null where none is generated. */
export function run(chain: Chain, level: Level): { readonly out: Data; readonly kept: readonly Data[] } | null {
  const { inputs, steps, rows, length, out = 'float32', kept = [], outStep = length, inPlace = false, shift = 0 } = chain
  const code = elementwise({ inputs: inputs.map(({ dtype, isBroadcast = false }) => ({ dtype, isBroadcast })), steps, out, kept }, level)
  if (code === null) return null
  const memory = new engine.Memory({ initial: 1 })
  let top = 1024
  const place = (bytes: number): number => {
    const at = top + shift
    top += Math.ceil((bytes + shift + 64) / 64) * 64
    const missing = Math.ceil((top - memory.buffer.byteLength) / 65536)
    if (missing > 0) memory.grow(missing)
    return at
  }
  const from = inputs.map(({ data }) => place(data.byteLength))
  const elements = rows === 0 ? 0 : (rows - 1) * outStep + length
  const output = (dtype: ElementType): number => place(elements * ELEMENT_BYTES[dtype])
  const to = inPlace ? from[0]! : output(out)
  const more = kept.map(({ dtype }) => output(dtype))
  const bytes = new Uint8Array(memory.buffer)
  // what is not written keeps this
  for (const [at, dtype] of [[to, out] as const, ...more.map((at, k) => [at, kept[k]!.dtype] as const)]) {
    bytes.fill(0x5a, at, at + elements * ELEMENT_BYTES[dtype])
  }
  inputs.forEach(({ data }, k) => bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), from[k]))
  const call = new DataView(memory.buffer, 64)
  call.setInt32(CALL.out, to, true)
  call.setInt32(CALL.rows, rows, true)
  call.setInt32(CALL.length, length, true)
  call.setInt32(CALL.outStep, outStep * ELEMENT_BYTES[out], true)
  inputs.forEach(({ dtype, rowStep }, k) => {
    call.setInt32(CALL.in + 4 * k, from[k]!, true)
    call.setInt32(CALL.inStep + 8 * k, rowStep * ELEMENT_BYTES[dtype], true)
  })
  kept.forEach(({ dtype }, k) => {
    call.setInt32(CALL.more + 4 * k, more[k]!, true)
    call.setInt32(CALL.moreStep + 8 * k, outStep * ELEMENT_BYTES[dtype], true)
  })
  on(memory, code).run(64)
  const read = (at: number, dtype: ElementType): Data => new ARRAYS[dtype](bytes.slice(at, at + elements * ELEMENT_BYTES[dtype]).buffer)
  return { out: read(to, out), kept: more.map((at, k) => read(at, kept[k]!.dtype)) }
}

/** One float32 input, row after row. */
export const full = (data: Float32Array, length: number): Operand => ({ dtype: 'float32', data, rowStep: length })
