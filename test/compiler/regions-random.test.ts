import t from 'tap'
import { TieredModule } from '../../compiler/index.js'
import { runFunction } from '../../interpreter/run.js'
import type { LinkedFunction } from '../../program/linked.js'
import type { ScriptModule } from '../../interpreter/script-module.js'
import { type Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject, type Tuple, type Value } from '../../runtime/tensor/value.js'
import { callOperator, PtliteError } from '../../src/index.js'
import { programOf } from '../interpreter/assemble.js'
import type { RandomProgram } from './random-program.js'
import { randomRegions } from './random-regions.js'

const COUNT = 500
/** Calls of each program: recorded, compiled, replayed with other contents, and replayed. */
const CALLS = 7
/** Of the largest value of an output. */
const MAX_ERROR = 5e-5

/** A module with one method and the program's attributes. */
function moduleOf(program: RandomProgram): ScriptModule {
  const { fn } = program
  const attributes = program.makeAttributes()
  const root = new ScriptObject(
    '__torch__.M',
    attributes.map((_, i) => `a${i}`),
    attributes,
  )
  const script = {
    ...programOf(fn),
    root,
    isDisposed: false,
    options: {},
    file: { debug: null },
    call: (f: LinkedFunction, args: readonly Value[], options = {}): Value =>
      runFunction(f, [root, ...args], script as unknown as ScriptModule, options),
  }
  return script as unknown as ScriptModule
}

type Outcome = { readonly tensors: Tensor[] } | { readonly error: string }

/** What a call gives; random numbers start anew with each. */
function outcome(call: () => Value, seed: number): Outcome {
  callOperator('aten::manual_seed', [seed])
  try {
    return { tensors: (call() as Tuple).items as Tensor[] }
  } catch (error) {
    if (error instanceof PtliteError) return { error: error.code }
    throw error
  }
}

/** Which tensors are the same, and which share memory. */
function sharing(tensors: readonly Tensor[]): string {
  return tensors.map((t) => `${tensors.indexOf(t)}/${tensors.findIndex((other) => other.storage === t.storage)}`).join(' ')
}

function apart(found: readonly Tensor[], wanted: readonly Tensor[]): string | null {
  if (sharing(found) !== sharing(wanted)) return `${sharing(found)} share memory, expected ${sharing(wanted)}`
  for (const [i, want] of wanted.entries()) {
    const got = found[i]!
    const form = ({ dtype, shape, strides }: Tensor): string => `${dtype}[${shape.join()}] strides ${strides.join()}`
    if (got.dtype !== want.dtype || String(got.shape) !== String(want.shape)) return `tensor ${i}: ${form(got)} for ${form(want)}`
    const [a, b] = [Array.from(got.data(), Number), Array.from(want.data(), Number)]
    const bound = MAX_ERROR * Math.max(1, ...b.filter(Number.isFinite).map(Math.abs))
    const at = b.findIndex((x, k) => !(Object.is(x, a[k]) || x === a[k] || Math.abs(x - a[k]!) <= bound))
    if (at >= 0) return `tensor ${i}, element ${at}: ${a[at]} for ${b[at]}`
  }
  return null
}

t.test(`${COUNT} random programs with regions give what the interpreter gives`, (t) => {
  const first = Number(process.env['SEED'] ?? 1)
  let compared = 0
  let split = 0
  let planned = 0
  for (let seed = first; seed < first + COUNT; seed++) {
    const program = randomRegions(seed)
    const modules = [moduleOf(program), moduleOf(program)] as const
    const tiers = new TieredModule(modules[1], 'auto')
    const generators = [randomRegions(seed), randomRegions(seed)]
    for (let call = 0; call < CALLS; call++) {
      const inputs = generators.map(({ makeInputs }) => makeInputs())
      const results = [
        outcome(() => modules[0].call(program.fn, inputs[0]!), seed),
        outcome(() => tiers.call(program.fn, inputs[1]!), seed),
      ] as const
      const fail = (what: string): never => {
        throw new Error(
          `seed ${seed}, call ${call}: ${what}\n${program.text}\n${tiers
            .plans()
            .map((p) => `${p.state} ${p.reason}`)
            .join('\n')}`,
        )
      }
      const [wanted, found] = results
      if ('error' in wanted || 'error' in found) {
        const [a, b] = results.map((result) => ('error' in result ? result.error : 'a result'))
        if (a !== b) fail(`${b!} for ${a!}`)
      }
      // arguments and attributes too: they may have been written to, and results may share memory with them
      const all = results.map((result, i) => [
        ...('error' in result ? [] : result.tensors),
        ...inputs[i]!,
        ...(modules[i]!.root.slots as Tensor[]),
      ])
      const wrong = apart(all[1]!, all[0]!)
      if (wrong !== null) fail(wrong)
      compared++
    }
    const plans = tiers.plans()
    if (plans.length > 1) split++
    if (plans.filter(({ state }) => state === 'plan').length > 1) planned++
    tiers.dispose()
  }
  t.ok(compared === COUNT * CALLS)
  t.ok(split > COUNT / 4, `${split} programs in more than one region`)
  t.ok(planned > COUNT / 20, `${planned} of them with more than one plan`)
  t.end()
})
