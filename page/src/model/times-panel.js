import { bar, h, terms } from '../dom.js'
import { counted, formatBytes, formatTime } from '../format.js'
import { errorNotice, note } from '../notice.js'
import { table } from '../table.js'
import { argumentsOf } from './measured-arguments.js'
import { placeKey } from './state.js'

/** Times of operators, as the interpreter calls them, and of kernels, as the plan does. */
export function timesPanel(state) {
  if (state.refusal !== null) return note(state.refusal)
  const output = h('div', { 'aria-live': 'polite' })
  const button = h('button', { type: 'button', class: 'primary', onclick: () => void measure() }, 'Measure')
  const by = h(
    'p',
    { class: 'quiet' },
    'Calls the method some times, on the input of the last run where there was one, and takes the middle of each operator’s times.',
  )

  async function measure() {
    button.disabled = true
    output.replaceChildren(h('p', { class: 'quiet' }, 'Measuring'))
    try {
      const { args, source } = await argumentsOf(state)
      const found = await state.call('profile', { method: state.method, args })
      state.times = totals(found.operators)
      state.sizes = new Map(found.sizes.map(({ place, results }) => [placeKey(place), results]))
      state.tell('measured')
      output.replaceChildren(view(found, source))
    } catch (error) {
      output.replaceChildren(errorNotice('It cannot be measured', error))
    } finally {
      button.disabled = false
      void state.context.showMemory()
    }
  }

  function view({ operators, kernels, reason, milliseconds }, source) {
    const sum = (rows) => rows.reduce((all, { microseconds }) => all + microseconds, 0)
    const views = [
      terms([
        ['A call', formatTime(milliseconds)],
        ['Operators', `${formatTime(sum(operators) / 1000)} in ${counted(operators.length, 'call')}`],
        kernels === null ? ['Plan', 'none'] : ['Kernels', `${formatTime(sum(kernels) / 1000)} in ${counted(kernels.length, 'call')}`],
        ['Input', source],
      ]),
      h('p', {}, h('button', { type: 'button', class: 'inline', onclick: () => state.goTo('graph') }, 'Show the times in the graph')),
    ]
    if (kernels === null) views.push(note(`There is no plan: ${reason}`))
    else
      views.push(
        h('h2', {}, 'Kernels'),
        timesTable(
          kernels,
          'Times of kernels',
          'kernel call',
          ({ name, label }) => [h('code', {}, name), label === null ? '' : h('span', { class: 'quiet' }, ` ${label.split(' = ').at(-1)}`)],
          [
            {
              name: 'Memory',
              number: true,
              most: true,
              cell: ({ work }) => formatBytes(work?.bytes ?? 0),
              sort: ({ work }) => work?.bytes ?? 0,
            },
            {
              name: 'GFLOP/s',
              number: true,
              most: true,
              cell: (row) => rate(row),
              sort: (row) => (row.work?.flops ?? 0) / (row.microseconds || Infinity),
            },
          ],
        ),
      )
    views.push(
      h('h2', {}, 'Operators, interpreted'),
      timesTable(operators, 'Times of operators', 'operator call', ({ name, place }) => [h('code', {}, name), sizeOf(place)]),
    )
    return h('div', {}, ...views)
  }

  function sizeOf(place) {
    const [size] = state.sizes.get(placeKey(place)) ?? []
    return size === undefined ? '' : h('span', { class: 'quiet' }, ` ${size}`)
  }

  return h('div', {}, h('div', { class: 'row' }, button, by), output)
}

function timesTable(rows, caption, what, name, more = []) {
  const all = rows.reduce((sum, { microseconds }) => sum + microseconds, 0) || 1
  const most = Math.max(...rows.map(({ microseconds }) => microseconds), 1e-9)
  const numbered = rows.map((row, i) => ({ ...row, i }))
  const time = {
    name: 'Time',
    number: true,
    most: true,
    cell: ({ microseconds }) => formatTime(microseconds / 1000),
    sort: ({ microseconds }) => microseconds,
  }
  return table({
    rows: numbered,
    columns: [
      { name: 'Step', number: true, cell: ({ i }) => i + 1, sort: ({ i }) => i },
      { name: 'Name', cell: name, sort: (row) => row.name },
      time,
      { name: 'Share', number: true, cell: ({ microseconds }) => `${((100 * microseconds) / all).toFixed(1)} %` },
      { name: '', cell: ({ microseconds }) => bar(microseconds / most) },
      ...more,
    ],
    textOf: (row) => `${row.name} ${row.label ?? ''}`,
    caption,
    search: `Search ${what}s`,
    sorted: time,
    what,
  })
}

function rate({ work, microseconds }) {
  return !work?.flops || !microseconds ? '' : (work.flops / microseconds / 1000).toPrecision(3)
}

/** Microseconds by instruction; those of a loop come more than once. */
function totals(operators) {
  const times = new Map()
  for (const { place, microseconds } of operators) {
    const key = placeKey(place)
    if (key !== null) times.set(key, (times.get(key) ?? 0) + microseconds)
  }
  return times
}
