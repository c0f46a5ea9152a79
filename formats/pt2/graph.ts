import type { Value } from '../../runtime/tensor/value.js'
import type { Deferred } from '../exported/json.js'

/** Types of symbolic values and of constants in a graph. */
export type ScalarKind = 'int' | 'float' | 'bool'

/** What stands for an argument, an input or an output of a node or graph. */
export type Argument =
  | { readonly kind: 'none' }
  | { readonly kind: 'tensor'; readonly name: string }
  /** A size or what was computed from sizes or data. */
  | { readonly kind: 'symbol'; readonly name: string; readonly type: ScalarKind }
  | { readonly kind: 'constant'; readonly type: ScalarKind | 'str' | 'complex' | 'Device'; readonly value: Value }
  /** Numbered as in c10. */
  | { readonly kind: 'enum'; readonly type: 'ScalarType' | 'Layout' | 'MemoryFormat'; readonly value: number }
  | { readonly kind: 'list'; readonly items: readonly Argument[] }
  | { readonly kind: 'dict'; readonly entries: readonly (readonly [string, Argument])[] }
  | { readonly kind: 'graph'; readonly name: string; readonly graph: Graph }
  | { readonly kind: 'object'; readonly name: string; readonly className: string }
  | { readonly kind: 'operator'; readonly name: string }

export interface NodeInput {
  /** '' for arguments of higher-order operators, which have no schema. */
  readonly name: string
  readonly argument: Argument
}

export interface GraphNode {
  /** `torch.ops.aten.add.Tensor`, `_operator.mul`, `torch.sym_max`, ... */
  readonly target: string
  readonly name: string
  readonly inputs: readonly NodeInput[]
  readonly outputs: readonly Argument[]
  /** Where its metadata are in the file's text. */
  readonly metadata: Deferred | null
}

/** How deep graphs may be in each other. */
export const MAX_GRAPHS = 100

export interface Graph {
  readonly inputs: readonly Argument[]
  readonly outputs: readonly Argument[]
  /** Each uses what earlier ones define. */
  readonly nodes: readonly GraphNode[]
  /** Where dtypes and sizes of its tensors are in the file's text, by name. */
  readonly tensors: Deferred | null
  /** Where the expressions of its symbolic ints are. */
  readonly symbols: Deferred | null
}
