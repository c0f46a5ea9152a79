import { h } from './dom.js'

/** Tabs, made when they are first looked at. `pages`: { id, name, make() }; arrow keys move between them. */
export function tabs(label, pages, chosen = pages[0].id) {
  const panels = new Map()
  const host = h('div', { class: 'panels' })
  const buttons = pages.map(({ id, name }) =>
    h(
      'button',
      { type: 'button', role: 'tab', id: `tab-${id}`, 'data-name': name, 'aria-controls': `panel-${id}`, onclick: () => choose(id) },
      name,
    ),
  )
  const choose = (id, focus = false) => {
    if (!panels.has(id)) {
      const panel = h('section', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}`, class: `panel panel-${id}` })
      panels.set(id, panel)
      host.append(panel)
      panel.append(...[pages.find((page) => page.id === id).make()].flat())
    }
    for (const [i, page] of pages.entries()) {
      const isChosen = page.id === id
      buttons[i].setAttribute('aria-selected', String(isChosen))
      buttons[i].tabIndex = isChosen ? 0 : -1
      if (isChosen && focus) buttons[i].focus()
      if (isChosen) buttons[i].scrollIntoView({ block: 'nearest', inline: 'center' })
    }
    for (const [other, panel] of panels) panel.hidden = other !== id
    pages.find((page) => page.id === id).shown?.()
  }
  const list = h(
    'div',
    {
      role: 'tablist',
      'aria-label': label,
      class: 'tabs',
      onkeydown: (event) => {
        const at = buttons.indexOf(event.target)
        const to = {
          ArrowRight: (at + 1) % pages.length,
          ArrowLeft: (at + pages.length - 1) % pages.length,
          Home: 0,
          End: pages.length - 1,
        }[event.key]
        if (to === undefined || at < 0) return
        event.preventDefault()
        choose(pages[to].id, true)
      },
    },
    ...buttons,
  )
  choose(chosen)
  return { element: h('div', { class: 'tabbed' }, list, host), choose }
}
