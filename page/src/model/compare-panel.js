import { h, terms } from '../dom.js'
import { counted, formatBytes, formatCount, formatNumber, formatTime } from '../format.js'
import { errorNotice, note } from '../notice.js'
import { table } from '../table.js'
import { tensorText } from './arguments.js'
import { argumentsOf } from './measured-arguments.js'
import { readWithProgress } from './read-file.js'

/** Where the other model lives in the engine. */
const OTHER = 'other'

/** Another model beside the open one: what is in both files, and what they give for the same input. */
export function comparePanel(state, name) {
  const output = h('div', { 'aria-live': 'polite' })
  const file = h('input', { type: 'file', id: 'other-file', onchange: () => void open(file.files[0]) })

  async function open(source) {
    if (source === undefined) return
    output.replaceChildren(h('p', { class: 'quiet' }, `Reading ${source.name}`))
    try {
      const bytes = await readWithProgress(source, new AbortController().signal, () => {})
      const report = await state.context.engine.call('open', OTHER, { bytes }, [bytes])
      output.replaceChildren(view(source.name, report))
    } catch (error) {
      output.replaceChildren(errorNotice(`${source.name} cannot be opened`, error))
    } finally {
      void state.context.showMemory()
    }
  }

  function view(otherName, other) {
    const { report } = state
    const results = h('div', { 'aria-live': 'polite' })
    const refusal = refusalOf(state, other)
    const button = h('button', { type: 'button', class: 'primary', onclick: () => void runBoth() }, 'Run both')

    async function runBoth() {
      button.disabled = true
      results.replaceChildren(h('p', { class: 'quiet' }, 'Running'))
      try {
        const { args, source } = await argumentsOf(state)
        results.replaceChildren(resultsView(await state.call('compare', { other: OTHER, method: state.method, args }), source))
      } catch (error) {
        results.replaceChildren(errorNotice('They cannot be run on the same input', error))
      } finally {
        button.disabled = false
        void state.context.showMemory()
      }
    }

    function resultsView({ times, outputs, isAlike }, source) {
      return h(
        'div',
        {},
        terms([
          [name, formatTime(times[0])],
          [otherName, formatTime(times[1])],
          ['Input', source],
        ]),
        isAlike ? null : note('They give different numbers of tensors.'),
        ...outputs.map(({ dtype, shape, other, most, relative }, i) =>
          terms([
            [outputs.length === 1 ? 'Result' : `Result ${i}`, tensorText({ dtype, shape })],
            most === null
              ? ['In the other', other === null ? 'none' : tensorText(other)]
              : ['Furthest apart', `${formatNumber(most)}, ${formatNumber(relative)} of the largest`],
          ]),
        ),
      )
    }

    return h(
      'div',
      {},
      facts([name, report], [otherName, other]),
      h('h2', {}, 'Results'),
      refusal === null ? h('div', { class: 'row' }, button) : note(refusal),
      results,
      h('h2', {}, 'Operators'),
      side(operatorsOf(report), operatorsOf(other), [name, otherName], 'operator', 'Functions that call each operator', (count) =>
        count === undefined ? '–' : String(count),
      ),
      h('h2', {}, 'Parameters'),
      side(parametersOf(report), parametersOf(other), [name, otherName], 'tensor', 'Parameters of both', (text) => text ?? '–'),
    )
  }

  return h('div', {}, h('label', { class: 'field', for: file.id }, h('span', {}, `A model to put beside ${name}`), file), output)
}

function refusalOf({ refusal, method }, other) {
  if (refusal !== null) return refusal
  if (other.missing.length > 0) return `The other needs operators that are missing in this build: ${other.missing.slice(0, 5).join(', ')}`
  return other.methods.some((each) => each.name === method) ? null : `The other has no method ${method}`
}

function facts(...models) {
  const weights = ({ parameters }) => parameters.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0)
  const rows = [
    ['Format', ({ container, format }) => `${container} (${format})`],
    ['Size', ({ bytes }) => formatBytes(bytes)],
    ['Weights', (report) => `${formatCount(weights(report))} in ${counted(report.parameters.length, 'tensor')}`],
    ['Methods', ({ methods }) => methods.map(({ name }) => name).join(', ')],
    ['Operators', ({ operators, missing }) => `${operators.length}${missing.length > 0 ? `, ${missing.length} missing` : ''}`],
  ]
  return h(
    'table',
    { class: 'side' },
    h('caption', { class: 'visually-hidden' }, 'Both files'),
    h('thead', {}, h('tr', {}, h('td', {}), ...models.map(([name]) => h('th', { scope: 'col' }, name)))),
    h(
      'tbody',
      {},
      ...rows.map(([title, cell]) =>
        h('tr', {}, h('th', { scope: 'row' }, title), ...models.map(([, report]) => h('td', {}, cell(report)))),
      ),
    ),
  )
}

function operatorsOf({ operators }) {
  return new Map(operators.map(({ name, functions }) => [name, functions]))
}

function parametersOf({ parameters }) {
  return new Map(parameters.map(({ name, dtype, shape }) => [name, tensorText({ dtype, shape })]))
}

/** What two models have by the same names; where they differ comes first. */
function side(ours, theirs, names, what, caption, textOf) {
  const rows = [...new Set([...ours.keys(), ...theirs.keys()])].map((name) => {
    const [one, other] = [ours.get(name), theirs.get(name)]
    return { name, one, other, kind: one === undefined ? 2 : other === undefined ? 1 : one === other ? 3 : 0 }
  })
  const kinds = ['differs', `in ${names[0]} alone`, `in ${names[1]} alone`, 'the same']
  const kind = { name: 'Both', most: true, cell: (row) => kinds[row.kind], sort: (row) => -row.kind }
  return table({
    rows,
    columns: [
      { name: 'Name', cell: ({ name }) => h('code', {}, name), sort: ({ name }) => name },
      { name: names[0], cell: ({ one }) => textOf(one), sort: ({ one }) => textOf(one) },
      { name: names[1], cell: ({ other }) => textOf(other), sort: ({ other }) => textOf(other) },
      kind,
    ],
    textOf: (row) => `${row.name} ${kinds[row.kind]}`,
    caption,
    search: `Search ${what}s of both`,
    sorted: kind,
    what,
  })
}
