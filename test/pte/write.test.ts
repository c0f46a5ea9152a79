import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { inspectModel, loadModule, type Output, tensor } from '../../src/index.js'
import { ptlite } from '../cli/in-process.js'
import { difference, inputOf } from '../pt2/fixtures.js'
import { type Call, fixturePath, readCalls } from './fixtures.js'

const source = (name: string): string => fileURLToPath(new URL(`../fixtures/pte_sources/${name}`, import.meta.url))
const sourceCalls = (name: string): Call[] => JSON.parse(readFileSync(source(`${name}.json`), 'utf8')) as Call[]

/** Writes a model as a .pte file, and reads that. */
async function written(t: Test, model: string, ...options: string[]) {
  const output = join(t.testdir({}), 'out.pte')
  const { status, stdout, stderr } = await ptlite('convert', model, '-o', output, ...options)
  t.equal(status, 0, stderr)
  t.match(stdout, /out\.pte: /)
  return output
}

/** Programs of torch.export: layers and operators of all kinds, cells, sizes that are symbols. */
for (const name of ['mlp', 'convolutions', 'cell', 'recurrent', 'batch', 'block', 'elements', 'reductions', 'shapes']) {
  await t.test(`${name}.pt2 gives the same results`, async (t) => {
    const output = await written(t, source(`${name}.pt2`))
    for (const compile of ['off', 'eager'] as const) {
      const module = await loadModule(output, { compile })
      for (const [turn, { args, result }] of sourceCalls(name).entries())
        t.equal(difference(module.forward(...args.map(inputOf)), result), undefined, `call ${turn}, compile: '${compile}'`)
      module.dispose()
    }
  })
}

/** Programs of ExecuTorch, those of delegates too: theirs become portable operators. */
for (const name of [
  'net',
  'net_xnnpack',
  'net_int8',
  'net_int8_channel',
  'linear_rows',
  'structures',
  'sizes',
  'unplanned',
  'arrange_xnnpack',
  'methods',
]) {
  await t.test(`${name}.pte gives the same results`, async (t) => {
    const output = await written(t, fixturePath(`${name}.pte`))
    const module = await loadModule(output)
    const { calls, tolerance } = readCalls(name)
    for (const [turn, { method, args, result }] of calls.entries())
      t.equal(difference(module.call(method, args.map(inputOf)), result, 'result', tolerance), undefined, `call ${turn} of ${method}`)
    module.dispose()
    const { layout } = await inspectModel(output)
    for (const { partitions } of layout!.methods) t.strictSame(partitions, [])
  })
}

await t.test('a traced module, of the sizes that are given', async (t) => {
  const model = source('traced.ptl')
  const missing = await ptlite('convert', model, '-o', join(t.testdir({}), 'out.pte'))
  t.equal(missing.status, 1)
  t.match(missing.stderr, /give --shape/)
  const module = await loadModule(await written(t, model, '--shape', '1,3,8,8'))
  const original = await loadModule(model)
  const x = tensor(
    Float32Array.from({ length: 192 }, (_, i) => Math.sin(i)),
    [1, 3, 8, 8],
  )
  const [found, expected] = [module.forward(x), original.forward(x)].map((output: Output) => [
    ...(output as { data(): Float32Array }).data(),
  ])
  for (const [i, value] of expected!.entries()) t.ok(Math.abs(found![i]! - value) < 1e-5, `element ${i}`)
  t.throws(() => module.forward(tensor(new Float32Array(768), [4, 3, 8, 8])), { message: /dimension 0: expected 1, found 4/ })
  module.dispose()
  original.dispose()
})

/** What optimize_for_mobile has packed is written as layers with weights. */
for (const [name, sizes] of [
  ['mobilenet_v2', '1,3,32,32'],
  ['resnet18', '1,3,32,32'],
  ['tagger', 'int64:2,7'],
] as const) {
  await t.test(`${name}.mobile.ptl gives the same results`, async (t) => {
    const model = fileURLToPath(new URL(`../fixtures/models/${name}.mobile.ptl`, import.meta.url))
    const [module, original] = [await loadModule(await written(t, model, '--shape', sizes)), await loadModule(model, { compile: 'off' })]
    const shape = sizes.replace('int64:', '').split(',').map(Number)
    const count = shape.reduce((a, b) => a * b, 1)
    const x = sizes.startsWith('int64')
      ? tensor(
          BigInt64Array.from({ length: count }, (_, i) => BigInt((7 * i) % 50)),
          shape,
        )
      : tensor(
          Float32Array.from({ length: count }, (_, i) => Math.sin(i)),
          shape,
        )
    const [found, expected] = [module, original].map((one) => [...(one.forward(x) as { data(): Float32Array }).data()])
    t.equal(found!.length, expected!.length)
    const largest = Math.max(...expected!.map(Math.abs))
    for (const [i, value] of expected!.entries()) t.ok(Math.abs(found![i]! - value) < 1e-5 * largest, `element ${i}`)
    module.dispose()
    original.dispose()
  })
}

await t.test('whole numbers that are divisors are tried as ones', async (t) => {
  const model = source('divided.ptl')
  const module = await loadModule(await written(t, model, '--shape', 'int64:3', '--shape', 'int64:3'))
  const [a, b] = [
    [7n, -7n, 9n],
    [2n, 2n, -4n],
  ].map((data) => tensor(BigInt64Array.from(data), [3]))
  t.strictSame([...(module.forward(a!, b!) as { data(): BigInt64Array }).data()], [3n, -4n, -3n])
  module.dispose()
})

await t.test('bounds of sizes are kept', async (t) => {
  const { methods, layout } = await inspectModel(await written(t, source('block.pt2')))
  t.strictSame(
    methods[0]!.inputs?.[0]?.shape?.map(({ max }) => max),
    [8, 12, 8],
  )
  t.ok(layout!.methods[0]!.operators.some(({ name }) => name === 'aten::sym_size.int'))
})

await t.test('memory of intermediates is used again', async (t) => {
  const output = await written(t, source('convolutions.pt2'))
  const { layout } = await inspectModel(output)
  const [arena] = layout!.methods[0]!.memories
  // the largest tensors are the input of 768 bytes and two of 512 bytes: far more are made
  t.ok(arena! > 768 && arena! < 4096, `${arena} bytes`)
  const file = readFileSync(output)
  t.equal(file.toString('latin1', 4, 12), 'ET12eh00')
  t.equal(Number(file.readBigUInt64LE(24)) % 128, 0, 'segments are aligned')
})

await t.test('what has no form is refused by name', async (t) => {
  const refused = async (model: string, pattern: RegExp): Promise<void> => {
    const { status, stderr } = await ptlite('convert', model, '-o', join(t.testdir({}), 'out.pte'))
    t.equal(status, 1)
    t.match(stderr, pattern)
  }
  const other = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
  await refused(other('pt2/prims.pt2'), /portable operators cannot say aten::erfinv/)
  await refused(other('pt2/control.pt2'), /argument x: the size \w+ has no upper bound/)
  await refused(other('pt2/counter.pt2'), /mul_\.Scalar writes to a part of a tensor, or to one that is seen elsewhere/)
  await refused(source('filled.pt2'), /numbers in a constant depend on the sizes of inputs; give --shape/)
  const { status, stderr } = await ptlite('convert', source('mlp.pt2'), '-o', join(t.testdir({}), 'out.ptl'), '--shape', '2,5')
  t.equal(status, 2)
  t.match(stderr, /--shape goes with a name that ends in \.pte/)
})
