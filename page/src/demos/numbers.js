import { h } from '../dom.js'
import { CHUNK, RATE } from '../engine/voice.js'
import { formatTime } from '../format.js'
import { errorNotice } from '../notice.js'
import { levelOf } from '../sound/recorder.js'
import { openMicrophone, playSound } from '../sound/sources.js'
import { Utterances } from '../../models/spoken-digits/utterances.mjs'
import { exampleFile } from './example-file.js'

const SHOWN = 12

/** Writes down digits that are spoken, from the microphone or a recording, while they are. */
export async function numbersPage({ engine, showMemory }) {
  const state = h('p', { class: 'voice-state' }, 'Not listening')
  const level = h('meter', { min: '0', max: '1', value: '0', 'aria-label': 'Loudness' })
  const said = h('p', { class: 'said', 'aria-live': 'polite' }, '…')
  const time = h('p', { class: 'quiet' }, 'Say digits, one after the other: three one four two')
  const list = h('ol', { class: 'segments', 'aria-label': 'What was said' })
  const listEmpty = h('p', { class: 'quiet' }, 'Nothing yet')
  const failure = h('div')
  const start = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => void (source === null ? listen() : stop()) },
    'Start the microphone',
  )
  const play = h('button', { type: 'button', onclick: () => void playRecording() }, 'Play a recording')
  let source = null
  let utterances = new Utterances(RATE)
  let texts = []
  let queue = []
  let work = null

  async function listen() {
    await begin(() => openMicrophone(take))
  }

  async function playRecording() {
    await stop()
    await begin(async () => playSound(await exampleFile('spoken-digits/pin.wav'), take, () => void stop()))
  }

  async function begin(open) {
    failure.replaceChildren()
    start.disabled = true
    try {
      await work
      await engine.call('reset', 'numbers')
      utterances = new Utterances(RATE)
      texts = []
      queue = []
      showTexts()
      source = await open()
      state.textContent = 'Listening'
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
    await work
    const last = utterances.end()
    if (last !== null) await read(last).catch((error) => failure.replaceChildren(errorNotice('The recording cannot be read', error)))
    level.value = 0
    state.textContent = 'Not listening'
    start.textContent = 'Start the microphone'
  }

  /** Chunks wait for each other: the network that hears voices remembers those before. */
  function take(chunk) {
    queue.push(chunk)
    work ??= hear().finally(() => (work = null))
  }

  async function hear() {
    try {
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
        if (source !== null) level.value = levelOf(chunk)
        // the chunk is kept for what is read later
        const found = utterances.add(chunk, await engine.call('hear', 'numbers', { chunk }))
        if (found !== null) await read(found)
      }
    } catch (error) {
      if (source !== null) failure.replaceChildren(errorNotice('The microphone cannot be read', error))
    }
  }

  async function read({ samples, isWhole }) {
    const seconds = samples.length / RATE
    const began = performance.now()
    const text = await engine.call('read', 'numbers', { samples }, [samples.buffer])
    time.textContent = `${seconds.toFixed(1)} s of sound were read in ${formatTime(performance.now() - began)}`
    said.textContent = text === '' ? '…' : text
    said.classList.toggle('open', !isWhole)
    if (!isWhole || text === '') return
    texts.push(text)
    showTexts()
  }

  function showTexts() {
    listEmpty.hidden = texts.length > 0
    list.replaceChildren(...texts.slice(-SHOWN).map((text) => h('li', {}, text)))
    if (texts.length === 0) said.textContent = '…'
  }

  const [voice, model, vocabulary, words] = await Promise.all(
    ['voice.ptl', 'spoken-digits/digits.ptl', 'spoken-digits/vocab.json', 'spoken-digits/digits.arpa'].map(exampleFile),
  )
  const text = (bytes) => new TextDecoder().decode(bytes)
  const files = { voice, model, vocabulary: JSON.parse(text(vocabulary)), words: text(words) }
  await engine.call('openSpokenDigits', 'numbers', files, [voice, model])
  void showMemory()
  return {
    title: 'Numbers',
    element: h(
      'div',
      { class: 'page demo' },
      h('h1', {}, 'Say some digits'),
      h(
        'p',
        { class: 'lead' },
        'One network hears when somebody speaks, another writes down what: letter by letter, for each 20 ms. What the microphone hears stays in this page.',
      ),
      h(
        'div',
        { class: 'card' },
        h('div', { class: 'row between' }, h('div', { class: 'row' }, state, level), h('div', { class: 'row wrap' }, start, play)),
        said,
        time,
      ),
      failure,
      h('h2', {}, 'What was said'),
      listEmpty,
      list,
      h(
        'p',
        { class: 'quiet' },
        'The model is ',
        h('code', {}, 'examples/spoken-digits/digits.ptl'),
        ': it has heard voices of a synthesiser alone, which shows with people, and it hears digits in everything.',
      ),
    ),
    async leave() {
      await stop()
      await engine.call('close', 'numbers')
    },
  }
}
