import { h } from './dom.js'

/** What to do about an error, by its code, where the message does not say it. */
const ADVICE = {
  MISSING_OPERATOR:
    'The file can be looked at; to run it, this build would need those operators. Operators of your own are described in the docs (custom operators).',
  LIMIT_EXCEEDED: 'The model asks for more than a page may give. Try a smaller input.',
  OUT_OF_MEMORY: 'Close other models or tabs, or try a smaller input.',
  INVALID_ARGUMENT: 'Look at the types and sizes of the arguments.',
  MODEL_ERROR: 'The code of the model raised this. Most often an argument has another size or type than it expects.',
}

/** An error as people can use it: what happened, its code, and what to do. It comes into view; `goTo` leads to what it is about. */
export function errorNotice(title, error, goTo = null) {
  const code = error?.code ?? null
  const lines = String(error?.message ?? error)
  const advice = code === null ? null : ADVICE[code]
  const notice = h(
    'div',
    { class: 'notice error', role: 'alert' },
    h('p', { class: 'notice-title' }, title, code === null ? null : h('code', { class: 'chip' }, code)),
    h('p', { class: 'message' }, lines),
    advice ? h('p', { class: 'quiet' }, advice) : null,
    goTo === null ? null : h('button', { type: 'button', class: 'inline', onclick: goTo }, 'Show where'),
  )
  // once it is in the page
  requestAnimationFrame(() => notice.scrollIntoView({ block: 'nearest' }))
  return notice
}

/** A note beside what it is about. */
export function note(...children) {
  return h('p', { class: 'notice' }, ...children)
}
