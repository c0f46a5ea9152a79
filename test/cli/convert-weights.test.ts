import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
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
const products = join(folder, 'products.pt')
const tied = join(folder, 'tied.pt')
const resultsIn = (file: string): readonly Call[] => JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Call[]
const calls = resultsIn('results.json')
const callsOfProducts = resultsIn('products.json')
const callsOfTied = resultsIn('tied.json')

interface Format {
  readonly model: string
  readonly calls: readonly Call[]
  readonly name: Name
  readonly options: readonly string[]
  readonly layers: string
}
const FORMATS: readonly Format[] = [
  { model: network, calls, name: 'int8', options: ['int8'], layers: '8 bits: 7, of 4 bits: 0' },
  { model: network, calls, name: 'int4', options: ['int4'], layers: '8 bits: 3, of 4 bits: 4' },
  { model: network, calls, name: 'int4-64', options: ['int4', '--group', '64'], layers: '8 bits: 4, of 4 bits: 3' },
  { model: products, calls: callsOfProducts, name: 'int8', options: ['int8'], layers: '8 bits: 6, of 4 bits: 0' },
  { model: products, calls: callsOfProducts, name: 'int4', options: ['int4'], layers: '8 bits: 1, of 4 bits: 5' },
  { model: products, calls: callsOfProducts, name: 'int4-64', options: ['int4', '--group', '64'], layers: '8 bits: 2, of 4 bits: 4' },
  // the matrix that is an embedding, too, gets 8 bits
  { model: tied, calls: callsOfTied, name: 'int8', options: ['int8'], layers: '8 bits: 2, of 4 bits: 0' },
  { model: tied, calls: callsOfTied, name: 'int4', options: ['int4'], layers: '8 bits: 1, of 4 bits: 1' },
  { model: tied, calls: callsOfTied, name: 'int4-64', options: ['int4', '--group', '64'], layers: '8 bits: 1, of 4 bits: 1' },
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

for (const { model, calls, name, options, layers } of FORMATS) {
  for (const extension of ['ptl', 'ff']) {
    await t.test(`${basename(model)}, ${name} in a .${extension}`, async (t) => {
      const output = join(t.testdir({}), `out.${extension}`)
      const { status, stdout, stderr } = await ptlite('convert', model, '--weights', ...options, '-o', output)
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
    await loadModule(network, { weights: 'int8', activations: 'float', keep: (name) => name.startsWith('read') }),
  ]
  const weights = new Map(written.parameters())
  const types = [...weights].filter(([name]) => name.endsWith('.weight')).map(([name, { dtype }]) => [name, dtype])
  t.strictSame(Object.fromEntries(types), {
    'embedding.weight': 'int8',
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

await t.test('an embedding that is a last layer, too', async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', tied, '--weights', 'int4', '-o', output)
  const module = await loadModule(output)
  const weights = new Map(module.parameters())
  const [embedding, head] = ['embedding', 'head'].map((name) => weights.get(`${name}.weight`)) as [Tensor, Tensor]
  t.strictSame([embedding.dtype, embedding.shape], ['int8', [48, 64]])
  t.equal(embedding.storage, head.storage, 'is one copy')
  module.dispose()
})

await t.test('products with a matrix', async (t) => {
  const output = join(t.testdir({}), 'out.ptl')
  await ptlite('convert', products, '--weights', 'int8', '-o', output)
  const [written, original] = [await loadModule(output), await loadModule(products)]
  const [types, before] = [written, original].map((module) => new Map([...module.parameters()].map(([name, w]) => [name, w]))) as [
    Map<string, Tensor>,
    Map<string, Tensor>,
  ]
  for (const name of ['wide', 'narrow', 'plain', 'square']) {
    t.equal(types.get(name)!.dtype, 'int8', name)
    t.strictSame(types.get(name)!.shape, [...before.get(name)!.shape].reverse(), `${name} has a row for each output`)
  }
  // with factors, on the left, and of a linear layer, too
  for (const name of ['scaled', 'left', 'both', 'whole', 'bias']) t.equal(types.get(name)!.dtype, 'float32', name)
  for (const call of callsOfProducts) {
    const wanted = run(original, call).map((result) => ({ data: result.data() as Float32Array }))
    t.ok(furthest(run(written, call), wanted) < 0.5)
  }
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
