/** A node of the tree that rollup's parser makes (ESTree), of any kind. */
export type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

/** The nodes directly below a node, in the order of the source. */
export function forEachChild(node: Node, visit: (child: Node) => void): void {
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (typeof child === 'object' && child !== null && typeof (child as Node).type === 'string') visit(child as Node)
    }
  }
}
