// Code that is generated for the kernels of WebAssembly against what these do without, in one run on one thread: chains of element-wise steps, and
// block-sparse products, these beside the dense product with a packed weight, too. Prints tables of the least processor times in Markdown.
//
//   npm --prefix bench run web-jit -- [--count 8192] [--rows 128] [--rounds 20] [--milliseconds 20]
//
// Needs `npm run build:web`. Node below 22 has relaxed SIMD behind --experimental-wasm-relaxed-simd --no-liftoff, which the script gives it.
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fieldOf, layoutOfName } from '../../compiler/capture/frame-layout.js'
import { frameOf } from '../../runtime/native/frame.js'
import * as native from '../../runtime/native/generated/kernels.js'
import { highestWasmLevel } from '../../runtime/native/wasm/features.js'
import { Kernels } from '../../runtime/native/wasm/kernels.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { inTurns } from './timing.js'

const { values: options } = parseArgs({
  options: {
    count: { type: 'string', default: '8192' },
    rows: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '20' },
    milliseconds: { type: 'string', default: '20' },
  },
})
const [count, m, rounds, milliseconds] = [options.count, options.rows, options.rounds, options.milliseconds].map(Number) as [
  number,
  number,
  number,
  number,
]
const level = highestWasmLevel()!
const file = level === 'RELAXED' ? 'ptlite-relaxed' : 'ptlite'
const module = new webAssembly!.Module(readFileSync(fileURLToPath(new URL(`../../dist/web/${file}.wasm`, import.meta.url))))

const newKernels = (): Kernels => Kernels.of(module)

/** With code, and without. */
const generating = newKernels()
process.env['PTLITE_JIT'] = '0'
const interpreting = newKernels()

/** Runs a kernel by its frame; what it says is in the frame that comes back. */
function prepare(
  kernels: Kernels,
  call: () => void,
): { readonly run: () => void; readonly result: (kernel: string, field: string) => number } {
  const frame = frameOf(call)
  return {
    run: () => {
      if (kernels.launchFrame(frame) !== 0) throw new Error('a kernel failed')
    },
    result: (kernel, field) => fieldOf(layoutOfName(kernel)!, frame, field),
  }
}

function place(kernels: Kernels, data: Float32Array): number {
  const address = kernels.take(data.byteLength)
  new Float32Array(kernels.exports.memory.buffer, address, data.length).set(data)
  return address
}

type Step = readonly [op: keyof typeof native.JitAlgorithm, a: number, b?: number]

/** On four inputs, which are values 0 to 3. */
const CHAINS: Readonly<Record<string, readonly Step[]>> = {
  'mul, add, relu': [
    ['mul', 0, 1],
    ['add', 4, 2],
    ['relu', 5],
  ],
  'add, hardswish, mul': [
    ['add', 0, 1],
    ['hardswish', 4],
    ['mul', 5, 2],
  ],
  'silu, mul, add': [
    ['silu', 0],
    ['mul', 4, 1],
    ['add', 5, 2],
  ],
  'mul, add, gelu, mul, add': [
    ['mul', 0, 1],
    ['add', 4, 2],
    ['gelu_erf', 5],
    ['mul', 6, 3],
    ['add', 7, 0],
  ],
  'a cell of LSTM, 6 steps': [
    ['sigmoid', 0],
    ['tanh', 1],
    ['mul', 4, 5],
    ['sigmoid', 2],
    ['mul', 7, 3],
    ['add', 6, 8],
  ],
  '10 steps of arithmetic': [
    ['mul', 0, 1],
    ['add', 4, 2],
    ['relu', 5],
    ['mul', 6, 3],
    ['add', 7, 0],
    ['hardswish', 8],
    ['sub', 9, 1],
    ['mul', 10, 10],
    ['max', 11, 2],
    ['min', 12, 3],
  ],
}

async function chains(): Promise<void> {
  const kernels = generating
  const data = (k: number): Float32Array => Float32Array.from({ length: count }, (_, i) => ((i * (37 + k)) % 1021) / 128 - 4)
  const inputs = [0, 1, 2, 3].map((k) => place(kernels, data(k)))
  const out = kernels.take(4 * count)
  console.log(`${count} floats of four inputs | generated, µs | step by step, µs | times faster`)
  console.log('---|---:|---:|---:')
  for (const [name, steps] of Object.entries(CHAINS)) {
    const columns = {
      inputs: 4,
      steps: steps.length,
      a: steps.map(([, a]) => a),
      b: steps.map(([, , b = 0]) => b),
      p0: steps.map(() => 0),
      p1: steps.map(() => 0),
      dtypes: inputs.map(() => DType.float32),
      out_dtype: DType.float32,
      streaming: 0,
      ...{ more: 0, kept: [], more_dtypes: [] },
    }
    const ops = steps.map(([op]) => native.JitAlgorithm[op])
    const create = prepare(kernels, () =>
      native.jit_elementwise_create({ ...columns, ops, access: inputs.map(() => native.JitAccess.full), p2: steps.map(() => 1), lut: 0 }),
    )
    create.run()
    await kernels.code.settled()
    const strides = inputs.flatMap(() => [1, 0, 0, 0, 0, 0])
    const fused = (code: number): (() => void) =>
      prepare(kernels, () => native.fused({ ...columns, ndim: 1, sizes: [count], out, in: inputs, strides, op: ops, code, more_out: [] }))
        .run
    const times = inTurns(
      { generated: fused(create.result('jit_elementwise_create', 'handle')), interpreted: fused(0) },
      rounds,
      milliseconds,
    )
    console.log(
      [name, times.generated.toFixed(1), times.interpreted.toFixed(1), (times.interpreted / times.generated).toFixed(2)].join(' | '),
    )
  }
}

function products(): void {
  console.log(`\n${m} rows, K × N | zero blocks | generated, ms | compiled, ms | times faster | dense, ms | times faster than dense`)
  console.log('---|---:|---:|---:|---:|---:|---:')
  let state = 1
  const random = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  for (const [k, n] of [
    [768, 768],
    [768, 3072],
  ] as const) {
    const x = Float32Array.from({ length: m * k }, () => random() - 0.5)
    for (const zeros of [0.8, 0.9, 0.95]) {
      const weight = new Float32Array(n * k)
      for (let column = 0; column < n; column += 16) {
        for (let i = 0; i < k; i++)
          if (random() >= zeros) for (let row = column; row < column + 16; row++) weight[row * k + i] = random() - 0.5
      }
      const product = (kernels: Kernels): (() => void) => {
        const [w, at, bias] = [place(kernels, weight), place(kernels, x), place(kernels, new Float32Array(n))]
        const out = kernels.take(4 * m * n)
        const form = native.SparseForm.rows
        const create = prepare(kernels, () =>
          native.sparse_gemm_create({
            ...{ weight: w, n, k, n_stride: k, n_group: 16 * k, k_stride: 1, dtype: DType.float32, m, form, has_bias: 1 },
            ...{ post_ops: 0, ops: [], access: [], p0: [], p1: [], p2: [] },
          }),
        )
        create.run()
        const handle = create.result('sparse_gemm_create', 'handle')
        return prepare(kernels, () =>
          native.sparse_gemm({
            ...{
              handle,
              n,
              k,
              form,
              post_ops: 0,
              access: [],
              x: at,
              out,
              bias,
              m,
              x_stride: k,
              out_stride: n,
              batch: 1,
              x_batch: 0,
              out_batch: 0,
            },
            ...{ x_group: 16, out_group: 16, operands: [], operand_strides: [], operand_batches: [], operand_groups: [] },
          }),
        ).run
      }
      const times = inTurns(
        { generated: product(generating), compiled: product(interpreting), dense: dense(generating, weight, x, n, k) },
        rounds,
        milliseconds,
      )
      const ms = (us: number): string => (us / 1000).toFixed(3)
      const gain = (us: number): string => (us / times.generated).toFixed(2)
      console.log(
        [
          `${k} × ${n}`,
          `${100 * zeros} %`,
          ms(times.generated),
          ms(times.compiled),
          gain(times.compiled),
          ms(times.dense),
          gain(times.dense),
        ].join(' | '),
      )
    }
  }
}

function dense(kernels: Kernels, weight: Float32Array, x: Float32Array, n: number, k: number): () => void {
  const [w, at, bias] = [place(kernels, weight), place(kernels, x), place(kernels, new Float32Array(n))]
  const out = kernels.take(4 * m * n)
  const sizes = { dtype: DType.float32, side: 1, groups: 1, outer: n, k }
  const size = prepare(kernels, () => native.gemm_pack_size(sizes))
  size.run()
  const packed = kernels.take(size.result('gemm_pack_size', 'bytes'))
  prepare(kernels, () => native.gemm_pack({ ...sizes, src: w, outer_stride: k, k_stride: 1, group_stride: 0, dst: packed })).run()
  return prepare(kernels, () =>
    native.linear({ dtype: DType.float32, m, n, k, packed: 1, clamped: 0, x: at, weight: packed, bias, out, lo: 0, hi: 0 }),
  ).run
}

console.log(`${cpus()[0]!.model}, Node ${process.version}, kernels for ${level}, ${new Date().toISOString().slice(0, 10)}\n`)
await chains()
products()
