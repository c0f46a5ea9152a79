import type { LeafType } from '../exported/arguments.js'
import type { Argument } from './graph.js'

/** What a schema says of an input of the graph. */
export function leafType(leaf: Argument): LeafType {
  switch (leaf.kind) {
    case 'none':
      return { type: 'Any', default: null }
    case 'tensor':
      return { type: 'Tensor' }
    case 'symbol':
      return { type: leaf.type }
    case 'constant': {
      const { type, value } = leaf
      return { type: type === 'complex' || type === 'Device' ? 'Any' : type, default: value }
    }
    default:
      return { type: 'Any' }
  }
}
