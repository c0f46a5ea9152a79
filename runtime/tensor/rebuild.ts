/** How containers of one kind become those of another. `I` and `O` are values of the two sides, containers among them. */
export interface Rebuilding<I, O> {
  /** What a value holds; null for one that holds nothing. Asked once for each object. */
  itemsOf(value: I): readonly I[] | null
  /** What a value that holds nothing becomes. */
  leaf(value: I): I | O
  /** Whether a container becomes another one whatever it holds. Others stay what they are unless something in them changes. */
  isForeign(container: I): boolean
  /** A new container, which `fill` is called for later. */
  shell(container: I): O
  fill(shell: O, items: readonly O[], container: I): void
  /** Called with a container that is in itself, where that is not allowed. */
  refuseCycle?(container: I): never
}

/** A container that was found. */
class Node<I, O> {
  readonly holders: Node<I, O>[] = []
  result: I | O

  constructor(
    readonly value: I,
    /** What its items become; of those that are containers, their nodes. */
    readonly items: (I | O | Node<I, O>)[],
    public changes: boolean,
  ) {
    this.result = value
  }
}

/**
 * The form of a value that `how` describes. Every object is looked at once, and no depth is too great: what is shared stays shared, what is in
 * itself becomes something that is, and what needs no change stays the same object.
 */
export function rebuild<I, O>(root: I, how: Rebuilding<I, O>): I | O {
  const held = how.itemsOf(root)
  if (held === null) return how.leaf(root)
  const nodes = discover(root, held, how)
  if (how.refuseCycle !== undefined) checkAcyclic(nodes, how.refuseCycle.bind(how))
  const pending = nodes.filter((node) => node.changes)
  while (pending.length > 0) {
    for (const holder of pending.pop()!.holders) {
      if (!holder.changes) pending.push(holder)
      holder.changes = true
    }
  }
  for (const node of nodes) if (node.changes) node.result = how.shell(node.value)
  for (const { changes, value, items, result } of nodes) {
    if (!changes) continue
    const made = items.map((item) => (item instanceof Node ? (item as Node<I, O>).result : item))
    how.fill(result as O, made as O[], value)
  }
  return nodes[0]!.result
}

function discover<I, O>(root: I, held: readonly I[], how: Rebuilding<I, O>): Node<I, O>[] {
  const known = new Map<I, Node<I, O>>()
  const nodes: Node<I, O>[] = []
  const contents: (readonly I[])[] = []
  const add = (value: I, items: readonly I[]): Node<I, O> => {
    const node = new Node<I, O>(value, [], how.isForeign(value))
    known.set(value, node)
    nodes.push(node)
    contents.push(items)
    return node
  }
  add(root, held)
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!
    for (const item of contents[i]!) {
      let inner = known.get(item)
      if (inner === undefined) {
        const items = how.itemsOf(item)
        if (items === null) {
          const leaf = how.leaf(item)
          if (!Object.is(leaf, item)) node.changes = true
          node.items.push(leaf)
          continue
        }
        inner = add(item, items)
      }
      inner.holders.push(node)
      node.items.push(inner)
    }
    contents[i] = []
  }
  return nodes
}

/** Takes away, one after the other, containers of which nothing inside is left: what then remains is in itself. */
function checkAcyclic<I, O>(nodes: readonly Node<I, O>[], refuse: (container: I) => never): void {
  const inside = new Map<Node<I, O>, number>()
  for (const { holders } of nodes) for (const holder of holders) inside.set(holder, (inside.get(holder) ?? 0) + 1)
  const free: Node<I, O>[] = nodes.filter((node) => !inside.has(node))
  for (let i = 0; i < free.length; i++) {
    for (const holder of free[i]!.holders) {
      const left = inside.get(holder)! - 1
      inside.set(holder, left)
      if (left === 0) free.push(holder)
    }
  }
  if (free.length < nodes.length) refuse(nodes.find((node) => (inside.get(node) ?? 0) > 0)!.value)
}

/** A map whose keys are pairs. */
export class PairMap<A, B, T> {
  private rows: Map<A, Map<B, T>> | undefined

  get(a: A, b: B): T | undefined {
    return this.rows?.get(a)?.get(b)
  }

  /** Returns the value. */
  set(a: A, b: B, value: T): T {
    const rows = (this.rows ??= new Map<A, Map<B, T>>())
    let row = rows.get(a)
    if (row === undefined) rows.set(a, (row = new Map<B, T>()))
    row.set(b, value)
    return value
  }
}
