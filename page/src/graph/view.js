import { h, s } from '../dom.js'
import { shortName } from '../format.js'
import { layout } from './layout.js'

const CHARACTER = 7.3
const HEIGHT = 46
const PADDING = 14
const LONGEST = 26
/** Of what is drawn beyond the edges of the view, so that moving a little shows no gaps. */
const MARGIN = 200
const LEAST_SCALE = 0.02
const MAX_SCALE = 2.5

/** A graph that can be moved, scaled and walked through. What is not in view is not in the document, so that its size does not matter. */
export class GraphView {
  #svg = s('svg', {
    class: 'graph',
    tabindex: '0',
    role: 'application',
    'aria-roledescription': 'graph',
    'aria-label': 'Graph of the model',
  })
  #content = s('g')
  #edgeLayer = s('g', { class: 'edges' })
  #nodeLayer = s('g', { class: 'nodes' })
  #live = h('p', { class: 'visually-hidden', 'aria-live': 'polite' })
  #kept = []
  #laid = { places: [], edges: [], width: 0, height: 0 }
  #uses = []
  #shown = new Map()
  #view = { x: 0, y: 0, scale: 1 }
  #selected = -1
  #found = new Set()
  #heat = null
  #pointers = new Map()
  #frame = 0
  #select
  element

  /** `select` is told the number of the node that was chosen, -1 for none. */
  constructor(select) {
    this.#select = select
    this.#content.append(this.#edgeLayer, this.#nodeLayer)
    const arrow = s(
      'marker',
      { id: 'arrow', viewBox: '0 0 8 8', refX: '7', refY: '4', markerWidth: '7', markerHeight: '7', orient: 'auto' },
      s('path', { d: 'M0 0 8 4 0 8Z' }),
    )
    this.#svg.append(s('defs', {}, arrow), this.#content)
    this.element = h('div', { class: 'graph-frame' }, this.#svg, this.#live)
    this.#listen()
    new ResizeObserver(() => this.#later()).observe(this.#svg)
  }

  /** `kept`: { node, from }, as keepNodes gives them. */
  show(kept) {
    this.#kept = kept
    this.#laid = layout(kept.map(({ node, from }) => ({ width: widthOf(node), height: HEIGHT, from })))
    this.#uses = kept.map(() => [])
    for (const [to, { from }] of kept.entries()) for (const at of from) this.#uses[at].push(to)
    this.#selected = -1
    this.#found = new Set()
    this.#redraw()
    this.fit()
  }

  /** Shares of the time of the nodes, by number; null for none. */
  colour(heat) {
    this.#heat = heat
    this.#redraw()
  }

  mark(found) {
    this.#found = new Set(found)
    this.#redraw()
  }

  /** The whole graph, or its beginning where that would be too small to read. */
  fit(whole = false) {
    const { width, height } = this.#size()
    if (width === 0) return
    const both = Math.min((width - 48) / (this.#laid.width || 1), (height - 48) / (this.#laid.height || 1), 1)
    const scale = whole ? Math.max(both, LEAST_SCALE) : Math.max(both, Math.min(0.8, Math.max((width - 48) / (this.#laid.width || 1), 0.5)))
    const first = this.#laid.places[0]?.x ?? 0
    const middle = this.#laid.width * scale <= width ? this.#laid.width / 2 : first
    this.#view = { scale, x: width / 2 - middle * scale, y: scale === both ? (height - this.#laid.height * scale) / 2 : 24 }
    this.#later()
  }

  zoom(factor, at = null) {
    const { width, height } = this.#size()
    const { x, y } = at ?? { x: width / 2, y: height / 2 }
    const scale = Math.min(MAX_SCALE, Math.max(LEAST_SCALE, this.#view.scale * factor))
    const by = scale / this.#view.scale
    this.#view = { scale, x: x - (x - this.#view.x) * by, y: y - (y - this.#view.y) * by }
    this.#later()
  }

  /** Selects a node, and brings it into view. */
  select(number, { centre = true } = {}) {
    this.#selected = number
    if (centre && number >= 0) {
      const { x, y } = this.#laid.places[number]
      const { width, height } = this.#size()
      const scale = Math.max(this.#view.scale, 0.7)
      this.#view = { scale, x: width / 2 - x * scale, y: height / 2 - y * scale }
    }
    if (number >= 0) {
      const { node } = this.#kept[number]
      this.#live.textContent = `${node.name}${node.missing ? ', missing' : ''}, step ${number + 1} of ${this.#kept.length}`
    }
    this.#redraw()
    this.#select(number)
  }

  get selected() {
    return this.#selected
  }

  #size() {
    return { width: this.#svg.clientWidth, height: this.#svg.clientHeight }
  }

  #redraw() {
    this.#nodeLayer.replaceChildren()
    this.#edgeLayer.replaceChildren()
    this.#shown.clear()
    this.#later()
  }

  #later() {
    cancelAnimationFrame(this.#frame)
    this.#frame = requestAnimationFrame(() => this.#draw())
  }

  /** Brings what is in view into the document, and takes the rest out. */
  #draw() {
    const { width, height } = this.#size()
    const { x, y, scale } = this.#view
    this.#content.setAttribute('transform', `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)})`)
    this.#svg.classList.toggle('far', scale < 0.35)
    const margin = MARGIN / scale
    const box = {
      left: -x / scale - margin,
      right: (width - x) / scale + margin,
      top: -y / scale - margin,
      bottom: (height - y) / scale + margin,
    }
    const wanted = new Map()
    for (const [i, place] of this.#laid.places.entries())
      if (place.x > box.left && place.x < box.right && place.y > box.top && place.y < box.bottom) wanted.set(`n${i}`, () => this.#node(i))
    for (const [e, { points }] of this.#laid.edges.entries()) if (touches(points, box)) wanted.set(`e${e}`, () => this.#edge(e))
    for (const [key, element] of this.#shown)
      if (!wanted.has(key)) {
        element.remove()
        this.#shown.delete(key)
      }
    for (const [key, make] of wanted) {
      if (this.#shown.has(key)) continue
      const element = make()
      this.#shown.set(key, element)
      ;(key[0] === 'n' ? this.#nodeLayer : this.#edgeLayer).append(element)
    }
  }

  #node(i) {
    const { node } = this.#kept[i]
    const { x, y } = this.#laid.places[i]
    const width = widthOf(node)
    const classes = ['node', node.kind, familyOf(node)]
    if (node.missing) classes.push('missing')
    if (i === this.#selected) classes.push('selected')
    if (this.#found.has(i)) classes.push('found')
    else if (this.#found.size > 0) classes.push('faded')
    const rect = s('rect', { x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT, rx: node.kind === 'operator' ? 7 : HEIGHT / 2 })
    const group = s(
      'g',
      { class: classes.join(' '), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, 'data-node': i },
      rect,
      s('text', { y: -3 }, clipped(shortName(node.name))),
      s('text', { class: 'detail', y: 13 }, clipped(detailOf(node))),
    )
    const share = this.#heat?.get(i)
    if (share !== undefined) {
      const heat = s('rect', {
        class: 'heat',
        x: -width / 2 + 6,
        y: HEIGHT / 2 - 6,
        width: Math.max(2, (width - 12) * share),
        height: 3,
        rx: 1.5,
      })
      group.append(heat)
    }
    return group
  }

  #edge(e) {
    const { points, from, to, isBack } = this.#laid.edges[e]
    const isNear = from === this.#selected || to === this.#selected
    const d = isBack ? aroundPath(points) : curve(points)
    return s('path', { class: `edge${isNear ? ' near' : ''}${isBack ? ' back' : ''}`, d, 'marker-end': 'url(#arrow)' })
  }

  #listen() {
    const svg = this.#svg
    const placeOf = ({ clientX, clientY }) => {
      const { left, top } = svg.getBoundingClientRect()
      return { x: clientX - left, y: clientY - top }
    }
    let moved = 0
    svg.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault()
        if (event.ctrlKey || event.metaKey || !(event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)))
          this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), placeOf(event))
        else this.#move(-(event.deltaX || event.deltaY), 0)
      },
      { passive: false },
    )
    svg.addEventListener('pointerdown', (event) => {
      moved = 0
      svg.setPointerCapture(event.pointerId)
      this.#pointers.set(event.pointerId, placeOf(event))
    })
    svg.addEventListener('pointermove', (event) => {
      const before = this.#pointers.get(event.pointerId)
      if (before === undefined) return
      const now = placeOf(event)
      const others = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place)
      this.#pointers.set(event.pointerId, now)
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y)
      if (others.length === 0) this.#move(now.x - before.x, now.y - before.y)
      else {
        const [other] = others
        this.zoom(distance(now, other) / (distance(before, other) || 1), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 })
      }
    })
    for (const name of ['pointerup', 'pointercancel'])
      svg.addEventListener(name, (event) => {
        if (!this.#pointers.delete(event.pointerId) || name !== 'pointerup' || moved > 6) return
        const { x, y } = placeOf(event)
        this.select(this.#at((x - this.#view.x) / this.#view.scale, (y - this.#view.y) / this.#view.scale), { centre: false })
      })
    svg.addEventListener('keydown', (event) => this.#key(event))
  }

  #at(x, y) {
    return this.#laid.places.findIndex(
      (place, i) => Math.abs(place.x - x) <= widthOf(this.#kept[i].node) / 2 && Math.abs(place.y - y) <= HEIGHT / 2,
    )
  }

  #move(x, y) {
    this.#view = { ...this.#view, x: this.#view.x + x, y: this.#view.y + y }
    this.#later()
  }

  #key(event) {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event
    if (ctrlKey || metaKey || altKey || this.#kept.length === 0) return
    const keys = {
      ArrowDown: () => this.#step('down'),
      ArrowUp: () => this.#step('up'),
      ArrowRight: () => this.#step('right'),
      ArrowLeft: () => this.#step('left'),
      Home: () => this.select(0),
      End: () => this.select(this.#kept.length - 1),
      '+': () => this.zoom(1.25),
      '=': () => this.zoom(1.25),
      '-': () => this.zoom(0.8),
      0: () => this.fit(true),
      Escape: () => this.select(-1),
    }
    const moves = { ArrowDown: [0, -60], ArrowUp: [0, 60], ArrowRight: [-60, 0], ArrowLeft: [60, 0] }
    const act = shiftKey && key in moves ? () => this.#move(...moves[key]) : keys[key]
    if (act === undefined) return
    event.preventDefault()
    act()
  }

  /** Down to what takes from the selected node, up to what it takes from, or to its neighbours in the drawing. */
  #step(way) {
    if (this.#selected < 0) {
      this.select(0)
      return
    }
    const here = this.#laid.places[this.#selected]
    const nearest = (list) => list.sort((a, b) => Math.abs(this.#laid.places[a].x - here.x) - Math.abs(this.#laid.places[b].x - here.x))[0]
    const beside = () => {
      const sign = way === 'right' ? 1 : -1
      const row = this.#laid.places.flatMap(({ x, y }, i) => (y === here.y && sign * (x - here.x) > 0 ? [i] : []))
      return nearest(row)
    }
    const to =
      way === 'down' ? nearest([...this.#uses[this.#selected]]) : way === 'up' ? nearest([...this.#kept[this.#selected].from]) : beside()
    if (to !== undefined) this.select(to)
  }
}

function clipped(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}

function widthOf(node) {
  const longest = Math.max(clipped(shortName(node.name)).length, clipped(detailOf(node)).length * 0.86)
  return Math.max(76, longest * CHARACTER + 2 * PADDING)
}

/** The second line of a node: the size of what it gives, else what it belongs to. */
function detailOf({ results, parameters, kind }) {
  const sized = results.find((type) => /\[\w/.test(type) && !/^List/.test(type))
  if (sized !== undefined) return sized
  const [parameter] = parameters
  if (parameter !== undefined) return parameter.replace(/\.(weight|bias|_packed_params|running_mean|running_var)$/, '')
  return kind === 'operator' ? results.join(', ') : kind === 'input' ? (results[0] ?? '') : kind === 'output' ? 'result' : kind
}

/** What an operator is about, for its colour. */
function familyOf({ name, kind }) {
  if (kind !== 'operator') return 'other'
  if (/conv|linear|matmul|addmm|\bmm\b|bmm|einsum|lstm|gru|rnn|embedding|attention/.test(name)) return 'weights'
  if (/norm|pool|mean|sum|max|min\b/.test(name)) return 'reducing'
  if (/relu|sigmoid|tanh|gelu|silu|hardtanh|hardswish|softmax|elu/.test(name)) return 'activation'
  return 'plain'
}

function curve(points) {
  let d = `M${points[0].x.toFixed(1)} ${points[0].y.toFixed(1)}`
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]]
    const middle = ((a.y + b.y) / 2).toFixed(1)
    d += `C${a.x.toFixed(1)} ${middle} ${b.x.toFixed(1)} ${middle} ${b.x.toFixed(1)} ${b.y.toFixed(1)}`
  }
  return d
}

/** Of a loop: from below what ends a round, around the side, to above what begins the next. */
function aroundPath([start, end]) {
  const side = Math.max(start.x, end.x) + 140
  return `M${start.x} ${start.y}C${side} ${start.y + 40} ${side} ${end.y - 40} ${end.x} ${end.y}`
}

function touches(points, box) {
  const [first, last] = [points[0], points.at(-1)]
  if (Math.min(first.y, last.y) > box.bottom || Math.max(first.y, last.y) < box.top) return false
  return points.some(({ x }) => x > box.left) && points.some(({ x }) => x < box.right)
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
