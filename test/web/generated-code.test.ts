import { readFileSync } from 'node:fs'
import t from 'tap'
import { frameOf } from '../../runtime/native/frame.js'
import * as native from '../../runtime/native/generated/kernels.js'
import { ELEMENT_TYPES } from '../../runtime/native/wasm/emit/descriptions.js'
import type { Kernels } from '../../runtime/native/wasm/kernels.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { COMPILED_ONLY, OF_BYTES } from '../native/jit-reference.js'
import { type Algorithm, sampledFloats, type Step } from '../native/jit-support.js'
import { fixturePath } from '../module/fixtures.js'
import { webLibrary, withoutWeb } from '../support/web.js'
import { launch, levels, newKernels, place } from '../support/web-kernels.js'

// Code that is generated for the kernels of WebAssembly, and the kernels that do the work without: one result, whichever runs.

/** Bits, with one NaN for all. */
function bitsAt(kernels: Kernels, address: number, count: number): Uint32Array {
  const bits = new Uint32Array(kernels.exports.memory.buffer, address, count).slice()
  const floats = new Float32Array(bits.buffer)
  for (let i = 0; i < count; i++) if (Number.isNaN(floats[i])) bits[i] = 0x7fc00000
  return bits
}

const differences = (a: Uint32Array, b: Uint32Array): number => a.reduce((n, v, i) => n + Number(v !== b[i]), 0)

interface Graph {
  readonly steps: readonly Step[]
  readonly sizes: readonly number[]
  readonly inputs: readonly number[]
  /** Six per input, innermost first. */
  readonly strides: readonly number[]
}

const columnsOf = (steps: readonly Step[]) => ({
  a: steps.map((s) => s.a),
  b: steps.map((s) => s.b ?? 0),
  p0: steps.map((s) => s.p?.[0] ?? 0),
  p1: steps.map((s) => s.p?.[1] ?? 0),
})

function create(kernels: Kernels, { steps, inputs, strides }: Graph): number {
  const result = launch(kernels, 'jit_elementwise_create', () =>
    native.jit_elementwise_create({
      inputs: inputs.length,
      steps: steps.length,
      out_dtype: DType.float32,
      streaming: 0,
      access: inputs.map((_, k) => (strides[6 * k] === 0 ? native.JitAccess.channel : native.JitAccess.full)),
      dtypes: inputs.map(() => DType.float32),
      ops: steps.map((s) => native.JitAlgorithm[s.op]),
      ...columnsOf(steps),
      p2: steps.map(() => 1),
      lut: 0,
      more: 0,
      kept: [],
      more_dtypes: [],
    }),
  )
  return result('handle')
}

function fused(kernels: Kernels, { steps, sizes, inputs, strides }: Graph, code: number): Uint32Array {
  const count = sizes.reduce((a, b) => a * b, 1)
  const out = kernels.take(4 * count)
  launch(kernels, 'fused', () =>
    native.fused({
      inputs: inputs.length,
      steps: steps.length,
      ndim: sizes.length,
      streaming: 0,
      sizes,
      out,
      in: inputs,
      strides,
      op: steps.map((s) => native.JitAlgorithm[s.op]),
      ...columnsOf(steps),
      code,
      out_dtype: DType.float32,
      more: 0,
      kept: [],
      more_dtypes: [],
      more_out: [],
      dtypes: inputs.map(() => DType.float32),
    }),
  )
  const bits = bitsAt(kernels, out, count)
  kernels.give(out)
  return bits
}

const release = (kernels: Kernels, handle: number): void => {
  launch(kernels, 'jit_release', () => native.jit_release({ handle }))
}
const functions = (kernels: Kernels): number => launch(kernels, 'jit_info', () => native.jit_info())('kernels')
const startOf = (kernels: Kernels, handle: number): number => new Int32Array(kernels.exports.memory.buffer, handle, 1)[0]!

const ops = (Object.keys(native.JitAlgorithm) as Algorithm[]).filter(
  (op) => !op.startsWith('quantize') && !OF_BYTES.includes(op) && !COMPILED_ONLY.includes(op),
)
const isBinary = (op: Algorithm): boolean => native.JitAlgorithm[op] >= native.JitAlgorithm.add
const PARAMETERS: Partial<Record<Algorithm, readonly number[]>> = {
  relu: [0.1],
  linear: [1.5, 0.25],
  clamp: [-1, 2],
  elu: [1.3],
  softplus: [0.7, 20],
}

t.test('dtypes have their numbers', (t) => {
  for (const [number, name] of Object.entries(ELEMENT_TYPES)) {
    const dtype = Object.entries(DType).find(([, code]) => code === Number(number))?.[0]
    t.equal(dtype?.replace('q', ''), name)
  }
  t.end()
})

for (const level of levels) {
  t.test(`${level}: every algorithm, over the whole range: the bits of the kernels`, { skip: withoutWeb }, async (t) => {
    const kernels = newKernels(level)
    const x = sampledFloats(1_000_003)
    const y = Float32Array.from(x, (_, i) => x[(i * 7919 + 3) % x.length]!)
    const addresses = [place(kernels, x), place(kernels, y)]
    for (const op of ops) {
      const steps: Step[] = [{ op, a: 0, b: isBinary(op) ? 1 : 0, p: PARAMETERS[op] ?? [] }]
      const inputs = addresses.slice(0, isBinary(op) ? 2 : 1)
      const graph = { steps, sizes: [x.length], inputs, strides: [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0] }
      const handle = create(kernels, graph)
      t.ok(handle, `${op} is generated`)
      t.equal(startOf(kernels, handle), 0, 'it is compiled later')
      const interpreted = fused(kernels, graph, handle)
      await kernels.code.settled()
      t.ok(startOf(kernels, handle), 'and then in use')
      t.equal(differences(fused(kernels, graph, handle), interpreted), 0, op)
      release(kernels, handle)
    }
    t.equal(functions(kernels), 0)
  })
}

let state = 99
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}
const below = (n: number): number => Math.floor(random() * n)

for (const level of levels) {
  t.test(`${level}: random graphs over rows, columns and channels that are broadcast`, { skip: withoutWeb }, async (t) => {
    const kernels = newKernels(level)
    let wrong = 0
    for (let round = 0; round < 50; round++) {
      const sizes = Array.from({ length: 1 + below(4) }, (_, d) => 1 + below(d === 0 ? 67 : 5))
      const count = sizes.reduce((a, b) => a * b, 1)
      const inputs = Array.from({ length: 1 + below(4) }, () =>
        place(
          kernels,
          Float32Array.from({ length: count }, () => random() * 8 - 4),
        ),
      )
      const strides = inputs.flatMap((_, k) => {
        let step = 1
        const own = sizes.map((size, d) => {
          const stride = (k > 0 && random() < 0.4) || (d === 0 && step > 1) ? 0 : step
          if (stride !== 0) step *= size
          return stride
        })
        return [...own, ...new Array<number>(6 - own.length).fill(0)]
      })
      const steps: Step[] = Array.from({ length: 1 + below(8) }, (_, i) => {
        const op = ops[below(ops.length)]!
        const operand = (): number => (isBinary(op) && random() < 0.2 ? -1 - below(2) : below(inputs.length + i))
        return { op, a: operand(), b: isBinary(op) ? operand() : 0, p: PARAMETERS[op] ?? [0.5, 2] }
      })
      const graph = { steps, sizes, inputs, strides }
      const handle = create(kernels, graph)
      const interpreted = fused(kernels, graph, 0)
      await kernels.code.settled()
      const generated = fused(kernels, graph, handle)
      if (handle === 0 || startOf(kernels, handle) === 0 || differences(generated, interpreted) > 0) wrong++
      release(kernels, handle)
      for (const address of inputs) kernels.give(address)
    }
    t.equal(wrong, 0)
  })
}

t.test('code is shared, goes with its last user, and leaves its place to others', { skip: withoutWeb }, async (t) => {
  const kernels = newKernels()
  const input = place(kernels, Float32Array.of(1, 2, 3, 4, 5))
  const graph = (alpha: number): Graph => ({
    steps: [{ op: 'linear', a: 0, p: [alpha, 0.5] }],
    sizes: [5],
    inputs: [input],
    strides: [1, 0, 0, 0, 0, 0],
  })
  const table = kernels.exports.__indirect_function_table
  const [a, b, c] = [create(kernels, graph(7)), create(kernels, graph(7)), create(kernels, graph(8))]
  t.equal(functions(kernels), 2)
  await kernels.code.settled()
  const slot = startOf(kernels, a)
  t.equal(startOf(kernels, b), slot)
  t.not(startOf(kernels, c), slot)
  const late = create(kernels, graph(7))
  t.equal(startOf(kernels, late), slot, 'code that is there is in use at once')
  const size = table.length
  for (const handle of [a, late]) release(kernels, handle)
  t.ok(table.get(slot))
  t.same(new Float32Array(fused(kernels, graph(7), b).buffer), Float32Array.of(7.5, 14.5, 21.5, 28.5, 35.5))
  release(kernels, b)
  t.equal(table.get(slot), null)
  t.equal(functions(kernels), 1)

  // more than the table had places for, one after the other; some are given up before they are compiled
  for (let i = 0; i < 100; i++) {
    const handle = create(kernels, graph(i))
    if (i % 3 > 0) await kernels.code.settled()
    release(kernels, handle)
  }
  await kernels.code.settled()
  t.equal(table.length, size, 'places are used again')
  t.equal(functions(kernels), 1)
  release(kernels, c)
  t.equal(kernels.launchFrame(frameOf(() => native.jit_release({ handle: a }))), 11, 'a handle that is gone')
})

for (const level of levels) {
  t.test(`${level}: block-sparse products: the bits of the kernels`, { skip: withoutWeb }, (t) => {
    const generating = newKernels(level)
    process.env['PTLITE_JIT'] = '0'
    const interpreting = newKernels(level)
    delete process.env['PTLITE_JIT']
    t.equal(launch(interpreting, 'jit_info', () => native.jit_info())('state'), native.JitState.off)
    t.equal(launch(generating, 'jit_info', () => native.jit_info())('state'), native.JitState.ready)
    let wrong = 0
    let missing = 0
    for (let round = 0; round < 60; round++) {
      const form = round % 4
      const [m, n, k] = [1 + below(40), 1 + below(50), 1 + below(40)]
      const weight = new Float32Array(n * k)
      for (let column = 0; column < n; column += 16) {
        for (let i = 0; i < k; i++) {
          if (random() < 0.6) continue
          for (let row = column; row < Math.min(n, column + 16); row++) weight[row * k + i] = random() - 0.5
        }
      }
      const [x, bias, operand] = [m * k, n, m * n].map((length) => Float32Array.from({ length }, () => random() - 0.5)) as [
        Float32Array,
        Float32Array,
        Float32Array,
      ]
      const hasStep = random() < 0.6
      const chain = hasStep ? [native.JitAlgorithm.add, native.JitAlgorithm.gelu_erf, native.JitAlgorithm.mul] : []
      const access = [native.JitAccess.full, native.JitAccess.full, native.JitAccess.row]
      const isChannelMajor = form === native.SparseForm.channels
      const [xStride, outStride] = isChannelMajor ? [m, m] : [k, n]
      const results = [generating, interpreting].map((kernels) => {
        const at = { weight: place(kernels, weight), x: place(kernels, x), bias: place(kernels, bias), operand: place(kernels, operand) }
        const out = kernels.take(4 * m * n)
        const numbers = chain.map(() => 0)
        const made = launch(kernels, 'sparse_gemm_create', () =>
          native.sparse_gemm_create({
            ...{ weight: at.weight, n, k, n_stride: k, n_group: 16 * k, k_stride: 1, dtype: DType.float32, m, form, has_bias: 1 },
            ...{ post_ops: chain.length, ops: chain, access: access.slice(0, chain.length), p0: numbers, p1: numbers, p2: numbers },
          }),
        )
        const handle = made('handle')
        if (kernels === generating) missing += Number(made('generated') === 0)
        const { none, full, row } = native.SparseOperand
        launch(kernels, 'sparse_gemm', () =>
          native.sparse_gemm({
            ...{
              handle,
              n,
              k,
              form,
              post_ops: chain.length,
              access: [full, none, row].slice(0, chain.length),
              x: at.x,
              out,
              bias: at.bias,
              m,
            },
            ...{ x_stride: xStride, out_stride: outStride, batch: 1, x_batch: 0, out_batch: 0, x_group: 16, out_group: 16 },
            operands: chain.map((_, i) => [at.operand, 0, at.bias][i]!),
            operand_strides: chain.map(() => outStride),
            operand_batches: chain.map(() => 0),
            operand_groups: chain.map(() => 16),
          }),
        )
        const bits = bitsAt(kernels, out, m * n)
        launch(kernels, 'sparse_release', () => native.sparse_release({ handle }))
        for (const address of [...Object.values(at), out]) kernels.give(address)
        return bits
      })
      if (differences(results[0]!, results[1]!) > 0) wrong++
    }
    t.equal(missing, 0, 'all are generated')
    t.equal(wrong, 0)
    t.equal(functions(generating), 0)
    t.end()
  })
}

t.test('a compiled model goes on with its code when that is there', { skip: withoutWeb }, async (t) => {
  const { compile } = webAssembly!
  let compiled = 0
  Object.assign(webAssembly!, {
    compile: (bytes: Uint8Array) => {
      compiled++
      return compile(bytes)
    },
  })
  t.teardown(() => Object.assign(webAssembly!, { compile }))
  const web = await webLibrary()
  await web.ready()
  compiled = 0
  for (const name of ['encoder', 'mobilenet_v3']) {
    const module = await web.loadModule(fixturePath(`models/${name}.ptl`), { compile: 'eager' })
    const { inputs } = JSON.parse(readFileSync(fixturePath(`models/${name}.json`), 'utf8')) as { readonly inputs: readonly Input[] }
    const args = inputs.map(({ dtype, shape, data }) => {
      const bytes = Uint8Array.from(Buffer.from(data, 'base64')).buffer
      return web.Tensor.fromStorage(dtype === 'int64' ? new BigInt64Array(bytes) : new Float32Array(bytes), { dtype, shape })
    })
    const call = (): Uint8Array => {
      const [result] = [module.forward(...args)].flat()
      const { buffer, byteOffset, byteLength } = (result as InstanceType<typeof web.Tensor>).data()
      return new Uint8Array(buffer, byteOffset, byteLength).slice()
    }
    call()
    const before = call()
    t.ok(compiled > 0, `${compiled} functions are compiled`)
    compiled = 0
    await web.codeReady()
    t.same(call(), before, name)
    module.dispose()
  }
})

interface Input {
  readonly dtype: 'float32' | 'int64'
  readonly shape: readonly number[]
  readonly data: string
}
