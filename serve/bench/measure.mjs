// What tables are made of: loads of a server, the middle of several rounds, and rows.
import { closedLoop } from './closed-loop.mjs'
import { requestFor } from './models.mjs'
import { paced } from './paced.mjs'

export const urlOf = (child, model) => `${child.url}/v2/models/${model}/infer`

function warn(child, model, failed) {
  if (failed > 0) console.log(`${child.name}, ${model}: ${failed} requests failed`)
}

/** Clients that ask again as soon as they have an answer. */
export async function askingAgain(child, model, connections, seconds) {
  await child.ask()
  const { requests, seconds: took, p50, p99, failed } = await closedLoop(urlOf(child, model), requestFor(model), { connections, seconds })
  const { eventLoop, cpu } = await child.ask()
  warn(child, model, failed)
  return { rate: requests / took, p50, p99, eventLoop, cpu: cpu / requests }
}

/** So many requests a second, whatever answers take. */
export async function openLoop(child, model, load) {
  const found = await paced(urlOf(child, model), requestFor(model), load)
  warn(child, model, found.failed)
  return found
}

/** Of several rounds the middle one by a number of theirs. */
export function middle(found, by = 'rate') {
  return found.toSorted((a, b) => a[by] - b[by])[Math.floor(found.length / 2)]
}

/** How many times the number of `others` there was in each round, in the middle: what disturbs a round does so for both. */
export function times(found, others, by = 'rate') {
  const ratios = found.map((each, i) => each[by] / others[i][by]).sort((a, b) => a - b)
  return ratios[Math.floor(ratios.length / 2)].toFixed(2)
}

export function head(...names) {
  row(...names)
  row('---', ...Array.from({ length: names.length - 1 }, () => '---:'))
}

export const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)
export const ms = (value) => value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)
export const whole = (value) => value.toFixed(0)
