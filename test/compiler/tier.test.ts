import t, { type Test } from 'tap'
import {
  callOperator,
  loadModule,
  type LoadOptions,
  memoryStats,
  type Module,
  type Output,
  PtliteError,
  tensor,
  Tensor,
} from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

const load = (compile: NonNullable<LoadOptions['compile']>): Promise<Module> => loadModule(fixturePath('compile.ptl'), { compile })
const matrix = (...data: number[]): Tensor => tensor(data, [data.length / 4, 4])

function flat(output: Output): unknown {
  if (output instanceof Tensor) return { dtype: output.dtype, shape: [...output.shape], data: Array.from(output.data(), Number) }
  if (Array.isArray(output)) return output.map(flat)
  return output instanceof Map ? [...output].map(([key, value]) => [key, flat(value)]) : output
}

/** Calls a method of an interpreted and of a compiled module in turn; results agree each time. Returns the state of its last plan. */
async function same(t: Test, method: string, calls: (() => Parameters<Module['call']>[1])[]): Promise<Module> {
  const interpreted = await load('off')
  const compiled = await load('auto')
  for (const [i, args] of calls.entries()) {
    const [a, b] = [args(), args()]
    t.strictSame(flat(compiled.call(method, b)), flat(interpreted.call(method, a)), `${method}, call ${i + 1}`)
    t.strictSame(
      b!.map((x) => flat(x as Output)),
      a!.map((x) => flat(x as Output)),
      'arguments',
    )
  }
  interpreted.dispose()
  return compiled
}

const state = (m: Module, method: string): string => m.plans().find((p) => p.method === method)?.state ?? 'none'
const reason = (m: Module, method: string): string => m.plans().find((p) => p.method === method)?.reason ?? ''

const three = (make: (i: number) => Parameters<Module['call']>[1]) => [0, 1, 2, 3].map((i) => () => make(i))

t.test('what repeats itself is replayed', async (t) => {
  for (const [method, args] of [
    ['forward', (i: number) => [matrix(i, 2, -3, 4)]],
    ['scaled', (i: number) => [matrix(i, 2, -3, 4), 3]],
    ['several', (i: number) => [matrix(i, 2, -3, 4, 5, 6, 7, 8), matrix(1, 1, 1, i, 2, 2, 2, 2)]],
    ['local_writes', (i: number) => [matrix(i, 2, -3, 4, 1, 2, 3, 4)]],
    ['label', (i: number) => [matrix(i, 2, -3, 4)]],
    ['overwrite', (i: number) => [matrix(i, 2, -3, 4)]],
    ['accumulate', (i: number) => [tensor([i, 1, 2, 3], [4])]],
  ] as const) {
    const m = await same(t, method, three(args))
    t.equal(state(m, method), 'plan', `${method}: ${reason(m, method)}`)
    m.dispose()
  }
})

t.test('what is too small for regions is interpreted, and plans() says why', async (t) => {
  const x = (i: number): Parameters<Module['call']>[1] => [matrix(i - 1, 2, -3, 4)]
  for (const [method, args, why] of [
    ['branch', x, /^aten::Bool\.Tensor reads the contents of a tensor[^]*line 30, in branch[^]*if bool\(x\.sum\(\) > 0\)/],
    ['counts', x, /^prim::SetAttr sets attribute 'count', and there are too few operators for a plan[^]*line 36, in counts/],
    ['collect', (i: number) => [matrix(i, 2, 3, 4), []], /^there are too few operators for a plan/],
  ] as const) {
    const m = await same(t, method, three(args as (i: number) => Parameters<Module['call']>[1]))
    t.equal(state(m, method), 'interpreted', method)
    t.match(reason(m, method), why)
    m.dispose()
  }
  const m = await load('auto')
  const draws = [0, 1, 2, 3].map(() => String((m.call('noise', [matrix(0, 0, 0, 0)]) as Tensor).data()))
  t.equal(new Set(draws).size, 4, 'random numbers differ each time')
  t.equal(state(m, 'noise'), 'plan')
  m.dispose()
})

t.test('attributes and weights that change', async (t) => {
  const m = await load('auto')
  const x = matrix(1, 2, 3, 4)
  for (const factor of [1, 2, 3]) {
    m.call('set_factor', [factor])
    for (let i = 0; i < 3; i++) t.strictSame((m.call('by_factor', [x]) as Tensor).toArray(), [[factor, 2 * factor, 3 * factor, 4 * factor]])
  }
  const before = [0, 1, 2].map(() => flat(m.forward(x)))
  t.equal(state(m, 'forward'), 'plan')
  callOperator('aten::fill_.Scalar', [m.parameters().get('layer.weight')!, 0])
  callOperator('aten::fill_.Scalar', [m.parameters().get('layer.bias')!, 2])
  for (let i = 0; i < 3; i++) t.strictSame((m.forward(x) as Tensor).toArray(), [[3, 3, 3, 3]])
  t.notSame(before[2], flat(m.forward(x)))
  m.dispose()
})

t.test('errors of a replay are those of the interpreter', async (t) => {
  const m = await load('auto')
  const index = (i: number): Tensor => tensor([i, 0], [2], 'int64')
  for (let i = 0; i < 3; i++) m.call('fails', [index(i)])
  t.equal(state(m, 'fails'), 'plan')
  const error = t.throws(() => m.call('fails', [index(9)]))
  t.ok(error instanceof PtliteError)
  t.match((error as PtliteError).message, /Traceback of TorchScript[^]*fails/)
  t.strictSame((m.call('fails', [index(1)]) as Tensor).toArray(), [0, 0])
  m.dispose()
  t.throws(() => m.call('fails', [index(1)]), { code: 'DISPOSED' })
})

t.test('signatures', async (t) => {
  const m = await load('auto')
  m.forward(matrix(1, 2, 3, 4))
  for (let rows = 2; rows < 40; rows++) m.forward(tensor(new Float32Array(4 * rows), [rows, 4]))
  t.equal(m.plans().length, 1, 'shapes that are seen once are not recorded')
  for (let rows = 2; rows < 20; rows++) await m.compile('forward', [tensor(new Float32Array(4 * rows), [rows, 4])])
  t.equal(m.plans().length, 8, 'the least recently used plans go')
  t.ok(m.plans().every((p) => p.state === 'plan'))
  const rows = (): string[] => m.plans().map((p) => /\d+/.exec(p.signature.replace('float32', ''))![0])
  t.strictSame(rows(), ['19', '18', '17', '16', '15', '14', '13', '12'], 'most recently used first')
  m.forward(tensor(new Float32Array(4 * 12), [12, 4]))
  await m.compile('forward', [tensor(new Float32Array(4 * 30), [30, 4])])
  t.strictSame(rows(), ['30', '12', '19', '18', '17', '16', '15', '14'], 'what was used again stays')
  const x = matrix(1, 2, 3, 4)
  for (let i = 0; i < 3; i++)
    t.strictSame(
      flat(m.forward(callOperator('aten::select.int', [callOperator('aten::stack', [[x, x], 2]) as Tensor, 2, 0]) as Tensor)),
      flat(m.forward(x)),
    )
  for (const k of [1, 2, 3, 2, 2, 1, 1]) t.strictSame((m.call('scaled', [x, k]) as Tensor).toArray(), [[k, 2 * k, 3 * k, 4 * k]])
  m.dispose()
})

t.test('the same tensor twice, and arguments that share memory', async (t) => {
  const twice = three((i) => {
    const x = matrix(i, 2, -3, 4)
    return [x, x]
  })
  const m = await same(t, 'several', [...twice, ...three((i) => [matrix(i, 2, -3, 4), matrix(i, 1, 1, 1)])])
  t.equal(m.plans().length, 2)
  const x = matrix(5, 2, -3, 4)
  const overlapping = callOperator('aten::alias', [x]) as Tensor
  const off = await load('off')
  for (let i = 0; i < 3; i++) t.strictSame(flat(m.call('several', [x, overlapping])), flat(off.call('several', [x, overlapping])))
  const [, list] = m.call('several', [x, x]) as [Output, Tensor[]]
  t.equal(list[0], x, 'an argument comes back itself')
  m.dispose()
  off.dispose()
})

t.test('compile ahead', async (t) => {
  const m = await load('off')
  await m.compile('forward', [matrix(1, 2, 3, 4)])
  t.equal(state(m, 'forward'), 'plan')
  await m.compile('noise', [matrix(1, 2, 3, 4)])
  t.equal(state(m, 'noise'), 'plan')
  await t.rejects(m.compile('nothing'), { code: 'UNKNOWN_METHOD' })
  m.dispose()
  const eager = await load('eager')
  eager.forward(matrix(1, 2, 3, 4))
  t.equal(state(eager, 'forward'), 'plan')
  eager.dispose()
  await t.rejects(load('sometimes' as 'auto'), { code: 'INVALID_ARGUMENT' })
})

t.test('run() is compiled as calls are', async (t) => {
  const off = await load('off')
  const m = await load('auto')
  const x = (i: number): Tensor => matrix(i, 2, -3, 4)
  const states: string[] = []
  // weights that are packed by their second use add in another order
  const rounded = (output: Output): string[] => Array.from((output as Tensor).data() as Float32Array, (v) => v.toPrecision(5))
  for (let i = 0; i < 5; i++) {
    t.strictSame(rounded(await m.run('forward', [x(i)])), rounded(off.forward(x(i))), `run ${i + 1}`)
    states.push(state(m, 'forward'))
  }
  t.strictSame(states, ['none', 'plan', 'plan', 'plan', 'plan'])
  for (let rows = 2; rows < 20; rows++) await m.run('forward', [tensor(new Float32Array(4 * rows), [rows, 4])])
  t.equal(m.plans().length, 1, 'shapes that are seen once are not recorded')
  for (let i = 0; i < 5; i++) {
    t.strictSame(flat(await m.run('counts', [x(i)])), flat(off.call('counts', [x(i)])), 'an attribute is set once in each run')
  }
  t.equal(state(m, 'counts'), 'interpreted')
  const many = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => m.run('counts', [x(i)])))
  for (const [i, out] of many.entries()) t.strictSame(flat(out), flat(off.call('counts', [x(i)])), 'in order')
  m.dispose()
  const eager = await load('eager')
  const [once, twice] = [await load('off'), await load('eager')]
  t.strictSame(rounded(await eager.run('forward', [x(1)])), rounded(off.forward(x(1))))
  t.equal(state(eager, 'forward'), 'plan')
  for (let i = 0; i < 3; i++) t.strictSame(flat(await twice.run('counts', [x(i)])), flat(once.call('counts', [x(i)])), 'eager')
  for (const module of [off, eager, once, twice]) module.dispose()
})

t.test('the passes can be seen', async (t) => {
  const m = await load('off')
  const text = m.explain('forward', [matrix(1, 2, 3, 4)])
  t.match(text, /# recorded: 3 operators[^]*aten::linear\([^]*aten::relu[^]*# after activation: 2 operators[^]* linear\(input=/)
  t.throws(() => m.explain('branch', [matrix(1, 2, 3, 4)]), { message: /branch\(\) is interpreted: .*reads the contents of a tensor/ })
  m.dispose()
})

t.test('packed layers are interpreted after a plan has given their packed weights back', async (t) => {
  const path = fixturePath('models/mobilenet_v3.mobile.ptl')
  const image = (side: number): Tensor =>
    tensor(
      Float32Array.from({ length: 3 * side * side }, (_, i) => Math.sin(i)),
      [1, 3, side, side],
    )
  const interpreted = await loadModule(path, { compile: 'off' })
  for (const compile of ['auto', 'eager'] as const) {
    const compiled = await loadModule(path, { compile })
    for (const side of [32, 32, 48, 48, 32, 40]) {
      const [got, wanted] = [compiled, interpreted].map((m) => (m.forward(image(side)) as Tensor).data() as Float32Array)
      const error = Math.max(...wanted!.map((x, i) => Math.abs(x - got![i]!)))
      t.ok(error <= 1e-4 * Math.max(...wanted!.map(Math.abs)), `${compile}, ${side} pixels: off by ${error}`)
    }
    compiled.dispose()
  }
  interpreted.dispose()
})

t.test('outputs survive later runs, and nothing else does', async (t) => {
  const m = await load('auto')
  const first = [0, 1, 2, 3].map((i) => [m.forward(matrix(i, 1, 1, 1)) as Tensor, i] as const)
  const off = await load('off')
  for (const [out, i] of first) t.strictSame(flat(out), flat(off.forward(matrix(i, 1, 1, 1))))
  const x = matrix(1, 2, 3, 4)
  const { live } = memoryStats()
  for (let i = 0; i < 100; i++) (m.forward(x) as Tensor).dispose()
  t.equal(memoryStats().live, live)
  m.dispose()
  off.dispose()
})
