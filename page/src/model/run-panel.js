import { h } from '../dom.js'
import { formatTime } from '../format.js'
import { errorNotice, note } from '../notice.js'
import { record } from '../sound/recorder.js'
import { declaredText, fillingOf, parseArgument, tensorText } from './arguments.js'
import { pictureOptions, pictureShape, pixelsOf, SCALES } from './picture.js'
import { resultView } from './results.js'

const MEL = { nFft: 400, hopLength: 160, nMels: 64, log: 'natural' }

/** Runs the model on numbers that are made up, a picture or the microphone. */
export function runPanel(state) {
  if (state.refusal !== null) return note(state.refusal)
  const { methods } = state.report
  const fields = h('div', { class: 'fields' })
  const output = h('div', { class: 'output', 'aria-live': 'polite' })
  const source = h('p', { class: 'quiet' })
  const method = h(
    'select',
    { id: 'method', onchange: () => void choose(method.value) },
    ...methods.map(({ name }) => h('option', {}, name)),
  )
  const run = h('button', { type: 'button', class: 'primary', onclick: () => void runOnce() }, 'Run')
  const suggest = h('button', { type: 'button', onclick: () => void suggestAnew() }, 'Suggest inputs')
  let rows = []
  let labels = null

  async function choose(name) {
    state.method = name
    const inputs = methods.find((m) => m.name === name).inputs ?? []
    rows = inputs.map((input, i) => argumentRow(input, i))
    fields.replaceChildren(
      ...(rows.length === 0 ? [h('p', { class: 'quiet' }, 'It takes no arguments.')] : rows.map(({ element }) => element)),
    )
    source.textContent = ''
    suggest.hidden = rows.length === 0
    state.args = null
    if (rows.some(({ text }) => text() === '')) await suggestArguments()
  }

  async function suggestAnew() {
    for (const row of rows) row.release()
    await suggestArguments()
  }

  /** Fills in what the library finds: bundled inputs, declared sizes, or a guess from the weights. */
  async function suggestArguments() {
    const asked = state.method
    suggest.disabled = true
    source.textContent = 'Looking for inputs that it takes'
    try {
      const found = await state.call('suggest', { method: asked })
      if (asked !== state.method) return
      if (found === null) {
        source.textContent = 'No inputs were found that it takes: write their sizes.'
        return
      }
      found.args.forEach((arg, i) => rows[i]?.suggest(arg, found.isBundled))
      source.textContent = found.source[0].toUpperCase() + found.source.slice(1)
    } catch (error) {
      source.textContent = ''
      output.replaceChildren(errorNotice('No inputs can be suggested', error))
    } finally {
      suggest.disabled = false
      void state.context.showMemory()
    }
  }

  async function runOnce() {
    run.disabled = true
    try {
      const args = []
      for (const row of rows) args.push(await row.argument())
      state.args = args
      const { outputs, milliseconds, plan } = await state.call('run', { method: state.method, args })
      output.replaceChildren(
        h(
          'div',
          { class: 'row between' },
          h('h2', {}, 'Result'),
          h('p', { class: 'time' }, h('strong', {}, formatTime(milliseconds)), h('span', { class: 'quiet' }, ` ${planText(plan)}`)),
        ),
        resultView(outputs, labels),
      )
      state.tell('ran')
    } catch (error) {
      const isOfField = error instanceof FieldError
      output.replaceChildren(errorNotice(isOfField ? `Look at ${error.field}` : 'The run failed', error, isOfField ? error.focus : null))
      if (isOfField) error.focus()
    } finally {
      run.disabled = false
      void state.context.showMemory()
    }
  }

  const labelsFile = h('input', {
    type: 'file',
    id: 'labels',
    accept: '.txt,.json,text/plain',
    onchange: async () => {
      const [file] = labelsFile.files
      labels = file === undefined ? null : (await file.text()).split(/\r?\n/).filter(Boolean)
    },
  })
  void choose(state.method)
  method.value = state.method
  return h(
    'div',
    { class: 'columns' },
    h(
      'form',
      {
        class: 'inputs',
        onsubmit: (event) => {
          event.preventDefault()
          void runOnce()
        },
      },
      h('h2', {}, 'Input'),
      methods.length > 1 ? h('label', { class: 'field' }, h('span', {}, 'Method'), method) : null,
      fields,
      source,
      h(
        'details',
        { class: 'labels' },
        h('summary', {}, 'Names of classes'),
        h('label', { class: 'field', for: 'labels' }, h('span', {}, 'A text file, a name on each line'), labelsFile),
      ),
      h('div', { class: 'row' }, run, suggest),
    ),
    output,
  )
}

function planText(plan) {
  if (plan === null) return 'interpreted; the next call compiles it'
  if (plan.state === 'plan') return `by a plan of ${plan.frames} kernel calls`
  return plan.state === 'recorded' ? 'interpreted; the next call compiles it' : 'interpreted'
}

/** What is wrong with an argument, and where. */
class FieldError extends Error {
  constructor(field, message, focus) {
    super(message)
    this.field = field
    this.focus = focus
  }
}

/** The fields of one argument: what it is made from, and how. */
function argumentRow(info, i) {
  const id = `argument-${i}`
  const text = h('input', {
    type: 'text',
    'aria-label': `Value of ${info.name}`,
    id,
    class: 'code',
    spellcheck: 'false',
    autocomplete: 'off',
    value: declaredText(info),
    placeholder: 'float32[1, 3, 224, 224]',
  })
  const isTensor = /Tensor/.test(info.type) || info.shape !== undefined
  let isSuggested = false
  let isOwn = false
  const filling = h('p', { class: 'quiet filling' })
  const sayFilling = () =>
    (filling.textContent = isSuggested ? 'the values that are bundled with the model' : (fillingOf(text.value) ?? ''))
  text.addEventListener('input', () => {
    isSuggested = false
    isOwn = true
    sayFilling()
  })
  sayFilling()
  const picture = pictureFields(id)
  const sound = soundFields(id)
  const kinds = { numbers: 'Numbers', picture: 'Picture', sound: 'Microphone' }
  let kind = 'numbers'
  const parts = { numbers: h('div', {}, text, filling), picture: picture.element, sound: sound.element }
  const choose = (chosen) => {
    kind = chosen
    for (const [name, part] of Object.entries(parts)) part.hidden = name !== kind
    if (kind === 'picture') picture.fit(shapeOf(text.value))
  }
  const radios = Object.entries(kinds).map(([value, name]) =>
    h(
      'label',
      {},
      h('input', { type: 'radio', name: `${id}-kind`, value, checked: value === kind, onchange: () => choose(value) }),
      h('span', {}, name),
    ),
  )
  const fail = (message) =>
    new FieldError(info.name, message, () => (kind === 'numbers' ? text : parts[kind].querySelector('input'))?.focus())
  choose(kind)
  return {
    element: h(
      'fieldset',
      { class: 'argument-fields' },
      h('legend', {}, h('strong', {}, info.name), ' ', h('span', { class: 'type' }, info.type)),
      isTensor ? h('div', { class: 'segmented', role: 'radiogroup', 'aria-label': `What ${info.name} is made from` }, ...radios) : null,
      ...Object.values(parts),
    ),
    text: () => text.value.trim(),
    /** What was written may be replaced. */
    release() {
      isOwn = false
    },
    suggest(arg, isBundled) {
      // what somebody has written meanwhile stays
      if (arg === null || isOwn || document.activeElement === text) return
      text.value = tensorText(arg)
      isSuggested = isBundled
      sayFilling()
      picture.fit(arg.shape)
    },
    async argument() {
      try {
        if (kind === 'picture') return await picture.argument(dtypeOf(text.value))
        if (kind === 'sound') return await sound.argument()
        return isSuggested ? { kind: 'suggested' } : parseArgument(text.value)
      } catch (error) {
        throw fail(error.message)
      }
    },
  }
}

function shapeOf(text) {
  const sizes = /\[([\d,\s]*)\]/.exec(text)?.[1]
  return sizes === undefined ? null : sizes.split(',').map(Number)
}

function dtypeOf(text) {
  return /\b(u?int\d+|b?float\d+)\[/.exec(text)?.[1] ?? 'float32'
}

function numberField(id, name, value, attributes = {}) {
  const input = h('input', { type: 'number', id, value, min: '1', ...attributes })
  return { input, element: h('label', { class: 'field small', for: id }, h('span', {}, name), input) }
}

function pictureFields(id) {
  const height = numberField(`${id}-height`, 'Height', 224)
  const width = numberField(`${id}-width`, 'Width', 224)
  const channels = h(
    'select',
    { id: `${id}-channels` },
    h('option', { value: '3' }, 'RGB'),
    h('option', { value: 'bgr' }, 'BGR'),
    h('option', { value: '1' }, 'grey'),
  )
  const scale = h('select', { id: `${id}-scale` }, ...Object.entries(SCALES).map(([value, { label }]) => h('option', { value }, label)))
  const preview = h('img', { class: 'preview', alt: '', hidden: true })
  const file = h('input', {
    type: 'file',
    id: `${id}-picture`,
    accept: 'image/*',
    onchange: () => {
      URL.revokeObjectURL(preview.src)
      const [chosen] = file.files
      preview.hidden = chosen === undefined
      if (chosen !== undefined) Object.assign(preview, { src: URL.createObjectURL(chosen), alt: `The picture ${chosen.name}` })
    },
  })
  const field = (name, control) => h('label', { class: 'field small', for: control.id }, h('span', {}, name), control)
  return {
    element: h(
      'div',
      { hidden: true },
      h('label', { class: 'field', for: file.id }, h('span', {}, 'Picture'), file),
      preview,
      h('div', { class: 'row wrap' }, height.element, width.element, field('Colours', channels), field('Pixels as', scale)),
    ),
    fit(shape) {
      const found = pictureShape(shape)
      if (found === null) return
      height.input.value = found.height
      width.input.value = found.width
      channels.value = String(found.channels)
    },
    async argument(dtype) {
      const [chosen] = file.files
      if (chosen === undefined) throw new Error('Choose a picture')
      const size = (input) => {
        const value = Number(input.value)
        if (!Number.isInteger(value) || value < 1 || value > 8192) throw new Error('Height and width are whole numbers up to 8192')
        return value
      }
      const { data, width: w, height: h } = await pixelsOf(chosen)
      const isBgr = channels.value === 'bgr'
      const options = pictureOptions({
        channels: isBgr ? 3 : Number(channels.value),
        height: size(height.input),
        width: size(width.input),
        scale: scale.value,
        order: isBgr ? 'bgr' : 'rgb',
      })
      return { kind: 'picture', pixels: { data, width: w, height: h }, options, dtype }
    },
  }
}

function soundFields(id) {
  const rate = numberField(`${id}-rate`, 'Samples a second', 16000, { max: '192000' })
  const seconds = numberField(`${id}-seconds`, 'Seconds', 1, { min: '0.1', max: '60', step: '0.1' })
  const form = h(
    'select',
    { id: `${id}-form` },
    h('option', { value: 'samples' }, 'samples [1, n]'),
    h('option', { value: 'mel' }, 'mel spectrogram'),
  )
  const bands = numberField(`${id}-bands`, 'Mel bands', MEL.nMels)
  const nFft = numberField(`${id}-fft`, 'Window', MEL.nFft)
  const hop = numberField(`${id}-hop`, 'Hop', MEL.hopLength)
  const mel = h('div', { class: 'row wrap', hidden: true }, bands.element, nFft.element, hop.element)
  form.addEventListener('change', () => (mel.hidden = form.value !== 'mel'))
  const level = h('meter', { min: '0', max: '1', value: '0', 'aria-label': 'Loudness' })
  const said = h('span', { class: 'quiet', role: 'status' }, 'It is recorded when you press Run.')
  return {
    element: h(
      'div',
      { hidden: true },
      h(
        'div',
        { class: 'row wrap' },
        rate.element,
        seconds.element,
        h('label', { class: 'field small', for: form.id }, h('span', {}, 'As'), form),
      ),
      mel,
      h('div', { class: 'row' }, level, said),
    ),
    async argument() {
      const [sampleRate, length] = [Number(rate.input.value), Number(seconds.input.value)]
      if (!(sampleRate >= 3000 && sampleRate <= 192_000)) throw new Error('Samples a second are from 3000 to 192000')
      if (!(length >= 0.1 && length <= 60)) throw new Error('Seconds are from 0.1 to 60')
      said.textContent = 'Recording'
      try {
        const samples = await record({
          sampleRate,
          seconds: length,
          onLevel(loudness, share) {
            level.value = loudness
            said.textContent = `Recording, ${Math.round(100 * share)} %`
          },
        })
        const options =
          form.value === 'mel'
            ? { ...MEL, nMels: Number(bands.input.value), nFft: Number(nFft.input.value), hopLength: Number(hop.input.value) }
            : null
        return { kind: 'sound', samples, from: sampleRate, rate: sampleRate, mel: options }
      } finally {
        level.value = 0
        said.textContent = 'It is recorded when you press Run.'
      }
    },
  }
}
