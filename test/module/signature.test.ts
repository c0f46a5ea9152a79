import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { type ArgumentInfo, type Dimension, loadModule, type Module, tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

const x = { name: 'x', type: 'Tensor' }
const result = { name: 'output 0', type: 'Tensor' }

/** What a module says, and that it says it once it is disposed, too. */
function about(module: Module): [readonly ArgumentInfo[] | null, readonly ArgumentInfo[] | null] {
  const before = [module.inputs, module.outputs] as const
  module.dispose()
  t.strictSame([module.inputs, module.outputs], before)
  return [...before]
}

t.test('files with a schema say names and types', async (t) => {
  for (const name of ['linear.ptl', 'linear.ff']) t.strictSame(about(await loadModule(fixturePath(name))), [[x], [result]], name)
})

t.test('exported programs say dtypes and sizes, too', async (t) => {
  const module = await loadModule(fixturePath('pt2/guarded.pt2'))
  const rows: Dimension = { text: 's77', min: 0, max: 20 }
  const columns: Dimension = { text: 's27', min: 2, max: null }
  t.strictSame(module.inputs, [
    { ...x, dtype: 'float32', shape: [rows, columns] },
    { ...x, name: 'y', dtype: 'float32', shape: [{ text: '2*s77 + 1', min: 1, max: 41 }, columns] },
  ])
  t.strictSame(module.outputs?.[1]?.shape, [rows, { text: '2', min: 2, max: 2 }])
  module.dispose()
})

t.test('plans say what methods take; what comes out the model says once it is loaded', async (t) => {
  const dir = t.testdir({})
  const model = join(dir, 'compile.ptl')
  copyFileSync(fixturePath('compile.ptl'), model)
  const row = tensor([[1, 2, 3, 4]])
  const compiled = async (method: string): Promise<Module> => {
    const path = join(dir, `${method}.ptlc`)
    const args = method === 'scaled' ? [row, 2] : [row]
    writeFileSync(
      path,
      compileAhead(model, () => [{ method, args }]),
    )
    return loadModule(path)
  }
  const module = await compiled('forward')
  t.strictSame([module.inputs, module.outputs], [[x], null])
  module.explain('forward', [row])
  t.strictSame(about(module), [[x], [result]])
  const other = await compiled('scaled')
  t.strictSame([other.inputs, other.outputs], [null, null])
  other.explain('scaled', [row, 2])
  t.strictSame(about(other), [[x], [result]])
})
