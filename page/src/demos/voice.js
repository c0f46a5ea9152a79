import { h } from '../dom.js'
import { CHUNK, RATE } from '../engine/voice.js'
import { formatTime } from '../format.js'
import { errorNotice } from '../notice.js'
import { levelOf } from '../sound/recorder.js'
import { openMicrophone, playSound } from '../sound/sources.js'
import { Segments } from '../../models/segments.mjs'
import { exampleFile } from './example-file.js'

const SECONDS = CHUNK / RATE
/** Chunks that the picture shows: the last twelve seconds. */
const SHOWN = Math.round(12 / SECONDS)
const LIKELY = 0.6

/** Says when somebody speaks, from the microphone or a recording, chunk by chunk. */
export async function voicePage({ engine, showMemory }) {
  const canvas = h('canvas', {
    class: 'timeline',
    role: 'img',
    'aria-label': 'Loudness and the chance of a voice over the last twelve seconds',
  })
  const state = h('p', { class: 'voice-state', 'aria-live': 'polite' }, 'Not listening')
  const chance = h('meter', { min: '0', max: '1', low: '0.35', high: '0.6', value: '0', 'aria-label': 'Chance of a voice' })
  const time = h('p', { class: 'quiet' }, `A chunk is ${Math.round(1000 * SECONDS)} ms long`)
  const list = h('ol', { class: 'segments', 'aria-label': 'When somebody spoke' })
  const listEmpty = h('p', { class: 'quiet' }, 'Nothing yet')
  const failure = h('div')
  const start = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => void (source === null ? listen() : stop()) },
    'Start the microphone',
  )
  const play = h('button', { type: 'button', onclick: () => void playRecording() }, 'Play a recording')
  let source = null
  let segments = new Segments(SECONDS)
  let history = []
  let spoken = []
  let count = 0
  let took = []
  let busy = false
  const queue = []

  async function listen() {
    await begin(() => openMicrophone(take))
  }

  async function playRecording() {
    await stop()
    await begin(async () => playSound(await exampleFile('talk.wav'), take, () => void stop()))
  }

  async function begin(open) {
    failure.replaceChildren()
    start.disabled = true
    try {
      await engine.call('reset', 'voice')
      segments = new Segments(SECONDS)
      history = []
      spoken = []
      count = 0
      took = []
      queue.length = 0
      showSegments()
      source = await open()
      say('Quiet')
    } catch (error) {
      failure.replaceChildren(errorNotice('It cannot listen', error))
    } finally {
      start.disabled = false
      start.textContent = source === null ? 'Start the microphone' : 'Stop'
    }
  }

  async function stop() {
    if (source === null) return
    const ended = source
    source = null
    await ended.close()
    add(segments.end())
    say('Not listening')
    chance.value = 0
    start.textContent = 'Start the microphone'
    draw()
  }

  /** Chunks wait for each other: the model remembers those before. */
  function take(chunk) {
    queue.push(chunk)
    if (!busy) void work()
  }

  async function work() {
    busy = true
    try {
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
        const level = levelOf(chunk)
        const began = performance.now()
        const value = await engine.call('hear', 'voice', { chunk }, [chunk.buffer])
        took.push(performance.now() - began)
        if (took.length > 100) took.shift()
        hear(value, level)
      }
    } catch (error) {
      if (source !== null) failure.replaceChildren(errorNotice('The chunk cannot be heard', error))
    } finally {
      busy = false
    }
  }

  function hear(value, level) {
    count++
    history.push({ value, level })
    if (history.length > SHOWN) history.shift()
    add(segments.add(value))
    if (source !== null) {
      chance.value = value
      if (value > LIKELY) say('Voice')
      else if (value < 0.35) say('Quiet')
    }
    if (count % 15 === 0)
      time.textContent = `A chunk is ${Math.round(1000 * SECONDS)} ms long, and takes ${formatTime(took.reduce((a, b) => a + b, 0) / took.length)} with the way to its worker and back`
    draw()
  }

  function say(text) {
    if (state.textContent === text) return
    state.textContent = text
    state.classList.toggle('voice', text === 'Voice')
  }

  function add(segment) {
    if (segment === null) return
    spoken.push(segment)
    showSegments()
  }

  function showSegments() {
    listEmpty.hidden = spoken.length > 0
    list.replaceChildren(...spoken.slice(-8).map(({ from, to }) => h('li', {}, `${from.toFixed(1)} s to ${to.toFixed(1)} s`)))
  }

  function draw() {
    const { clientWidth, clientHeight } = canvas
    if (clientWidth === 0) return
    const density = devicePixelRatio
    if (canvas.width !== Math.round(clientWidth * density))
      Object.assign(canvas, { width: Math.round(clientWidth * density), height: Math.round(clientHeight * density) })
    const context = canvas.getContext('2d')
    context.setTransform(density, 0, 0, density, 0, 0)
    context.clearRect(0, 0, clientWidth, clientHeight)
    const css = getComputedStyle(canvas)
    const [quiet, accent, line] = ['--quiet', '--accent', '--line'].map((name) => css.getPropertyValue(name))
    const step = clientWidth / SHOWN
    const half = clientHeight / 2
    context.fillStyle = line
    context.fillRect(0, half, clientWidth, 1)
    const first = SHOWN - history.length
    for (const [i, { value, level }] of history.entries()) {
      const x = (first + i) * step
      const tall = Math.max(1, level * (clientHeight - 24))
      context.fillStyle = value > LIKELY ? accent : quiet
      context.globalAlpha = value > LIKELY ? 0.9 : 0.35
      context.fillRect(x, half - tall / 2, Math.max(1, step - 1), tall)
    }
    context.globalAlpha = 1
    context.beginPath()
    for (const [i, { value }] of history.entries()) {
      const [x, y] = [(first + i + 0.5) * step, clientHeight - 6 - value * (clientHeight - 12)]
      if (i === 0) context.moveTo(x, y)
      else context.lineTo(x, y)
    }
    Object.assign(context, { strokeStyle: css.color, lineWidth: 1.5 })
    context.stroke()
  }

  const resized = new ResizeObserver(draw)
  resized.observe(canvas)
  const bytes = await exampleFile('voice.ptl')
  await engine.call('openVoice', 'voice', { bytes }, [bytes])
  void showMemory()
  return {
    title: 'Voice',
    element: h(
      'div',
      { class: 'page demo' },
      h('h1', {}, 'Is somebody speaking?'),
      h(
        'p',
        { class: 'lead' },
        'A network that remembers what it has heard says when there is a voice. What the microphone hears stays in this page.',
      ),
      h(
        'div',
        { class: 'card' },
        h('div', { class: 'row between' }, h('div', { class: 'row' }, state, chance), h('div', { class: 'row wrap' }, start, play)),
        canvas,
        time,
      ),
      failure,
      h('h2', {}, 'When somebody spoke'),
      listEmpty,
      list,
      h(
        'p',
        { class: 'quiet' },
        'The model is ',
        h('code', {}, 'examples/voice/voice.ptl'),
        ': it was trained on voices that were made, as an example of a stream, and is no match for real rooms.',
      ),
    ),
    async leave() {
      await stop()
      resized.disconnect()
      await engine.call('close', 'voice')
    },
  }
}
