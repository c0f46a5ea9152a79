import { h, terms } from '../dom.js'
import { counted, formatBytes, formatCount } from '../format.js'
import { addressOf, namedModel, sourceAt } from './address.js'
import { comparePanel } from './compare-panel.js'
import { errorNotice, note } from '../notice.js'
import { tabs } from '../tabs.js'
import { graphPanel } from './graph-panel.js'
import { overviewPanel } from './overview-panel.js'
import { parametersPanel } from './parameters-panel.js'
import { runPanel } from './run-panel.js'
import { timesPanel } from './times-panel.js'
import { memoryPanel } from './memory-panel.js'
import { readWithProgress } from './read-file.js'
import { ModelState } from './state.js'

const SAMPLES = [
  { name: 'digits.ptl', about: 'handwritten digits, for mobile' },
  { name: 'shapes.pt2', about: 'shapes on pictures, exported' },
  { name: 'detector.pt', about: 'boxes around shapes, TorchScript' },
  { name: 'cells.ff', about: 'segments of pictures, flatbuffer' },
  { name: 'voice.ptl', about: 'voice activity, with a memory' },
  { name: 'whistles.ptl', about: 'whistled commands, as spectrograms' },
]
const KINDS = [
  ['.ptl', 'PyTorch Mobile'],
  ['.ff', 'PyTorch Mobile, flatbuffer'],
  ['.pt', 'TorchScript'],
  ['.pt2', 'torch.export'],
  ['.pte', 'ExecuTorch'],
  ['.ptlc', 'compiled by ptlite'],
]

/** The page where models are opened and looked at. */
export function modelPage(context) {
  const element = h('div', { class: 'page model-page' })
  const file = h('input', {
    type: 'file',
    class: 'visually-hidden',
    id: 'file',
    onchange: () => void open(file.files[0]).then(() => (file.value = '')),
  })
  let opening = null
  let dragged = 0

  const showEmpty = (...more) => {
    history.replaceState(null, '', '#/model')
    element.replaceChildren(emptyView(), ...more)
  }

  async function open(source) {
    if (source === undefined || source === null) return
    opening?.abort()
    const ended = (opening = new AbortController())
    const progress = h('progress', { max: '1', value: '0', 'aria-label': `Reading ${source.name}` })
    const said = h('p', { class: 'quiet', role: 'status' }, `Reading ${source.name}`)
    element.replaceChildren(
      h(
        'div',
        { class: 'opening' },
        h('h1', {}, source.name),
        progress,
        said,
        h('button', { type: 'button', class: 'small', onclick: () => ended.abort() }, 'Cancel'),
      ),
    )
    try {
      const bytes = await readWithProgress(source, ended.signal, (share, read) => {
        progress.value = share
        said.textContent = `Read ${formatBytes(read)}`
      })
      said.textContent = 'Looking into it'
      progress.removeAttribute('value')
      const report = await context.engine.call('open', 'model', { bytes }, [bytes])
      ended.signal.throwIfAborted()
      history.replaceState(null, '', source.url === undefined ? '#/model' : addressOf(source))
      element.replaceChildren(loadedView(source, report))
      element.querySelector('h1').focus()
    } catch (error) {
      if (opening !== ended) return
      if (ended.signal.aborted) showEmpty()
      else showEmpty(errorNotice(`${source.name} cannot be opened`, error))
    } finally {
      void context.showMemory()
    }
  }

  /** Opens what an address leads to. */
  async function openAt(text) {
    try {
      await open(sourceAt(text))
    } catch (error) {
      showEmpty(errorNotice('This address cannot be opened', error))
    }
  }

  /** Opens the model of a link, which may be of anybody: what lies on another server is asked for when somebody says so. */
  function openNamed() {
    const source = namedModel()
    if (source === null) showEmpty()
    else if (source.isOwn) void open(source)
    else {
      const button = h('button', { type: 'button', class: 'primary', onclick: () => void open(source) }, `Open ${source.name}`)
      showEmpty()
      element.prepend(note('The link leads to a model on ', h('strong', {}, source.url.host), '. ', button))
    }
  }

  function emptyView() {
    const address = h('input', {
      type: 'text',
      id: 'address',
      inputmode: 'url',
      placeholder: 'https://…',
      autocomplete: 'off',
      spellcheck: 'false',
    })
    const samples = SAMPLES.map(({ name, about }) =>
      h(
        'li',
        {},
        h(
          'button',
          { type: 'button', class: 'sample', onclick: () => void openAt(new URL(`../../models/${name}`, import.meta.url).href) },
          h('strong', {}, name),
          h('span', {}, about),
        ),
      ),
    )
    return h(
      'div',
      { class: 'empty' },
      h('h1', {}, 'Look into a PyTorch model, and run it here'),
      h(
        'p',
        { class: 'lead' },
        'Drop a file to see what it holds: its graph, weights and operators. Then run it on a picture, your microphone or random numbers, and see where time and memory go.',
      ),
      h(
        'label',
        { class: 'drop', for: 'file' },
        h('span', { class: 'drop-title' }, 'Drop a model here'),
        h('span', {}, 'or ', h('span', { class: 'link' }, 'choose a file')),
        h('span', { class: 'kinds' }, ...KINDS.map(([end, name]) => h('span', { title: name }, h('code', {}, end)))),
      ),
      h(
        'form',
        {
          class: 'row',
          onsubmit: (event) => {
            event.preventDefault()
            void openAt(address.value)
          },
        },
        h('label', { class: 'visually-hidden', for: 'address' }, 'Address of a model'),
        address,
        h('button', {}, 'Open'),
      ),
      h('p', { class: 'quiet' }, 'It is read and run by this page alone. Nothing is uploaded.'),
      h('h2', {}, 'Or try one of these'),
      h('ul', { class: 'samples' }, ...samples),
    )
  }

  /** Copies a link to the page with this model open. */
  function shareButton(source) {
    if (source.url === undefined) return null
    const button = h('button', { type: 'button', onclick: () => void copy() }, 'Copy link')
    const copy = async () => {
      await navigator.clipboard.writeText(new URL(addressOf(source), location.href).href)
      button.textContent = 'Copied'
    }
    return button
  }

  function loadedView(source, report) {
    const { name } = source
    const state = new ModelState(context, report)
    const weights = report.parameters.reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0)
    const missing = report.missing.length
    const pages = [
      { id: 'overview', name: 'Overview', make: () => overviewPanel(state) },
      ...(report.graphs.length === 0 ? [] : [{ id: 'graph', name: 'Graph', make: () => graphPanel(state) }]),
      ...(report.parameters.length === 0 ? [] : [{ id: 'parameters', name: 'Parameters', make: () => parametersPanel(state) }]),
      { id: 'run', name: 'Run', make: () => runPanel(state) },
      { id: 'times', name: 'Times', make: () => timesPanel(state) },
      { id: 'memory', name: 'Memory', make: () => memoryPanel(state) },
      { id: 'compare', name: 'Compare', make: () => comparePanel(state, name) },
    ]
    const tabbed = tabs('What to look at', pages)
    state.goTo = tabbed.choose
    return h(
      'div',
      { class: 'loaded' },
      h(
        'div',
        { class: 'row between head' },
        h(
          'div',
          {},
          h('h1', { tabindex: '-1' }, name),
          h(
            'p',
            { class: 'quiet' },
            `${report.container} (${report.format})`,
            report.className === null ? '' : ` · ${report.className.replace(/^__torch__\./, '')}`,
          ),
        ),
        h(
          'div',
          { class: 'row' },
          h(
            'label',
            { class: 'button', for: 'file', tabindex: '0', onkeydown: (event) => ['Enter', ' '].includes(event.key) && file.click() },
            'Open another',
          ),
          shareButton(source),
          h('button', { type: 'button', onclick: close }, 'Close'),
        ),
      ),
      terms([
        ['Size', formatBytes(report.bytes)],
        report.parameters.length === 0 ? null : ['Weights', `${formatCount(weights)} in ${counted(report.parameters.length, 'tensor')}`],
        ['Methods', formatCount(report.methods.length)],
        [
          'Operators',
          missing === 0
            ? `${formatCount(report.operators.length)}, all here`
            : h('span', { class: 'bad' }, `${formatCount(report.operators.length)}, ${missing} missing`),
        ],
      ]),
      tabbed.element,
    )
  }

  async function close() {
    await context.engine.call('close', 'model')
    await context.engine.call('close', 'other')
    showEmpty()
    void context.showMemory()
  }

  addEventListener('dragenter', (event) => {
    if (![...event.dataTransfer.types].includes('Files') || !element.isConnected) return
    event.preventDefault()
    dragged++
    document.body.classList.add('dragging')
  })
  addEventListener('dragleave', () => {
    dragged = Math.max(0, dragged - 1)
    if (dragged === 0) document.body.classList.remove('dragging')
  })
  addEventListener('dragover', (event) => element.isConnected && event.preventDefault())
  addEventListener('drop', (event) => {
    dragged = 0
    document.body.classList.remove('dragging')
    if (!element.isConnected) return
    event.preventDefault()
    void open(event.dataTransfer.files[0])
  })
  addEventListener('hashchange', () => namedModel() !== null && openNamed())
  openNamed()
  return { title: 'Models', element: h('div', {}, file, element) }
}
