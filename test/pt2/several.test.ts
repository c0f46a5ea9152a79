import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule } from '../../src/index.js'
import { difference, fixturePath, inputOf, type Stored } from './fixtures.js'
import { archiveOf, program, recordsOf } from './writer.js'

const { calls } = JSON.parse(readFileSync(fixturePath('several.json'), 'utf8')) as {
  calls: { method: string; args: Stored[]; result: Stored }[]
}

for (const compile of ['off', 'auto', 'eager'] as const) {
  t.test(`programs of an archive are methods, each with its own state, compile: '${compile}'`, async (t) => {
    const module = await loadModule(fixturePath('several.pt2'), { compile })
    t.strictSame([...module.methods].sort(), ['decode', 'encode'])
    for (const [turn, { method, args, result }] of calls.entries())
      t.equal(difference(module.call(method, args.map(inputOf)), result), undefined, `call ${turn}`)
    t.equal(difference(module.getAttribute('encode.calls'), { tensor: [2], shape: [1], dtype: 'float32' }), undefined)
    t.throws(() => module.forward(), { code: 'UNKNOWN_METHOD', message: /encode, decode/ })
    t.throws(() => module.call('encode', [inputOf({ tensor: [1], shape: [1, 1], dtype: 'float32' })]), { message: /^encode/ })
    t.equal(module.inputs, null, 'of forward alone')
    module.dispose()
  })
}

const named = (...names: string[]): Uint8Array => {
  const { 'models/model.json': text, ...others } = recordsOf(program())
  return archiveOf({ ...others, ...Object.fromEntries(names.map((name) => [`models/${name}.json`, text!])) })
}

t.test('the program that torch.export.save names is forward', async (t) => {
  const module = await loadModule(named('other', 'model'))
  t.strictSame([...module.methods].sort(), ['forward', 'other'])
  t.ok(module.inputs)
  module.dispose()
  const single = await loadModule(named('other'))
  t.strictSame([...single.methods], ['forward'])
  single.dispose()
})

t.test('names that are none of methods', async (t) => {
  for (const name of ['a.b', '1', 'a/b', '__proto__ x', 'forward'])
    await t.rejects(loadModule(named('model', name)), { code: 'UNSUPPORTED_FILE', message: /name of a method/ }, name)
  await t.rejects(loadModule(named(...Array.from({ length: 257 }, (_, i) => `p${i}`))), {
    code: 'UNSUPPORTED_FILE',
    message: /256 programs/,
  })
})
