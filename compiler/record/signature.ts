import { type DType, dtypeName } from '../../runtime/tensor/dtype.js'
import { MAX_LEVELS } from '../../runtime/tensor/paths.js'
import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { isContiguous, sameShape } from '../../runtime/tensor/shape.js'
import { isPerChannel, type Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, Device, type DictKey, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'

/** Entries in the containers of one call beyond which it is not worth while to compare them one by one. */
const MAX_LEAVES = 4096

/** What has to be the same in two calls for one recording to serve both. */
export type Shape =
  | { readonly kind: 'tensor'; readonly like: TensorShape; readonly sameAs: number; readonly sharesWith: number }
  | { readonly kind: 'plain'; readonly value: Value }
  /** Any int. */
  | { readonly kind: 'int' }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'device'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Shape[] }
  | { readonly kind: 'tuple'; readonly items: readonly Shape[] }
  | { readonly kind: 'dict'; readonly keys: readonly DictKey[]; readonly items: readonly Shape[] }

export interface TensorShape {
  readonly type: DType
  readonly shape: readonly number[]
  readonly strides: readonly number[]
  readonly offset: number
  readonly quant: Quant | null
}

/** The tensors of a call, or null where the arguments hold what has no signature: objects, complex numbers, tensors as keys, too many or too deep lists. */
export class Signature {
  private constructor(
    private readonly args: readonly Shape[],
    /** Arguments that may be any int. */
    readonly varying: readonly number[],
  ) {}

  /** `varying`: arguments, ints themselves, that are no part of the form but for being ints. */
  static of(args: readonly Value[], varying: readonly number[] = []): Signature | null {
    const tensors: Tensor[] = []
    const budget = { left: MAX_LEAVES, levels: MAX_LEVELS }
    const shapes: Shape[] = []
    for (const [i, arg] of args.entries()) {
      const shape = varying.includes(i) ? INT : shapeOf(arg, tensors, budget)
      if (shape === null) return null
      shapes.push(shape)
    }
    return new Signature(shapes, varying)
  }

  /** The tensors among `args`, in order, if they fit; null otherwise. */
  match(args: readonly Value[]): Tensor[] | null {
    const tensors: Tensor[] = []
    if (args.length !== this.args.length) return null
    for (let i = 0; i < args.length; i++) if (!fits(args[i]!, this.args[i]!, tensors)) return null
    return tensors
  }

  /** Arguments that are other ints than those of this form; null where anything else differs, or nothing. */
  differingInts(args: readonly Value[]): number[] | null {
    if (args.length !== this.args.length) return null
    const places: number[] = []
    const alike = args.map((arg, i) => {
      const shape = this.args[i]!
      if (shape.kind !== 'plain' || typeof shape.value !== 'number' || typeof arg !== 'number' || arg === shape.value) return arg
      places.push(i)
      return shape.value
    })
    return places.length > 0 && this.match(alike) !== null ? places : null
  }

  /** For people and as a key: `float32[1, 3, 224, 224], 2`. */
  toString(): string {
    return this.args.map(shapeText).join(', ')
  }
}

const INT: Shape = { kind: 'int' }

function shapeOf(value: Value, tensors: Tensor[], budget: { left: number; levels: number }): Shape | null {
  if (--budget.left < 0) return null
  if (value instanceof Tensor) {
    if (value.isSparse) return null
    const sharesWith = firstOver(value, tensors)
    const sameAs = sharesWith < 0 ? -1 : tensors.indexOf(value, sharesWith)
    tensors.push(value)
    return { kind: 'tensor', like: tensorShape(value), sameAs, sharesWith }
  }
  if (value === null || typeof value !== 'object') return { kind: 'plain', value }
  if (value instanceof Float) return { kind: 'float', value: value.value }
  if (value instanceof Device) return { kind: 'device', text: value.toString() }
  if (value instanceof ScriptObject || value instanceof CustomObject || value instanceof Complex) return null
  const dict = value instanceof Map
  const keys = dict ? [...value.keys()] : []
  if (keys.some((key) => typeof key === 'object')) return null
  const items: Shape[] = []
  if (--budget.levels < 0) return null
  for (const item of dict ? value.values() : value instanceof Tuple ? value.items : value) {
    const shape = shapeOf(item, tensors, budget)
    if (shape === null) return null
    items.push(shape)
  }
  budget.levels++
  if (dict) return { kind: 'dict', keys, items }
  return { kind: value instanceof Tuple ? 'tuple' : 'list', items }
}

/** The first of `tensors` over the memory of `t`; -1 where there is none. What was recorded of one of them may have been said of the other. */
function firstOver(t: Tensor, tensors: readonly Tensor[]): number {
  for (let i = 0; i < tensors.length; i++) if (tensors[i]!.storage === t.storage) return i
  return -1
}

function fits(value: Value, shape: Shape, tensors: Tensor[]): boolean {
  switch (shape.kind) {
    case 'tensor':
      if (!(value instanceof Tensor) || !fitsTensor(value, shape.like) || firstOver(value, tensors) !== shape.sharesWith) return false
      if (shape.sharesWith >= 0 && tensors.indexOf(value, shape.sharesWith) !== shape.sameAs) return false
      tensors.push(value)
      return true
    case 'plain':
      return value === shape.value
    case 'int':
      return typeof value === 'number'
    case 'float':
      return value instanceof Float && Object.is(value.value, shape.value)
    case 'device':
      return value instanceof Device && value.toString() === shape.text
    case 'list':
      return Array.isArray(value) && fitsAll(value, shape.items, tensors)
    case 'tuple':
      return value instanceof Tuple && fitsAll(value.items, shape.items, tensors)
    case 'dict':
      return (
        value instanceof Map &&
        value.size === shape.keys.length &&
        [...value.keys()].every((key, i) => key === shape.keys[i]) &&
        fitsAll([...value.values()], shape.items, tensors)
      )
  }
}

function fitsAll(values: readonly Value[], shapes: readonly Shape[], tensors: Tensor[]): boolean {
  if (values.length !== shapes.length) return false
  for (let i = 0; i < values.length; i++) if (!fits(values[i]!, shapes[i]!, tensors)) return false
  return true
}

export function tensorShape({ type, shape, strides, offset, quant }: Tensor): TensorShape {
  return { type, shape: [...shape], strides: [...strides], offset, quant }
}

export function fitsTensor(t: Tensor, like: TensorShape): boolean {
  return (
    t.type === like.type &&
    t.offset === like.offset &&
    sameShape(t.shape, like.shape) &&
    sameShape(t.strides, like.strides) &&
    (t.quant === like.quant || sameQuant(t.quant, like.quant)) &&
    t.storage.live
  )
}

function sameQuant(a: Quant | null, b: Quant | null): boolean {
  if (a === null || b === null || isPerChannel(a) !== isPerChannel(b)) return false
  if (isPerChannel(a) && isPerChannel(b)) {
    return (
      a.axis === b.axis && a.floatZeroPoints === b.floatZeroPoints && sameShape(a.scales, b.scales) && sameShape(a.zeroPoints, b.zeroPoints)
    )
  }
  return !isPerChannel(a) && !isPerChannel(b) && a.scale === b.scale && a.zeroPoint === b.zeroPoint
}

function shapeText(shape: Shape): string {
  switch (shape.kind) {
    case 'tensor':
      return `${tensorText(shape.like)}${aliasText(shape)}`
    case 'int':
      return 'int'
    case 'plain':
      return typeof shape.value === 'string' ? JSON.stringify(shape.value) : shape.value === null ? 'None' : String(shape.value)
    case 'float':
      return Number.isInteger(shape.value) ? `${shape.value}.` : String(shape.value)
    case 'device':
      return shape.text
    case 'list':
      return `[${shape.items.map(shapeText).join(', ')}]`
    case 'tuple':
      return `(${shape.items.map(shapeText).join(', ')})`
    case 'dict':
      return `{${shape.items.map((item, i) => `${JSON.stringify(String(shape.keys[i]))}: ${shapeText(item)}`).join(', ')}}`
  }
}

function aliasText({ sameAs, sharesWith }: Shape & { readonly kind: 'tensor' }): string {
  if (sameAs >= 0) return ` (tensor ${sameAs + 1} again)`
  return sharesWith < 0 ? '' : ` (over tensor ${sharesWith + 1})`
}

/** For people: `float32[2, 3] strides [1, 2]`. */
export function tensorText({ type, shape, strides, offset, quant }: TensorShape): string {
  const layout = isContiguous(shape, strides) ? '' : ` strides [${strides.join(', ')}]`
  const start = offset === 0 ? '' : ` from ${offset}`
  return `${dtypeName(type)}[${shape.join(', ')}]${layout}${start}${quantText(quant)}`
}

function quantText(quant: Quant | null): string {
  if (quant === null) return ''
  if (isPerChannel(quant)) return ` quantized along ${quant.axis} by [${quant.scales.join(', ')}], [${quant.zeroPoints.join(', ')}]`
  return ` quantized by ${quant.scale}, ${quant.zeroPoint}`
}
