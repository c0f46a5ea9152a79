import type { Graph } from '../graph/graph.js'
import { canonical } from './canonical/canonical.js'
import { constantFolding } from './canonical/constant-folding.js'
import { deadCode } from './canonical/dead-code.js'
import { functionalize } from './canonical/functionalize.js'
import { unpacked } from './canonical/unpacked.js'

/**
 * A graph for files of other runtimes: operators with one spelling for each, without packed objects, without writes in place as far as nobody else sees the memory, and with
 * constants computed.
 */
export function plainGraph(graph: Graph): Graph {
  return [functionalize, deadCode, unpacked, canonical, constantFolding, deadCode].reduce((current, pass) => pass.run(current), graph)
}
