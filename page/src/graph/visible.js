const TENSOR = /Tensor|^(u?int\d+|b?float\d+|complex\d+|qu?int\d+)\[[\d,\s]*\]$|^bool\[\d/
/** Of values whose type depends on what goes in: elements of lists, and lists. */
const GENERIC = /^t(\[\])?$/

/** For each node whether it computes with tensors: the rest is arithmetic on sizes and what decides on branches. */
export function aboutTensors(nodes) {
  const about = []
  for (const { kind, results, args, missing } of nodes) {
    const takesLists = () => args.some(({ from }) => from.some((at) => about[at] && nodes[at].results.some((type) => /\[\]$/.test(type))))
    about.push(
      missing ||
        ['input', 'output', 'call', 'state'].includes(kind) ||
        (kind === 'operator' && results.some((type) => TENSOR.test(type) || (GENERIC.test(type) && takesLists()))),
    )
  }
  return about
}

/** The nodes that are kept, each with what it takes from these, through those that are not. `numbers` are those in the whole graph. */
export function keepNodes(nodes, keep) {
  const kept = []
  const numbers = []
  const places = new Map()
  const sources = []
  for (const [i, node] of nodes.entries()) {
    const from = new Set()
    for (const arg of node.args)
      for (const at of arg.from) {
        if (at >= i) continue
        if (places.has(at)) from.add(places.get(at))
        else for (const source of sources[at]) from.add(source)
      }
    // of what is left out only a few are passed on, or a long way of such nodes would collect all
    sources.push(new Set([...from].slice(0, 16)))
    if (!keep(i)) continue
    places.set(i, kept.length)
    kept.push({ node, from: [...from] })
    numbers.push(i)
  }
  return { kept, numbers }
}

/** Numbers of nodes whose name, attributes or source hold all words of a text. */
export function findNodes(nodes, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return nodes.flatMap(({ name, parameters, source, results }, i) => {
    const haystack = [name, ...parameters, ...results, source ?? ''].join(' ').toLowerCase()
    return words.every((word) => haystack.includes(word)) ? [i] : []
  })
}
