import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { dtypeFromName } from '../../runtime/tensor/dtype.js'
import type { Value } from '../../runtime/tensor/value.js'
import { compileAhead } from '../../src/ahead.js'
import {
  callOperator,
  type Input,
  loadModule,
  type LoadOptions,
  type Module,
  type Output,
  PtliteError,
  Tensor,
  tensor,
} from '../../src/index.js'
import { decode, difference, type Encoded, numbersOf, torch2Cases } from '../backends/support/torch2-cases.js'
import { methodOf, modelOf } from './model-writer.js'

/*
 * Five calls of a method, the third with other values: the first is interpreted, and later ones are recorded, compiled or replayed,
 * depending on the mode. Whatever does them, they give the same.
 */
const CALLS = [0, 0, 1, 0, 0]

/** Of the largest value of an output; what is rounded to half precision in between is further off. */
const MAX_ERROR: Readonly<Record<string, number>> = { float16: 2e-3, bfloat16: 1.6e-2, float64: 1e-12 }
const MAX_FLOAT_ERROR = 2e-5

const work = mkdtempSync(join(tmpdir(), 'ptlite-calls-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

/** What a call gave, or the code of its error. */
type Result = { readonly output: Output } | { readonly error: string }

/** What differs between two results; undefined for nothing. */
function apart(got: Result, want: Result, exact = false): string | undefined {
  if ('error' in got || 'error' in want) {
    const [a, b] = [got, want].map((result) => ('error' in result ? result.error : 'a result'))
    return a === b ? undefined : `${a!}, expected ${b!}`
  }
  return outputsApart(got.output, want.output, exact)
}

function outputsApart(got: Output, want: Output, exact: boolean): string | undefined {
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length !== want.length) return 'another number of results'
    return want.map((item, i) => outputsApart(got[i]!, item, exact)).find((text) => text !== undefined)
  }
  if (!(want instanceof Tensor)) return Object.is(got, want) ? undefined : `${String(got)}, expected ${String(want)}`
  if (!(got instanceof Tensor)) return 'not a tensor'
  const [form, expectedForm] = [got, want].map((x) => `${x.dtype}[${x.shape.join()}]`)
  if (form !== expectedForm) return `${form!}, expected ${expectedForm!}`
  const [a, b] = [numbersOf(got), numbersOf(want)]
  const largest = b.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0)
  const bound = exact ? 0 : (MAX_ERROR[want.dtype] ?? MAX_FLOAT_ERROR) * largest
  const wrong = b.findIndex((x, i) => x !== a[i] && !(Number.isNaN(x) && Number.isNaN(a[i]!)) && !(Math.abs(x - a[i]!) <= bound))
  return wrong < 0 ? undefined : `element ${wrong}: ${a[wrong]!}, expected ${b[wrong]!}`
}

async function resultOf(call: () => Output | Promise<Output>): Promise<Result> {
  try {
    return { output: await call() }
  } catch (error) {
    if (error instanceof PtliteError) return { error: error.code }
    throw error
  }
}

/** Arguments made anew for each call, which may write to them: the given ones, or others of the same form. */
type MakeInputs = (other: boolean) => Input[]

async function fiveCalls(module: Module, method: string, makeInputs: MakeInputs, background = false): Promise<Result[]> {
  const results: Result[] = []
  for (const other of CALLS) {
    const inputs = makeInputs(other === 1)
    results.push(await resultOf(() => (background ? module.run(method, inputs) : module.call(method, inputs))))
  }
  return results
}

/** Other numbers where a tensor holds floating-point ones: integers may be indices, and elements may lie on each other. */
function changed(input: Input): Input {
  if (Array.isArray(input)) return input.map(changed)
  if (!(input instanceof Tensor) || !input.dtype.startsWith('float') || input.strides.includes(0)) return input
  callOperator('aten::mul_.Scalar', [input, 0.75])
  return input
}

const flatTensors = (inputs: readonly Input[]): Tensor[] =>
  inputs.flatMap((input) => (input instanceof Tensor ? [input] : Array.isArray(input) ? flatTensors(input as Input[]) : []))

interface Method {
  readonly name: string
  readonly makeInputs: MakeInputs
  /** What is wrong with a result for the given inputs; undefined for nothing. */
  readonly judge: (output: Output) => string | undefined
}

const load = (path: string, compile: NonNullable<LoadOptions['compile']>): Promise<Module> => loadModule(path, { compile })

/** Calls every method in all ways; returns the number of plans. Networks are in test/modes. */
async function checkMethods(t: Test, path: string, methods: readonly Method[]): Promise<number> {
  const modules = {
    off: await load(path, 'off'),
    auto: await load(path, 'auto'),
    eager: await load(path, 'eager'),
    run: await load(path, 'auto'),
  }
  const expected = new Map<Method, Result[]>()
  const compare = (method: Method, how: string, results: readonly Result[]): void => {
    const wrong = results.map((result, i) => apart(result, expected.get(method)![i]!))
    t.strictSame(wrong, CALLS.map(() => undefined), `${method.name}, ${how}`) // prettier-ignore
  }
  for (const method of methods) {
    const { name, makeInputs, judge } = method
    const interpreted = await fiveCalls(modules.off, name, makeInputs)
    expected.set(method, interpreted)
    const [first, second, , fourth, fifth] = interpreted
    t.strictSame('output' in first! ? judge(first.output) : first!.error, undefined, `${name}, interpreted`)
    t.strictSame(apart(second!, first!), undefined, `${name}, interpreted again`)
    // weights are packed by the second call
    for (const later of [fourth!, fifth!])
      t.strictSame(apart(later, second!, true), undefined, `${name}, interpreted once more: the same bits`)
    compare(method, 'auto', await fiveCalls(modules.auto, name, makeInputs))
    compare(method, 'eager', await fiveCalls(modules.eager, name, makeInputs))
    compare(method, 'in the background', await fiveCalls(modules.run, name, makeInputs, true))
  }
  const plans = new Set(modules.eager.plans().flatMap(({ method, state, region }) => (state === 'plan' && region === null ? [method] : [])))
  const planned = methods.filter(({ name }) => plans.has(name))
  if (planned.length > 0) {
    const compiled = await loadModule(
      compileAhead(path, () => planned.map(({ name, makeInputs }) => ({ method: name, args: makeInputs(false) }))),
    )
    for (const method of planned) compare(method, 'compiled ahead', await fiveCalls(compiled, method.name, method.makeInputs))
    compiled.dispose()
  }
  for (const module of Object.values(modules)) module.dispose()
  return planned.length
}

interface OperatorCase {
  readonly op: string
  readonly args: readonly Encoded[]
  readonly want?: Encoded
}

/** Operators that make something of nothing, which have no tensors to tell calls apart by. */
const FACTORIES: readonly OperatorCase[] = [
  { op: 'aten::range', args: [{ int: 0 }, { int: 5 }, null, null, null, null] },
  { op: 'aten::range.step', args: [{ float: 1.5 }, { float: 0 }, { float: -0.5 }, null, null, null, null] },
  { op: 'aten::arange', args: [{ int: 5 }, null, null, null, null] },
  { op: 'aten::linspace', args: [{ int: 0 }, { int: 1 }, { int: 5 }, null, null, null, null] },
  { op: 'aten::zeros', args: [[{ int: 2 }, { int: 3 }], null, null, null, null] },
  { op: 'aten::ones', args: [[{ int: 0 }, { int: 3 }], null, null, null, null] },
  { op: 'aten::full', args: [[{ int: 3 }], { float: 2.5 }, null, null, null, null] },
  { op: 'aten::eye', args: [{ int: 3 }, null, null, null, null] },
  { op: 'aten::hann_window', args: [{ int: 8 }, null, null, null, null] },
  { op: 'aten::tril_indices', args: [{ int: 3 }, { int: 4 }, { int: 0 }, { dtype: 'int64' }, null, null, null] },
]

/** An encoded argument as the value that bytecode has for it. */
function valueOf(encoded: Encoded): Value {
  const value = decode(encoded)
  if (Array.isArray(encoded)) return encoded.map(valueOf)
  if (typeof encoded === 'object' && encoded !== null && 'dtype' in encoded && !('data' in encoded)) return dtypeFromName(encoded.dtype)
  return value as Value
}

/** Of each operator the first case that has a result, and the first ones in float32 and float64, which have kernels of their own. */
function casesByOperator(): OperatorCase[] {
  const cases = new Map<string, OperatorCase>(FACTORIES.map((one) => [one.op, one]))
  for (const one of [...torch2Cases('core'), ...torch2Cases('operators')]) {
    const [first] = one.args
    const dtype = typeof first === 'object' && first !== null && 'dtype' in first ? first.dtype : ''
    const kinds = [one.op, ...(dtype === 'float32' || dtype === 'float64' ? [`${one.op} ${dtype}`] : [])]
    const fresh = one.error !== true && findOperator(one.op) !== undefined && kinds.some((kind) => !cases.has(kind))
    if (fresh) for (const kind of kinds) if (!cases.has(kind)) cases.set(kind, one)
  }
  return [...new Set(cases.values())]
}

t.test('a model of each operator', async (t) => {
  const cases = casesByOperator()
  const path = join(work, 'operators.ptl')
  writeFileSync(path, modelOf(cases.map(({ op, args }, i) => methodOf(`call_${i}`, findOperator(op)!, args.map(valueOf)))))
  const methods = cases.map(({ args, want }, i): Method => {
    const makeInputs: MakeInputs = (other) => flatTensors(args.map((arg) => (other ? changed(decode(arg)) : decode(arg))))
    return { name: `call_${i}`, makeInputs, judge: (output) => (want === undefined ? undefined : difference(output, want)) }
  })
  const plans = await checkMethods(t, path, methods)
  t.ok(plans > 0.8 * cases.length, `${plans} plans of ${cases.length} operators`)
})

const numbers = (n: number): Float32Array => Float32Array.from({ length: n }, (_, i) => Math.sin(i + 1))

/** Calls of an operator with these arguments, of which some are tensors. */
async function checkCall(t: Test, op: string, args: readonly Value[], makeInputs: MakeInputs): Promise<void> {
  const path = join(work, `${op.replaceAll(':', '_')}.ptl`)
  writeFileSync(path, modelOf([methodOf('forward', findOperator(op)!, args)]))
  await checkMethods(t, path, [{ name: 'forward', makeInputs, judge: () => undefined }])
}

t.test('weights that are arguments', async (t) => {
  for (const [op, shapes, rest] of [
    ['aten::linear', [[1, 8], [5, 8], [5]], []],
    ['aten::linear', [[9, 8], [5, 8], [5]], []],
    ['aten::conv2d', [[1, 3, 6, 6], [4, 3, 3, 3], [4]], [[1, 1], [1, 1], [1, 1], 1]],
    ['aten::conv1d', [[2, 4, 9], [6, 4, 1], [6]], [[1], [0], [1], 1]],
    ['aten::lstm_cell', [[2, 3], [2, 4], [2, 4], [16, 3], [16, 4], [16], [16]], []],
    ['aten::gru_cell', [[2, 3], [2, 4], [12, 3], [12, 4], [12], [12]], []],
  ] as [string, number[][], Value[]][]) {
    const makeInputs: MakeInputs = (other) =>
      shapes.map((shape) => {
        const x = tensor(numbers(shape.reduce((a, b) => a * b, 1)), shape)
        return other ? changed(x) : x
      })
    const tensors = makeInputs(false) as Tensor[]
    const args: Value[] = op === 'aten::lstm_cell' ? [tensors[0]!, tensors.slice(1, 3), ...tensors.slice(3)] : tensors
    await checkCall(t, op, [...args, ...rest], makeInputs)
  }
})

t.test('results that lie otherwise than their operands, whose extents a file has to know', async (t) => {
  const makeInputs: MakeInputs = (other) => {
    const x = tensor(numbers(24), [2, 3, 4])
    return [other ? changed(x) : x]
  }
  const x = makeInputs(false)[0] as Tensor
  for (const [op, ...rest] of [
    ['aten::flip', [0, 2]],
    ['aten::rot90', 1, [1, 2]],
    ['aten::kthvalue', 3, -1, true],
    ['aten::kthvalue', 2, 1, false],
    ['aten::topk', 2, -1, true, true],
    ['aten::topk', 0, -1, true, true],
    ['aten::mode', -1, false],
    ['aten::median.dim', 1, false],
  ] as [string, ...Value[]][]) {
    await checkCall(t, op, [x, ...rest], makeInputs)
  }
})

t.test('memory beyond an argument that a later one has not got', async (t) => {
  const whole = tensor(numbers(8), [8])
  const makeInputs: MakeInputs = (other) => [
    other ? tensor(numbers(4), [4]) : (callOperator('aten::slice.Tensor', [whole, 0, 0, 4]) as Tensor),
  ]
  for (const op of ['aten::as_strided', 'aten::as_strided_copy'])
    await checkCall(t, op, [makeInputs(false)[0] as Tensor, [8], [1], 0], makeInputs)
})
