import { pace } from '../../runtime/pace.js'
import { type Block, Node, type Site, type Value } from './graph.js'

/*
 * How often values are used, and which need no register since they are on the stack already where they are used, by the rules that PyTorch's code generator
 * has. Which use is the last one depends on the order in which code is written, and is left to whoever writes it.
 */

/** Expressions that are left on the stack in expressions, blocks included. */
const MAX_LEVELS = 250

export interface Liveness {
  /** How often each value is put on the stack: by then it goes. */
  readonly uses: ReadonlyMap<Value, number>
  /** Nodes whose result stays on the stack. */
  readonly inline: ReadonlySet<Node>
}

/** Also appends `drop` nodes behind values that nobody uses. */
export function livenessOf(body: Block, site: Site): Liveness {
  const uses = countUses(body)
  dropUnused(body, uses, site)
  return { uses, inline: new InlineNodes(body, uses).found }
}

type Uses = Map<Value, number>

function addUse(uses: Uses, value: Value): void {
  pace()
  // constants need no register
  if (value.constant !== undefined) return
  uses.set(value, (uses.get(value) ?? 0) + 1)
}

function countUses(block: Block, uses: Uses = new Map()): Uses {
  for (const node of block.nodes) {
    for (const input of node.inputs) addUse(uses, input)
    for (const inner of node.blocks) countUses(inner, uses)
  }
  for (const result of block.results) addUse(uses, result)
  return uses
}

function dropNode(values: readonly Value[], site: Site): Node {
  return new Node({ kind: 'drop' }, [...values], site)
}

function dropUnused(block: Block, uses: Uses, site: Site): void {
  const nodes: Node[] = []
  const drop = (values: readonly Value[], where: Site): void => {
    const unused = values.filter((value) => !uses.has(value))
    if (unused.length === 0) return
    nodes.push(dropNode(unused, where))
    for (const value of unused) addUse(uses, value)
  }
  drop(block.params, site)
  for (const node of block.nodes) {
    nodes.push(node)
    for (const inner of node.blocks) dropUnused(inner, uses, node.site)
    drop(node.outputs, node.site)
  }
  block.nodes.length = 0
  for (const node of nodes) block.nodes.push(node)
}

class InlineNodes {
  readonly found = new Set<Node>()
  private readonly before = new Map<Node | Block, Node | null>()

  constructor(
    body: Block,
    private readonly uses: Uses,
  ) {
    this.order(body)
    this.scanBlock(body, 0)
  }

  /** What stands before each node of a block, and before its results. */
  private order(block: Block): void {
    let last: Node | null = null
    for (const node of block.nodes) {
      this.before.set(node, last)
      for (const inner of node.blocks) this.order(inner)
      last = node
    }
    this.before.set(block, last)
  }

  private scanBlock(block: Block, level: number): void {
    this.scan(block, block.results, level)
    for (let i = block.nodes.length - 1; i >= 0; i--) {
      const node = block.nodes[i]!
      if (!this.found.has(node)) this.scanNode(node, level)
    }
  }

  private scanNode(node: Node, level: number): Node | null {
    for (const inner of node.blocks) this.scanBlock(inner, level + 1)
    return this.scan(node, node.inputs, level)
  }

  /** The node that stands before all that is left on the stack for these inputs. */
  private scan(user: Node | Block, inputs: readonly Value[], level: number): Node | null {
    let point = this.before.get(user) ?? null
    for (let i = inputs.length - 1; i >= 0; i--) {
      const { node } = inputs[i]!
      if (node === null || node !== point || level > MAX_LEVELS) continue
      if (node.outputs.length !== 1 || this.uses.get(inputs[i]!) !== 1) continue
      this.found.add(node)
      point = this.scanNode(node, level + 1)
    }
    return point
  }
}
