import { mapTensors } from '../../compiler/capture/result.js'
import { Signature } from '../../compiler/record/signature.js'
import type { PlanSummary } from '../../formats/ptlc/read-plan.js'
import { arrayTypeOf, type TypedArray } from '../../runtime/tensor/data.js'
import { isFloating } from '../../runtime/tensor/dtype.js'
import { extentOf } from '../../runtime/tensor/shape.js'
import { type Input, PtliteError, Tensor } from '../index.js'
import { readCompiled } from './compiled-file.js'
import { type BenchInputs, randomNumbers } from '../inspect/guess.js'
import { toBits } from './half.js'

/** Elements beyond which arguments are not made up. */
const MAX_ELEMENTS = 2 ** 28

/**
 * Arguments of the first form that a .ptlc file was compiled for: random floats, zeros for everything else, which may be positions in a
 * table. Null for other models, and for methods that the file has no plan of.
 */
export function exampleInputs(model: string, method: string): BenchInputs | null {
  const plan = readCompiled(model)?.plans.find((p) => p.method === method)
  return plan === undefined ? null : { args: argumentsOf(plan), source: `random, as compiled for: ${signatureText(plan)}` }
}

function signatureText({ method, example }: PlanSummary): string {
  return `${method}(${Signature.of(example)?.toString() ?? ''})`
}

/** Arguments of the form of a plan. */
export function argumentsOf(plan: PlanSummary): Input[] {
  // one tensor given twice stays one
  const made = new Map<Tensor, Tensor>()
  const tensorLike = (mark: Tensor): Tensor => {
    let t = made.get(mark)
    if (t === undefined) made.set(mark, (t = filled(mark)))
    return t
  }
  return plan.example.map((value) => mapTensors(value, tensorLike) as Input)
}

function filled(mark: Tensor): Tensor {
  const { dtype, shape, strides, offset, quant } = mark
  const length = offset + extentOf(shape, strides)
  if (!(length <= MAX_ELEMENTS)) {
    throw new PtliteError('INVALID_ARGUMENT', `${dtype}[${shape.join(', ')}] is too large to be made up; give --input`)
  }
  return Tensor.fromStorage(elements(mark, length), { dtype, shape, strides, offset, ...(quant === null ? {} : { quant }) })
}

function elements({ type, dtype }: Tensor, length: number): TypedArray {
  const data = new (arrayTypeOf(type))(length)
  if (!isFloating(type)) return data as TypedArray
  const isHalf = data instanceof Uint16Array
  const random = randomNumbers(length)
  for (let i = 0; i < length; i++) data[i] = isHalf ? toBits(random[i]!, dtype === 'bfloat16') : random[i]!
  return data as TypedArray
}
