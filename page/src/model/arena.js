import { h, s } from '../dom.js'
import { formatBytes } from '../format.js'

const WIDTH = 960
const HEIGHT = 340
const LEFT = 72
const RIGHT = 948
const TOP = 12
const BOTTOM = 300
const KINDS = 6

/** What a plan keeps in its arena: kernel calls from left to right, bytes upwards, a rectangle for each buffer. */
export function arenaView({ kernels, buffers, arenaBytes, lowerBound, naiveBytes }) {
  const frames = Math.max(kernels.length, 1)
  const top = Math.max(arenaBytes, 1)
  const x = (frame) => LEFT + ((RIGHT - LEFT) * frame) / frames
  const y = (byte) => BOTTOM - ((BOTTOM - TOP) * byte) / top
  const kinds = kindsOf(buffers)
  const said = h('p', { class: 'arena-said', 'aria-live': 'polite' }, 'Point at a buffer, or move through them with the arrow keys.')
  const about = (buffer) =>
    `${buffer.names.join(', then ')} — ${formatBytes(buffer.bytes)} from byte ${buffer.offset}, kernel calls ${buffer.first + 1} to ${buffer.last + 1} of ${kernels.length}`
  const rects = buffers.map((buffer, i) => {
    const kind = kinds.indexOf(kindOf(buffer))
    return s('rect', {
      class: `buffer kind-${kind < 0 ? 'other' : kind}`,
      x: x(buffer.first).toFixed(2),
      y: y(buffer.offset + buffer.bytes).toFixed(2),
      width: Math.max(x(buffer.last + 1) - x(buffer.first), 1).toFixed(2),
      height: Math.max(y(buffer.offset) - y(buffer.offset + buffer.bytes), 0.75).toFixed(2),
      'data-buffer': i,
    })
  })
  const choose = (i) => {
    rects.forEach((rect, at) => rect.classList.toggle('chosen', at === i))
    said.textContent = about(buffers[i])
  }
  const ticks = [0, 0.25, 0.5, 0.75, 1]
  const axes = [
    ...ticks.map((share) =>
      s(
        'g',
        { class: 'axis' },
        s('path', { d: `M${LEFT} ${y(share * top).toFixed(1)}H${RIGHT}` }),
        s('text', { x: LEFT - 8, y: y(share * top) + 4, 'text-anchor': 'end' }, formatBytes(Math.round(share * arenaBytes))),
      ),
    ),
    ...[...new Set(ticks.map((share) => Math.round(share * frames)))].map((frame) =>
      s('text', { class: 'axis', x: x(frame), y: BOTTOM + 18, 'text-anchor': 'middle' }, String(frame)),
    ),
    s('text', { class: 'axis', x: (LEFT + RIGHT) / 2, y: BOTTOM + 36, 'text-anchor': 'middle' }, 'kernel calls of a run'),
  ]
  const svg = s(
    'svg',
    {
      class: 'arena',
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: 'application',
      tabindex: '0',
      'aria-roledescription': 'chart',
      'aria-label': `Arena over time: ${buffers.length} buffers in ${formatBytes(arenaBytes)}`,
    },
    ...axes,
    ...rects,
    s('path', { class: 'live', d: liveCurve(buffers, kernels.length, x, y) }),
    s('path', { class: 'bound', d: `M${LEFT} ${y(lowerBound).toFixed(1)}H${RIGHT}` }),
  )
  let at = -1
  svg.addEventListener('pointerover', ({ target }) => {
    const found = target.dataset?.buffer
    if (found !== undefined) choose((at = Number(found)))
  })
  svg.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (step === undefined || buffers.length === 0) return
    event.preventDefault()
    choose((at = (at + step + buffers.length) % buffers.length))
  })
  return h(
    'figure',
    { class: 'arena-figure' },
    h('div', { class: 'scroll' }, svg),
    said,
    h(
      'figcaption',
      { class: 'legend' },
      ...kinds.map((kind, i) => h('span', {}, h('i', { class: `swatch kind-${i}` }), kind)),
      h('span', {}, h('i', { class: 'swatch line' }), 'in use'),
      h('span', {}, h('i', { class: 'swatch dashed' }), `least possible, ${formatBytes(lowerBound)}`),
      h('span', {}, `without sharing: ${formatBytes(naiveBytes)}`),
    ),
  )
}

/** The operator or kernel that made a buffer, without the names of its values. */
function kindOf({ names }) {
  return names[0]
    .split(' = ')
    .at(-1)
    .replace(/^aten::/, '')
}

/** The kinds with most bytes, largest first. */
function kindsOf(buffers) {
  const bytes = new Map()
  for (const buffer of buffers) bytes.set(kindOf(buffer), (bytes.get(kindOf(buffer)) ?? 0) + buffer.bytes)
  return [...bytes]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, KINDS)
    .map(([kind]) => kind)
}

/** The bytes that are in use at each kernel call. */
export function liveBytes(buffers, frames) {
  const changes = new Float64Array(frames + 1)
  for (const { first, last, bytes } of buffers) {
    changes[first] += bytes
    changes[last + 1] -= bytes
  }
  let live = 0
  return Array.from({ length: frames }, (_, frame) => (live += changes[frame]))
}

function liveCurve(buffers, frames, x, y) {
  let path = `M${x(0).toFixed(1)} ${BOTTOM}`
  for (const [frame, live] of liveBytes(buffers, frames).entries()) path += `V${y(live).toFixed(1)}H${x(frame + 1).toFixed(1)}`
  return path
}
