import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { type Input, loadModule, type Module, type Output, tensor, Tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/* Files of bytecode version 4, 5 and 8, of operator version 3 among them: fixtures/make_old_files.py says how they were made. */

interface Described {
  readonly dtype: 'float32' | 'int64'
  readonly shape: readonly number[]
  readonly data: string
}
type Item = Described | number | readonly Item[]
type Call = readonly [method: string, args: readonly Item[], result: Item]

const folder = fixturePath('old')
const files = readdirSync(folder).filter((name) => name.endsWith('.ptl'))

function callsOf(file: string): Call[] {
  return JSON.parse(readFileSync(`${folder}/${file.replace(/(-v\d)?\.ptl$/, '')}.json`, 'utf8')) as Call[]
}

function isTensor(item: Item): item is Described {
  return typeof item === 'object' && 'data' in item
}

function elementsOf({ dtype, data }: Described): Float32Array | BigInt64Array {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return dtype === 'int64' ? new BigInt64Array(bytes.buffer) : new Float32Array(bytes.buffer)
}

function inputOf(item: Item): Input {
  return isTensor(item) ? tensor(elementsOf(item), [...item.shape], item.dtype) : (item as number)
}

/** Whether a result is what PyTorch has: the same dtypes and shapes, and the same numbers but for rounding. */
function compare(t: Test, got: Output, wanted: Item, what: string): void {
  if (got instanceof Tensor && isTensor(wanted)) {
    t.strictSame([got.dtype, [...got.shape]], [wanted.dtype, wanted.shape], what)
    const expected = Array.from(elementsOf(wanted), Number)
    const error = Math.max(...Array.from(got.data(), Number).map((value, i) => Math.abs(value - expected[i]!)))
    t.ok(error <= 1e-5 * Math.max(1, ...expected.map(Math.abs)), `${what}: off by ${error}`)
    return
  }
  if (!Array.isArray(got) || !Array.isArray(wanted)) throw new Error(`${what}: another kind of result`)
  const items = wanted as readonly Item[]
  t.equal(got.length, items.length, what)
  got.forEach((item, i) => {
    compare(t, item, items[i]!, `${what}[${i}]`)
  })
}

for (const file of files) {
  for (const compile of ['off', 'eager'] as const) {
    t.test(`${file}, compile ${compile}: what PyTorch computes`, async (t) => {
      const module = await loadModule(`${folder}/${file}`, { compile })
      for (const [method, args, wanted] of callsOf(file)) {
        const inputs = args.map(inputOf)
        for (const time of ['first', 'second']) compare(t, module.call(method, inputs), wanted, `${method}, ${time} call`)
        compare(t, await module.run(method, inputs), wanted, `${method}, in the background`)
      }
      module.dispose()
    })
  }
}

t.test('operators with an older meaning are recorded as those that stand for them', async (t) => {
  const path = `${folder}/upgraded.ptl`
  const module: Module = await loadModule(path, { compile: 'eager' })
  const calls = callsOf('upgraded.ptl')
  for (const [method, args] of calls) module.call(method, args.map(inputOf))
  t.strictSame(
    module.plans().map(({ state, reason }) => [state, reason]),
    calls.map(() => ['plan', null]),
  )
  const bytes = compileAhead(path, () => calls.map(([method, args]) => ({ method, args: args.map(inputOf) })))
  const compiled = await loadModule(bytes)
  for (const [method, args, wanted] of calls) compare(t, compiled.call(method, args.map(inputOf)), wanted, `${method}, compiled ahead`)
  module.dispose()
  compiled.dispose()
})
