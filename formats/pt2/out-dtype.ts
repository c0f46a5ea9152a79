import { damaged } from '../../program/file-error.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { promoteTypes } from '../../runtime/tensor/promote.js'
import type { Argument, Graph, GraphNode } from './graph.js'
import { RANKS, rankOf } from './operators.js'
import { forEachName } from './scope.js'
import type { MetaOf } from './tensor-meta.js'

/**
 * The graph that `out_dtype` stands for: (operator, dtype, arguments) calls the operator with the dtype that its arguments and a tensor of `dtype` promote to, and
 * converts the result. Inputs of the graph are called as they are outside of it.
 */
export function withOutDtype(node: GraphNode, metaOf: MetaOf): Graph {
  const [operator, dtype, ...given] = node.inputs
  const [output] = node.outputs
  if (operator?.argument.kind !== 'operator' || dtype?.argument.kind !== 'enum' || output?.kind !== 'tensor' || node.outputs.length !== 1)
    throw damaged('expected an operator, a dtype and one result')
  const computed = promoted(
    given.map(({ argument }) => argument),
    dtype.argument.value as DType,
    metaOf,
  )
  const inputs = new Map<string, Argument>()
  const nodes: GraphNode[] = []
  const to = (argument: Argument, scalarType: number, result: Argument): Argument => {
    const type: Argument = { kind: 'enum', type: 'ScalarType', value: scalarType }
    nodes.push({
      ...node,
      target: 'torch.ops.aten.to.dtype',
      inputs: [
        { name: 'self', argument },
        { name: 'dtype', argument: type },
      ],
      outputs: [result],
    })
    return result
  }
  // no name of a file begins so
  const made = (): Argument => ({ kind: 'tensor', name: `%${nodes.length}` })
  const args = given.map(({ name, argument }) => {
    forEachName(argument, (inner, named) => inputs.set(inner, named))
    return { name, argument: argument.kind === 'tensor' ? to(argument, computed, made()) : argument }
  })
  const result = made()
  nodes.push({ ...node, target: operator.argument.name, inputs: args, outputs: [result] })
  to(result, dtype.argument.value, output)
  return { inputs: [...inputs.values()], nodes, outputs: [output], tensors: null, symbols: null }
}

/** What tensors and numbers promote to beside a tensor of `dtype`: of the highest rank those with dimensions decide, then those without, then numbers. */
function promoted(args: readonly Argument[], dtype: DType, metaOf: MetaOf): DType {
  const [withSizes, without]: [DType[], DType[]] = [[dtype], []]
  let rank = rankOf(dtype)
  for (const argument of args) {
    if (argument.kind === 'tensor') {
      const meta = metaOf(argument.name)
      if (meta === undefined) throw damaged(`the file does not describe '${argument.name}'`)
      const group = meta.sizes.length > 0 ? withSizes : without
      group.push(meta.scalarType as DType)
      rank = Math.max(rank, rankOf(meta.scalarType))
    } else if ((argument.kind === 'constant' || argument.kind === 'symbol') && argument.type in RANKS)
      rank = Math.max(rank, RANKS[argument.type as keyof typeof RANKS])
  }
  const decisive = [withSizes, without].map((group) => group.filter((type) => rankOf(type) === rank)).find((group) => group.length > 0)
  return decisive?.reduce(promoteTypes) ?? [DType.bool, DType.int64, DType.float32, DType.complex64][rank]!
}
