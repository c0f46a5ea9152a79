import t from 'tap'
import { loadModule, type Module, type Output, type Tensor, tensor } from '../../src/index.js'
import { fixturePath, inputOf, readCalls } from '../pt2/fixtures.js'
import { type MethodSource, modelOf } from './model-writer.js'

/* `outputs: 'last'`: the last row of what a call gives. */

function data(output: Output): number[] {
  return Array.from((output as Tensor).data() as Float32Array)
}

function near(t: { ok: (value: boolean, what: string) => unknown }, found: Output, whole: readonly number[], what: string): void {
  const row = data(found)
  const want = whole.slice(-row.length)
  t.ok(
    row.every((x, i) => Math.abs(x - want[i]!) < 1e-5),
    what,
  )
}

for (const form of ['static_cache.pt2', 'caches.pt2']) {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    t.test(`${form}, compile: '${compile}'`, async (t) => {
      const [whole, last] = (await Promise.all([1, 2].map(() => loadModule(fixturePath(form), { compile })))) as [Module, Module]
      for (const [turn, { args }] of readCalls(form.split('.')[0]!).calls.entries()) {
        const want = data(whole.forward(...args.map(inputOf)))
        const inputs = args.map(inputOf)
        const found =
          turn % 3 === 2 ? await last.run('forward', inputs, { outputs: 'last' }) : last.call('forward', inputs, { outputs: 'last' })
        t.strictSame((found as Tensor).shape, [1, 1, 20])
        near(t, found, want, `call ${turn}`)
        // both ways have the same state
        if (turn % 10 === 4)
          near(t, last.call('forward', args.map(inputOf)), data(whole.forward(...args.map(inputOf))), `all of call ${turn}`)
      }
      whole.dispose()
      last.dispose()
    })
  }
}

t.test('plans of both', async (t) => {
  const module = await loadModule(fixturePath('static_cache.pt2'))
  const inputs = [tensor(BigInt64Array.of(1n, 2n, 3n, 4n, 5n), [1, 5]), tensor(BigInt64Array.of(0n, 1n, 2n, 3n, 4n), [5])]
  for (let call = 0; call < 4; call++) module.call('forward', inputs, { outputs: 'last' })
  for (let call = 0; call < 4; call++) module.call('forward', inputs)
  t.strictSame(
    module.plans().map(({ state }) => state),
    ['plan', 'plan'],
  )
  module.dispose()
})

/** y = tanh(x), and what `code` makes of it. */
function method(name: string, code: readonly (readonly [name: string, x?: number, n?: number])[]): MethodSource {
  const instructions = ([['STOREN', 1, 2], ['MOVE', 2], ['OP', 0], ...code, ['RET']] as const).map(
    ([opcode, x = 0, n = 0]) => [opcode, x, n] as const,
  )
  const operators = [
    ['aten::tanh', 1],
    ['aten::relu', 1],
  ] as const
  return { name, instructions, operators, constants: ['logits', 'other'], types: ['Dict[str, Tensor]'], registers: 2 }
}

t.test('results of other kinds', async (t) => {
  const source = modelOf([
    method('tensor', []),
    method('pair', [['STORE', 2], ['LOAD', 2], ['LOAD', 2], ['OP', 1], ['TUPLE_CONSTRUCT', 2]]), // prettier-ignore
    method('dict', [['STORE', 2], ['LOADC', 1], ['LOAD', 2], ['LOADC', 0], ['LOAD', 2], ['OP', 1], ['DICT_CONSTRUCT', 0, 4]]), // prettier-ignore
  ])
  const module = await loadModule(source)
  const x = tensor(
    Float32Array.from({ length: 2 * 4 * 3 }, (_, i) => Math.sin(i)),
    [2, 4, 3],
  )
  const rows = (t: Tensor): number[] => [...data(t).slice(9, 12), ...data(t).slice(21, 24)]
  for (let call = 0; call < 4; call++) {
    const found = module.call<Tensor>('tensor', [x], { outputs: 'last' })
    t.strictSame([found.shape, data(found)], [[2, 1, 3], rows(module.call<Tensor>('tensor', [x]))])
    const [first, second] = module.call<[Tensor, Tensor]>('pair', [x], { outputs: 'last' })
    t.strictSame([first.shape, second.shape], [[2, 1, 3], [2, 4, 3]]) // prettier-ignore
    t.strictSame(data(first), data(found))
    const dict = module.call<Map<string, Tensor>>('dict', [x], { outputs: 'last' })
    t.strictSame([dict.get('other')!.shape, dict.get('logits')!.shape], [[2, 4, 3], [2, 1, 3]]) // prettier-ignore
  }
  t.throws(() => module.call('tensor', [tensor([1, 2])], { outputs: 'last' }), { name: 'PtliteError' })
  t.throws(() => module.call('tensor', [x], { outputs: 'first' as 'last' }), { code: 'INVALID_ARGUMENT' })
  module.dispose()
})
