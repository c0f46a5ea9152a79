import { Storage } from '../../runtime/tensor/storage.js'
import { type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, type DictKey, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import type { DType } from '../../runtime/tensor/dtype.js'
import { enterScope } from '../../runtime/tensor/scope.js'

/** What an address in a frame belongs to: an argument, memory made during the run, or memory that was there before. */
export interface Target {
  readonly kind: 'input' | 'buffer' | 'constant'
  readonly index: number
}

/** How to make one tensor of the result. */
export interface TensorTemplate {
  readonly target: Target
  /** In elements: from the start of a buffer or constant, from the first element of an input. */
  readonly offset: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly type: DType
  readonly quant: Quant | null
  /** The argument or the tensor of the module that is itself what the run returned. */
  readonly same: Tensor | null
}

/** The result of a run with its tensors described instead of held. */
export interface ResultTemplate {
  readonly value: Value
  readonly tensors: ReadonlyMap<Tensor, TensorTemplate>
}

export type FindTarget = (storage: Storage) => Target | undefined

/** Describes a result, in which each replay has tensors of `given` themselves. A text says why that is impossible. */
export function describeResult(
  value: Value,
  inputs: readonly Tensor[],
  given: readonly Tensor[],
  find: FindTarget,
): ResultTemplate | string {
  const tensors = new Map<Tensor, TensorTemplate>()
  const visit = (v: Value): string | null => {
    if (typeof v !== 'object' || v === null) return null
    if (v instanceof Tensor) {
      const template = describeTensor(v, inputs, given, find)
      if (typeof template === 'string') return template
      tensors.set(v, template)
      return null
    }
    if (v instanceof ScriptObject || v instanceof CustomObject) return `it returns an object of ${classOf(v)}`
    const items = v instanceof Tuple ? v.items : v instanceof Map ? [...v.values()] : Array.isArray(v) ? v : []
    if (v instanceof Map && [...v.keys()].some((key) => typeof key === 'object'))
      return 'it returns a dict with tensors or complex numbers as keys'
    for (const item of items) {
      const reason = visit(item)
      if (reason !== null) return reason
    }
    return null
  }
  return visit(value) ?? { value: strip(value, tensors), tensors }
}

function classOf(v: ScriptObject | CustomObject): string {
  return v instanceof ScriptObject ? v.typeName : v.className
}

function describeTensor(t: Tensor, inputs: readonly Tensor[], given: readonly Tensor[], find: FindTarget): TensorTemplate | string {
  const target = find(t.storage)
  if (target === undefined) return 'it returns a tensor whose memory is of unknown origin'
  const { type, quant } = t
  // the lists may be a caller's
  const [shape, strides] = [[...t.shape], [...t.strides]]
  if (target.kind !== 'input')
    return { target, offset: t.offset, shape, strides, type, quant, same: target.kind === 'constant' && given.includes(t) ? t : null }
  const itself = inputs.indexOf(t)
  if (itself >= 0) return { target: { kind: 'input', index: itself }, offset: 0, shape, strides, type, quant, same: t }
  const input = inputs[target.index]!
  if (input.itemSize !== t.itemSize) return 'it returns an argument under another dtype'
  return { target, offset: t.offset - input.offset, shape, strides, type, quant, same: null }
}

/** The value with new tensors in place of those of its run, so that the run's memory is not held. */
function strip(value: Value, tensors: Map<Tensor, TensorTemplate>): Value {
  const marks = new Map<Tensor, Tensor>()
  const stripped = mapTensors(value, (t) => {
    let mark = marks.get(t)
    if (mark === undefined) {
      mark = placeholder(t.type)
      marks.set(t, mark)
    }
    return mark
  })
  const templates = [...tensors]
  tensors.clear()
  for (const [t, template] of templates) tensors.set(marks.get(t)!, template)
  return stripped
}

/** A tensor without memory, of no scope. */
function placeholder(type: DType): Tensor {
  const before = enterScope(null)
  const t = new Tensor(Storage.borrow(0, 0, null), 0, [], [], type)
  enterScope(before)
  return t
}

/** A copy of a result with other tensors; everything but lists, tuples and dicts is kept. */
export function mapTensors(value: Value, replace: (t: Tensor) => Tensor): Value {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Tensor) return replace(value)
  if (value instanceof Tuple) {
    return new Tuple(
      value.items.map((item) => mapTensors(item, replace)),
      value.fields,
    )
  }
  if (Array.isArray(value)) return value.map((item) => mapTensors(item, replace))
  if (value instanceof Map) return new Map([...value].map(([k, v]): [DictKey, Value] => [k, mapTensors(v, replace)]))
  return value
}
