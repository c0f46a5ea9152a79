import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { compileAhead, type PlannedCall } from '../../src/ahead.js'
import { tokenRuns } from '../../src/cli/token-runs.js'
import {
  callOperator,
  generate,
  int,
  loadModule,
  type LoadOptions,
  type Module,
  openSession,
  type Tensor,
  tensor,
} from '../../src/index.js'
import { writeProgram } from '../differential/archive.js'
import { continued, tokensOf } from '../generation/fixtures.js'
import { isClose, method, numbers, PROGRAM, someCalls, step } from '../support/state-program.js'

/** Files that were compiled ahead of methods that read and write tensors of their module. */

const folder = mkdtempSync(join(tmpdir(), 'ptlite-state-'))
t.teardown(() => rmSync(folder, { recursive: true }))

const PLANNED: readonly PlannedCall[] = [
  { method: 'forward', args: step(0) },
  ...['peek', 'first', 'reset', 'shown'].map((name) => ({ method: name, args: [] })),
]

function files(
  name: string,
  program: Uint8Array,
  calls: readonly PlannedCall[],
  options: LoadOptions = {},
): { readonly model: string; readonly beside: string; readonly alone: string } {
  const [own, apart] = [join(folder, name), join(folder, `${name}-alone`)]
  for (const path of [own, apart]) mkdirSync(path)
  const [model, beside, alone] = [join(own, 'model.pt'), join(own, 'model.ptlc'), join(apart, 'model.ptlc')]
  writeFileSync(model, program)
  const bytes = compileAhead(model, () => calls, options)
  for (const path of [beside, alone]) writeFileSync(path, bytes)
  return { model, beside, alone }
}

const { model, beside, alone } = files('module', PROGRAM, PLANNED)
t.test('calls in any order, with the model beside the file and without', async (t) => {
  const own = ['forward', 'peek', 'first', 'reset', 'shown', 'forward', 'forward']
  for (const [path, names] of [
    [alone, own],
    [beside, own],
    [beside, [...own, 'doubled']],
    [beside, [...own, 'doubled', 'anew', 'weighed']],
  ] as const)
    for (const how of ['call', 'run'] as const) {
      const [off, ahead] = [await loadModule(model, { compile: 'off' }), await loadModule(path)]
      t.same(
        ahead.plans().map(({ method: name, state }) => [name, state]),
        ['forward', 'peek', 'first', 'reset', 'shown'].map((name) => [name, 'plan']),
      )
      for (const [i, name] of someCalls(names, 60, names.length).entries()) {
        const args = name === 'forward' ? step(i) : []
        const [want, found] = [off.call(name, args), how === 'call' ? ahead.call(name, args) : await ahead.run(name, args)]
        t.ok(isClose(numbers(found), numbers(want)), `${names.length} methods, ${how}, ${name} is call ${i}`)
      }
      for (const module of [off, ahead]) module.dispose()
    }
})

t.test('states are saved and put back, the model loaded or not', async (t) => {
  for (const path of [alone, beside]) {
    const [off, ahead] = [await loadModule(model, { compile: 'off' }), await loadModule(path)]
    for (const module of [off, ahead]) module.call('forward', step(1))
    const early = [off, ahead].map((module) => ({ module, state: module.saveState() }))
    t.equal(early[0]!.state.bytes, early[1]!.state.bytes)
    const same = (what: string): void => {
      for (const name of ['first', 'peek']) t.ok(isClose(numbers(ahead.call(name)), numbers(off.call(name))), `${what}: ${name}`)
    }
    const others = path === alone ? ['forward'] : ['forward', 'doubled', 'anew']
    for (const name of others) {
      for (const module of [off, ahead]) module.call(name, name === 'forward' ? step(4) : [])
      same(name)
      const late = [off, ahead].map((module) => ({ module, state: module.saveState() }))
      for (const saved of [early, late, early, late, early]) {
        for (const { module, state } of saved) module.loadState(state)
        same(`${name}, put back`)
        for (const module of [off, ahead]) module.call('forward', step(2))
        same(`${name}, gone on`)
      }
      const [a, b] = [ahead, ahead].map((module) => (module.loadState(early[1]!.state), module.saveState()))
      t.ok(a!.equals(b!) && a!.equals(early[1]!.state) && !a!.equals(late[1]!.state), `${name}: states are compared`)
      for (const { module, state } of early) module.loadState(state)
    }
    t.throws(() => ahead.loadState(early[0]!.state), { code: 'INVALID_ARGUMENT', message: /another module/ })
    t.throws(() => ahead.loadState({} as never), { code: 'INVALID_ARGUMENT' })
    for (const module of [off, ahead]) module.dispose()
    t.throws(() => ahead.saveState(), { code: 'DISPOSED' })
  }
})

t.test('what there are no plans of', async (t) => {
  const whole = files('whole', PROGRAM, [...PLANNED, ...['both', 'anew', 'drawn'].map((name) => ({ method: name, args: [] }))])
  const [off, ahead] = [await loadModule(model, { compile: 'off' }), await loadModule(whole.beside)]
  t.same(
    ahead.plans().flatMap(({ method: name, state }) => (state === 'plan' ? [] : [name])),
    ['both', 'anew', 'drawn'],
  )
  for (const [i, name] of someCalls(['forward', 'both', 'row', 'peek', 'anew'], 40, 3).entries()) {
    const args = name === 'forward' ? step(i) : []
    if (name === 'row') for (const module of [off, ahead]) callOperator('aten::mul_.Scalar', [module.getAttribute('row') as Tensor, 0.5])
    else t.ok(isClose(numbers(ahead.call(name, args)), numbers(off.call(name, args))), `${name} is call ${i}`)
  }
  for (const module of [off, ahead]) module.dispose()
})

t.test('tensors that calls make', async (t) => {
  const program = writeProgram({
    ...{ family: 'state', seed: 0, namedTuples: [], calls: [], looks: 'last', storages: [{ dtype: 'float32', data: [1, 2] }] },
    classes: [
      {
        name: 'M',
        attributes: [
          { name: 'kept', type: 'Optional[Tensor]', value: null },
          { name: 'sum', type: 'Tensor', value: { storage: 0, shape: [2], strides: [1], offset: 0 } },
        ],
        methods: [
          method('make', ['self.kept = torch.mul(x, 2)', 's = torch.add_(self.sum, x)'], 'torch.add(s, 1)', ['x']),
          method(
            'use',
            ['k = unchecked_cast(Tensor, self.kept)', 'z = torch.add_(k, x)', 's = torch.add_(self.sum, z)'],
            'torch.mul(s, z)',
            ['x'],
          ),
          method('add', ['s = torch.add_(self.sum, x)'], 'torch.mul(s, 2)', ['x']),
        ],
      },
    ],
  } as never)
  const x = (i: number): Tensor => tensor([i, i + 0.5])
  const found = files('made', program, [
    { method: 'make', args: [x(1)] },
    { method: 'use', args: [x(2)] },
    { method: 'add', args: [x(3)] },
  ])
  const [off, ahead] = [await loadModule(found.model, { compile: 'off' }), await loadModule(found.beside)]
  t.same(
    ahead.plans().map(({ method: name, state }) => [name, state]),
    [
      ['add', 'plan'],
      ['make', 'interpreted'],
      ['use', 'interpreted'],
    ],
  )
  for (const [i, name] of ['add', 'make', 'use', 'add', 'use', 'make', 'add', 'use'].entries())
    t.ok(isClose(numbers(ahead.call(name, [x(i)])), numbers(off.call(name, [x(i)]))), `${name} is call ${i}`)
  for (const module of [off, ahead]) module.dispose()
})

t.test('somebody changes what a state is', async (t) => {
  for (const path of [alone, beside])
    for (const change of ['aten::set_.source_Tensor', 'aten::t_', 'aten::unsqueeze_']) {
      const [off, ahead] = [await loadModule(model, { compile: 'off' }), await loadModule(path)]
      const outcomes = [off, ahead].map((module) => {
        const rows = module.getAttribute('rows') as Tensor
        callOperator(change, change === 'aten::t_' ? [rows] : [rows, change === 'aten::unsqueeze_' ? int(0) : tensor([1])])
        return ['peek', 'reset', 'first'].map((name) => {
          try {
            return numbers(module.call(name)).map((value) => value.toFixed(4))
          } catch (error) {
            return (error as { code: string }).code
          }
        })
      })
      if (path === beside) t.same(outcomes[1], outcomes[0], change)
      else t.same(outcomes[1]!.slice(0, 2), ['INVALID_ARGUMENT', 'INVALID_ARGUMENT'], `${change}, alone`)
      for (const module of [off, ahead]) module.dispose()
    }
})

t.test('results that show a state, and attributes', async (t) => {
  const ahead = await loadModule(beside)
  const shown = ahead.call('shown') as Tensor
  const before = numbers(shown)
  t.same(numbers(ahead.getAttribute('rows')), before)
  ahead.call('forward', step(0))
  t.same(numbers(shown).slice(0, 3), [0, 1, 2], 'it is the tensor of the module')
  // which the model has, too, once it is loaded
  ahead.call('doubled')
  t.same(numbers(shown).slice(0, 3), [0, 2, 4])
  t.same(numbers(ahead.getAttribute('rows')), numbers(shown))
  t.same(numbers(ahead.getAttribute('row')), numbers(shown).slice(6, 9))
  const fresh = await loadModule(beside)
  t.notSame(numbers(fresh.getAttribute('rows')), numbers(shown), 'each module has its own')
  ahead.dispose()
  t.throws(() => shown.data(), { code: 'DISPOSED' })
  const off = await loadModule(model, { compile: 'off' })
  for (const module of [fresh, off]) (module.call('shown') as Tensor).dispose()
  const [found, want] = [fresh, off].map((module) => {
    try {
      return numbers(module.call('peek'))
    } catch (error) {
      return (error as { code: string }).code
    }
  })
  t.same(found, want, 'somebody disposes of what the module holds')
  for (const module of [fresh, off]) module.dispose()
})

t.test('a run that is given up leaves what can be repeated', async (t) => {
  const [off, ahead] = [await loadModule(model, { compile: 'off' }), await loadModule(alone)]
  await t.rejects(ahead.run('forward', step(1), { signal: AbortSignal.abort() }), { code: 'ABORTED' })
  const wrong = [tensor([[1, 2, 3]]), tensor(BigInt64Array.of(9n), [1])]
  t.throws(() => ahead.call('forward', wrong), { code: 'INVALID_ARGUMENT' })
  await t.rejects(ahead.run('forward', wrong), { code: 'INVALID_ARGUMENT' })
  t.ok(isClose(numbers(ahead.call('forward', step(1))), numbers(off.call('forward', step(1)))), 'the counter was put back')
  const several = await Promise.all([2, 3, 4, 5].map((i) => ahead.run('forward', step(i))))
  t.ok(
    several.every((found, i) => isClose(numbers(found), numbers(off.call('forward', step(i + 2))))),
    'those that are begun at once come one after the other',
  )
  const waiting = [ahead.run('forward', step(1)), ahead.run('forward', step(2))].map((run) =>
    run.then(String, (error: { code: string }) => error.code),
  )
  ahead.dispose()
  t.same(new Set(await Promise.all(waiting)), new Set(['DISPOSED']))
  off.dispose()
})

t.test('language models', async (t) => {
  const program = gunzipSync(readFileSync(new URL('../fixtures/generation/llama-buffers.pt2.gz', import.meta.url)))
  const tokens = (count: number, isLast = count > 1): PlannedCall => ({
    method: 'forward',
    args: [tensor(new BigInt64Array(count), [1, count]), tensor(BigInt64Array.from({ length: count }, (_, i) => BigInt(i)))],
    ...(isLast && { outputs: 'last' }),
  })
  const found = files(
    'llama',
    program,
    [1, 4, 16].map((count) => tokens(count)),
  )
  const ahead = await loadModule(found.alone)
  for (const { prompt, tokens: wanted } of continued.llama) {
    t.same(await tokensOf(generate(ahead, prompt, { maxTokens: wanted.length })), wanted, `a prompt of ${prompt.length} tokens`)
    t.same(await tokensOf(generate(ahead, prompt, { maxTokens: wanted.length, draft: 'prompt' })), wanted, 'with guesses')
  }
  const rows = await loadModule(
    files(
      'llama-rows',
      program,
      [1, 4].map((count) => tokens(count, false)),
    ).alone,
  )
  for (const { prompt, tokens: wanted } of continued.llama)
    t.same(
      await tokensOf(generate(rows, prompt, { maxTokens: wanted.length, draft: 'prompt' })),
      wanted,
      'guesses as far as there are plans',
    )
  rows.dispose()
  const [, middle, long] = continued.llama
  const sessions = await Promise.all([openSession(ahead), openSession(ahead)])
  const both = sessions.map((session, i) => tokensOf(session.generate([middle!, long!][i]!.prompt, { maxTokens: 12 })))
  t.same(await Promise.all(both), [middle!.tokens.slice(0, 12), long!.tokens.slice(0, 12)], 'two sessions take turns')
  const fork = await sessions[0]!.fork()
  const conversation = [...middle!.prompt, ...middle!.tokens.slice(0, 6)]
  fork.rewind(conversation.length)
  t.same(await tokensOf(fork.generate(conversation, { maxTokens: 6 })), middle!.tokens.slice(6, 12), 'a fork')
  ahead.dispose()

  const executorch = gunzipSync(readFileSync(new URL('../fixtures/generation/llama-tokens-place.pte.gz', import.meta.url)))
  const from = join(folder, 'llama.pte')
  writeFileSync(from, executorch)
  const plans = compileAhead(from, (module) => tokenRuns(module)!)
  const pte = await loadModule(plans)
  for (const { prompt, tokens: wanted } of continued.llama)
    t.same(await tokensOf(generate(pte, prompt, { maxTokens: wanted.length })), wanted, `a .pte, a prompt of ${prompt.length} tokens`)
  t.equal((await openSession(pte)).capacity, pte.call('get_max_seq_len'))
  pte.dispose()

  const one = await loadModule(files('llama-one', program, [tokens(1)]).alone)
  t.same(await tokensOf(generate(one, long!.prompt, { maxTokens: 8 })), long!.tokens.slice(0, 8), 'token by token')
  one.dispose()
  const wide = await loadModule(files('llama-wide', program, [tokens(16, false)]).alone)
  t.same(await tokensOf(generate(wide, middle!.prompt, { maxTokens: 8 })), middle!.tokens.slice(0, 8), 'filled up')
  wide.dispose()
})

t.test('rounded weights and caches', async (t) => {
  const program = gunzipSync(readFileSync(new URL('../fixtures/generation/llama-buffers.pt2.gz', import.meta.url)))
  const call = (i: number): PlannedCall => ({
    method: 'forward',
    args: [tensor(BigInt64Array.of(BigInt(7 * i + 1)), [1, 1]), tensor(BigInt64Array.of(BigInt(i)))],
  })
  for (const [i, options] of (
    [{ weights: 'int8' }, { kvCache: 'int8' }, { weights: 'bfloat16', kvCache: 'bfloat16' }] as const
  ).entries()) {
    const found = files(`llama-${i}`, program, [call(0)], options)
    const [own, ahead]: Module[] = [await loadModule(found.model, { ...options, compile: 'eager' }), await loadModule(found.alone)]
    for (let k = 0; k < 6; k++) {
      const [want, other] = [own!, ahead!].map((module) => numbers(module.call('forward', call(k).args)))
      const largest = Math.max(...want!.map(Math.abs))
      const furthest = Math.max(...want!.map((x, at) => Math.abs(x - other![at]!)))
      t.ok(furthest <= 0.02 * largest, `${JSON.stringify(options)}, step ${k}: ${furthest / largest}`)
    }
    for (const module of [own!, ahead!]) module.dispose()
  }
})
