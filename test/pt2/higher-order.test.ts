import t from 'tap'
import { callOperator, float, loadModule, registerOperator, type Tensor } from '../../src/index.js'
import { difference, fixturePath, formsOf, inputOf, readCalls } from './fixtures.js'

/* What PyTorch 2.14 writes, beside the programs of programs.test.ts. */

t.test('print', async (t) => {
  const { calls } = readCalls('printed')
  for (const form of formsOf('printed')) {
    for (const compile of ['off', 'auto', 'eager'] as const) {
      const module = await loadModule(fixturePath(`printed.${form}`), { compile })
      for (const { args, result } of [...calls, ...calls, ...calls]) {
        const capture = t.capture(process.stdout, 'write', () => true)
        const found = module.forward(...args.map(inputOf))
        const written = capture().map(({ args: [text] }) => text)
        capture.restore()
        t.equal(difference(found, result), undefined, `${form}, ${compile}`)
        t.strictSame(written, ['2 rows of 3, {no field} text {} 3\n', 'two of 2\n'])
      }
      module.dispose()
    }
  }
})

t.test('lists of lists of numbers are arguments of operators that are registered', async (t) => {
  await t.rejects(loadModule(fixturePath('weighted.pt2')), { code: 'MISSING_OPERATOR', message: /lists::weighted/ })
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  registerOperator(
    'lists::weighted(Tensor x, int[][] counts, float[][] weights) -> Tensor',
    (x: Tensor, counts: number[][], weights: number[][]) => {
      const product = callOperator<Tensor>('aten::mul.Scalar', [x, sum(counts.map(sum))])
      return callOperator<Tensor>('aten::add.Scalar', [product, float(sum(weights.map((row, i) => (i + 1) * sum(row))))])
    },
  )
  const { calls } = readCalls('weighted')
  for (const form of formsOf('weighted')) {
    for (const compile of ['off', 'auto', 'eager'] as const) {
      const module = await loadModule(fixturePath(`weighted.${form}`), { compile })
      for (const { args, result } of [...calls, ...calls, ...calls])
        t.equal(difference(module.forward(...args.map(inputOf)), result), undefined, `${form}, ${compile}`)
      module.dispose()
    }
  }
})
