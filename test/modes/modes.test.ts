import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, memoryStats, type Module, Tensor } from '../../src/index.js'
import { runnable } from '../support/node.js'
import { type Data, dataOfAll, errorBetween, inputOf, type Model, models, turns } from './models.js'

/*
 * Networks in every way that there is to call them (web.test.ts has that of browsers): the first call is interpreted, and later ones are
 * recorded, compiled or replayed, depending on the mode. Whatever does them, they give what PyTorch gives, and the same as each other.
 */

/** Of the largest value of an output, between a mode and the interpreter: sums in another order, and roundings that fusing leaves out. */
const MAX_APART = 2e-5
/** What these compute depends on contents of tensors, which no plan can hold. */
const INTERPRETED: ReadonlySet<string> = new Set(['mixtral'])

const work = mkdtempSync(join(tmpdir(), 'ptlite-modes-'))

type Results = readonly (readonly Data[])[]
/** Calls one after the other. */
type Caller = (calls: readonly (readonly Data[])[]) => Results | Promise<Results>

const bits = (results: Results): string[] =>
  results.map((outputs) => outputs.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')).join())

const called =
  (module: Module): Caller =>
  (calls) =>
    calls.map((inputs) => dataOfAll(module.forward(...inputs.map(inputOf))))
const run =
  (module: Module): Caller =>
  async (calls) => {
    const results: Data[][] = []
    for (const inputs of calls) results.push(dataOfAll(await module.run('forward', inputs.map(inputOf))))
    return results
  }

/** The library in a thread of the application. */
const worker = new Worker(new URL(`file://${runnable(fileURLToPath(new URL('worker.ts', import.meta.url)))}`))
const inWorker =
  (path: string): Caller =>
  (calls) =>
    new Promise((resolve, reject) => {
      worker.once('message', (answer: Results | string) => {
        if (typeof answer === 'string') reject(new Error(answer))
        else resolve(answer)
      })
      worker.postMessage({ path, calls })
    })

t.teardown(async () => {
  await worker.terminate()
  rmSync(work, { recursive: true })
})

async function check(t: Test, { name, path, calls, bound, isOtherForm }: Model): Promise<void> {
  const order = turns(calls)
  const inputs = order.map((call) => call.inputs)
  let interpreted: Results = []
  const mode = async (how: string, caller: Caller): Promise<Results> => {
    const results = await caller(inputs)
    for (const [i, { outputs }] of order.entries()) {
      if (outputs !== null) t.ok(errorBetween(results[i]!, outputs) <= bound, `${how}, call ${i}: as PyTorch`)
      if (interpreted.length > 0)
        t.ok(errorBetween(results[i]!, interpreted[i]!) <= MAX_APART, `${how}, call ${i}: ${errorBetween(results[i]!, interpreted[i]!)}`)
    }
    return results
  }
  const load = async (compile: 'off' | 'auto' | 'eager'): Promise<Module> => loadModule(path, { compile })
  const [off, auto, eager] = [await load('off'), await load('auto'), await load('eager')]
  interpreted = await mode('interpreted', called(off))
  const [, second, , ...last] = bits(interpreted)
  // weights are packed at their second use
  for (const later of last.slice(-2)) t.equal(later === second, true, 'interpreted again: the same bits')
  const planned = await mode('as a plan', called(eager))
  const plan = eager.plans()[0]!
  const isPlan = !INTERPRETED.has(name.replace(/^torch2 |\..*/g, ''))
  t.equal(plan.state, isPlan ? 'plan' : 'interpreted', plan.reason ?? 'a plan')
  if (!isOtherForm) {
    await mode('when it pays', called(auto))
    t.equal(bits(await mode('interpreted in the background', run(off))).at(-1), second, 'the bits of a call')
    t.equal(bits(await mode('as a plan in the background', run(eager))).at(-1), bits(planned).at(-1), 'the bits of a call')
    const together = await Promise.all([1, 2, 3].map(() => eager.run('forward', inputs[0]!.map(inputOf))))
    for (const output of together) t.equal(bits([dataOfAll(output)])[0], bits(planned).at(-1), 'three at a time')
    await mode('in a worker', inWorker(path))
  }
  if (isPlan) await checkAhead(t, path, eager, planned, inputs)
  for (const module of [off, auto, eager]) module.dispose()
  await t.rejects(off.run('forward', inputs[0]!.map(inputOf)), { code: 'DISPOSED' })
}

/** The plan of a file is the plan made here, bit by bit. */
async function checkAhead(t: Test, path: string, original: Module, planned: Results, inputs: readonly (readonly Data[])[]): Promise<void> {
  const compile = (): Uint8Array => compileAhead(path, () => [{ method: 'forward', args: inputs[0]!.map(inputOf) }])
  const bytes = compile()
  t.ok(Buffer.from(bytes).equals(compile()), 'the same bytes each time')
  const file = join(work, 'model.ptlc')
  writeFileSync(file, bytes)
  const [compiled, inMemory] = [await loadModule(file), await loadModule(bytes)]
  const expected = bits(await called(original)(inputs))
  t.equal(expected.at(-1), bits(planned).at(-1))
  for (const [how, caller] of [
    ['from a file', called(compiled)],
    ['from memory', called(inMemory)],
    ['in the background', run(compiled)],
  ] as const)
    t.strictSame(bits(await caller(inputs)), expected, how)
  // a file has no choices left, and of weights does not know which were packed
  t.strictSame(
    compiled.plans().map((plan) => ({ ...plan, weights: null })),
    original.plans().slice(0, 1).map((plan) => ({ ...plan, choices: [], weights: null })), // prettier-ignore
  )
  const last = inputs.at(-1)!.map(inputOf)
  const { live } = memoryStats()
  for (let i = 0; i < 5; i++) for (const output of [compiled.forward(...last)].flat()) if (output instanceof Tensor) output.dispose()
  t.equal(memoryStats().live, live, 'no memory is left behind')
  for (const module of [compiled, inMemory]) module.dispose()
}

for (const model of models(work)) t.test(model.name, (t) => check(t, model))
