const SVG = 'http://www.w3.org/2000/svg'

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

/** An element of HTML: attributes by name, listeners as `onclick`. Texts are texts, never markup. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children)
}

/** An element of SVG. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children)
}

/** A number of `h` elements for a list of terms and what they say. */
export function terms(pairs) {
  return h(
    'dl',
    { class: 'terms' },
    ...pairs.filter(Boolean).map(([term, ...said]) => h('div', {}, h('dt', {}, term), h('dd', {}, ...said))),
  )
}

/** A bar of a share from 0 to 1. Its width is set by script, since the page allows no styles in attributes. */
export function bar(share, kind = '') {
  const inner = h('span', { class: `bar-fill ${kind}` })
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return h('span', { class: 'bar', 'aria-hidden': 'true' }, inner)
}

/** Calls `work` once for calls that come within `milliseconds`. */
export function soon(work, milliseconds = 120) {
  let timer
  return (...args) => {
    clearTimeout(timer)
    timer = setTimeout(() => work(...args), milliseconds)
  }
}
