import t from 'tap'
import { loadModule, tensor, type Tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

// what PyTorch 2.13 prints: test/fixtures/layouts/make_programs.py
const PROGRAMS: Readonly<Record<string, number[] | number[][]>> = {
  sorted: [[0, 3], [1, 4], [2, 5]],
  scattered: [1, 1, 1, 4, 2, 5],
  flipped: [[2, 5], [1, 4], [0, 3]],
} // prettier-ignore

t.test('reshaped results are views or copies as in PyTorch', async (t) => {
  for (const [name, wanted] of Object.entries(PROGRAMS)) {
    for (const compile of ['off', 'eager'] as const) {
      const model = await loadModule(fixturePath(`layouts/${name}.pt`), { compile })
      for (let call = 0; call < 3; call++) {
        const result = model.forward(tensor([0, 1, 2, 3, 4, 5], [2, 3], 'float32')) as Tensor
        t.same(result.toArray(), wanted, `${name}, compile ${compile}, call ${call}`)
      }
      const run = (await model.run('forward', [tensor([0, 1, 2, 3, 4, 5], [2, 3], 'float32')])) as Tensor
      t.same(run.toArray(), wanted, `${name}, compile ${compile}, run()`)
      model.dispose()
    }
  }
})
