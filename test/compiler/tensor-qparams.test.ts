import { readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule, type Tensor, tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

/** Elements of a result differ by a rounding of the sum. */
const MAX_ERROR = 1e-6

t.test('scale and zero point that are tensors of the module are numbers of its plan', async (t) => {
  const { shape, cases } = JSON.parse(readFileSync(fixturePath('qparams.json'), 'utf8')) as {
    shape: number[]
    cases: { x: number[]; y: number[] }[]
  }
  const module = await loadModule(fixturePath('qparams.ptl'), { compile: 'eager' })
  const inputs = cases.map(({ x }) => tensor(Float32Array.from(x), shape))
  await module.compile('forward', [inputs[0]!])
  for (const [i, { y }] of cases.entries()) {
    const found = (module.forward(inputs[i]!) as Tensor).data() as Float32Array
    const error = Math.max(...y.map((want, at) => Math.abs(want - found[at]!)))
    t.ok(error <= MAX_ERROR * Math.max(...y.map(Math.abs)), `input ${i}: off by ${error}`)
  }
  t.strictSame(
    module.plans().map(({ state, reason }) => [state, reason]),
    [['plan', null]],
    'one plan for all, without a step that the interpreter makes',
  )
  t.match(module.explain('forward', [inputs[0]!]), /quantize_per_tensor/)
  module.dispose()
})
