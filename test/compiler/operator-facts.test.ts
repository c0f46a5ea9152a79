import t from 'tap'
import { hasFact, isTimeless, viewOperator } from '../../compiler/record/operator-kinds.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { Tensor } from '../../src/index.js'
import { callPointwise, pointwiseCalls } from './pointwise-calls.js'

const DATA = Float32Array.from({ length: 24 }, (_, i) => ((i * 7919) % 23) / 11 - 0.9)

/** The places of a tensor's elements in memory, in the order of its dimensions, which are not theirs. */
const PLACES = Array.from({ length: 24 }, (_, i) => 12 * Math.floor(i / 12) + Math.floor((i % 12) / 4) + 3 * (i % 4))

t.test('pointwise operators of one tensor keep its strides, and go by its elements', (t) => {
  const tensorOf = (dtype: 'float32' | 'int64', isFlat: boolean): Tensor => {
    const data = dtype === 'float32' ? DATA : BigInt64Array.from(DATA, (x) => BigInt(Math.round(9 * x)))
    return Tensor.fromStorage(data, isFlat ? { dtype, shape: [24] } : { dtype, shape: [2, 3, 4], strides: [12, 1, 3] })
  }
  for (const call of pointwiseCalls()) {
    const dtype = callPointwise(call, tensorOf('float32', true)) === null ? 'int64' : 'float32'
    const result = callPointwise(call, tensorOf(dtype, false))!
    t.strictSame(
      [result.shape, result.strides],
      [
        [2, 3, 4],
        [12, 1, 3],
      ],
      call.op,
    )
    const flat = callPointwise(call, tensorOf(dtype, true))!.toArray() as number[]
    t.strictSame(
      (result.toArray() as number[][][]).flat(2),
      PLACES.map((place) => flat[place]!),
      call.op,
    )
  }
  t.end()
})

t.test('facts by name', (t) => {
  t.ok(hasFact('prim::TimePoint', 'time_dependent'))
  t.notOk(hasFact('aten::relu', 'time_dependent'))
  t.ok(hasFact('aten::new_empty_strided', 'uninitialized'))
  t.ok(hasFact('quantized::linear_dynamic', 'inner_reads'))
  t.notOk(hasFact('aten::item', 'inner_reads'))
  const timeless = (name: string): boolean => isTimeless(name, findOperator(name)!.schema)
  t.strictSame(['aten::clear.t', 'aten::Delete.Dict_str', 'aten::_assert_async', 'aten::_assert_scalar'].map(timeless), [
    true,
    true,
    true,
    true,
  ])
  t.strictSame(['prim::Print', 'aten::warn', 'aten::_linalg_check_errors'].map(timeless), [false, false, false])
  t.end()
})

t.test('operators that reshape in place have one that makes the view, with the same arguments', (t) => {
  for (const name of 't_ transpose_ squeeze_ squeeze_.dim squeeze_.dims unsqueeze_ swapaxes_ swapdims_ detach_ as_strided_'.split(' ')) {
    const view = viewOperator(`aten::${name}`)
    const args = (op: string): string[] => findOperator(op)!.schema.arguments.map((a) => `${a.type} ${a.name}`)
    t.strictSame(args(view ?? ''), args(`aten::${name}`), `${name}: ${view}`)
  }
  for (const name of ['relu_', 'resize_', 'set_.source_Tensor', 't', 'transpose.int']) t.equal(viewOperator(`aten::${name}`), null, name)
  t.end()
})
