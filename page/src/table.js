import { h, soon } from './dom.js'
import { counted } from './format.js'

/** Rows that are in the document at first, and that each press of the button adds. */
const PAGE = 200

/** Rows that hold all words of `text`, in the order of a column. Rows are objects; `columns`: { key, sort }. */
export function arrange(rows, text, textOf, column, descending) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = words.length === 0 ? [...rows] : rows.filter((row) => words.every((word) => textOf(row).toLowerCase().includes(word)))
  if (column === null) return found
  const compare = (a, b) => {
    const [x, y] = [column.sort(a), column.sort(b)]
    return typeof x === 'string' ? x.localeCompare(y, undefined, { numeric: true }) : x - y
  }
  return found.sort((a, b) => (descending ? compare(b, a) : compare(a, b)))
}

/**
 * A table that can be searched and sorted. `columns`: { name, cell(row), sort(row), number, most }; `most`: it is sorted from the top at first.
 */
export function table({ rows, columns, textOf, caption, search, sorted = null, what = 'row' }) {
  const body = h('tbody')
  const count = h('p', { class: 'quiet', 'aria-live': 'polite' })
  const more = h('button', { type: 'button', class: 'small', onclick: () => fill(PAGE) }, 'Show more')
  let column = sorted
  let descending = sorted?.most === true
  let text = ''
  let found = []
  let shown = 0
  const fill = (amount) => {
    const next = found.slice(shown, shown + amount)
    body.append(
      ...next.map((row) => h('tr', {}, ...columns.map(({ cell, number }) => h('td', { class: number ? 'number' : null }, cell(row))))),
    )
    shown += next.length
    more.hidden = shown >= found.length
    count.textContent = found.length === rows.length ? counted(rows.length, what) : `${found.length} of ${counted(rows.length, what)}`
  }
  const renew = () => {
    found = arrange(rows, text, textOf, column, descending)
    shown = 0
    body.replaceChildren()
    fill(PAGE)
  }
  const heads = columns.map((c) => {
    const head = h('th', { scope: 'col', class: c.number ? 'number' : null })
    if (c.sort === undefined) head.append(c.name)
    else
      head.append(
        h(
          'button',
          {
            type: 'button',
            onclick: () => {
              descending = column === c ? !descending : c.most === true
              column = c
              mark()
              renew()
            },
          },
          c.name,
        ),
      )
    return head
  })
  const mark = () =>
    heads.forEach((head, i) =>
      columns[i] === column ? head.setAttribute('aria-sort', descending ? 'descending' : 'ascending') : head.removeAttribute('aria-sort'),
    )
  mark()
  renew()
  const find = soon((value) => {
    text = value
    renew()
  })
  return h(
    'div',
    { class: 'table' },
    h(
      'div',
      { class: 'row between' },
      search === undefined
        ? null
        : h('input', {
            type: 'search',
            class: 'search',
            placeholder: search,
            'aria-label': search,
            oninput: ({ target }) => find(target.value),
          }),
      count,
    ),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
      h('table', {}, h('caption', { class: 'visually-hidden' }, caption), h('thead', {}, h('tr', {}, ...heads)), body),
    ),
    more,
  )
}
