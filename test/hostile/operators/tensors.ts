import { DType, type DTypeName } from '../../../runtime/tensor/dtype.js'
import { contiguousStrides, numelOf } from '../../../runtime/tensor/shape.js'
import type { Dice } from './dice.js'
import { DEFAULT_QUANT, type Fill, type TensorSpec } from './spec.js'

/* Tensors of all dtypes, shapes and strides. */

export const DTYPES = Object.keys(DType) as DTypeName[]
const QUANTIZED = new Set<DTypeName>(['qint8', 'quint8', 'qint32', 'quint4x2'])
const SIZES = [0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 17, 33]
/** 2^50 elements of one byte would be more than any machine has. */
const HUGE = [2 ** 34 + 1, 2 ** 36, 2 ** 40, 2 ** 50]
export const MAX_ELEMENTS = 2 ** 14

function randomShape(dice: Dice): number[] {
  const shape = dice.times(dice.pick([0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6]), () => dice.pick(SIZES))
  while (shape.reduce((a, b) => a * b, 1) > MAX_ELEMENTS) shape.pop()
  return shape
}

export function randomDtype(dice: Dice): DTypeName {
  return dice.chance(0.4) ? 'float32' : dice.pick(DTYPES)
}

function randomFill(dice: Dice, seed = dice.below(2 ** 20)): Fill {
  return dice.chance(0.5) ? ['unit', seed] : dice.pick<Fill>([['range', 0, 3, seed], ['wild', seed], ['bytes', seed], ['zero'], ['range', -2, 9, seed]]) // prettier-ignore
}

/** With parameters where the dtype has some, now and then those per channel. */
function withQuant(dice: Dice, spec: TensorSpec): TensorSpec {
  const { quant: _, ...plain } = spec
  if (!QUANTIZED.has(spec.tensor)) return plain
  const { shape } = spec
  if (shape.length === 0 || dice.chance(0.7)) {
    return {
      ...plain,
      quant: dice.chance(0.8) ? DEFAULT_QUANT : { scale: dice.pick([1e-30, 1, 1e30, 0, -1]), zeroPoint: dice.pick([0, 1, 15]) },
    }
  }
  const axis = dice.below(shape.length)
  const channels = shape[axis]! <= 64 ? shape[axis]! : 0
  if (channels !== shape[axis]) return { ...plain, quant: DEFAULT_QUANT }
  const floatZeroPoints = dice.chance(0.3)
  const numbers = (make: () => number): number[] => dice.times(channels, make)
  const zeroPoints = numbers(() => (floatZeroPoints ? dice.next() : dice.below(9)))
  return {
    ...plain,
    quant: { axis, scales: numbers(() => 0.01 + dice.next()), zeroPoints, ...(floatZeroPoints ? { floatZeroPoints } : {}) },
  }
}

/** The same shape over other memory: transposed, stepped, shifted, repeated. */
function withStrides(dice: Dice, spec: TensorSpec): TensorSpec {
  const { shape } = spec
  const rank = shape.length
  if (rank === 0) return { ...spec, offset: dice.below(3) }
  const order = shape.map((_, d) => d)
  if (dice.chance(0.6)) order.sort(() => dice.next() - 0.5)
  const strides = contiguousStrides(order.map((d) => shape[d]!))
  const own = new Array<number>(rank)
  order.forEach((d, i) => (own[d] = strides[i]! * (dice.chance(0.2) ? 2 : 1)))
  if (dice.chance(0.3)) own[dice.below(rank)] = dice.pick([0, 0, 1])
  return { ...spec, strides: own, offset: dice.chance(0.3) ? dice.below(5) : 0 }
}

/** One element that stands for very many. */
function huge(dice: Dice, spec: TensorSpec): TensorSpec {
  const { shape } = spec
  const large = dice.pick(HUGE)
  const d = dice.below(Math.max(shape.length, 1))
  const sizes = shape.length === 0 ? [large] : shape.map((n, i) => (i === d ? large : n))
  if (!(sizes.reduce((a, b) => a * Math.max(b, 1), 1) <= 2 ** 52)) return { ...spec, shape: [large], strides: [0], offset: 0 }
  const strides = contiguousStrides(sizes.map((n, i) => (i === d ? 1 : n))).map((s, i) => (i === d ? 0 : s))
  return { ...spec, shape: sizes, strides, offset: 0 }
}

export function randomTensor(dice: Dice, shape = randomShape(dice), dtype = randomDtype(dice)): TensorSpec {
  let spec: TensorSpec = withQuant(dice, { tensor: dtype, shape, fill: randomFill(dice) })
  if (dice.chance(0.25)) spec = withStrides(dice, spec)
  return dice.chance(0.004) ? withQuant(dice, huge(dice, spec)) : spec
}

/** Another tensor that has something in common with this one. */
export function mutateTensor(dice: Dice, spec: TensorSpec): TensorSpec {
  const { strides: _, offset: __, elements: ___, ...dense } = spec
  const { shape } = spec
  if (numelOf(shape) > MAX_ELEMENTS) return randomTensor(dice)
  const d = dice.below(Math.max(shape.length, 1))
  switch (dice.below(12)) {
    case 0:
    case 1:
      return withQuant(dice, { ...dense, tensor: dice.pick(DTYPES) })
    case 2:
    case 3:
      return withStrides(dice, dense)
    case 4:
      return { ...dense, fill: randomFill(dice) }
    case 5:
      return withQuant(dice, { ...dense, shape: shape.filter((__, i) => i !== d) })
    case 6:
      return withQuant(dice, { ...dense, shape: [...shape.slice(0, d), dice.pick([0, 1, 2, 3]), ...shape.slice(d)] })
    case 7:
      return withQuant(dice, { ...dense, shape: shape.map((n, i) => (i === d ? dice.pick([0, 1, n + 1, Math.max(n - 1, 0), 2 * n]) : n)) })
    case 8:
      return withQuant(dice, { ...dense, shape: dice.pick([[], [0], [1], shape.map(() => 0), [...shape].reverse()]) })
    case 9:
      return { ...dense, fill: ['wild', dice.below(2 ** 20)] }
    case 10:
      return dice.chance(0.1) ? withQuant(dice, huge(dice, dense)) : { ...dense, fill: ['bytes', dice.below(2 ** 20)] }
    default:
      return randomTensor(dice)
  }
}
