import type { Block, Node, Value } from './graph.js'

/** Where a value is used: by a node in a block, or as what the block gives. */
interface Use {
  readonly block: Block
  readonly node: Node | null
}

/**
 * Takes out objects that no other code can see: those whose attributes are set and read in the block that makes them, and which are used for nothing else, such as
 * that of `with torch.no_grad()`. What was set stands for what was read.
 */
export function dissolveObjects(body: Block): void {
  const created: { readonly node: Node; readonly block: Block }[] = []
  const uses = new Map<Value, Use[]>()
  const add = (value: Value, use: Use): void => {
    const known = uses.get(value)
    if (known === undefined) uses.set(value, [use])
    else known.push(use)
  }
  const visit = (block: Block): void => {
    for (const node of block.nodes) {
      if (node.action.kind === 'CREATE_OBJECT') created.push({ node, block })
      for (const input of node.inputs) add(input, { block, node })
      node.blocks.forEach(visit)
    }
    for (const result of block.results) add(result, { block, node: null })
  }
  if (!holdsObjects(body)) return
  visit(body)
  const gone = new Set<Node>()
  for (const { node, block } of created) dissolve(node, block, uses, gone)
  for (const block of new Set(created.map(({ block }) => block))) {
    const kept = block.nodes.filter((node) => !gone.has(node))
    block.nodes.length = 0
    for (const node of kept) block.nodes.push(node)
  }
}

function holdsObjects({ nodes }: Block): boolean {
  return nodes.some(({ action, blocks }) => action.kind === 'CREATE_OBJECT' || blocks.some(holdsObjects))
}

function dissolve(made: Node, block: Block, uses: Map<Value, Use[]>, gone: Set<Node>): void {
  const [object] = made.outputs as [Value]
  const own = uses.get(object) ?? []
  if (!own.every((use) => use.block === block && accesses(use.node, object))) return
  // in the order of the code
  const nodes = own.map(({ node }) => node!)
  // an attribute that is read before it is set ends in an error when it runs
  const set = new Set<number>()
  for (const { action } of nodes) {
    if (action.kind === 'SET_ATTR') set.add(action.slot)
    else if (action.kind === 'GET_ATTR' && !set.has(action.slot)) return
  }
  const values = new Map<number, Value>()
  for (const { action, inputs, outputs } of nodes) {
    if (action.kind === 'SET_ATTR') values.set(action.slot, inputs[1]!)
    else if (action.kind === 'GET_ATTR') replace(outputs[0]!, values.get(action.slot)!, uses)
  }
  for (const node of [made, ...nodes]) gone.add(node)
}

/** True where a node reads or sets an attribute of the object, and does not keep the object itself. */
function accesses(node: Node | null, object: Value): boolean {
  return (node?.action.kind === 'GET_ATTR' || node?.action.kind === 'SET_ATTR') && node.inputs[1] !== object
}

function replace(value: Value, by: Value, uses: Map<Value, Use[]>): void {
  const moved = uses.get(value) ?? []
  for (const { block, node } of moved) {
    const values = node === null ? block.results : node.inputs
    values.forEach((one, i) => (values[i] = one === value ? by : one))
  }
  uses.delete(value)
  const known = uses.get(by)
  if (known === undefined) uses.set(by, moved)
  else for (const use of moved) known.push(use)
}
