import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { derivedOf } from '../../runtime/tensor/storage.js'
import { compileAhead } from '../../src/ahead.js'
import { type LoadOptions, loadModule, type Tensor, tensor } from '../../src/index.js'

/** test/fixtures/tied.ptl has an embedding that is its last layer, too, linear layers, and a product with a matrix [inputs, outputs]. */
const path = fileURLToPath(new URL('../fixtures/tied.ptl', import.meta.url))
const tokens = (): Tensor =>
  tensor(
    BigInt64Array.from({ length: 12 }, (_, i) => BigInt((i * 7) % 50)),
    [2, 6],
    'int64',
  )
const floats = (value: unknown): Float32Array => (value as Tensor).data() as Float32Array
/** As a part of the largest result. */
const furthest = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, v, i) => Math.max(most, Math.abs(v - b[i]!)), 0) / b.reduce((most, v) => Math.max(most, Math.abs(v)), 0)

const FORMATS: readonly (readonly [string, LoadOptions, number])[] = [
  ['bfloat16', { weights: 'bfloat16' }, 0.005],
  ['bfloat16 by bfloat16', { weights: 'bfloat16', activations: 'bfloat16' }, 0.01],
  ['float16', { weights: 'float16' }, 0.001],
  ['int8', { weights: 'int8' }, 0.02],
  ['int8, groups of 32, floats', { weights: 'int8', group: 32, activations: 'float' }, 0.02],
  ['int4', { weights: 'int4' }, 0.15],
  ['int4, floats', { weights: 'int4', activations: 'float' }, 0.15],
]

for (const [name, options, bound] of FORMATS) {
  t.test(`${name}: however the model is called`, async (t) => {
    const exact = await loadModule(path, { compile: 'off' })
    const wanted = floats(exact.forward(tokens()))
    const interpreted = await loadModule(path, { ...options, compile: 'off' })
    const found = floats(interpreted.forward(tokens()))
    const error = furthest(found, wanted)
    t.ok(error > 0 && error < bound, `an error of ${error}`)

    const compiled = await loadModule(path, { ...options, compile: 'eager' })
    const close = (value: unknown, how: string): unknown => t.ok(furthest(floats(value), found) < 1e-5, how)
    close(compiled.forward(tokens()), 'recorded')
    close(compiled.forward(tokens()), 'replayed')
    t.equal(compiled.plans()[0]!.state, 'plan')
    close(await compiled.run('forward', [tokens()]), 'in the background, by its plan')
    close(await interpreted.run('forward', [tokens()]), 'in the background, interpreted')

    const ahead = await loadModule(compileAhead(path, () => [{ method: 'forward', args: [tokens()] }], options))
    close(ahead.forward(tokens()), 'compiled ahead')
    for (const module of [exact, interpreted, compiled, ahead]) module.dispose()
  })
}

t.test('weights without a plan stay as they are', async (t) => {
  const [plain, kept] = [await loadModule(path), await loadModule(path, { weights: 'int4', keep: () => true })]
  t.same(floats(kept.forward(tokens())), floats(plain.forward(tokens())))
})

t.test('the caller says what is kept', async (t) => {
  const asked: string[] = []
  const keep = (name: string, shape: readonly number[]): boolean => {
    asked.push(`${name} ${shape.join('x')}`)
    return name !== 'up.weight'
  }
  const module = await loadModule(path, { weights: 'int4', keep })
  t.same(asked.sort(), ['down.weight 32x64', 'embedding.weight 50x32', 'mix 32x32', 'up.weight 64x32'])
  const plain = await loadModule(path)
  const all = await loadModule(path, { weights: 'int4' })
  const [a, b, c] = [module, all, plain].map((m) => floats(m.forward(tokens())))
  t.ok(furthest(a!, c!) > 0 && furthest(a!, c!) < furthest(b!, c!))
})

t.test('an embedding and the layer that has its weight share one copy', async (t) => {
  const module = await loadModule(path, { weights: 'int8' })
  module.forward(tokens())
  const weight = (module.parameters() as ReadonlyMap<string, Tensor>).get('embedding.weight')!
  t.equal(derivedOf(weight.storage).filter(({ key }) => key.startsWith('weights:')).length, 1)
})

t.test('a compiled file has the weights that it was compiled with', async (t) => {
  const bytes = compileAhead(path, () => [{ method: 'forward', args: [tokens()] }], { weights: 'int4', group: 64, activations: 'float' })
  await t.rejects(loadModule(bytes, { weights: 'int8' }), {
    code: 'INVALID_ARGUMENT',
    message: /has the weights that it was compiled with: int4/,
  })
  await loadModule(bytes, { weights: 'int4' })
  const plain = compileAhead(path, () => [{ method: 'forward', args: [tokens()] }])
  await t.rejects(loadModule(plain, { weights: 'int8' }), { message: /weights as its model has them/ })
  t.ok(bytes.length < plain.length - 10000, `${bytes.length} bytes instead of ${plain.length}`)
})

t.test('calls of another form have these weights, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rounded-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'tied.ptl'), readFileSync(path))
  const options = { weights: 'int4' } as const
  writeFileSync(
    join(folder, 'tied.ptlc'),
    compileAhead(join(folder, 'tied.ptl'), () => [{ method: 'forward', args: [tokens()] }], options),
  )
  const module = await loadModule(join(folder, 'tied.ptlc'))
  const one = (): Tensor => tensor(BigInt64Array.of(3n), [1, 1], 'int64')
  const interpreted = await loadModule(path, { ...options, compile: 'off' })
  t.ok(furthest(floats(module.forward(one())), floats(interpreted.forward(one()))) < 1e-5)
})

t.test('settings that a format has not are refused', async (t) => {
  const refused = { code: 'INVALID_ARGUMENT' }
  await t.rejects(loadModule(path, { weights: 'bfloat16', group: 32 }), refused)
  await t.rejects(loadModule(path, { weights: 'float16', activations: 'int8' }), refused)
  await t.rejects(loadModule(path, { weights: 'int4', group: 48 }), refused)
  await t.rejects(loadModule(path, { weights: 'int2' as 'int4' }), refused)
})
