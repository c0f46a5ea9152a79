import t from 'tap'
import { loadModule, memoryStats } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'
import { answer, callTree, doubling, endless, method, modelOf } from './programs.js'

const setState = (source: typeof endless): typeof endless => ({ ...source, name: '__setstate__' })

t.test('code that loading runs is limited', async (t) => {
  const { live } = memoryStats()
  const endlessly = modelOf([setState(taking(endless)), answer])
  await t.rejects(loadModule(endlessly, { limits: { milliseconds: 30 } }), {
    code: 'LIMIT_EXCEEDED',
    message: /^loading the module took more than 30 ms; raise limits\.milliseconds/,
  })
  await t.rejects(loadModule(endlessly, { limits: { instructions: 1000 } }), { code: 'LIMIT_EXCEEDED', message: /1000 instructions/ })
  const tree = callTree()
  const calling = method('__setstate__', 'STOREN 1 2\nDROPR 2\nMOVE 1\nCALL 0\nRET')
  await t.rejects(loadModule(modelOf([...tree, calling]), { limits: { instructions: 1e6 } }), { code: 'LIMIT_EXCEEDED' })
  await t.rejects(loadModule(modelOf([setState(taking(doubling('aten::add.t', undefined)))])), {
    code: 'LIMIT_EXCEEDED',
    message: /33554432 elements/,
  })
  t.ok(memoryStats().live <= live, 'nothing stays')
})

t.test('without limits of the caller, too', async (t) => {
  await t.rejects(loadModule(modelOf([setState(taking(endless)), answer])), {
    code: 'LIMIT_EXCEEDED',
    message: /^loading the module took more than 100000000 instructions/,
  })
})

t.test('what models set up is far below', async () => {
  for (const name of ['state.ptl', 'quantized.ptl'])
    (await loadModule(fixturePath(name), { limits: { instructions: 1000, milliseconds: 5000 } })).dispose()
})

/** The same of a method that is given the state, too. */
function taking(source: typeof endless): typeof endless {
  return {
    ...source,
    instructions: source.instructions.map((i, at) => (at === 0 ? (['STOREN', 1, 2] as const) : i)).toSpliced(1, 0, ['DROPR', 2, 0]),
  }
}
