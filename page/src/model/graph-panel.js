import { h, soon, terms } from '../dom.js'
import { counted, formatTime } from '../format.js'
import { aboutTensors, findNodes, keepNodes } from '../graph/visible.js'
import { GraphView } from '../graph/view.js'
import { note } from '../notice.js'
import { placeKey } from './state.js'

export function graphPanel(state) {
  const { graphs } = state.report
  const detail = h('aside', { class: 'node-detail', 'aria-label': 'The chosen step' })
  const view = new GraphView((number) => showDetail(number))
  const count = h('p', { class: 'quiet', 'aria-live': 'polite' })
  const numbersToo = h('input', { type: 'checkbox', id: 'numbers-too', onchange: () => show() })
  const search = h('input', {
    type: 'search',
    class: 'search',
    placeholder: 'Search steps',
    'aria-label': 'Search steps by operator, attribute or source',
    oninput: soon(() => find()),
    onkeydown: (event) => {
      if (event.key !== 'Enter') return
      event.preventDefault()
      next(event.shiftKey ? -1 : 1)
    },
  })
  const chooser = h(
    'select',
    { 'aria-label': 'Function', onchange: () => show() },
    ...graphs.map((g, i) => h('option', { value: i }, g.method ?? g.function.replace(/^__torch__\./, ''))),
  )
  chooser.value = String(
    Math.max(
      0,
      graphs.findIndex(({ method }) => method === state.method),
    ),
  )
  let shown = { nodes: [], numbers: [] }
  let found = []
  let at = -1

  function show() {
    const { graph } = graphs[Number(chooser.value)]
    frame.hidden = graph === null
    lost.hidden = graph !== null
    if (graph === null) return
    const about = numbersToo.checked ? null : aboutTensors(graph.nodes)
    const { kept, numbers } = keepNodes(graph.nodes, (i) => about === null || about[i])
    shown = { nodes: kept.map(({ node }) => sized(node)), numbers }
    view.show(kept.map(({ from }, i) => ({ node: shown.nodes[i], from })))
    heat()
    find()
    showDetail(-1)
  }

  /** With the sizes that a run has shown. */
  function sized(node) {
    const results = state.sizes?.get(placeKey(node.place))
    return results === undefined ? node : { ...node, results }
  }

  function heat() {
    const times = state.times
    if (!times) return
    const most = Math.max(...times.values(), 1e-9)
    view.colour(
      new Map(shown.nodes.flatMap(({ place }, i) => (times.has(placeKey(place)) ? [[i, times.get(placeKey(place)) / most]] : []))),
    )
  }

  function find() {
    found = findNodes(shown.nodes, search.value)
    at = -1
    view.mark(found)
    count.textContent =
      search.value.trim() === ''
        ? counted(shown.nodes.length, 'step')
        : found.length === 0
          ? 'Nothing found'
          : `${found.length} of ${counted(shown.nodes.length, 'step')}`
    if (found.length > 0) next(1)
  }

  function next(step) {
    if (found.length === 0) return
    at = (at + step + found.length) % found.length
    view.select(found[at])
  }

  function showDetail(number) {
    const node = shown.nodes[number]
    if (node === undefined) {
      detail.replaceChildren(
        h(
          'p',
          { class: 'quiet' },
          'Choose a step to see its arguments. Drag to move, scroll to zoom; with the keyboard, arrow keys follow the edges, ',
          h('kbd', {}, '+'),
          ' and ',
          h('kbd', {}, '-'),
          ' zoom, ',
          h('kbd', {}, '0'),
          ' shows all.',
        ),
      )
      return
    }
    const time = state.times?.get(placeKey(node.place))
    const toHere = (i) => {
      const to = shown.numbers.indexOf(i)
      return to < 0 ? null : h('button', { type: 'button', class: 'inline', onclick: () => view.select(to) }, `%${i}`)
    }
    const graph = graphs[Number(chooser.value)].graph
    const argument = ({ name, text, from }) => [
      name || 'value',
      /^%\d+$/.test(text) && toHere(from[0]) !== null ? '' : h('code', {}, `${text} `),
      ...from.flatMap((i) => {
        const link = toHere(i)
        return link === null ? [] : [link, h('span', { class: 'quiet' }, ` ${graph.nodes[i].name} `)]
      }),
    ]
    const lines = [
      h('h3', {}, h('code', {}, node.name)),
      node.missing ? h('p', { class: 'bad' }, 'This build has no such operator') : null,
      h('p', { class: 'quiet' }, `%${shown.numbers[number]}, ${node.kind}`, time === undefined ? '' : ` · ${formatTime(time / 1000)}`),
      terms([...node.args.map(argument), node.results.length === 0 ? null : ['gives', h('code', {}, node.results.join(', '))]]),
      node.source === null ? null : h('p', { class: 'source code' }, node.source),
    ]
    detail.replaceChildren(...lines.filter((line) => line !== null))
  }

  const button = (label, text, act) =>
    h('button', { type: 'button', class: 'small square', 'aria-label': label, title: label, onclick: act }, text)
  const lost = note(
    'The code of this function cannot be drawn: it is too large, or calls operators that are not known and do not say how many arguments they take.',
  )
  const frame = h('div', { class: 'graph-columns' }, view.element, detail)
  const element = h(
    'div',
    { class: 'graph-panel' },
    h(
      'div',
      { class: 'row tools' },
      graphs.length > 1 ? chooser : null,
      search,
      h(
        'span',
        { class: 'row' },
        button('Previous', '↑', () => next(-1)),
        button('Next', '↓', () => next(1)),
      ),
      h('label', { class: 'check', for: 'numbers-too' }, numbersToo, 'arithmetic on numbers, too'),
      h('span', { class: 'grow' }),
      count,
      h(
        'span',
        { class: 'row' },
        button('Smaller', '−', () => view.zoom(0.8)),
        button('Larger', '+', () => view.zoom(1.25)),
        button('Show all', '⤢', () => view.fit(true)),
      ),
    ),
    frame,
    lost,
  )
  state.on('measured', () => {
    const chosen = view.selected
    show()
    if (chosen >= 0) view.select(chosen)
  })
  show()
  requestAnimationFrame(() => view.fit())
  return element
}
