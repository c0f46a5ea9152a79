import { type Block, type Node, Value } from './graph.js'
import { type Compute, knownResult } from './known-results.js'
import { dissolveObjects } from './local-objects.js'
import { isSubtype, type Type } from './types.js'

/*
 * Takes out of a function what exporting, calls and conversions left there: ways that no call takes, since what decides is a constant; tuples that are made
 * only to be taken apart; and values that nobody uses.
 */

/** Operators that only hand on what they are given. */
const CASTS: ReadonlySet<string> = new Set(['prim::unchecked_cast', 'prim::unchecked_unwrap_optional'])
const PURE: ReadonlySet<string> = new Set(['prim::TupleUnpack', 'prim::unchecked_cast'])
const PURE_KINDS: ReadonlySet<string> = new Set(
  'GET_ATTR TUPLE_CONSTRUCT NAMED_TUPLE_CONSTRUCT LIST_CONSTRUCT DICT_CONSTRUCT ISINSTANCE UN_INITIALIZED TUPLE_INDEX TUPLE_SLICE'.split(
    ' ',
  ),
)

export function simplify(block: Block, compute: Compute): void {
  dissolveObjects(block)
  new Folding(compute).fold(block)
  new Unused(block).remove(block)
}

class Folding {
  /** What stands for values from here on. */
  private readonly replaced = new Map<Value, Value>()

  constructor(private readonly compute: Compute) {}

  fold(block: Block): void {
    const nodes: Node[] = []
    this.foldInto(nodes, block)
    block.nodes.length = 0
    for (const node of nodes) block.nodes.push(node)
  }

  private foldInto(nodes: Node[], block: Block): void {
    for (const node of block.nodes) {
      node.inputs.forEach((input, i) => (node.inputs[i] = this.resolved(input)))
      const way = this.onlyWay(node)
      if (way !== undefined) {
        this.foldInto(nodes, way)
        way.results.forEach((result, i) => this.replaced.set(node.outputs[i]!, result))
        continue
      }
      const results = resultsOf(node, this.compute)
      if (results !== undefined) {
        results.forEach((result, i) => this.replaced.set(node.outputs[i]!, result))
        continue
      }
      for (const inner of node.blocks) this.fold(inner)
      if (node.action.kind === 'if') this.joinSame(node)
      nodes.push(node)
    }
    block.results.forEach((value, i) => (block.results[i] = this.resolved(value)))
  }

  private resolved(value: Value): Value {
    return this.replaced.get(value) ?? value
  }

  /** The block of an `if` that is always taken. */
  private onlyWay({ action, inputs, blocks }: Node): Block | undefined {
    const condition = action.kind === 'if' ? inputs[0]!.constant : undefined
    return typeof condition === 'boolean' ? blocks[condition ? 0 : 1] : undefined
  }

  /** What is the same on both ways is no result of an `if`. */
  private joinSame({ outputs, blocks }: Node): void {
    const [then, other] = blocks
    const same = (i: number): boolean => then!.results[i] === other!.results[i]
    outputs.forEach((output, i) => {
      if (same(i)) this.replaced.set(output, then!.results[i]!)
    })
    const kept = outputs.map((_, i) => !same(i))
    for (const values of [outputs, ...blocks.map(({ results }) => results)]) keepOnly(values, (i) => kept[i]!)
  }
}

/** What a node gives, where that is there already. */
function resultsOf({ action, inputs, outputs }: Node, compute: Compute): readonly Value[] | undefined {
  const made = inputs[0]?.node
  const items = made?.action.kind === 'TUPLE_CONSTRUCT' || made?.action.kind === 'NAMED_TUPLE_CONSTRUCT' ? made.inputs : undefined
  if (action.kind === 'TUPLE_INDEX' && action.index !== null && items !== undefined) return [items[action.index]!]
  if (action.kind !== 'operator') return undefined
  const { entry } = action
  const { qualifiedName } = entry
  if (qualifiedName === 'prim::TupleUnpack') return items
  const [input] = inputs
  const type: Type = outputs[0]?.type ?? input!.type
  if (CASTS.has(qualifiedName)) {
    const known = input!.type.kind !== 'unknown' && isSubtype(input!.type, type)
    return known && input!.constant !== null ? [input!] : undefined
  }
  const constant = knownResult(qualifiedName, inputs) ?? compute(entry, inputs)
  return constant === undefined ? undefined : [new Value(type, null, constant)]
}

/** Takes the values out of a list whose places are not kept. */
function keepOnly(values: Value[], isKept: (place: number) => boolean): void {
  let count = 0
  values.forEach((value, i) => {
    if (isKept(i)) values[count++] = value
  })
  values.length = count
}

class Unused {
  /** How often values are used, in code that nobody needs, too. */
  private readonly counts = new Map<Value, number>()
  private readonly used = new Set<Value>()

  constructor(block: Block) {
    this.count(block)
  }

  private count(block: Block): void {
    const add = (value: Value): void => void this.counts.set(value, (this.counts.get(value) ?? 0) + 1)
    for (const node of block.nodes) {
      node.inputs.forEach(add)
      for (const inner of node.blocks) this.count(inner)
    }
    block.results.forEach(add)
  }

  /** Removes nodes of the block that give nothing, from the last one on. */
  remove(block: Block): void {
    for (const result of block.results) this.used.add(result)
    const kept: Node[] = []
    for (let i = block.nodes.length - 1; i >= 0; i--) {
      const node = block.nodes[i]!
      if (this.isUnused(node)) continue
      if (node.action.kind === 'if') this.removeResults(node)
      else if (node.action.kind === 'loop') this.removeCarried(node)
      for (const inner of node.blocks) this.remove(inner)
      if (node.action.kind === 'if' && node.outputs.length === 0 && node.blocks.every(({ nodes }) => nodes.length === 0)) continue
      for (const input of node.inputs) this.used.add(input)
      kept.push(node)
    }
    block.nodes.length = 0
    for (const node of kept.reverse()) block.nodes.push(node)
  }

  private isUnused({ action, outputs }: Node): boolean {
    if (outputs.some((output) => this.used.has(output))) return false
    return action.kind === 'operator' ? PURE.has(action.entry.qualifiedName) : PURE_KINDS.has(action.kind)
  }

  private removeResults({ outputs, blocks }: Node): void {
    const kept = outputs.map((output) => this.used.has(output))
    for (const values of [outputs, ...blocks.map(({ results }) => results)]) keepOnly(values, (i) => kept[i]!)
  }

  /** What a loop carries along and nobody looks at. */
  private removeCarried({ inputs, outputs, blocks }: Node): void {
    const { params, results } = blocks[0]!
    const kept = outputs.map((output, i) => {
      const param = params[i + 1]!
      const own = results[i + 1] === param ? 1 : 0
      return this.used.has(output) || (this.counts.get(param) ?? 0) > own
    })
    keepOnly(outputs, (i) => kept[i]!)
    keepOnly(inputs, (i) => i < 2 || kept[i - 2]!)
    for (const values of [params, results]) keepOnly(values, (i) => i < 1 || kept[i - 1]!)
  }
}
