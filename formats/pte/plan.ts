import type { Int } from '../../runtime/tensor/scalar.js'
import type { FilePart } from '../containers/file-part.js'

/** Where the bytes of a tensor are in the memory that a plan lays out ahead. */
export interface Place {
  readonly memory: number
  readonly offset: number
}

/** Data that a tensor begins with. */
export type TensorData =
  /** A constant of the program by its number, or the first value of what it writes to. */
  | { readonly kind: 'constant'; readonly index: number }
  | { readonly kind: 'initial'; readonly segment: number; readonly index: number }
  /** By name, in a `.ptd` file. */
  | { readonly kind: 'external'; readonly key: string }

/** A tensor value: not what it holds, but what it is like and where it is. */
export interface TensorValue {
  readonly kind: 'tensor'
  /** c10::ScalarType number. */
  readonly scalarType: number
  /** Upper bounds where it is dynamic. */
  readonly sizes: readonly number[]
  /** Dimensions from the outermost in memory to the innermost. */
  readonly dimOrder: readonly number[]
  readonly isDynamic: boolean
  readonly data: TensorData | null
  readonly place: Place | null
  /** Of buffers and parameters that the file names. */
  readonly name: string
}

/** A value of a plan. Items of lists are numbers of other values. */
export type PlanValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'int'; readonly value: Int }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'str'; readonly value: string }
  | TensorValue
  | { readonly kind: 'ints'; readonly items: readonly number[] }
  | { readonly kind: 'floats'; readonly values: readonly number[] }
  | { readonly kind: 'bools'; readonly values: readonly boolean[] }
  /** null for None. */
  | { readonly kind: 'tensors'; readonly items: readonly (number | null)[] }

/** Operands are numbers of values. */
export type Instruction =
  | { readonly kind: 'kernel'; readonly operator: string; readonly args: readonly number[] }
  | { readonly kind: 'delegate'; readonly delegate: number; readonly args: readonly number[] }
  | { readonly kind: 'move'; readonly from: number; readonly to: number }
  | { readonly kind: 'jump'; readonly condition: number; readonly destination: number }
  | { readonly kind: 'free' }

export interface Delegate {
  /** `XnnpackBackend` */
  readonly id: string
  readonly payload: () => FilePart
}

/** One method of a program. */
export interface Plan {
  readonly name: string
  readonly values: readonly PlanValue[]
  readonly inputs: readonly number[]
  readonly outputs: readonly number[]
  readonly instructions: readonly Instruction[]
  readonly delegates: readonly Delegate[]
  /** Bytes of each memory. */
  readonly memories: readonly number[]
  /** PyTorch's trees of arguments and results as JSON; '' for none. */
  readonly inputTree: string
  readonly outputTree: string
}

/** Bytes of a tensor's elements. */
export function elementCount(sizes: readonly number[]): number {
  return sizes.reduce((product, size) => product * size, 1)
}
