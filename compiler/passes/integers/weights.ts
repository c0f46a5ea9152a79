import { readTensor } from '../../../runtime/tensor/data.js'
import { DType } from '../../../runtime/tensor/dtype.js'
import type { Storage } from '../../../runtime/tensor/storage.js'
import { type Quant, Tensor } from '../../../runtime/tensor/tensor.js'
import type { CustomObject, Value } from '../../../runtime/tensor/value.js'
import { callOnce } from '../../graph/evaluate.js'
import { named } from '../../graph/arguments.js'
import { type OperatorNode, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, integersArg, inputOf, isNone, numberArg, valueArg } from '../analysis.js'
import { madeBy } from '../expression.js'
import { dequantizationOf, isDequantization, knownNumber, rangeOf } from './pairs.js'

/** The weight of a layer as the integers that it is dequantized from, with a scale per index of dimension `axis` or one for all. */
export function quantizedWeight(id: ValueId, axis: number, analysis: Analysis): Tensor | null {
  const node = madeBy(value(id), analysis)
  const source = inputOf(node)
  const integers = source === undefined ? undefined : analysis.tensor(source)
  if (node === undefined || integers === undefined || !isDequantization(node)) return null
  const quant = quantOf(node, integers, axis, analysis)
  if (rangeOf(integers.type) === null || quant === null) return null
  const dtype = integers.type === DType.int8 ? DType.qint8 : DType.quint8
  const { storage, offset, shape, strides } = integers
  return new Tensor(storage, offset, shape, strides, dtype, quant)
}

function quantOf(node: OperatorNode, integers: Tensor, axis: number, analysis: Analysis): Quant | null {
  if (dequantizationOf(node, analysis) !== null) {
    const [scale, zeroPoint] = node.args.slice(1, 3).map((arg) => knownNumber(arg, analysis)!) as [number, number]
    return { scale, zeroPoint }
  }
  if (node.op !== 'quantized_decomposed::dequantize_per_channel' || numberArg(named(node, 'axis')) !== axis) return null
  const type = named(node, 'out_dtype')
  if (!isNone(type) && numberArg(type) !== DType.float32) return null
  const scales = numbers(valueArg(named(node, 'scales')), analysis)
  const zeros = isNone(named(node, 'zero_points')) ? scales?.map(() => 0) : numbers(valueArg(named(node, 'zero_points')), analysis)
  const size = integers.shape[axis]
  if (scales?.length !== size || zeros?.length !== size) return null
  const isUsable = scales.every((s) => s > 0 && Number.isFinite(s)) && zeros.every((z) => Number.isInteger(z) && z >= -128 && z <= 255)
  return isUsable ? { axis, scales, zeroPoints: zeros } : null
}

function numbers(id: ValueId | undefined, analysis: Analysis): number[] | undefined {
  const tensor = id === undefined ? undefined : analysis.tensor(id)
  return tensor === undefined ? undefined : Array.from<number | bigint, number>(readTensor(tensor), Number)
}

/** The matrix whose transposition a product multiplies with. */
export function transposed(id: ValueId, analysis: Analysis): ValueId | null {
  const node = madeBy(value(id), analysis)
  if (node?.op !== 'aten::permute' || integersArg(named(node, 'dims'))?.join() !== '1,0') return null
  return inputOf(node) ?? null
}

interface Packed {
  readonly bias: Storage | null
  readonly text: string
  readonly object: CustomObject
}

/** What was packed of the memory of a weight: plans of several forms share it. */
const packed = new WeakMap<Storage, Packed[]>()

/** The object that `op` packs a weight into, with its bias where it has one and what else it is told. */
export function packedOnce(op: string, weight: Tensor, bias: Tensor | null | undefined, settings: readonly Value[]): CustomObject {
  const known = packed.get(weight.storage) ?? []
  const tensors = bias === undefined ? [weight] : [weight, bias]
  const text = JSON.stringify([op, settings, tensors.map((t) => t && [t.storage.version, t.offset, t.shape, t.strides, t.type, t.quant])])
  const storage = bias?.storage ?? null
  const found = known.find((entry) => entry.bias === storage && entry.text === text)
  if (found !== undefined) return found.object
  const [object] = callOnce(op, [...tensors, ...settings]) as [CustomObject]
  packed.set(weight.storage, [...known, { bias: storage, text, object }])
  return object
}
