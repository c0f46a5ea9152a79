import type { Quant, Tensor } from '../../runtime/tensor/tensor.js'
import type { DType } from '../../runtime/tensor/dtype.js'
import { contiguousStrides } from '../../runtime/tensor/shape.js'
import type { CustomObject } from '../../runtime/tensor/value.js'
import { type Arg, type OperatorNode, type ValueId, visitResult } from './argument.js'
import type { CompiledNode } from './compiled.js'

export * from './argument.js'

/** What is known of a tensor before it is computed. */
export interface TensorType {
  readonly dtype: DType
  readonly shape: readonly number[]
  /** In elements. */
  readonly strides: readonly number[]
  /** First element, counted from the start of the storage. */
  readonly offset: number
  readonly quant: Quant | null
}

/** A contiguous tensor from the start of its storage on. */
export function denseType(dtype: DType, shape: readonly number[]): TensorType {
  return { dtype, shape, strides: contiguousStrides(shape), offset: 0, quant: null }
}

/** A tensor of the graph. Two values with the same `storage` number are views of the same memory. */
export interface GraphValue {
  readonly id: ValueId
  readonly type: TensorType
  readonly storage: number
}

/** What a model calls, or what passes made of it. */
export type GraphNode = OperatorNode | CompiledNode

/** A tensor that is the same in every run. */
export interface GraphConstant {
  readonly id: ValueId
  /** Attribute path or a made-up name; unique. */
  readonly name: string
  readonly tensor: Tensor
  /** True where the compiler made it: it is released with the plan. */
  readonly derived: boolean
}

/**
 * A run of a method as operators over tensors of fixed shapes, in static single assignment form. Everything that
 * is not a tensor has been replaced by its value. Immutable: passes make new ones.
 */
export interface Graph {
  readonly values: ReadonlyMap<ValueId, GraphValue>
  /** The tensors among the arguments, in the order of a walk through them. */
  readonly inputs: readonly ValueId[]
  readonly constants: readonly GraphConstant[]
  readonly objects: readonly CustomObject[]
  readonly nodes: readonly GraphNode[]
  readonly output: Arg
}

/** Values that a node defines. */
export function definitionsOf(node: GraphNode): ValueId[] {
  const ids: ValueId[] = []
  for (const result of node.results) visitResult(result, (id) => ids.push(id))
  return ids
}
