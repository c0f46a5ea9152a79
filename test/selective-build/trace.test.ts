import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { traceOfModel } from '../../selective-build/selection/from-model.js'
import { parseTrace, readTrace } from '../../selective-build/selection/read-trace.js'
import { startRecording, stopRecording } from '../../selective-build/trace/recorder.js'
import { traceToYaml } from '../../selective-build/trace/to-yaml.js'
import { mergeTraces, type Trace } from '../../selective-build/trace/trace.js'
import { callOperator, loadModule, startTracing, stopTracing, type Tensor, tensor } from '../../src/index.js'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const KERNELS = new Set(kernelFields.map((row) => row.split(' ', 1)[0]!))
const x = tensor([1, -2, 3])

async function traceOf(name: string, run: (m: Awaited<ReturnType<typeof loadModule>>) => unknown): Promise<Trace> {
  startRecording()
  try {
    run(await loadModule(fixture(name)))
  } finally {
    return stopRecording()
  }
}

t.test('operators, kernels, dtypes and operations that ran', async (t) => {
  const trace = await traceOf('add_relu.ptl', (m) => m.forward(x, x))
  t.strictSame([...trace.operators.keys()].sort(), ['aten::add.Tensor', 'aten::relu'])
  t.ok([...trace.operators.values()].every((use) => use.isRoot && use.isCalled))
  t.strictSame([...trace.kernels!.get('activation')!.dtypes], ['Float'])
  t.ok(trace.kernels!.get('binary')!.operations.has('BinaryOp.add'))
  t.notOk(trace.kernels!.has('conv'))
  t.match([...trace.features].sort(), ['backend:CPU', 'defaults', 'instruction:DROPR', 'instruction:MOVE', 'instruction:OP'])
  t.ok(trace.features.has('loader:ptl'))
  t.strictSame(trace.warnings, [])
  t.match(trace.models, [{ file: 'add_relu.ptl', sha256: /^[0-9a-f]{64}$/, instructions: 7, reached: 7, unreached: [] }])
})

t.test('results with the last row alone', async (t) => {
  const column = tensor([[1], [-2]])
  const module = await loadModule(fixture('add_relu.ptl'))
  const last = (): unknown => module.call<Tensor>('forward', [column, x], { outputs: 'last' }).toArray()
  t.strictSame(last(), [[0, 0, 1]])
  startRecording()
  t.strictSame(last(), [[0, 0, 1]], 'while a trace is on')
  const { operators, models } = stopRecording()
  const called = [...operators].filter(([, use]) => use.isCalled).map(([name]) => name)
  t.strictSame(called.sort(), ['aten::add.Tensor', 'aten::clone', 'aten::relu', 'aten::slice.Tensor'])
  t.match(models, [{ instructions: 7, reached: 7 }])
  t.strictSame(last(), [[0, 0, 1]])
})

t.test('dtypes and operations are those of the run', async (t) => {
  const double = tensor([1, 2], [2], 'float64')
  const trace = await traceOf('add_relu.ptl', (m) => m.forward(double, double))
  t.strictSame([...trace.kernels!.get('binary')!.dtypes], ['Double'])
  t.ok(trace.kernels!.get('binary')!.operations.has('Compute.f64'))
})

t.test('parts of the runtime that were in use', (t) => {
  const featuresOf = (name: string, args: Parameters<typeof callOperator>[1]): ReadonlySet<string> => {
    startRecording()
    callOperator(name, args)
    return stopRecording().features
  }
  t.notOk(featuresOf('aten::relu', [x]).has('writes'))
  t.ok(featuresOf('aten::relu_', [tensor([1, 2])]).has('writes'), 'dense, in place')
  t.ok(featuresOf('aten::add.out', [x, tensor([[1], [2]]), 1, tensor([0])]).has('writes'), 'into another shape')
  t.ok(featuresOf('aten::copy_', [tensor([1, 2]), tensor([3, 4])]).has('writes'))
  t.ok(featuresOf('aten::add.Scalar', [x, 2]).has('scalars'))
  t.ok(featuresOf('aten::add.Tensor', [x, x, 2]).has('scalars'), 'alpha')
  t.notOk(featuresOf('aten::add.Tensor', [x, x]).has('scalars'))
  t.ok(featuresOf('aten::item', [tensor(new Uint16Array([1]), [1], 'float16')]).has('halves'))
  t.end()
})

t.test('branches that are not taken are said so', async (t) => {
  const negative = await traceOf('branches.ptl', (m) => m.forward(x, -1))
  t.notOk(negative.operators.get('aten::tanh')!.isCalled)
  t.ok(negative.operators.get('aten::sigmoid')!.isCalled)
  t.match(negative.warnings, [/never called: .*aten::tanh/, /% of its instructions ran/])
  t.match(negative.models[0]!.unreached.join(), /forward \d/)
  const both = await traceOf('branches.ptl', (m) => [m.forward(x, -1), m.forward(x, 2), m.call('double', [x])])
  t.strictSame(both.warnings, [])
  t.equal(both.models[0]!.reached, both.models[0]!.instructions)
})

t.test('the code is as it was after tracing', async (t) => {
  const m = await loadModule(fixture('branches.ptl'))
  startTracing()
  m.forward(x, -1)
  stopTracing()
  const other = await loadModule(fixture('branches.ptl'))
  for (const n of [-1, 0, 3]) t.strictSame((m.forward(x, n) as Tensor).toArray(), (other.forward(x, n) as Tensor).toArray())
})

t.test('operators called by name are root operators too', (t) => {
  startTracing()
  callOperator('aten::sqrt', [x])
  const yaml = stopTracing()
  t.match(yaml, 'aten::sqrt:\n    is_root_operator: true')
  t.match(yaml, 'UnaryOp.sqrt')
  t.end()
})

t.test('operators that others call are no root operators', (t) => {
  startTracing()
  callOperator('aten::selu', [x])
  callOperator('aten::relu', [x])
  const trace = parseTrace(stopTracing(), 'a', KERNELS)
  t.match(trace.operators.get('aten::selu'), { isRoot: true, isCalled: true })
  t.match(trace.operators.get('aten::elu'), { isRoot: false, isCalled: true })
  t.match(trace.operators.get('aten::relu'), { isRoot: true })
  startTracing()
  t.notMatch(stopTracing(), /elu/)
  t.end()
})

t.test('tracing is on or off', (t) => {
  t.throws(stopTracing, { code: 'INVALID_ARGUMENT' })
  startTracing()
  t.throws(startTracing, { code: 'INVALID_ARGUMENT' })
  stopTracing()
  t.end()
})

t.test('a trace survives being written and read', async (t) => {
  const trace = await traceOf('branches.ptl', (m) => m.forward(x, -1))
  t.strictSame(parseTrace(traceToYaml(trace), 'a.trace', KERNELS), trace)
})

t.test('traces merge', async (t) => {
  const negative = await traceOf('branches.ptl', (m) => m.forward(x, -1))
  const loop = await traceOf('branches.ptl', (m) => m.forward(x, 2))
  const merged = mergeTraces([negative, loop])
  t.ok(merged.operators.get('aten::tanh')!.isCalled && merged.operators.get('aten::sigmoid')!.isCalled)
  const operations = merged.kernels!.get('unary')!.operations
  t.ok(operations.has('UnaryOp.tanh') && operations.has('UnaryOp.sigmoid'))
  t.equal(merged.models.length, 1, 'one model')
  t.same(mergeTraces([merged, merged]), merged, 'merging again changes nothing')
})

t.test("PyTorch's own files", (t) => {
  const listed = readTrace(fixture('pytorch_listed.yaml'), KERNELS)
  t.strictSame([...listed.operators.keys()].sort(), ['aten::add.Tensor', 'aten::relu.*'])
  t.equal(listed.kernels, null)
  const traced = readTrace(fixture('pytorch_traced.yaml'), KERNELS)
  t.strictSame([...traced.operators.keys()], ['aten::add.Tensor'])
  t.equal(traced.kernels, null, 'kernels of PyTorch say nothing about ours')
  t.end()
})

t.test('files that are no traces', (t) => {
  const cases: [string, RegExp][] = [
    ['- a\n', /expected a YAML map/],
    ['operatrs: {}\n', /unknown key 'operatrs'/],
    ['operators: [aten::add]\n', /operators: expected a map/],
    ['operators: {add: {}}\n', /'add' is no qualified operator name/],
    ['kernel_metadata: {unary: [Flaot]}\n', /unknown dtype 'Flaot'/],
    ['operators: {aten::relu: {}\n', /bad\.yaml: /],
    ['debug_info: ["model {"]\n', /cannot read/],
  ]
  const path = join(t.testdir({}), 'bad.yaml')
  for (const [text, message] of cases) {
    writeFileSync(path, text)
    t.throws(() => readTrace(path, KERNELS), { code: 'INVALID_FILE', message }, text)
  }
  t.throws(() => readTrace(`${path}.not`, KERNELS), { code: 'INVALID_FILE', message: /cannot read/ })
  t.end()
})

t.test('files that do not say how many arguments calls give need what finds it out', async (t) => {
  const path = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
  for (const [name, isOpen] of [
    ['old/traced-v5.ptl', true],
    ['control-v4.ptl', true],
    ['control-v6.ptl', false],
  ] as const) {
    t.equal(traceOfModel(path(name)).features.has('argument-counts'), isOpen, name)
    startTracing()
    const module = await loadModule(path(name))
    t.equal(/argument-counts/.test(stopTracing()), isOpen, name)
    module.dispose()
  }
})
