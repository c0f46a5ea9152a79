import type { DType } from '../../../runtime/tensor/dtype.js'
import { isComplex } from '../../../runtime/tensor/dtype.js'
import { Float } from '../../../runtime/tensor/scalar.js'
import { type Arg, constant, type OperatorNode, type TensorType, value, type ValueId } from '../../graph/graph.js'
import { type Analysis, inputOf, isDenseFloat, onlyResult, valueArg } from '../analysis.js'
import type { Editor } from '../editor.js'

/** Another way to write a node: its operator and arguments, and nodes that prepare these. */
export interface Canonical {
  readonly op: string
  readonly args: readonly Arg[]
  readonly before?: readonly OperatorNode[]
}

/** The canonical form of a node, or null where the node has none. Only the first result counts. */
export type Form = (node: OperatorNode, analysis: Analysis, editor: Editor) => Canonical | null

/** The same arguments under another name. */
export const renamed =
  (op: string): Form =>
  ({ args }) => ({ op, args })

export const number = (x: number): Arg => constant(new Float(x))

/** The first result of a node. */
export function firstResult({ results: [first] }: OperatorNode): ValueId | undefined {
  return first?.kind === 'value' ? first.id : undefined
}

/** Types of the first argument and of the only result. */
export function typesOf(node: OperatorNode, analysis: Analysis): readonly [TensorType, TensorType] | null {
  const [x, result] = [inputOf(node), onlyResult(node)]
  return x === undefined || result === undefined ? null : [analysis.type(x), analysis.type(result)]
}

/** True for a node whose result and tensor arguments are dense float32. */
export function isDenseNode(node: OperatorNode, analysis: Analysis): boolean {
  const ids = [firstResult(node), ...node.args.map(valueArg)]
  return ids.every((id) => id === undefined || isDenseFloat(analysis.type(id)))
}

export const isReal = (dtype: DType): boolean => !isComplex(dtype)

/** Nodes in front of `node`, each on the result of the one before. */
export class NodesBefore {
  readonly nodes: OperatorNode[] = []

  constructor(
    private readonly node: OperatorNode,
    private readonly editor: Editor,
  ) {}

  /** The result of another node: of this type, in memory of its own or in that of another value. */
  add(op: string, args: readonly Arg[], type: TensorType, storage?: number): Arg {
    const id = this.editor.newValue(type, storage)
    this.nodes.push({ kind: 'operator', op, args, results: [{ kind: 'value', id }], writes: [], origin: this.node.origin })
    return value(id)
  }
}
