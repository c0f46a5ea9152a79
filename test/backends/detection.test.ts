import t from 'tap'
import { callOperator, float, int, type Input, Tensor, tensor } from '../../src/index.js'

// expected values from torchvision 0.14
const boxes = tensor([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 10, 9]]) // prettier-ignore
const scores = tensor([0.5, 0.9, 0.9, 0.4])
const features = Tensor.fromStorage(Float32Array.from({ length: 32 }, (_, i) => i), { dtype: 'float32', shape: [1, 2, 4, 4] }) // prettier-ignore
const regions = tensor([[0, 0, 0, 4, 4], [0, 1, 1, 3, 2]]) // prettier-ignore

const dataOf = (op: string, ...args: Input[]): number[] => Array.from((callOperator(op, args) as Tensor).data() as Float32Array, Number)

t.test('suppresses boxes that overlap a better one', (t) => {
  t.strictSame(dataOf('torchvision::nms', boxes, scores, float(0.5)), [1, 2], 'equal scores in order')
  t.strictSame(dataOf('torchvision::nms', boxes, scores, float(0.95)), [1, 2, 0, 3])
  t.throws(() => callOperator('torchvision::nms', [boxes, tensor([1]), float(0.5)]), { code: 'INVALID_ARGUMENT' })
  t.end()
})

t.test('averages over regions', (t) => {
  const aligned = dataOf('torchvision::roi_align', features, regions, float(1), int(2), int(2), int(2), true)
  t.strictSame(aligned, [2.5, 4.5, 10.5, 12.5, 18.5, 20.5, 26.5, 28.5, 4, 5, 6, 7, 20, 21, 22, 23])
  const scaled = dataOf('torchvision::roi_align', features, regions, float(0.5), int(2), int(2), int(0), false)
  t.strictSame(scaled, [2.5, 3.5, 6.5, 7.5, 18.5, 19.5, 22.5, 23.5, 3.75, 4.25, 5.75, 6.25, 19.75, 20.25, 21.75, 22.25])
  const outside = tensor([[3, 0, 0, 1, 1]])
  t.throws(() => callOperator('torchvision::roi_align', [features, outside, float(1), int(2), int(2), int(2), true]), {
    code: 'INVALID_ARGUMENT',
  })
  t.end()
})

t.test('maxima over regions', (t) => {
  const [values, places] = callOperator('torchvision::roi_pool', [features, regions, float(1), int(2), int(2)]) as unknown as [
    Tensor,
    Tensor,
  ]
  t.strictSame(Array.from(values.data() as Float32Array), [10, 11, 14, 15, 26, 27, 30, 31, 6, 7, 10, 11, 22, 23, 26, 27])
  t.strictSame(Array.from(places.data() as Int32Array), [10, 11, 14, 15, 10, 11, 14, 15, 6, 7, 10, 11, 6, 7, 10, 11])
  t.end()
})
