import { bar, h } from '../dom.js'
import { formatTime } from '../format.js'
import { errorNotice } from '../notice.js'
import { CELLS, countCells, DOTS, fitStrokes } from './digit-grid.js'
import { exampleFile } from './example-file.js'

const SIZE = 320
const PEN = 3.4
const STEP = SIZE / 16

/** A digit that is drawn by hand, read by the network of examples/digits while it is drawn. */
export async function digitsPage({ engine, showMemory }) {
  const canvas = h('canvas', {
    class: 'pad',
    width: SIZE,
    height: SIZE,
    tabindex: '0',
    role: 'application',
    'aria-label': 'Drawing area. Arrow keys move the pen, Space sets it down or lifts it, Delete clears.',
  })
  const small = h('canvas', {
    class: 'cells',
    width: CELLS,
    height: CELLS,
    role: 'img',
    'aria-label': 'What the network sees: 8 by 8 cells',
  })
  const answer = h('p', { class: 'digit', 'aria-live': 'polite' }, '–')
  const time = h('p', { class: 'quiet' }, 'Draw a digit')
  const rows = Array.from({ length: 10 }, (_, digit) => {
    const fill = bar(0)
    const value = h('span', { class: 'number' }, '')
    return { fill: fill.firstChild, value, element: h('li', {}, h('span', { class: 'label' }, String(digit)), fill, value) }
  })
  const failure = h('div')
  const dots = new OffscreenCanvas(DOTS, DOTS).getContext('2d', { willReadFrequently: true })
  const context = canvas.getContext('2d')
  const cellContext = small.getContext('2d')
  let strokes = []
  let current = null
  let pen = { x: SIZE / 2, y: SIZE / 2, isDown: false, isShown: false }
  let busy = false
  let again = false
  let ended = false

  const style = () => getComputedStyle(canvas)
  function draw() {
    const { color } = style()
    context.clearRect(0, 0, SIZE, SIZE)
    Object.assign(context, { lineWidth: 20, lineCap: 'round', lineJoin: 'round', strokeStyle: color, fillStyle: color })
    for (const stroke of strokes) trace(context, stroke, (point) => point)
    if (pen.isShown) {
      context.beginPath()
      Object.assign(context, { lineWidth: 2, strokeStyle: style().getPropertyValue('--accent') })
      context.arc(pen.x, pen.y, pen.isDown ? 6 : 12, 0, 2 * Math.PI)
      context.stroke()
    }
  }

  /** The cells that the network takes. */
  function cellsNow() {
    const fit = fitStrokes(strokes)
    if (fit === null) return null
    dots.clearRect(0, 0, DOTS, DOTS)
    Object.assign(dots, { lineWidth: PEN, lineCap: 'round', lineJoin: 'round', strokeStyle: '#000', fillStyle: '#000' })
    for (const stroke of strokes) trace(dots, stroke, ({ x, y }) => ({ x: fit.scale * x + fit.x, y: fit.scale * y + fit.y }))
    const { data } = dots.getImageData(0, 0, DOTS, DOTS)
    return countCells(Uint8Array.from({ length: DOTS * DOTS }, (_, i) => (data[4 * i + 3] > 127 ? 1 : 0)))
  }

  async function read() {
    draw()
    if (busy) {
      again = true
      return
    }
    busy = true
    const cells = cellsNow()
    showCells(cells)
    try {
      if (cells === null) showChances(null)
      else {
        const args = [{ kind: 'tensor', dtype: 'uint8', shape: [1, 1, CELLS, CELLS], data: cells }]
        const { outputs, milliseconds } = await engine.call('run', 'digits', { method: 'forward', args })
        if (strokes.length > 0) showChances(outputs.values, milliseconds)
      }
    } catch (error) {
      if (!ended) failure.replaceChildren(errorNotice('The digit cannot be read', error))
    } finally {
      busy = false
      if (again) {
        again = false
        void read()
      }
    }
  }

  function showCells(cells) {
    const image = cellContext.createImageData(CELLS, CELLS)
    const [red, green, blue] = /(\d+), (\d+), (\d+)/.exec(style().color)?.slice(1).map(Number) ?? [0, 0, 0]
    for (let i = 0; i < CELLS * CELLS; i++) image.data.set([red, green, blue, ((cells?.[i] ?? 0) * 255) / 16], 4 * i)
    cellContext.putImageData(image, 0, 0)
  }

  function showChances(chances, milliseconds) {
    const best = chances === null ? -1 : chances.indexOf(Math.max(...chances))
    const said = best < 0 ? '–' : String(best)
    if (answer.textContent !== said) answer.textContent = said
    time.textContent = best < 0 ? 'Draw a digit' : `${Math.round(100 * chances[best])} % sure, in ${formatTime(milliseconds)}`
    for (const [digit, { fill, value, element }] of rows.entries()) {
      const chance = chances?.[digit] ?? 0
      fill.style.width = `${100 * chance}%`
      value.textContent = best < 0 ? '' : `${Math.round(100 * chance)} %`
      element.classList.toggle('best', digit === best)
    }
  }

  function clear() {
    strokes = []
    current = null
    void read()
  }

  const pointOf = ({ clientX, clientY }) => {
    const { left, top, width, height } = canvas.getBoundingClientRect()
    return { x: ((clientX - left) * SIZE) / width, y: ((clientY - top) * SIZE) / height }
  }
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    pen.isShown = false
    strokes.push((current = [pointOf(event)]))
    void read()
  })
  canvas.addEventListener('pointermove', (event) => {
    if (current === null) return
    for (const part of event.getCoalescedEvents?.() ?? [event]) current.push(pointOf(part))
    void read()
  })
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, () => (current = null))
  canvas.addEventListener('keydown', (event) => {
    const move = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key]
    if (move !== undefined) {
      const within = (value) => Math.max(0, Math.min(SIZE, value))
      pen = { ...pen, x: within(pen.x + move[0]), y: within(pen.y + move[1]), isShown: true }
      if (pen.isDown) current.push({ x: pen.x, y: pen.y })
    } else if (event.key === ' ') {
      pen = { ...pen, isDown: !pen.isDown, isShown: true }
      if (pen.isDown) strokes.push((current = [{ x: pen.x, y: pen.y }]))
      else current = null
    } else if (event.key === 'Delete' || event.key === 'Backspace') {
      pen.isDown = false
      event.preventDefault()
      clear()
      return
    } else return
    event.preventDefault()
    void read()
  })
  canvas.addEventListener('blur', () => {
    pen = { ...pen, isShown: false, isDown: false }
    draw()
  })
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const restyle = () => {
    draw()
    showCells(cellsNow())
  }
  scheme.addEventListener('change', restyle)

  const bytes = await exampleFile('digits.ptl')
  await engine.call('open', 'digits', { bytes }, [bytes])
  void showMemory()
  return {
    title: 'Digits',
    element: h(
      'div',
      { class: 'page demo' },
      h('h1', {}, 'Draw a digit'),
      h('p', { class: 'lead' }, 'A network of 120 kB reads it at each stroke, in this page.'),
      h(
        'div',
        { class: 'columns digits' },
        h(
          'div',
          {},
          canvas,
          h(
            'div',
            { class: 'row between' },
            h('button', { type: 'button', onclick: clear }, 'Clear'),
            h('span', { class: 'row quiet' }, 'it sees ', small),
          ),
        ),
        h(
          'div',
          { class: 'card' },
          h('div', { class: 'row' }, answer, time),
          h('ol', { class: 'top chances', 'aria-label': 'Chances of the digits' }, ...rows.map(({ element }) => element)),
        ),
      ),
      failure,
      h(
        'p',
        { class: 'quiet' },
        'The model is ',
        h('code', {}, 'examples/digits/digits.ptl'),
        ', trained on the 1797 handwritten digits of the UCI data set, 8 × 8 cells each. With the keyboard: arrow keys move the pen, Space sets it down or lifts it, Delete clears.',
      ),
    ),
    async leave() {
      ended = true
      scheme.removeEventListener('change', restyle)
      await engine.call('close', 'digits')
    },
  }
}

/** A stroke as a line, and as a dot where it is one point. */
function trace(context, stroke, place) {
  context.beginPath()
  const first = place(stroke[0])
  context.moveTo(first.x, first.y)
  if (stroke.length === 1) context.lineTo(first.x + 0.01, first.y)
  for (const point of stroke.slice(1)) {
    const { x, y } = place(point)
    context.lineTo(x, y)
  }
  context.stroke()
}
