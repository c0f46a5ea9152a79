// What tables are made of: loads of a server, the middle of several rounds, and rows.
import autocannon from 'autocannon'
import { requestFor } from './models.mjs'
import { paced } from './paced.mjs'

export const urlOf = (child, model) => `${child.url}/v2/models/${model}/infer`

function warn(child, model, failed) {
  if (failed > 0) console.log(`${child.name}, ${model}: ${failed} requests failed`)
}

/** Clients that ask again as soon as they have an answer. */
export async function closedLoop(child, model, connections, duration) {
  await child.ask()
  const { headers, body } = requestFor(model)
  const result = await autocannon({ url: urlOf(child, model), method: 'POST', connections, duration, headers, body })
  const { eventLoop, cpu } = await child.ask()
  warn(child, model, result.non2xx + result.errors)
  return {
    rate: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    eventLoop,
    cpu: cpu / result.requests.total,
  }
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
export const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0))
export const whole = (value) => value.toFixed(0)
