import t from 'tap'
import { type Limits, loadModule, memoryStats, type Module, PtliteError, type Tensor, tensor } from '../../src/index.js'
import { Float } from '../../runtime/tensor/scalar.js'
import {
  answer,
  appending,
  callTree,
  counting,
  doubling,
  endless,
  expanded,
  keepingTensors,
  method,
  modelOf,
  nesting,
  selfHolding,
} from './programs.js'

const { signal: never } = new AbortController()

async function moduleOf(methods: Parameters<typeof modelOf>[0], limits?: Limits): Promise<Module> {
  return loadModule(modelOf(methods), limits === undefined ? {} : { limits })
}

/** The limit that each way of calling `forward` ends at. */
async function endings(module: Module, args: Parameters<Module['call']>[1], limits: Limits): Promise<(readonly [string, string])[]> {
  const found: (readonly [string, string])[] = []
  const note = (error: unknown): void => {
    if (!(error instanceof PtliteError)) throw error
    found.push([error.code, error.message])
  }
  try {
    module.call('forward', args, { limits })
  } catch (error) {
    note(error)
  }
  await module.run('forward', args, { limits }).catch(note)
  return found
}

t.test('a loop ends at each kind of limit, called and run in the background', async (t) => {
  const module = await moduleOf([endless, answer])
  for (const [limits, message] of [
    [{ milliseconds: 30 }, /^the call took more than 30 ms; raise limits\.milliseconds/],
    [{ instructions: 10_000 }, /^the call took more than 10000 instructions; raise limits\.instructions/],
  ] as const) {
    const found = await endings(module, [], limits)
    t.equal(found.length, 2)
    for (const [code, text] of found) {
      t.equal(code, 'LIMIT_EXCEEDED')
      t.match(text, message)
      t.match(text, /Traceback of TorchScript[^]*forward/)
    }
    t.equal(module.call('answer'), 42, 'the module goes on')
    t.equal(await module.run('answer'), 42)
  }
  module.dispose()
})

t.test('instructions are counted one by one', async (t) => {
  const module = await moduleOf([counting, answer])
  const least = (args: number[], name = 'count'): number => {
    for (let instructions = 1; ; instructions++) {
      try {
        module.call(name, args, { limits: { instructions } })
        return instructions
      } catch (error) {
        if (!(error instanceof PtliteError && error.code === 'LIMIT_EXCEEDED')) throw error
      }
    }
  }
  t.equal(least([], 'answer'), 4)
  const none = least([0])
  // LOOP, DROP, LOADC and JMP for each turn
  for (const n of [1, 2, 7]) t.equal(least([n]) - none, 4 * n)
  module.dispose()
})

t.test('a tree of calls ends', async (t) => {
  const module = await moduleOf(callTree())
  for (const limits of [{ milliseconds: 30 }, { instructions: 1e6 }])
    for (const [code] of await endings(module, [], limits)) t.equal(code, 'LIMIT_EXCEEDED')
  const controller = new AbortController()
  const run = module.run('forward', [], { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 50)
  await t.rejects(run, { message: 'enough' })
  module.dispose()
})

t.test('a signal ends a loop', async (t) => {
  const module = await moduleOf([endless, answer])
  const controller = new AbortController()
  const run = module.run('forward', [], { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 50)
  await t.rejects(run, { message: 'enough' })
  t.equal(await module.run('answer', [], { signal: never }), 42)
  module.dispose()
})

t.test('lists, strings and tuples are bounded without limits of the caller', async (t) => {
  for (const [what, program] of [
    ['list', doubling('aten::add.t', undefined)],
    ['string', doubling('aten::add.str', 'ab')],
  ] as const) {
    const module = await moduleOf([program, answer])
    const error = errorOf(() => module.forward())
    t.equal(error.code, 'LIMIT_EXCEEDED', what)
    t.match(error.message, /^the call took more than 33554432 elements of lists, dicts and strings at one time; raise limits\.elements/)
    t.equal(errorOf(() => module.call('forward', [], { limits: { elements: 1000 } })).code, 'LIMIT_EXCEEDED')
    t.equal(module.call('answer'), 42)
    module.dispose()
  }
})

t.test('lists and tuples that grow by one', async (t) => {
  for (const [what, program] of [
    ['append', appending],
    ['nested tuples', nesting],
  ] as const) {
    const module = await moduleOf([program, answer])
    t.match(
      errorOf(() => module.call('forward', [], { limits: { elements: 5000 } })),
      { code: 'LIMIT_EXCEEDED', message: /5000 elements/ },
      what,
    )
    t.equal(module.call('answer'), 42)
    module.dispose()
  }
})

t.test('one operator that makes a long list', async (t) => {
  const repeated = method('forward', 'STORE 1\nDROPR 1\nLOADC 0\nLIST_CONSTRUCT 0 1\nLOADC 1\nOP 0\nRET', {
    operators: [['aten::mul.left_t', 2]],
    constants: [1, 2 ** 27],
    types: ['List[int]'],
  })
  const module = await moduleOf([repeated, answer])
  t.equal(errorOf(() => module.forward()).code, 'LIMIT_EXCEEDED')
  t.equal(module.call('answer'), 42)
  module.dispose()
})

t.test('what is no longer alive does not count', async (t) => {
  // a new list of 1000 elements in each of 1000 turns
  const churning = method(
    'forward',
    `STORE 1
     DROPR 1
     LOADC 0
     LOADC 1
     LOADC 2
     LOOP 7 2
     DROP
     LOADC 0
     OP 0
     DROP
     LOADC 2
     JMP -6
     LOADC 3
     RET`,
    { operators: [['aten::list', 1]], constants: ['x'.repeat(1000), 1000, true, 7] },
  )
  // the trip count starts at 0
  const constants = [...churning.constants]
  const program = {
    ...churning,
    constants: [...constants, 0],
    instructions: churning.instructions.map((i, at) => (at === 2 ? (['LOADC', 4, 0] as const) : i)),
  }
  const module = await moduleOf([program])
  t.equal(module.call('forward', [], { limits: { elements: 20_000 } }), 7)
  module.dispose()
})

t.test('a list that holds itself is no tensor', async (t) => {
  const module = await moduleOf([selfHolding, answer])
  t.match(
    errorOf(() => module.forward()),
    { code: 'INVALID_ARGUMENT', message: /holds itself/ },
  )
  t.equal(module.call('answer'), 42)
  module.dispose()
})

for (const operator of [
  ['aten::sum', null],
  ['aten::max'],
  ['aten::min'],
  ['aten::prod', null],
  ['aten::var', false],
  ['aten::any'],
  ['aten::argmax', null, false],
  ['aten::mean', null],
] as const) {
  const [name, ...rest] = operator
  t.test(`${name} of 2^50 elements in memory for one ends`, async (t) => {
    const module = await moduleOf([expanded(name, 2 ** 25, rest), answer])
    const x = tensor([1])
    const { live } = memoryStats()
    for (const [code, text] of await endings(module, [x], { milliseconds: 40, bytes: 1 << 20 })) {
      t.equal(code, 'LIMIT_EXCEEDED')
      t.match(text, /took more than (40 ms|1048576 bytes)/)
    }
    t.equal(module.call('answer'), 42)
    t.ok(memoryStats().live <= live, 'nothing stays')
    module.dispose()
  })
}

t.test('sequences end', async (t) => {
  const spaced = method(
    'forward',
    `STOREN 1 1
     DROPR 1
     LOADC 0
     LOADC 1
     LOADC 2
     LOADC 3
     LOADC 4
     LOADC 4
     LOADC 4
     LOADC 4
     OP 0
     RET`,
    { operators: [['aten::logspace', 8]], constants: [0, 1, 2 ** 25, new Float(2.5), null] },
  )
  const module = await moduleOf([spaced, answer])
  for (const [code, text] of await endings(module, [], { milliseconds: 40 })) {
    t.equal(code, 'LIMIT_EXCEEDED')
    t.match(text, /took more than 40 ms/)
  }
  t.equal(module.call('answer'), 42)
  module.dispose()
})

t.test('a signal ends a kernel', async (t) => {
  const module = await moduleOf([expanded('aten::sum', 2 ** 25, [null]), answer])
  const controller = new AbortController()
  const run = module.run('forward', [tensor([1])], { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 50)
  await t.rejects(run, { message: 'enough' })
  t.equal(await module.run('answer'), 42)
  module.dispose()
})

t.test('kernels of several threads end, too', async (t) => {
  const { setNumThreads } = await import('../../src/index.js')
  setNumThreads(4)
  t.teardown(() => setNumThreads(1))
  const products = method(
    'forward',
    `STOREN 1 2
     DROPR 1
     LOADC 0
     JF 6
     LOAD 2
     LOAD 2
     OP 0
     DROP
     JMP -6
     LOADC 1
     RET`,
    { operators: [['aten::matmul', 2]], constants: [true, null] },
  )
  const once = method('once', 'STOREN 1 2\nDROPR 1\nLOAD 2\nMOVE 2\nOP 0\nRET', { operators: [['aten::matmul', 2]] })
  const module = await loadModule(modelOf([products, once]), { compile: 'off' })
  const x = tensor(
    Float32Array.from({ length: 200 * 200 }, (_, i) => (i % 7) - 3),
    [200, 200],
  )
  const expected = (module.call('once', [x]) as Tensor).toArray()
  // packed at its second use
  ;(module.call('once', [x]) as Tensor).dispose()
  const { live } = memoryStats()
  for (let i = 0; i < 3; i++) {
    t.equal(errorOf(() => module.call('forward', [x], { limits: { milliseconds: 20 } })).code, 'LIMIT_EXCEEDED')
    const y = module.call('once', [x], { limits: { milliseconds: 60_000 } }) as Tensor
    t.same(y.toArray(), expected)
    y.dispose()
  }
  t.ok(memoryStats().live <= live, 'nothing stays')
  module.dispose()
})

t.test('tensors that are alive count', async (t) => {
  const module = await moduleOf([keepingTensors, answer])
  const x = tensor(new Float32Array(1 << 16))
  const { live } = memoryStats()
  const found = await endings(module, [x], { bytes: 8 << 20 })
  t.same(
    found.map(([code]) => code),
    ['LIMIT_EXCEEDED', 'LIMIT_EXCEEDED'],
  )
  t.match(found[0]![1], /^the call took more than 8388608 bytes of tensors at one time; raise limits\.bytes/)
  // small ones by their number
  const small = tensor([1])
  t.equal(errorOf(() => module.call('forward', [small], { limits: { elements: 100_000 } })).code, 'LIMIT_EXCEEDED')
  small.dispose()
  t.ok(memoryStats().live <= live, 'nothing stays')
  t.equal(module.call('answer'), 42)
  module.dispose()
})

t.test('runs at the same time have limits of their own', async (t) => {
  const module = await moduleOf([endless, counting])
  const runs = await Promise.allSettled([
    module.run('forward', [], { limits: { milliseconds: 30 } }),
    module.run('count', [1000], { limits: { instructions: 100 } }),
    module.run('count', [1000], { limits: { instructions: 10_000, milliseconds: 60_000 } }),
    module.run('forward', [], { limits: { instructions: 1000 } }),
  ])
  t.same(
    runs.map((run) => (run.status === 'fulfilled' ? run.value : (run.reason as PtliteError).message.split(';')[0])),
    ['the call took more than 30 ms', 'the call took more than 100 instructions', 1000, 'the call took more than 1000 instructions'],
  )
  module.dispose()
})

t.test('limits of the module hold for calls that have none, each by itself', async (t) => {
  const module = await moduleOf([endless, counting], { instructions: 1000, milliseconds: 10_000 })
  t.match(errorOf(() => module.forward()).message, /1000 instructions/)
  t.match(errorOf(() => module.call('forward', [], { limits: { instructions: 2000 } })).message, /2000 instructions/)
  t.match(errorOf(() => module.call('forward', [], { limits: { milliseconds: 10 } })).message, /1000 instructions/)
  t.match(
    errorOf(() => module.call('forward', [], { limits: { instructions: undefined } as unknown as Limits })).message,
    /1000 instructions/,
  )
  t.equal(module.call('count', [100]), 100)
  await t.rejects(module.run('forward'), { code: 'LIMIT_EXCEEDED' })
  module.dispose()
})

t.test('maxIterations', async (t) => {
  const module = await loadModule(modelOf([endless, counting]), { maxIterations: 100 })
  t.match(
    errorOf(() => module.forward()),
    { code: 'LIMIT_EXCEEDED', message: /maxIterations/ },
  )
  t.equal(module.call('count', [20]), 20)
  module.dispose()
})

t.test('limits that are none', async (t) => {
  const module = await moduleOf([answer])
  for (const limits of [
    null,
    1,
    'x',
    [],
    { instructions: 0 },
    { bytes: -1 },
    { milliseconds: NaN },
    { elements: 1.5 },
    { time: 1 },
    { milliseconds: '5' },
  ]) {
    const wrong = { limits } as unknown as { limits: Limits }
    t.equal(errorOf(() => module.call('answer', [], wrong)).code, 'INVALID_ARGUMENT')
    await t.rejects(module.run('answer', [], wrong), { code: 'INVALID_ARGUMENT' })
    await t.rejects(loadModule(modelOf([answer]), wrong), { code: 'INVALID_ARGUMENT' })
  }
  t.match(
    errorOf(() => module.call('answer', [], { limits: { milisseconds: 1 } as Limits })).message,
    /limits takes no option 'milisseconds'; did you mean 'milliseconds'\?/,
  )
  t.equal(module.call('answer', [], { limits: { instructions: Infinity, bytes: Infinity, milliseconds: Infinity } }), 42)
  module.dispose()
})

function errorOf(action: () => unknown): PtliteError {
  try {
    action()
  } catch (error) {
    if (error instanceof PtliteError) return error
    throw error
  }
  throw new Error('expected an error, found none')
}
