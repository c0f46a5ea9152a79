import t from 'tap'
import { callOperator, loadModule, type Tensor, tensor } from '../../src/index.js'
import { bytesOf, meta, node, program, tensorArgument } from './writer.js'

/** Operators that the transformers library declares. */

const NAME = 'transformers::grouped_mm_fallback'
const values = (count: number): number[] => Array.from({ length: count }, (_, i) => ((i * 7) % 11) - 5)

/** Products of the rows of a group by its matrix; rows behind the last group are zero. */
function expected(
  x: readonly number[],
  w: readonly number[],
  ends: readonly number[],
  [s, k, n]: readonly [number, number, number],
): number[] {
  const out = new Array<number>(s * n).fill(0)
  for (let row = 0; row < s; row++) {
    const group = ends.findIndex((end) => row < end)
    if (group < 0) continue
    for (let column = 0; column < n; column++)
      for (let at = 0; at < k; at++) out[row * n + column]! += x[row * k + at]! * w[(group * k + at) * n + column]!
  }
  return out
}

t.test('products of groups of rows', (t) => {
  const [x, w] = [values(15), values(24)]
  const [left, right] = [tensor(x, [5, 3]), tensor(w, [4, 3, 2])]
  for (const ends of [
    [1, 1, 3, 5],
    [0, 0, 0, 5],
    [0, 2, 2, 4],
    [5, 5, 5, 5],
  ]) {
    const found = callOperator(NAME, [left, right, tensor(ends, [4], 'int32')]) as Tensor
    t.strictSame(found.shape, [5, 2])
    t.strictSame(
      [...(found.data() as Float32Array)].map((v) => v + 0),
      expected(x, w, ends, [5, 3, 2]),
    )
  }
  const ends = tensor([1, 1, 3, 5], [4], 'int32')
  t.throws(() => callOperator(NAME, [right, right, ends]), { code: 'INVALID_ARGUMENT' }, 'three dimensions')
  t.throws(() => callOperator(NAME, [left, right, tensor([1, 3, 5], [3], 'int32')]), { name: 'PtliteError' }, 'a group too few')
  t.throws(() => callOperator(NAME, [left, right, tensor([1, 2, 3, 9], [4], 'int32')]), { name: 'PtliteError' }, 'rows that are not there')
  t.end()
})

t.test('in a program', async (t) => {
  const names = ['x', 'w', 'ends'] as const
  const inputs = [['input', tensorArgument('x')], ['weight', tensorArgument('w')], ['offs', tensorArgument('ends')]] as const // prettier-ignore
  const bytes = bytesOf(
    program({
      inputs: names.map(tensorArgument),
      nodes: [node(`torch.ops.${NAME.replace('::', '.')}.default`, inputs, [tensorArgument('y')])],
      outputs: [tensorArgument('y')],
      tensors: { x: meta([5, 3]), w: meta([4, 3, 2]), ends: meta([4], 4), y: meta([5, 2]) },
    }),
  )
  for (const compile of ['off', 'eager'] as const) {
    const module = await loadModule(bytes, { compile })
    for (const ends of [
      [1, 1, 3, 5],
      [2, 3, 3, 4],
    ]) {
      const found = module.forward(tensor(values(15), [5, 3]), tensor(values(24), [4, 3, 2]), tensor(ends, [4], 'int32')) as Tensor
      t.strictSame(
        [...(found.data() as Float32Array)].map((v) => v + 0),
        expected(values(15), values(24), ends, [5, 3, 2]),
        compile,
      )
    }
    module.dispose()
  }
})
