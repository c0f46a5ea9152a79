import { bar, h } from '../dom.js'
import { counted, formatNumber } from '../format.js'
import { tensorText } from './arguments.js'

/** What a method gave, as the worker describes it. `labels`: names of classes, or null. */
export function resultView(result, labels) {
  switch (result.kind) {
    case 'tensor':
      return tensorView(result, labels)
    case 'list':
      return h(
        'div',
        { class: 'result-list' },
        h('p', { class: 'quiet' }, counted(result.count, 'result')),
        h('ol', { start: '0' }, ...result.items.map((item) => h('li', {}, resultView(item, labels)))),
      )
    case 'dict':
      return h(
        'dl',
        { class: 'result-dict' },
        ...result.items.flatMap(([key, item]) => [h('dt', {}, key), h('dd', {}, resultView(item, labels))]),
      )
    default:
      return h('p', { class: 'code' }, result.text)
  }
}

function tensorView({ dtype, shape, values, least, most, mean, top, picture }, labels) {
  const head = h('p', {}, h('code', { class: 'type' }, tensorText({ dtype, shape })))
  const extremes =
    least === null
      ? null
      : h('p', { class: 'quiet' }, `from ${formatNumber(least)} to ${formatNumber(most)}, ${formatNumber(mean)} on average`)
  return h(
    'div',
    { class: 'tensor' },
    head,
    extremes,
    picture === null ? null : pictureView(picture),
    top === null ? null : topView(top, labels),
    valuesView(values, shape),
  )
}

function pictureView({ width, height, data }) {
  const canvas = h('canvas', {
    class: 'result-picture',
    width,
    height,
    role: 'img',
    'aria-label': `The result as a picture of ${width} by ${height} pixels`,
  })
  canvas.getContext('2d').putImageData(new ImageData(data, width, height), 0, 0)
  return canvas
}

function topView(top, labels) {
  const [first] = top
  const [least, most] = [Math.min(0, top.at(-1).value), Math.max(first.value, 1e-30)]
  return h(
    'ol',
    { class: 'top', 'aria-label': 'Largest values' },
    ...top.map(({ at, value }) =>
      h(
        'li',
        {},
        h('span', { class: 'label' }, labels?.[at] ?? `${at}`),
        bar((value - least) / (most - least || 1)),
        h('span', { class: 'number' }, formatNumber(value)),
      ),
    ),
  )
}

function valuesView(values, shape) {
  const count = shape.reduce((a, b) => a * b, 1)
  if (values.length === 0) return null
  const text = `${values.map(formatNumber).join(', ')}${values.length < count ? ', …' : ''}`
  return h(
    'details',
    {},
    h('summary', {}, count > values.length ? `First ${values.length} of ${counted(count, 'element')}` : counted(count, 'element')),
    h('p', { class: 'code values' }, text),
  )
}
