import { spawnSync } from 'node:child_process'
import * as kernels from '../../runtime/native/generated/kernels.js'
import type { DType } from '../../runtime/tensor/dtype.js'
import { nodeArguments } from '../support/node.js'

export type Algorithm = keyof typeof kernels.JitAlgorithm
export interface Step {
  readonly op: Algorithm
  readonly a: number
  readonly b?: number
  readonly p?: readonly number[]
}
export interface Input {
  readonly access: keyof typeof kernels.JitAccess
  readonly dtype: DType
}

/** Compiles a graph of steps; 0 where it cannot be. */
export function compile(inputs: readonly Input[], steps: readonly Step[], out: DType, lut = 0, streaming = 0): number {
  const column = (pick: (s: Step) => number): number[] => steps.map(pick)
  return kernels.jit_elementwise_create({
    inputs: inputs.length,
    steps: steps.length,
    out_dtype: out,
    streaming,
    access: inputs.map((i) => kernels.JitAccess[i.access]),
    dtypes: inputs.map((i) => i.dtype),
    ops: column((s) => kernels.JitAlgorithm[s.op]),
    a: column((s) => s.a),
    b: column((s) => s.b ?? -1),
    p0: column((s) => s.p?.[0] ?? 0),
    p1: column((s) => s.p?.[1] ?? 0),
    p2: column((s) => s.p?.[2] ?? 1),
    lut,
    more: 0,
    kept: [],
    more_dtypes: [],
  }).handle
}

/** Native memory with its contents set and read through the copy kernels. */
export class Memory {
  readonly address: number
  constructor(readonly bytes: number) {
    this.address = kernels.mem_alloc({ bytes: Math.max(bytes, 64) })
  }
  write(data: ArrayBufferView, offset = 0): number {
    kernels.mem_write({ address: this.address + offset, bytes: data.byteLength }, data)
    return this.address + offset
  }
  read<T extends ArrayBufferView>(into: T, offset = 0): T {
    kernels.mem_read({ address: this.address + offset, bytes: into.byteLength }, into)
    return into
  }
  free(): void {
    kernels.mem_free({ address: this.address })
  }
}

const bits = new Uint32Array(1)
const value = new Float32Array(bits.buffer)

/** Distance of a float32 from a real number, in units of the float's last place. Equal infinities and NaNs are 0 apart. */
export function ulps(got: number, want: number): number {
  if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) && Number.isNaN(got) ? 0 : Infinity
  const rounded = Math.fround(want)
  if (!Number.isFinite(rounded) || !Number.isFinite(got)) return rounded === got ? 0 : Infinity
  value[0] = Math.abs(rounded)
  const exponent = Math.max(bits[0]! >>> 23, 1)
  return Math.abs(got - want) / 2 ** (exponent - 150)
}

/** float32 values over the whole range: every `step`th bit pattern, the special ones included. */
export function sampledFloats(step: number): Float32Array {
  const special = [0, -0, 1, -1, NaN, Infinity, -Infinity, 1e-45, -1e-45, 1.17549435e-38, 3.4028234663852886e38, -3.4028234663852886e38]
  const words = new Uint32Array(Math.floor(2 ** 32 / step) + 1)
  for (let i = 0; i < words.length; i++) words[i] = i * step
  const sampled = new Float32Array(words.buffer)
  const all = new Float32Array(sampled.length + special.length)
  all.set(special)
  all.set(sampled, special.length)
  return all
}

/** Runs this test file again with another environment; the lines of its output that start with "not ok", or its failure. */
export function rerun(file: string, env: Record<string, string>): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, nodeArguments(file), {
    encoding: 'utf8',
    env: { ...process.env, ...env, PTLITE_JIT_CHILD: '1' },
  })
  return status === 0
    ? ''
    : `${stdout
        .split('\n')
        .filter((line) => line.includes('not ok'))
        .join('\n')}\n${stderr.slice(-2000)}`
}
