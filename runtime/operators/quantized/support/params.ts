import { PtliteError } from '../../../error.js'
import { readTensor } from '../../../tensor/data.js'
import { isFloatScalar, scalarToNumber, type Scalar } from '../../../tensor/scalar.js'
import { Tensor } from '../../../tensor/tensor.js'
import { cacheOf, CustomObject, setCache, Tuple, type Value } from '../../../tensor/value.js'
import type { PackedWeights } from './gemm.js'

/** What a packed convolution consists of; lists have one entry per spatial dimension. */
export interface ConvParams {
  readonly weight: Tensor
  readonly bias: Tensor | null
  readonly stride: readonly number[]
  readonly padding: readonly number[]
  readonly dilation: readonly number[]
  readonly outputPadding: readonly number[]
  readonly groups: number
  readonly transposed: boolean
  packed?: PackedWeights[]
}

export interface LinearParams {
  readonly weight: Tensor
  readonly bias: Tensor | null
  packed?: PackedWeights
}

export const LINEAR_CLASS = 'quantized.LinearPackedParamsBase'
export const CONV2D_CLASS = 'quantized.Conv2dPackedParamsBase'
export const CONV3D_CLASS = 'quantized.Conv3dPackedParamsBase'

/** A linear layer as an operator argument; its state is what a file holds: weight and bias. */
export function makeLinear(weight: Tensor, bias: Tensor | null): CustomObject {
  return new CustomObject(LINEAR_CLASS, new Tuple([weight, bias]))
}

/** A convolution as an operator argument, with the state that PyTorch 1.13 writes (version 3). */
export function makeConv(className: string, params: ConvParams): CustomObject {
  const config = [
    params.stride.length,
    ...params.stride,
    ...params.padding,
    ...params.dilation,
    ...params.outputPadding,
    params.groups,
    params.transposed ? 1 : 0,
  ]
  return new CustomObject(className, new Tuple([3, config, [null, params.weight, params.bias]]))
}

function broken(object: CustomObject, what: string): never {
  throw new PtliteError('INVALID_FILE', `${object.className}: ${what}`)
}

function expect(object: Value, ...classNames: string[]): CustomObject {
  if (object instanceof CustomObject && classNames.includes(object.className)) return object
  const found = object instanceof CustomObject ? object.className : 'another value'
  throw new PtliteError('INVALID_ARGUMENT', `expected packed parameters of class ${classNames.join(' or ')}, found ${found}`)
}

export function linearParams(value: Value): LinearParams {
  const object = expect(value, LINEAR_CLASS)
  const known = cacheOf(object)
  if (known !== undefined) return known as LinearParams
  const [weight, bias] = itemsOf(object.state)
  if (!(weight instanceof Tensor) || weight.dim !== 2) return broken(object, 'expected a weight matrix')
  const params: LinearParams = { weight, bias: optionalTensor(object, bias) }
  setCache(object, params)
  return params
}

export function convParams(value: Value): ConvParams {
  const object = expect(value, CONV2D_CLASS, CONV3D_CLASS)
  const known = cacheOf(object)
  if (known !== undefined) return known as ConvParams
  const params = parseConv(object)
  setCache(object, params)
  return params
}

function parseConv(object: CustomObject): ConvParams {
  const state = itemsOf(object.state)
  if (state[0] instanceof Tensor) return parseVersion1(object, state)
  if (state[0] === '2') {
    const [config, weight] = itemsOf(state[1] ?? null)
    const [bias] = itemsOf(state[2] ?? null)
    if (!(config instanceof Tensor)) return broken(object, 'expected a tensor of parameters')
    return fromConfig(object, Array.from(readTensor(config), Number), weight, bias)
  }
  if (state[0] === 3) {
    const config = itemsOf(state[1] ?? null)
    const [, weight, bias] = itemsOf(state[2] ?? null)
    return fromConfig(object, config.map(Number), weight, bias)
  }
  return broken(object, 'unknown version of packed parameters')
}

function parseVersion1(object: CustomObject, state: readonly Value[]): ConvParams {
  const [weight, bias, stride, padding, dilation, groups] = state
  const numbers = (v: Value | undefined): number[] =>
    itemsOf(v ?? null).map((t) => (t instanceof Tensor ? Number(readTensor(t)[0]) : broken(object, 'expected tensors of parameters')))
  const config = [numbers(stride), numbers(padding), numbers(dilation)]
  const dims = config[0]!.length
  const groupCount = groups instanceof Tensor ? Number(readTensor(groups)[0]) : 1
  return fromConfig(object, [dims, ...config.flat(), ...new Array<number>(dims).fill(0), groupCount, 0], weight, bias)
}

function fromConfig(object: CustomObject, config: readonly number[], weight: Value | undefined, bias: Value | undefined): ConvParams {
  const dims = config[0] ?? 0
  if (![1, 2, 3].includes(dims) || config.length < 4 * dims + 3 || !config.every((x) => Number.isSafeInteger(x) && x >= 0)) {
    return broken(object, `unusable parameters [${config.slice(0, 16).join(', ')}]`)
  }
  const part = (i: number): number[] => config.slice(1 + i * dims, 1 + (i + 1) * dims)
  const groups = config[4 * dims + 1]!
  if (!(weight instanceof Tensor) || weight.dim !== dims + 2) return broken(object, `expected a weight of ${dims + 2} dimensions`)
  if (groups < 1 || part(0).includes(0) || part(2).includes(0)) return broken(object, 'groups, strides and dilations must be at least 1')
  return {
    weight,
    bias: optionalTensor(object, bias),
    stride: part(0),
    padding: part(1),
    dilation: part(2),
    outputPadding: part(3),
    groups,
    transposed: config[4 * dims + 2] === 1,
  }
}

function itemsOf(value: Value): readonly Value[] {
  return value instanceof Tuple ? value.items : Array.isArray(value) ? value : []
}

function optionalTensor(object: CustomObject, value: Value | undefined): Tensor | null {
  if (value === null || value === undefined) return null
  return value instanceof Tensor ? value : broken(object, 'expected a tensor or None as bias')
}

export function numberOf(value: Scalar): number {
  return isFloatScalar(value) ? Number(value) : scalarToNumber(value)
}
