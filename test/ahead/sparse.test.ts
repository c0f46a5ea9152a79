import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { AheadModule, AheadPlan } from '../../formats/ptlc/module.js'
import { read as readHeader, readPlans } from '../../formats/ptlc/read.js'
import { writeAhead } from '../../formats/ptlc/write.js'
import { capture } from '../../compiler/capture/capture.js'
import type { Target } from '../../compiler/capture/captured.js'
import { compileCall } from '../../compiler/compiled-call.js'
import { assignBuffers } from '../../compiler/executor/buffer-assignment.js'
import { checkFrame } from '../../compiler/frames/check-frame.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { openSource } from '../../formats/containers/bytes.js'
import * as kernels from '../../runtime/native/generated/kernels.js'
import { cpu } from '../../runtime/native/cpu.js'
import type { Value } from '../../runtime/tensor/value.js'
import { VERSION } from '../../runtime/version.js'
import { compileAhead } from '../../src/ahead.js'
import { callOperator, float, type Input, loadModule, PtliteError, type Tensor, tensor } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { bits, generator, sealed, subjectOf } from './support.js'

const work = mkdtempSync(join(tmpdir(), 'ptlite-sparse-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})
// without generated code there are no block-sparse products in plans
const skip = kernels.jit_info().state === kernels.JitState.ready ? false : 'no code can be generated here'

const random = generator(5)
const filled = (...shape: number[]): Tensor =>
  tensor(
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random() * 2 - 1),
    shape,
  )

/** A weight [n, k, ...] of which about three quarters of the blocks of 16 outputs are zero. */
function sparse(n: number, k: number, ...rest: number[]): Tensor {
  return tensor(sparseData(n, k, 0.25), [n, k, ...rest])
}

/** The same with this share of its blocks. */
function sparseData(n: number, k: number, share: number): Float32Array {
  const kept = Array.from({ length: Math.ceil(n / 16) * k }, () => random() < share)
  return Float32Array.from({ length: n * k }, (_, i) => (kept[Math.floor(i / k / 16) * k + (i % k)] === true ? random() - 0.5 : 0))
}

/** A file with the plan of a run on one input, as its method `forward`. */
function fileOf(run: () => Value, input: Tensor): Uint8Array {
  run()
  const { captured } = capture(run, [input])
  if (captured === null) throw new Error('not captured')
  return fileWith([{ captured, placement: assignBuffers(captured) }], input)
}

function fileWith(plans: readonly Pick<AheadPlan, 'captured' | 'placement'>[], input: Tensor): Uint8Array {
  const about: Omit<AheadModule, 'plans'> = {
    ...{ library: VERSION, level: cpu.currentLevel(), levels: cpu.levelsInUse(), bytecodeVersion: 8, operatorVersion: 10, operators: [] },
    ...{ original: 'none.ptl', originalBytes: 0, fingerprint: '', sha256: '', unplanned: [] },
    missing: [],
    training: { set: null, isOn: false, layers: [] },
    states: [],
    methods: [{ name: 'forward', arguments: [{ name: 'x', type: 'Tensor', default: undefined }] }],
  }
  const operators = { recorded: 1, optimized: 1 }
  return writeAhead({
    ...about,
    plans: plans.map(({ captured, placement }) => ({
      ...{ method: 'forward', example: [input], captured, placement, operators },
      ...{ state: [], kept: [], lastRow: false },
    })),
  })
}

const limits: Input[] = [float(-0.75), float(Infinity)]
/** relu behind an operand that is added. */
const steps = (operand: Tensor): Input[] => {
  const { add, relu } = kernels.JitAlgorithm
  return [[operand], [add, relu], [0, 1, 2, 0], [0, 0, 0, 0].map((x) => float(x))]
}
const PRODUCTS: Readonly<Record<string, () => readonly [Tensor, (x: Tensor) => Value]>> = {
  ...Object.fromEntries(
    ['rows', 'unrolled', 'vectors'].map((form) => [
      form,
      () => {
        const [w, b, y] = [sparse(50, 37), filled(50), filled(50)]
        return [
          filled(9, 37),
          (x: Tensor) => callOperator('ptlite::sparse_linear', [x, w, b, form, ...limits, ...steps(y)]) as Value,
        ] as const
      },
    ]),
  ),
  bfloat16() {
    const upper = (x: Tensor): Uint16Array =>
      Uint16Array.from(new Uint32Array((x.data() as Float32Array).slice().buffer), (bits) => bits >>> 16)
    const half = (x: Tensor): Tensor => tensor(upper(x), [...x.shape], 'bfloat16')
    const [w, b] = [half(sparse(40, 32)), half(filled(40))]
    return [half(filled(6, 32)), (x) => callOperator('ptlite::sparse_linear', [x, w, b, 'vectors', ...limits]) as Value]
  },
  channels() {
    const [w, y] = [sparse(40, 20, 1, 1), filled(2, 40, 5, 7)]
    return [filled(2, 20, 5, 7), (x) => callOperator('ptlite::sparse_convolution', [x, w, null, ...limits, ...steps(y)]) as Value]
  },
  'channels in blocks'() {
    const filter = callOperator('ptlite::blocked_filter', [sparse(48, 32, 1, 1)])
    const [b, residual] = [filled(48), filled(1, 3, 6, 5, 16)]
    return [filled(1, 2, 6, 5, 16), (x) => callOperator('ptlite::sparse_blocked_convolution', [x, filter, b, residual, ...limits]) as Value]
  },
}

for (const [name, make] of Object.entries(PRODUCTS)) {
  t.test(`${name}: blocks of a file give the bits of those in memory`, { skip }, async (t) => {
    const [x, product] = make()
    const expected = bits(product(x) as Tensor)
    const bytes = fileOf(() => product(x), x)
    const [first, second] = [await loadModule(bytes), await loadModule(bytes)]
    t.strictSame(bits(first.forward(x)), expected)
    first.dispose()
    t.strictSame(bits(second.forward(x)), expected, 'when another module of the file is gone, too')
    second.dispose()
  })

  t.test(`${name}: an address 4 bytes further is found out`, { skip }, (t) => {
    const [x, product] = make()
    const { captured } = readPlans(readHeader(openSource(fileOf(() => product(x), x)))).plans[0]!
    const frame = captured.frames.find(({ layout }) => layout.name === 'sparse_gemm')!
    const sizeOf = ({ kind, index }: Target): number =>
      kind === 'constant'
        ? captured.constants[index]!.storage.byteLength
        : kind === 'buffer'
          ? captured.buffers[index]!.bytes
          : x.numel * x.itemSize
    t.equal(checkFrame(frame, sizeOf), null)
    for (const [i, { at }] of frame.pointers.entries()) {
      const pointers = frame.pointers.map((p, j) => (i === j ? { ...p, offset: p.offset + 4 } : p))
      t.match(checkFrame({ ...frame, pointers }, sizeOf), /reaches outside/, `the address at ${at}`)
    }
    t.ok(frame.pointers.length >= 2)
    t.end()
  })
}

t.test('what the passes make sparse stays sparse in files', { skip }, async (t) => {
  // so large and empty that however busy a machine measures costs it is not computed densely
  const [n, k, m] = [384, 384, 64]
  const weight = tensor(sparseData(n, k, 0.03), [n, k])
  const x = filled(m, k)
  const text = `input %0: float32[${m}, ${k}] @0
constant %1: float32[${n}, ${k}] @1 = "weight"
%2: float32[${m}, ${n}] @2 = aten::linear(%0, %1, None)
return %2`
  const plans = [1, 2].map(() => {
    const { call } = compileCall(parseGraph(text, { constant: () => weight }), [x])
    return { call, captured: call.plan!.captured, placement: call.plan!.placement }
  })
  const [bytes, again] = plans.map((plan) => fileWith([plan], x))
  t.ok(Buffer.from(bytes!).equals(Buffer.from(again!)), 'the same bytes each time')
  const both = fileWith(plans, x)
  t.ok(both.length < bytes!.length + 2000, 'two plans with the same weight have it once')
  const { stored } = readPlans(readHeader(openSource(bytes!))).plans[0]!.captured.frames[0]!
  t.match(stored, { description: { n, k, m } })
  const values = stored!.blocks * stored!.width * 4
  t.ok(values < 0.4 * 4 * n * k && bytes!.length < 1.3 * values + 4000, `${bytes!.length} bytes, ${4 * n * k} of them dense`)
  const module = await loadModule(bytes!)
  t.strictSame(bits(module.forward(x)), bits(plans[0]!.call.run([x]) as Tensor))
  module.dispose()
  for (const { call } of plans) call.dispose()
})

t.test('pruned models', { skip }, async (t) => {
  const { path, inputs } = subjectOf('models/efficientnet')
  const pruned = join(work, 'pruned.ptl')
  t.equal((await ptlite('prune', path, '--sparsity', '0.95', '-o', pruned)).status, 0)
  const compiled = await loadModule(compileAhead(pruned, () => [{ method: 'forward', args: inputs }]))
  const original = await loadModule(pruned)
  await original.compile('forward', inputs)
  t.strictSame(bits(compiled.forward(...inputs)), bits(original.forward(...inputs)))
  for (const module of [compiled, original]) module.dispose()
})

t.test('sparse weights that make no sense are refused', { skip }, async (t) => {
  const [x, product] = PRODUCTS['vectors']!()
  const bytes = fileOf(() => product(x), x)
  const { constants } = readPlans(readHeader(openSource(bytes))).plans[0]!.captured
  const outcomes = new Map<string, number>()
  const outcome = async (changed: Uint8Array): Promise<void> => {
    const found = await loadModule(sealed(changed)).then(
      (module) => {
        try {
          module.forward(x)
          return 'ran'
        } finally {
          module.dispose()
        }
      },
      (error: unknown) => {
        if (error instanceof PtliteError) return error.code
        throw error
      },
    )
    outcomes.set(found, (outcomes.get(found) ?? 0) + 1)
  }
  // the data are at the end: channels and starts among them
  const dataBytes = constants.reduce((sum, { storage }) => sum + Math.ceil(storage.byteLength / 64) * 64, 0)
  for (let i = 0; i < 300; i++) {
    const changed = bytes.slice()
    changed[changed.length - 1 - Math.floor(random() * dataBytes)] = Math.floor(random() * 256)
    await outcome(changed)
  }
  t.ok(outcomes.get('ran')! > 0 && outcomes.get('INVALID_FILE')! > 0, JSON.stringify([...outcomes]))
  t.equal([...outcomes.keys()].length, 2)
})
