import t from 'tap'
import { callOperator, loadModule, PtliteError, tensor, type Tensor } from '../../src/index.js'
import { method, scriptArchive } from '../formats/torchscript/archive.js'

/** Masks without dimensions: true selects everything, false nothing. */

const call = (op: string, ...args: unknown[]): Tensor => callOperator(`aten::${op}`, args as never[]) as Tensor
const floats = (...list: number[]): Tensor => tensor(Float32Array.from(list))
const matrix = (): Tensor => tensor(Float32Array.of(0, 1, 2, 3, 4, 5), [2, 3])
const longs = (list: number[], shape = [list.length]): Tensor => tensor(BigInt64Array.from(list, BigInt), shape, 'int64')
const truth = (value: boolean, dtype: 'bool' | 'uint8' = 'bool'): Tensor => tensor(Uint8Array.of(value ? 1 : 0), [], dtype)
const filled = (value: number): number[][] => [new Array<number>(3).fill(value), new Array<number>(3).fill(value)]
const plain = matrix().toArray()

t.test('as the only index it makes a dimension of one or of none', (t) => {
  for (const dtype of ['bool', 'uint8'] as const) {
    const [yes, no] = [truth(true, dtype), truth(false, dtype)]
    for (const [indices, one, none] of [
      [[yes], [1, 2, 3], [0, 2, 3]],
      [
        [null, yes],
        [2, 1, 3],
        [2, 0, 3],
      ],
      [
        [yes, null],
        [1, 2, 3],
        [0, 2, 3],
      ],
      [
        [yes, yes],
        [1, 2, 3],
        [0, 2, 3],
      ],
    ] as const) {
      const all = call('index.Tensor', matrix(), indices)
      t.strictSame([all.shape, [...all.data()]], [one, [0, 1, 2, 3, 4, 5]])
      const nothing = indices.map((x) => (x === null ? null : no))
      t.strictSame(call('index.Tensor', matrix(), nothing).shape, none)
    }
    t.strictSame(call('index.Tensor', matrix(), [yes, no]).shape, [0, 2, 3])
  }
  t.end()
})

t.test('writes go everywhere or nowhere', (t) => {
  const rows = floats(7, 8, 9)
  for (const dtype of ['bool', 'uint8'] as const) {
    for (const put of ['index_put', 'index_put_', '_index_put_impl_', '_unsafe_index_put']) {
      const written = (on: boolean, values: Tensor, accumulate = false): unknown =>
        call(put, matrix(), [truth(on, dtype)], values, accumulate).toArray()
      for (const values of [tensor(Float32Array.of(5), []), floats(5), tensor(Float32Array.of(5), [1, 1, 1, 1])]) {
        t.strictSame(written(true, values), filled(5), `${put} ${dtype}`)
        t.strictSame(written(false, values), plain)
      }
      t.strictSame(written(true, rows), [[7, 8, 9], [7, 8, 9]]) // prettier-ignore
      t.strictSame(written(true, call('mul.Scalar', matrix(), 2)), [[0, 2, 4], [6, 8, 10]]) // prettier-ignore
      t.strictSame(written(true, rows, true), [[7, 9, 11], [10, 12, 14]]) // prettier-ignore
      t.strictSame(written(true, floats(1), true), [[1, 2, 3], [4, 5, 6]]) // prettier-ignore
      for (const accumulate of [false, true]) t.strictSame(written(false, rows, accumulate), plain)
      // what index.Tensor makes of the same mask can be written back
      for (const on of [true, false]) t.strictSame(written(on, call('index.Tensor', matrix(), [truth(on)])), plain)
      t.throws(() => written(true, floats(1, 2)), PtliteError)
      t.throws(() => written(true, tensor(new Float32Array(0), [0, 3])), PtliteError)
    }
  }
  t.end()
})

t.test('beside a None, and beside one another', (t) => {
  const put = (indices: (Tensor | null)[], values: Tensor): unknown => call('index_put_', matrix(), indices, values, false).toArray()
  for (const [on, expected] of [
    [true, filled(5)],
    [false, plain],
  ] as const) {
    // prettier-ignore
    const m = truth(on)
    for (const indices of [[null, m], [m, null], [m, m]]) t.strictSame(put(indices, floats(5)), expected) // prettier-ignore
  }
  t.strictSame(put([null, truth(true)], floats(7, 8, 9)), [[7, 8, 9], [7, 8, 9]]) // prettier-ignore
  t.strictSame(put([truth(true), truth(false)], floats(7, 8, 9)), plain)
  t.end()
})

t.test('beside other indices it selects nothing of its own', (t) => {
  for (const on of [true, false]) {
    const m = truth(on)
    for (const indices of [
      [m, longs([1, 0])],
      [longs([1, 0]), m],
    ]) {
      // prettier-ignore
      t.strictSame(call('index.Tensor', matrix(), indices).toArray(), [[3, 4, 5], [0, 1, 2]]) // prettier-ignore
      t.strictSame(call('index_put_', matrix(), indices, floats(7, 8, 9), true).toArray(), [[7, 9, 11], [10, 12, 14]]) // prettier-ignore
    }
    t.strictSame(call('index.Tensor', matrix(), [longs([1], []), m]).toArray(), [3, 4, 5])
    const row = tensor(Uint8Array.of(1, 0), [2], 'bool')
    t.strictSame(call('index.Tensor', matrix(), [m, row]).toArray(), [[0, 1, 2]])
    t.strictSame(call('index_put_', matrix(), [row, m], floats(5), false).toArray(), [[5, 5, 5], [3, 4, 5]]) // prettier-ignore
  }
  t.end()
})

t.test('there must be a dimension for each index', (t) => {
  for (const on of [true, false]) {
    const m = truth(on)
    t.throws(() => call('index.Tensor', tensor(Float32Array.of(3), []), [m]), PtliteError)
    t.throws(() => call('index_put_', tensor(Float32Array.of(3), []), [m], floats(5), false), PtliteError)
    t.throws(() => call('index.Tensor', matrix(), [m, null, null]), PtliteError)
    t.throws(() => call('index_put_', matrix(), [m, m, m], floats(5), false), PtliteError)
  }
  t.end()
})

t.test('a single value is converted as masked_fill does, whatever the mask', (t) => {
  const mask = tensor(Uint8Array.of(1, 0, 1), [3], 'bool')
  const zeros = (dtype: 'float32' | 'int64' | 'int8' | 'bool'): Tensor => call('zeros', [3], dtype)
  t.strictSame(call('index_put_', zeros('float32'), [mask], longs([5])).toArray(), [5, 0, 5])
  t.strictSame(call('index_put_', zeros('int64'), [mask], floats(5.7)).toArray(), [5, 0, 5])
  t.strictSame(call('index_put_', zeros('bool'), [mask], floats(5)).toArray(), [true, false, true])
  t.strictSame(call('index_put', zeros('float32'), [mask], longs([5], [1, 1, 1])).toArray(), [5, 0, 5])
  t.throws(() => call('index_put_', zeros('int8'), [mask], floats(300)), PtliteError)
  t.throws(() => call('index_put_', zeros('float32'), [mask], longs([5]), true), PtliteError)
  t.throws(() => call('index_put_', zeros('float32'), [longs([0])], longs([5])), PtliteError)
  t.throws(() => call('index_put_', zeros('float32'), [tensor(Uint8Array.of(1, 0), [2], 'bool')], floats(5)), PtliteError)
  t.end()
})

const ASSIGN = method(
  'a: Tensor, x: Tensor',
  'Tuple[Tensor, Tensor]',
  'mask = torch.gt(torch.sum(x), 0)',
  'b = torch.clone(a)',
  '_0 = torch.index_put_(b, [mask], torch.tensor(5.), False)',
  'c = torch.mul(b, a)',
  'd = torch.index(c, [mask])',
  '_1 = torch.index_put_(c, annotate(List[Optional[Tensor]], [mask]), torch.add(d, 1), True)',
  'return (b, c)',
)

t.test('in programs, whose masks change from call to call', async (t) => {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    const module = await loadModule(scriptArchive(ASSIGN), { compile })
    for (const sign of [1, -1, -1, 1, 1, -1, 1, 1]) {
      const a = tensor(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3])
      const args = [a, floats(sign)]
      const results = [module.forward(...args), await module.run('forward', args)] as Tensor[][]
      const [b, c] = sign > 0 ? [filled(5), [[11, 21, 31], [41, 51, 61]]] : [a.toArray(), [[1, 4, 9], [16, 25, 36]]] // prettier-ignore
      for (const found of results) t.strictSame([found[0]!.toArray(), found[1]!.toArray()], [b, c], compile)
    }
    module.dispose()
  }
})
