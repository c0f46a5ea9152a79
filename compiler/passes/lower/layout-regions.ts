import { numelOf } from '../../../runtime/tensor/shape.js'
import type { Graph, GraphNode, ValueId } from '../../graph/graph.js'
import { type Analysis, onlyResult } from '../analysis.js'
import { rowReaders } from './blocked-rows.js'
import { type Blockable, blockable } from './blocked-operators.js'
import type { Target } from '../../target/target.js'
import type { PassOptions } from '../pass.js'

/** Values that a node wants in blocks. */
export function blockedInputs(form: Blockable): readonly ValueId[] {
  if (form.kind === 'elementwise') return form.operands.flatMap(({ id, as }) => (as === 'blocks' ? [id] : []))
  if (form.kind === 'join') return form.inputs
  return form.kind === 'convolution' && form.strategy.kind === 'few channels' ? [] : [form.input]
}

/**
 * Nodes that shall work on blocks of channels, in the order of the graph. Nodes that hand blocks to one another form a region;
 * it is kept where its convolutions save more than the reorders of what enters and leaves it cost.
 */
export function blockedRegions(graph: Graph, analysis: Analysis, target: Target, options: PassOptions): Map<GraphNode, Blockable> {
  const forms = new Map<GraphNode, Blockable>()
  for (const node of graph.nodes) {
    const form = blockable(node, analysis, target, options)
    if (form !== null) forms.set(node, form)
  }
  const regions = new Regions(forms.keys())
  for (const [node, form] of forms) {
    for (const id of blockedInputs(form)) {
      const producer = analysis.producer(id)
      if (producer !== undefined && forms.has(producer) && forms.get(producer)!.kind !== 'mean') regions.join(producer, node)
    }
  }
  const gains = new Map<GraphNode, number>()
  const add = (node: GraphNode, gain: number): void => {
    const region = regions.of(node)
    gains.set(region, (gains.get(region) ?? 0) + gain)
  }
  // constants are reordered once
  const cost = (id: ValueId): number =>
    analysis.tensor(id) === undefined ? numelOf(analysis.type(id).shape) * target.costs.reorderedElement : 0
  const entered = new Set<string>()
  for (const [node, form] of forms) {
    if (form.kind === 'convolution') add(node, form.strategy.gain)
    for (const id of blockedInputs(form)) {
      const producer = analysis.producer(id)
      const inside = producer !== undefined && forms.has(producer) && forms.get(producer)!.kind !== 'mean'
      // a value is reordered once, however many read it
      const entry = `${regions.numberOf(node)}:${id}`
      if (!inside && !entered.has(entry)) add(node, -cost(id))
      entered.add(entry)
    }
    const result = onlyResult(node)!
    const outside = analysis
      .readersOf(result)
      .filter((reader) => !(forms.has(reader) && blockedInputs(forms.get(reader)!).includes(result)))
    // rows of channels would be copied out of planes, too
    if (form.kind !== 'mean' && rowReaders(result, outside, analysis).others) add(node, -cost(result))
  }
  for (const node of [...forms.keys()]) if ((gains.get(regions.of(node)) ?? 0) <= 0) forms.delete(node)
  return forms
}

/** Disjoint sets of nodes. */
class Regions {
  private readonly parents = new Map<GraphNode, GraphNode>()
  private readonly numbers = new Map<GraphNode, number>()

  constructor(nodes: Iterable<GraphNode>) {
    for (const node of nodes) {
      this.parents.set(node, node)
      this.numbers.set(node, this.numbers.size)
    }
  }

  of(node: GraphNode): GraphNode {
    let root = node
    while (this.parents.get(root) !== root) root = this.parents.get(root)!
    this.parents.set(node, root)
    return root
  }

  numberOf(node: GraphNode): number {
    return this.numbers.get(this.of(node))!
  }

  join(a: GraphNode, b: GraphNode): void {
    this.parents.set(this.of(a), this.of(b))
  }
}
