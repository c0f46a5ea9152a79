import t from 'tap'
import { callOperator, loadModule, PtliteError, Tensor, tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

for (const name of ['control.ptl', 'control.ff', 'control-v4.ptl', 'control-v5.ptl', 'control-v6.ptl', 'control-v7.ptl']) {
  t.test(`${name} runs`, async (t) => {
    const module = await loadModule(fixturePath(name))
    const expected = [
      [0, 6],
      new Map([
        ['2', 0],
        ['4', 0],
        ['8', 6],
      ]),
    ]
    t.same(module.forward(5), [...expected, 'no label'])
    t.same(module.forward(5, 'five'), [...expected, 'label five'])
    t.throws(() => module.forward(1001), { code: 'MODEL_ERROR', message: /n is too large/ })
    t.equal(module.call('count_up', [2]), 2)
    t.equal(module.call('count_up', name.includes('v4') ? [1] : []), 3, 'attributes outlive the call')
    module.dispose()
  })
}

for (const name of ['state.ptl', 'state.ff']) {
  t.test(`${name}: __setstate__ makes the object whole`, async (t) => {
    const module = await loadModule(fixturePath(name))
    const result = module.forward(tensor([1, 2], [1, 2], 'float32'))
    t.ok(result instanceof Tensor)
    if (result instanceof Tensor) t.same([...result.data()], [9, 9])
    module.dispose()
  })
}

t.test('errors tell the line of the model', async (t) => {
  const module = await loadModule(fixturePath('debugged.ptl'))
  try {
    module.forward(tensor([1, 2, 3, 4, 5], [5], 'float32'))
    t.fail('expected an error')
  } catch (error) {
    if (!(error instanceof PtliteError)) throw error
    t.match(error.message, /Traceback of TorchScript \(most recent call last\):\n {2}File ".*make_fixtures\.py", line \d+, in forward/)
    t.match(error.message, /return torch\.relu\(x\) \+ torch\.ones\(3, 4\)\n {15}~+ <--- HERE/)
  }
  module.dispose()
})

t.test('a complex tensor of a file', async (t) => {
  const module = await loadModule(fixturePath('exotic.ptl'))
  t.ok(module.forward(tensor([1, 2], [2], 'float32')) instanceof Tensor)
  const sum = module.call('read', []) as Tensor
  t.equal(sum.dtype, 'complex64')
  t.same([...((callOperator('aten::view_as_real', [sum]) as Tensor).data() as Float32Array)], [1, 0, 1, 0])
  module.dispose()
})
