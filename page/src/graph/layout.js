/**
 * A layered drawing of a graph whose nodes are in the order in which they run: each node stands below those that it takes from. Long edges pass through
 * places of their own in the layers between, nodes of a layer are ordered by where their neighbours stand, and then moved towards these.
 */

/** Places of long edges beyond which they go straight, as ordering them would take too long. */
const MAX_PLACES = 20_000
const ROUNDS = 4

/**
 * `nodes`: { width, height, from } with the numbers of other nodes in `from`; edges back, of loops, are drawn and have no say in the order. Returns places of the
 * nodes' centres, edges as lists of points, and the size of it all.
 */
export function layout(nodes, { gapX = 28, gapY = 44 } = {}) {
  const edges = nodes.flatMap(({ from }, to) =>
    [...new Set(from)].filter((at) => at !== to).map((at) => ({ from: at, to, isBack: at > to })),
  )
  const layerOf = layersOf(nodes.length, edges)
  const items = nodes.map(({ width }, i) => ({ width, layer: layerOf[i], up: [], down: [], x: 0 }))
  const chains = chainsOf(edges, layerOf, items)
  const layers = []
  for (const [i, { layer }] of items.entries()) (layers[layer] ??= []).push(i)
  order(layers, items)
  place(layers, items, gapX)
  const heights = layers.map((layer) => Math.max(...layer.map((i) => nodes[i]?.height ?? 0)))
  const tops = []
  heights.reduce((top, height, i) => (tops[i] = top) + height + gapY, 0)
  const middle = (layer) => tops[layer] + heights[layer] / 2
  const left = Math.min(0, ...items.map(({ x, width }) => x - width / 2))
  const places = nodes.map((_, i) => ({ x: items[i].x - left, y: middle(layerOf[i]) }))
  const drawn = edges.map((edge, e) => {
    const { from, to, isBack } = edge
    const [start, end] = [places[from], places[to]]
    const between = chains[e].map((i) => ({ x: items[i].x - left, y: middle(items[i].layer) }))
    const points = [{ x: start.x, y: start.y + nodes[from].height / 2 }, ...between, { x: end.x, y: end.y - nodes[to].height / 2 }]
    return { from, to, isBack, points }
  })
  const width = Math.max(0, ...items.map(({ x, width }) => x - left + width / 2))
  return { places, edges: drawn, width, height: (tops.at(-1) ?? 0) + (heights.at(-1) ?? 0) }
}

/** The layer of each node: below all that it takes from. What takes from nothing stands right above the first that takes from it. */
function layersOf(count, edges) {
  const layers = new Int32Array(count)
  const forward = edges.filter(({ isBack }) => !isBack)
  // in the order of `to`, so that one walk finds the longest ways
  for (const { from, to } of forward) layers[to] = Math.max(layers[to], layers[from] + 1)
  const takes = new Uint8Array(count)
  const nearest = new Int32Array(count).fill(-1)
  for (const { from, to } of forward) {
    takes[to] = 1
    if (nearest[from] < 0 || layers[to] < nearest[from]) nearest[from] = layers[to]
  }
  for (let i = 0; i < count; i++) if (takes[i] === 0 && nearest[i] > 0) layers[i] = nearest[i] - 1
  return layers
}

/** Links neighbours of adjacent layers; edges that cross layers get a place in each. Returns the places of each edge. */
function chainsOf(edges, layerOf, items) {
  const needed = edges.reduce((sum, { from, to, isBack }) => sum + (isBack ? 0 : layerOf[to] - layerOf[from] - 1), 0)
  const passes = needed <= MAX_PLACES
  const link = (above, below) => {
    items[above].down.push(below)
    items[below].up.push(above)
  }
  return edges.map(({ from, to, isBack }) => {
    if (isBack) return []
    const chain = []
    let last = from
    for (let layer = layerOf[from] + 1; passes && layer < layerOf[to]; layer++) {
      items.push({ width: 8, layer, up: [], down: [], x: 0 })
      chain.push(items.length - 1)
      link(last, items.length - 1)
      last = items.length - 1
    }
    if (layerOf[to] > layerOf[from]) link(last, to)
    return chain
  })
}

/** Sorts each layer by the middle of the neighbours in the layer before, down and up again. */
function order(layers, items) {
  const positions = new Float64Array(items.length)
  const number = (layer) => layer.forEach((item, i) => (positions[item] = i))
  layers.forEach(number)
  const sort = (layer, side) => {
    const keys = new Map(layer.map((item) => [item, mean(items[item][side], positions) ?? positions[item]]))
    layer.sort((a, b) => keys.get(a) - keys.get(b))
    number(layer)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const layer of layers) sort(layer, 'up')
    for (const layer of [...layers].reverse()) sort(layer, 'down')
  }
}

function mean(list, positions) {
  if (list.length === 0) return null
  let sum = 0
  for (const item of list) sum += positions[item]
  return sum / list.length
}

/** Gives items of each layer places beside each other, as near as may be to the middle of their neighbours. */
function place(layers, items, gap) {
  for (const layer of layers) {
    let x = 0
    for (const i of layer) {
      items[i].x = x + items[i].width / 2
      x += items[i].width + gap
    }
    const middle = (x - gap) / 2
    for (const i of layer) items[i].x -= middle
  }
  const xOf = (list) => (list.length === 0 ? null : list.reduce((sum, i) => sum + items[i].x, 0) / list.length)
  const move = (layer, side) =>
    settle(
      layer.map((i) => ({ item: items[i], wanted: xOf(items[i][side]) ?? items[i].x })),
      gap,
    )
  for (let round = 0; round < ROUNDS; round++) {
    for (const layer of layers) move(layer, 'up')
    for (const layer of [...layers].reverse()) move(layer, 'down')
  }
  for (const layer of layers) move(layer, 'up')
}

/**
 * The places nearest to those that are wanted, in the sum of squares, with room between: items that would overlap become a block, which stands where its items want to
 * be on average (isotonic regression by pooling neighbours).
 */
function settle(row, gap) {
  let offset = 0
  const blocks = []
  for (const { item, wanted } of row) {
    const start = offset + item.width / 2
    offset += item.width + gap
    let block = { sum: wanted - start, count: 1 }
    while (blocks.length > 0 && blocks.at(-1).sum / blocks.at(-1).count > block.sum / block.count) {
      const before = blocks.pop()
      block = { sum: before.sum + block.sum, count: before.count + block.count }
    }
    blocks.push(block)
  }
  let at = 0
  offset = 0
  for (const { sum, count } of blocks)
    for (let i = 0; i < count; i++) {
      const { item } = row[at++]
      item.x = sum / count + offset + item.width / 2
      offset += item.width + gap
    }
}
