import { h } from './dom.js'
import { Engine } from './engine/engine.js'
import { formatBytes } from './format.js'
import { errorNotice } from './notice.js'

const engine = new Engine()
const main = document.getElementById('main')
const status = document.getElementById('status')
const statusText = document.getElementById('status-text')

/** Pages by address; each gives { title, element, leave? }, and is made anew when it is come to, but for the models, which stay open. */
const PAGES = {
  model: async () => (await import('./model/page.js')).modelPage(context),
  digits: async () => (await import('./demos/digits.js')).digitsPage(context),
  chat: async () => (await import('./demos/chat.js')).chatPage(context),
  numbers: async () => (await import('./demos/numbers.js')).numbersPage(context),
  voice: async () => (await import('./demos/voice.js')).voicePage(context),
}
const kept = new Map()
let current = null

/** What pages share: the engine, and the line that says what memory is in use. */
const context = { engine, showMemory }

async function showMemory() {
  try {
    const { live, peak, level } = await engine.call('memory')
    status.classList.add('ready')
    statusText.textContent = `${level === 'RELAXED' ? 'relaxed SIMD' : 'SIMD'} · ${formatBytes(live)} in use`
    status.title = `Memory of tensors: ${formatBytes(live)} in use, ${formatBytes(peak)} at most so far`
  } catch (error) {
    status.classList.add('failed')
    statusText.textContent = 'Cannot start'
    status.title = error.message
  }
}

async function route() {
  const name = location.hash.replace(/^#\/?/, '').split(/[/?]/)[0] || 'model'
  const key = Object.hasOwn(PAGES, name) ? name : 'model'
  if (current?.key === key) return
  if (current !== null) {
    await current.page.leave?.()
    void showMemory()
  }
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === `#/${key}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  try {
    const page = kept.get(key) ?? (await PAGES[key]())
    if (key === 'model') kept.set(key, page)
    current = { key, page }
    document.title = `${page.title} · ptlite`
    main.replaceChildren(page.element)
  } catch (error) {
    main.replaceChildren(h('div', { class: 'page' }, errorNotice('This page cannot be shown', error)))
  }
}

addEventListener('hashchange', () => void route())
void route()
engine.call('start').then(showMemory, showMemory)
