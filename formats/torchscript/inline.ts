import { pace } from '../../runtime/pace.js'
import type { Builder } from './builder.js'
import { Block, Node, type Site, Value } from './graph.js'
import type { FunctionUnit } from './library.js'
import type { Compute } from './known-results.js'
import { simplify } from './simplify.js'

/*
 * Calls of functions are replaced by what these do, as in mobile files: plans see whole methods. Where that would make too much of them they stay calls.
 */

/** Operations of one function with all that is written in place of calls. */
const MAX_NODES = 1 << 16
/** Operations that are written in place of calls in all, and for each that the code has: functions in functions are written once for each. */
const LEAST_IN_ALL = 1 << 16
const PER_NODE = 64
/** Calls in calls, and blocks in blocks, that are written out. */
const MAX_CALLS = 64
const MAX_BLOCKS = 300

/** A function with its calls replaced. */
export interface Inlined {
  readonly unit: FunctionUnit
  readonly block: Block
  readonly nodes: number
  readonly calls: number
  readonly blocks: number
}

/** Functions of a program with calls replaced, each written once. */
export class Inliner {
  private readonly done = new Map<FunctionUnit, Inlined>()
  private readonly open = new Set<FunctionUnit>()
  private left = LEAST_IN_ALL

  constructor(
    private readonly write: (unit: FunctionUnit) => Builder,
    private readonly compute: Compute,
    /** Is told of operations and values before they are made. */
    private readonly spend: (count: number) => void,
  ) {}

  /** Throws INVALID_FILE where functions call themselves. */
  inlined(unit: FunctionUnit): Inlined {
    // without recursion: files may have any number of functions that call each other
    const pending = [{ unit, block: null as Block | null }]
    for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
      if (this.done.has(top.unit)) {
        pending.pop()
      } else if (top.block === null) {
        const builder = this.write(top.unit)
        top.block = builder.block
        this.left += PER_NODE * nodesIn(top.block)
        this.open.add(top.unit)
        for (const callee of calledIn(top.block)) {
          if (this.open.has(callee)) throw callee.source.wrong(callee.syntax.at, `the function ${callee.name} calls itself`)
          if (!this.done.has(callee)) pending.push({ unit: callee, block: null })
        }
      } else {
        pending.pop()
        this.open.delete(top.unit)
        this.done.set(top.unit, this.replaceCalls(top.unit, top.block))
      }
    }
    return this.done.get(unit)!
  }

  private replaceCalls(unit: FunctionUnit, block: Block): Inlined {
    const counts = { nodes: 0, calls: 0, blocks: 0 }
    const replaced = new Map<Value, Value>()
    const resolved = (value: Value): Value => replaced.get(value) ?? value
    const rewrite = (inner: Block, level: number): void => {
      counts.blocks = Math.max(counts.blocks, level)
      const nodes: Node[] = []
      for (const node of inner.nodes) {
        pace(64 + node.inputs.length)
        node.inputs.forEach((input, i) => (node.inputs[i] = resolved(input)))
        const callee = node.action.kind === 'call' ? this.done.get(node.action.unit) : undefined
        if (callee === undefined || !this.fits(callee, counts.nodes, level)) {
          counts.nodes++
          nodes.push(node)
          for (const b of node.blocks) rewrite(b, level + 1)
          continue
        }
        this.left -= callee.nodes
        counts.nodes += callee.nodes
        counts.calls = Math.max(counts.calls, callee.calls + 1)
        counts.blocks = Math.max(counts.blocks, level + callee.blocks)
        const copy = new Copy(node.site, callee.block, node.inputs, this.spend)
        nodes.push(...copy.block.nodes)
        replaced.set(node.outputs[0]!, copy.block.results[0]!)
      }
      inner.nodes.length = 0
      for (const node of nodes) inner.nodes.push(node)
      inner.results.forEach((value, i) => (inner.results[i] = resolved(value)))
    }
    rewrite(block, 0)
    simplify(block, this.compute)
    return { unit, block, ...counts, nodes: nodesIn(block) }
  }

  private fits(callee: Inlined, nodes: number, level: number): boolean {
    return nodes + callee.nodes <= MAX_NODES && callee.nodes <= this.left && callee.calls < MAX_CALLS && level + callee.blocks <= MAX_BLOCKS
  }
}

function nodesIn(block: Block): number {
  return block.nodes.reduce((sum, { blocks }) => sum + 1 + blocks.reduce((inner, b) => inner + nodesIn(b), 0), 0)
}

/** Functions that a block calls. */
export function calledIn(block: Block): Set<FunctionUnit> {
  const found = new Set<FunctionUnit>()
  const pending = [block]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const { action, blocks } of next.nodes) {
      if (action.kind === 'call') found.add(action.unit)
      pending.push(...blocks)
    }
  }
  return found
}

/** A copy of a function's block for one call. */
class Copy {
  readonly block: Block
  private readonly values = new Map<Value, Value>()
  private readonly sites = new Map<Site, Site>()

  constructor(
    private readonly call: Site,
    body: Block,
    args: readonly Value[],
    private readonly spend: (count: number) => void,
  ) {
    body.params.forEach((param, i) => this.values.set(param, args[i]!))
    this.block = this.copyOf(body, true)
  }

  private valueOf(value: Value): Value {
    return this.values.get(value) ?? value
  }

  private copyOf(block: Block, isBody: boolean): Block {
    const copy = new Block()
    if (!isBody) {
      for (const param of block.params) {
        const value = new Value(param.type)
        this.values.set(param, value)
        copy.params.push(value)
      }
    }
    for (const node of block.nodes) {
      this.spend(1 + node.inputs.length)
      const inputs = node.inputs.map((input) => this.valueOf(input))
      const twin = new Node(node.action, inputs, this.siteOf(node.site))
      for (const inner of node.blocks) twin.blocks.push(this.copyOf(inner, false))
      for (const output of node.outputs) this.values.set(output, twin.output(output.type))
      copy.nodes.push(twin)
    }
    for (const result of block.results) copy.results.push(this.valueOf(result))
    return copy
  }

  private siteOf(site: Site): Site {
    let found = this.sites.get(site)
    if (found === undefined) {
      found = { ...site, caller: site.caller === null ? this.call : this.siteOf(site.caller) }
      this.sites.set(site, found)
    }
    return found
  }
}
