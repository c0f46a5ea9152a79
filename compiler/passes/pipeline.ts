import type { Graph } from '../graph/graph.js'
import { hostTarget } from '../target/host.js'
import type { Target } from '../target/target.js'
import { activation } from './fuse/activation.js'
import { attention } from './fuse/attention.js'
import { batchNorm } from './fuse/batch-norm.js'
import { blockSparse } from './lower/block-sparse.js'
import { bottlenecks } from './lower/bottlenecks.js'
import { byteTables } from './fuse/byte-tables.js'
import { canonical } from './canonical/canonical.js'
import { composed } from './canonical/composed.js'
import { channelSteps } from './fuse/channel-steps.js'
import { constantFolding, foldingButIntegers } from './canonical/constant-folding.js'
import { copies } from './canonical/copies.js'
import { deadCode } from './canonical/dead-code.js'
import { elementwise } from './fuse/elementwise.js'
import { embeddingRows } from './canonical/embedding-rows.js'
import { functionalize } from './canonical/functionalize.js'
import { idleTaps } from './canonical/idle-taps.js'
import { identities } from './canonical/identities.js'
import { integers } from './canonical/integers.js'
import { layerNorm } from './fuse/layer-norm.js'
import { linearRows } from './canonical/linear-rows.js'
import { linearLayers } from './canonical/linear.js'
import { layout } from './lower/layout.js'
import { narrowRows } from './fuse/narrow-rows.js'
import { DEFAULT_OPTIONS, type Pass, type PassOptions } from './pass.js'
import { permutedSteps } from './canonical/permuted-steps.js'
import { postOps } from './lower/post-ops.js'
import { prepacked } from './canonical/prepacked.js'
import { quantizedInput } from './lower/quantized-input.js'
import { readRows } from './fuse/read-rows.js'
import { rmsNorm } from './fuse/rms-norm.js'
import { rotary } from './fuse/rotary.js'
import { rowMajor } from './canonical/row-major.js'
import { scaledFilters } from './lower/scaled-filters.js'
import { signals } from './lower/signals.js'
import { singleWindows } from './lower/single-windows.js'
import { squeezeExcite } from './lower/squeeze-excite.js'
import { stackedChains } from './fuse/stacked-chains.js'
import { stridedOperands } from './lower/strided-operands.js'
import { updates } from './canonical/updates.js'
import { views } from './canonical/views.js'
import { weightOnly } from './canonical/weight-only.js'
import { wideNumbers } from './lower/wide-numbers.js'

/** Every pass in the order it runs: those that lower for what is there. */
export const passesFor = (target: Target, options: PassOptions = DEFAULT_OPTIONS): readonly Pass[] => [
  functionalize,
  deadCode,
  copies,
  embeddingRows,
  weightOnly,
  foldingButIntegers,
  canonical,
  views,
  updates,
  identities,
  integers,
  prepacked,
  constantFolding,
  byteTables,
  composed,
  linearLayers,
  linearRows,
  batchNorm,
  idleTaps,
  layerNorm,
  rmsNorm,
  rotary,
  attention,
  narrowRows,
  readRows,
  rowMajor,
  stridedOperands,
  permutedSteps,
  deadCode,
  quantizedInput,
  signals(target),
  wideNumbers(target, options),
  channelSteps,
  layout(target, options),
  squeezeExcite(target),
  scaledFilters(target),
  activation,
  blockSparse(target),
  bottlenecks(target),
  elementwise,
  postOps,
  singleWindows,
  stackedChains,
]

/** Runs all passes, for this machine unless told another one; `after` sees the graph after each, changed or not. */
export function optimize(
  graph: Graph,
  after?: (pass: Pass, graph: Graph, changed: boolean) => void,
  options: PassOptions = DEFAULT_OPTIONS,
  target: Target = hostTarget(),
): Graph {
  let current = graph
  for (const pass of passesFor(target, options)) {
    const next = pass.run(current)
    after?.(pass, next, next !== current)
    current = next
  }
  return current
}
