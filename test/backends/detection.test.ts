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

const deformed = (offset: Tensor, ...settings: number[]) =>
  callOperator('torchvision::deform_conv2d', [
    tensor(new Float32Array(9).fill(1), [1, 1, 3, 3]),
    tensor(Float32Array.of(1), [1, 1, 1, 1]),
    offset,
    tensor(new Float32Array(1)),
    tensor(new Float32Array(1)),
    ...settings.map((x) => int(x)),
    false,
  ]) as Tensor

t.test('samples of deformable convolutions lie where offsets say, and nowhere for those that are no numbers', async (t) => {
  const offset = new Float32Array(18)
  offset.set([NaN, Infinity, -Infinity, 1e30, -1e30, 0.5])
  const out = deformed(tensor(offset, [1, 2, 3, 3]), 1, 1, 0, 0, 1, 1, 1, 1)
  t.same(Array.from(out.data() as Float32Array), [0, 0, 0, 0, 0, 1, 1, 1, 1])
  const zeros = tensor(new Float32Array(18), [1, 2, 3, 3])
  for (const wrong of [
    [0, 1, 0, 0, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 1, 1, 1],
    [1, 1, -1, 0, 1, 1, 1, 1],
    [1, 1, 0, 0, 1, 1, 0, 1],
    [1, 1, 0, 0, 1, 1, 1, 2],
  ]) {
    t.throws(() => deformed(zeros, ...wrong), { code: 'INVALID_ARGUMENT' }, wrong.join())
  }
})

t.test('regions that hold anything', async (t) => {
  const features = tensor(new Float32Array(2 * 4 * 3 * 3).fill(1), [2, 4, 3, 3])
  const region = (...numbers: number[]) => tensor(Float32Array.from(numbers), [1, 5])
  const calls: [string, ...number[]][] = [
    ['roi_align', 2, 2, 0],
    ['ps_roi_align', 2, 2, 0],
    ['roi_pool', 2, 2],
    ['ps_roi_pool', 2, 2],
  ]
  for (const [name, ...sizes] of calls) {
    const run = (roi: Tensor) =>
      callOperator(`torchvision::${name}`, [features, roi, float(1), ...sizes.map((x) => int(x)), ...(name === 'roi_align' ? [false] : [])])
    for (const image of [-1, 2, NaN, 1e30, -Infinity])
      t.throws(() => run(region(image, 0, 0, 1, 1)), { name: 'PtliteError' }, `${name} of image ${image}`)
    const wild = [region(0, 0, 0, 1e30, 1e30), region(1, NaN, NaN, NaN, NaN)]
    if (name.endsWith('align')) for (const roi of wild) t.throws(() => run(roi), { name: 'PtliteError' }, `${name}: no sizes`)
    else for (const roi of [...wild, region(0, -1e30, 0, 1e30, NaN)]) t.ok(run(roi), `${name}: what there is of it`)
  }
})
