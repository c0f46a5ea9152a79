import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadModule, type Module, type Tensor, tensor } from '../../src/index.js'
import { ptlite } from './in-process.js'

/** `ptlite convert --weights`: what PyTorch computes with the files, as test/fixtures/make_integer_weights.py has taken it down. */

interface Result {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
type Name = 'int8' | 'int4' | 'int4-64'
type Call = { readonly tokens: readonly (readonly number[])[]; readonly more: boolean } & Readonly<Record<Name, readonly Result[]>>

const folder = fileURLToPath(new URL('../fixtures/integer-weights/', import.meta.url))
const network = join(folder, 'network.pt')
const calls = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')) as readonly Call[]

const FORMATS: readonly { readonly name: Name; readonly options: readonly string[]; readonly layers: string }[] = [
  { name: 'int8', options: ['int8'], layers: '8 bits: 6, of 4 bits: 0' },
  { name: 'int4', options: ['int4'], layers: '8 bits: 2, of 4 bits: 4' },
  { name: 'int4-64', options: ['int4', '--group', '64'], layers: '8 bits: 3, of 4 bits: 3' },
]

function run(module: Module, { tokens, more }: Call): Tensor[] {
  const ids = tensor(BigInt64Array.from(tokens.flat(), BigInt), [tokens.length, tokens[0]!.length])
  return module.forward(ids, more) as Tensor[]
}

function furthest(found: readonly Tensor[], wanted: readonly { readonly data: ArrayLike<number> }[]): number {
  return found.reduce((most, result, i) => {
    const [a, b] = [result.data() as Float32Array, wanted[i]!.data]
    return a.reduce((m, v, j) => Math.max(m, Math.abs(v - b[j]!)), most)
  }, 0)
}

for (const { name, options, layers } of FORMATS) {
  for (const extension of ['ptl', 'ff']) {
    await t.test(`${name} in a .${extension}`, async (t) => {
      const output = join(t.testdir({}), `out.${extension}`)
      const { status, stdout, stderr } = await ptlite('convert', network, '--weights', ...options, '-o', output)
      t.equal(status, 0, stderr)
      t.match(stdout, `linear layers with weights of ${layers}`)
      for (const compile of ['off', 'eager'] as const) {
        const module = await loadModule(output, { verify: true, compile })
        for (const call of [...calls, ...calls]) {
          const found = run(module, call)
          t.strictSame(
            found.map(({ shape }) => shape),
            call[name].map(({ shape }) => shape),
          )
          const difference = furthest(found, call[name])
          t.ok(difference < 2e-5, `${compile}, ${call.tokens.length} x ${call.tokens[0]!.length}: ${difference}`)
        }
        module.dispose()
      }
    })
  }
}

await t.test('numbers are those that loadModule rounds to', async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', network, '--weights', 'int8', '-o', output)
  const [written, rounded] = [
    await loadModule(output),
    await loadModule(network, { weights: 'int8', activations: 'float', keep: (name) => /^(embedding|read)/.test(name) }),
  ]
  const weights = new Map(written.parameters())
  const types = [...weights].filter(([name]) => name.endsWith('.weight')).map(([name, { dtype }]) => [name, dtype])
  t.strictSame(Object.fromEntries(types), {
    'embedding.weight': 'float32',
    'first.weight': 'int8',
    'plain.weight': 'int8',
    'branch.weight': 'int8',
    'repeated.weight': 'int8',
    'narrow.weight': 'int8',
    'read.weight': 'float32',
  })
  for (const call of calls)
    t.ok(
      furthest(
        run(written, call),
        run(rounded, call).map((result) => ({ data: result.data() as Float32Array })),
      ) < 2e-5,
    )
})

await t.test('plans have the kernels of packed weights, with bias and activation', async (t) => {
  for (const [weights, format] of [
    ['int8', 'i8'],
    ['int4', 'pairs'],
  ] as const) {
    const output = join(t.testdir({}), 'out.ptl')
    await ptlite('convert', network, '--weights', weights, '-o', output)
    const module = await loadModule(output)
    const passes = module.explain('forward', [tensor(BigInt64Array.of(3n, 7n), [1, 2]), false]).split('\n# ')
    const last = passes.filter((text) => text.startsWith('after ')).at(-1)!
    t.match(last, new RegExp(`linear\\(input=%\\d+, weight=\\(%\\d+, "${format}", .*post=`))
    t.notMatch(last, /int8pack|int4pack/)
    module.dispose()
  }
})

await t.test('options that do not go together', async (t) => {
  for (const [args, message] of [
    [['--weights', 'bfloat16', '-o', 'x.ptl'], /expected int8 or int4, found bfloat16/],
    [['--weights', 'int8', '-o', 'x.pte'], /--weights goes with a name that ends in .ptl or .ff/],
    [['--weights', 'int8', '--group', '32', '-o', 'x.ptl'], /--group goes with --weights int4/],
    [['--weights', 'int4', '--group', '48', '-o', 'x.ptl'], /expected 32, 64, 128, 256, found 48/],
    [['--group', '32', '-o', 'x.ptl'], /--group goes with --weights/],
  ] as const) {
    const { status, stderr } = await ptlite('convert', network, ...args)
    t.equal(status, 2)
    t.match(stderr, message)
  }
})
