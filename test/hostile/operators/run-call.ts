import { PtliteError } from '../../../runtime/error.js'
import { calledOperator } from '../../../runtime/operators/table/registry.js'
import { readTensor } from '../../../runtime/tensor/data.js'
import { isQuantized } from '../../../runtime/tensor/dtype.js'
import { numelOf } from '../../../runtime/tensor/shape.js'
import { extentOf } from '../../../runtime/tensor/shape.js'
import { enterScope } from '../../../runtime/tensor/scope.js'
import { SparseTensor } from '../../../runtime/tensor/sparse.js'
import type { Tensor } from '../../../runtime/tensor/tensor.js'
import { Tuple } from '../../../runtime/tensor/value.js'
import { callOperator, type Output, Tensor as TensorClass } from '../../../src/index.js'
import { withCheckedLaunches } from './check-launches.js'
import { type CallSpec, makeArguments } from './spec.js'

/** `ok`, the code of a PtliteError, or what is a finding: with a text. */
export interface Outcome {
  readonly kind: string
  readonly fault?: string
}

/** Elements up to which results are read and arguments compared. */
const MAX_READ = 2 ** 14

const faulty = (kind: string, error: unknown): Outcome => ({
  kind,
  fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
})

function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof PtliteError)) return faulty(error instanceof Error ? error.name : 'thrown', error)
  return error.code === 'INTERNAL' ? faulty('INTERNAL', error) : { kind: error.code }
}

/** Why a tensor is none; undefined where it is one. */
function problemOf(t: Tensor): string | undefined {
  const { shape, strides, offset, storage, quant } = t
  if (t instanceof SparseTensor) return undefined
  const text = `${t.dtype}[${shape.join()}] with strides [${strides.join()}] at ${offset} of ${storage.byteLength} bytes`
  // strides of no elements, or of one, lead nowhere, however large they are
  const natural = (x: number, d: number): boolean =>
    x >= 0 && (Number.isSafeInteger(x) || shape.includes(0) || shape[d - shape.length] === 1)
  if (shape.length !== strides.length || ![...shape, ...strides, offset].every(natural)) return text
  const extent = extentOf(shape, strides)
  if (extent > 0 && (offset + extent) * t.itemSize > storage.byteLength) return `it reaches outside of its storage: ${text}`
  if (isQuantized(t.type) !== (quant !== null)) return `it has ${quant === null ? 'no' : 'needless'} parameters: ${text}`
  if (quant !== null && 'axis' in quant && quant.scales.length !== shape[quant.axis]) return `it has ${quant.scales.length} scales: ${text}`
  return undefined
}

function tensorsIn(value: unknown, found: Tensor[] = [], depth = 0): Tensor[] {
  if (value instanceof TensorClass) found.push(value)
  else if (value instanceof Tuple) tensorsIn([...value.items], found, depth)
  else if (Array.isArray(value) && depth < 4) for (const item of value.slice(0, 50)) tensorsIn(item, found, depth + 1)
  return found
}

const isReadable = (t: Tensor): boolean => t.storage.live && numelOf(t.shape) <= MAX_READ && extentOf(t.shape, t.strides) <= 4 * MAX_READ

function contentsOf(t: Tensor): string {
  const data = readTensor(t)
  // whether a signalling NaN becomes a quiet one when it is copied depends on how far the engine has optimized the loop
  if (data instanceof Float32Array || data instanceof Float64Array) data.forEach((value, i) => Number.isNaN(value) && (data[i] = NaN))
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')
}

/** Makes the arguments, calls the operator, and looks at its results and at what it must not change. */
export function runCall({ op, args }: CallSpec, checked = true): Outcome {
  const created: Tensor[] = []
  const own = new Set<Tensor>()
  const before = enterScope({ created })
  try {
    return judged(op, args, checked, own)
  } catch (error) {
    return outcomeOf(error)
  } finally {
    enterScope(before)
    // what is pinned and was not made here is kept by the library, as the state of a generator
    for (const t of created) if (!t.pinned || own.has(t)) t.release()
  }
}

function judged(op: string, args: CallSpec['args'], checked: boolean, own: Set<Tensor>): Outcome {
  let made: ReturnType<typeof makeArguments>
  try {
    made = makeArguments(args)
  } catch (error) {
    const outcome = outcomeOf(error)
    return outcome.fault === undefined ? { kind: 'no arguments' } : outcome
  }
  const { inputs, tensors } = made
  for (const t of tensors) own.add(t)
  const { schema } = calledOperator(op)!
  const written = new Set<unknown>()
  // tensors to write to are the last ones, whichever arguments before them are left out
  const outs = schema.arguments.filter(({ isOut }) => isOut).length
  const omitted = Math.max(schema.arguments.length - inputs.length, 0)
  inputs.forEach((input, i) => {
    if (schema.arguments[i < inputs.length - outs ? i : i + omitted]?.alias?.includes('!') !== true) return
    for (const t of tensorsIn(input)) written.add(t.storage)
  })
  // lists and dicts that are written have tensors of their own
  const kept = tensors.filter((t) => !written.has(t.storage) && isReadable(t)).map((t) => ({ t, contents: contentsOf(t) }))
  const call = (): Output => callOperator(op, inputs)
  let outcome: Outcome = { kind: 'ok' }
  try {
    const result = checked ? withCheckedLaunches(call) : call()
    for (const t of tensorsIn(result)) {
      const problem = problemOf(t)
      if (problem !== undefined) return { kind: 'result', fault: problem }
      if (isReadable(t)) contentsOf(t)
    }
  } catch (error) {
    outcome = outcomeOf(error)
  }
  for (const t of tensors) {
    const problem = problemOf(t)
    if (problem !== undefined) return { kind: 'argument', fault: problem }
  }
  const changed = kept.find(({ t, contents }) => t.storage.live && isReadable(t) && contentsOf(t) !== contents)
  if (changed !== undefined && outcome.fault === undefined && !WRITERS.test(op))
    return { kind: 'overwritten', fault: `${changed.t.dtype}[${changed.t.shape.join()}]` }
  return outcome
}

/** Operators that write to tensors which their schemas do not mark, as PyTorch's do. */
const WRITERS = /batch_norm|instance_norm|_no_grad_|aten::_print|fused_moving_avg|rrelu|quantized::relu6|embedding_renorm/
