import { check } from '../../error.js'
import * as features from '../../features.js'
import { float, type Scalar, scalarToNumber } from '../../tensor/scalar.js'
import { Storage } from '../../tensor/storage.js'
import { DType } from '../../tensor/dtype.js'
import { Tensor } from '../../tensor/tensor.js'
import { cacheOf, CUSTOM_CLASSES, CustomObject, setCache, Tuple, type Value } from '../../tensor/value.js'
import { clampedLinear } from './matmul.js'
import { convolve, convolveTransposed, packs } from './support/conv.js'
import type { ConvSettings } from '../../shapes/convolution.js'
import { contiguousOf } from '../support/copy.js'
import type { Clamp } from './support/limits.js'
import { packNow, PackSide } from '../support/packed-weight.js'
import { isRounded } from '../support/rounded-weight.js'
import type { CPU } from '../support/generated/interfaces.js'

const CLASSES = `${CUSTOM_CLASSES}xnnpack.`

/** What an object's state says, made ready for the kernels once. */
interface Context {
  readonly weight: Tensor
  readonly bias: Tensor | null
  readonly clamp: Clamp | null
  /** The weight as kernels want it; null where they take it as it is. */
  readonly packing: Packing | null
}

/** Compiled calls that read the weight in another form give the packed one back: it is made again where an interpreted call wants it. */
class Packing {
  private packed: Storage

  constructor(private readonly pack: () => Storage) {
    this.packed = pack()
  }

  get address(): number {
    if (!this.packed.live) this.packed = this.pack()
    return this.packed.address
  }
}

interface ConvContext extends Context {
  readonly settings: ConvSettings
  readonly outputPadding: readonly number[]
}

function stateItems(object: CustomObject, count: number): Value[] {
  const { state } = object
  check(state instanceof Tuple && state.items.length === count, () => `${object.className}: expected a state of ${count} values`)
  return state.items
}

function tensorOf(object: CustomObject, value: Value, type: DType = DType.float32): Tensor {
  check(value instanceof Tensor && value.type === type, () => `${object.className}: expected a float32 tensor in the state`)
  return value
}

function intsOf(object: CustomObject, value: Value): number[] {
  check(Array.isArray(value), () => `${object.className}: expected a list of integers in the state`)
  return value.map(Number)
}

function clampOf(lo: Value, hi: Value): Clamp | null {
  if (lo === null && hi === null) return null
  return { lo: lo === null ? -Infinity : Number(lo), hi: hi === null ? Infinity : Number(hi) }
}

/** Row-major, and kept as long as the object. */
function kept(t: Tensor): Tensor {
  const dense = contiguousOf(t)
  if (dense !== t) {
    Storage.addUser(dense.storage)
    dense.storage.watch()
  }
  dense.pinned = true
  return dense
}

function keptOrNull(object: CustomObject, value: Value): Tensor | null {
  return value === null ? null : kept(tensorOf(object, value))
}

/** Weight, bias and limits of a packed linear layer. */
export function prepackedLinear(object: CustomObject): Context {
  const known = cacheOf(object)
  if (known !== undefined) return known as Context
  const [w, b, lo, hi] = stateItems(object, 4) as [Value, Value, Value, Value]
  const weight = kept(tensorOf(object, w))
  check(weight.dim === 2, () => `${object.className}: expected a weight with 2 dimensions, found ${weight.dim}`)
  const bias = keptOrNull(object, b)
  const fits = bias === null || (bias.type === DType.float32 && bias.dim === 1 && bias.numel === weight.shape[0])
  check(
    weight.type === DType.float32 && fits,
    () =>
      `${object.className}: expected a float32 weight and ${weight.shape[0]} float32 biases, found ${weight.dtype}[${weight.shape.join(', ')}] and ${bias?.dtype}[${bias?.shape.join(', ')}]`,
  )
  // a weight that products round is packed by them
  const packing =
    features.rounding && isRounded(weight) ? null : new Packing(() => packNow(weight, PackSide.b, 1, weight.shape[0]!, weight.shape[1]!))
  const context: Context = { weight, bias, clamp: clampOf(lo, hi), packing }
  setCache(object, context)
  return context
}

/** Weight, bias, limits and settings of a packed convolution. */
export function prepackedConvolution(object: CustomObject): ConvContext {
  return convContext(object, false)
}

/** Those of a packed transposed convolution. */
export function prepackedTransposed(object: CustomObject): ConvContext {
  return convContext(object, true)
}

function convContext(object: CustomObject, transposed: boolean): ConvContext {
  const known = cacheOf(object)
  if (known !== undefined) return known as ConvContext
  const items = stateItems(object, transposed ? 9 : 8)
  const weight = kept(tensorOf(object, items[0]!))
  check(weight.dim === 4, () => `${object.className}: expected a weight with 4 dimensions, found ${weight.dim}`)
  const rest = items.slice(transposed ? 5 : 4)
  const groups = Number(rest[1])
  const settings = { stride: pairOf(object, items[2]!), padding: pairOf(object, items[3]!), dilation: pairOf(object, rest[0]!), groups }
  const outputs = weight.shape[0]!
  const context: ConvContext = {
    weight,
    bias: keptOrNull(object, items[1]!),
    clamp: clampOf(rest[2]!, rest[3]!),
    packing:
      transposed || groups < 1 || !packs(weight, groups) || outputs % groups !== 0
        ? null
        : new Packing(() => packNow(weight, PackSide.a, groups, outputs / groups, weight.numel / outputs)),
    settings,
    outputPadding: transposed ? pairOf(object, items[4]!) : [],
  }
  setCache(object, context)
  return context
}

/** A number for each of height and width, or one for both. */
function pairOf(object: CustomObject, value: Value): number[] {
  const list = intsOf(object, value)
  check(
    list.length === 1 || list.length === 2,
    () => `${object.className}: expected 1 or 2 numbers for height and width, found ${list.length}`,
  )
  return [list[0]!, list.at(-1)!]
}

function newObject(name: string, state: Value[]): CustomObject {
  for (const value of state) if (value instanceof Tensor) value.pinned = true
  return new CustomObject(CLASSES + name, new Tuple(state))
}

const limit = (value: Scalar | null): Value => (value === null ? null : float(scalarToNumber(value)))

/** Weight [out, in] with bias and limits of the result. */
export function linear_clamp_prepack(W: Tensor, B: Tensor | null, outputMin: Scalar | null, outputMax: Scalar | null): CustomObject {
  return newObject('LinearOpContext', [W, B, limit(outputMin), limit(outputMax)])
}

export function linear_clamp_run(X: Tensor, wPrepack: CustomObject): Tensor {
  const { weight, bias, clamp, packing } = prepackedLinear(wPrepack)
  check(
    X.type === DType.float32 && X.dim > 0 && X.shape[X.dim - 1] === weight.shape[1],
    () =>
      `prepacked::linear_clamp_run: expected a float32 input with ${weight.shape[1]!} features, found ${X.dtype}[${X.shape.join(', ')}]`,
  )
  return clampedLinear(X, weight, bias, clamp !== null, clamp?.lo ?? 0, clamp?.hi ?? 0, packing?.address ?? 0)
}

/** Weight [out, in / groups, kh, kw] with bias, settings and limits of the result. */
export const conv2d_clamp_prepack: CPU['conv2d_clamp_prepack'] = (W, B, stride, padding, dilation, groups, outputMin, outputMax) =>
  newObject('Conv2dOpContext', [W, B, stride, padding, dilation, groups, limit(outputMin), limit(outputMax)])

export function conv2d_clamp_run(X: Tensor, wPrepack: CustomObject): Tensor {
  const { weight, bias, clamp, packing, settings } = prepackedConvolution(wPrepack)
  return convolve('prepacked::conv2d_clamp_run', X, weight, bias, settings, settings.padding, clamp, packing?.address ?? 0)
}

/** Weight [in, out / groups, kh, kw] with bias, settings and limits of the result. */
export const conv2d_transpose_clamp_prepack: CPU['conv2d_transpose_clamp_prepack'] = (
  W,
  B,
  stride,
  padding,
  outputPadding,
  dilation,
  groups,
  outputMin,
  outputMax,
) => newObject('TransposeConv2dOpContext', [W, B, stride, padding, outputPadding, dilation, groups, limit(outputMin), limit(outputMax)])

export function conv2d_transpose_clamp_run(X: Tensor, wPrepack: CustomObject): Tensor {
  const { weight, bias, clamp, settings, outputPadding } = prepackedTransposed(wPrepack)
  return convolveTransposed('prepacked::conv2d_transpose_clamp_run', X, weight, bias, settings, outputPadding, clamp)
}
