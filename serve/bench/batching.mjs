import { askingAgain, head, middle, ms, openLoop, row, times, whole } from './measure.mjs'

const CONNECTIONS = 32
/** Parts of the requests a second that batches answer: what leaves a server at rest most of the time, and what keeps it busy. */
const [LIGHT, HEAVY] = [0.05, 0.75]
/** Times the requests a second that are answered without batching, which are enough where batches could answer more. */
const ENOUGH = 2
/** Seconds of the light load are so many times the others': few requests have no 99th percentile. */
const LONGER = 4

/** What batches bring to clients that always ask again, and what they cost in time where clients are so many that requests come evenly. */
export async function batching(server, { models, rounds, seconds }) {
  const found = []
  for (const model of models) found.push([model, await measure(server, model, { rounds, seconds })])
  head(
    ...[`batching, ${CONNECTIONS} connections that ask again`, 'without: requests/s', 'p99, ms'],
    ...['with: requests/s', 'p99, ms', 'times', 'p99 of 1 connection, ms'],
  )
  for (const [model, { without, batched, one }] of found) {
    const [a, b, c] = [without, batched, one].map((each) => middle(each))
    row(model, whole(a.rate), ms(a.p99), whole(b.rate), ms(b.p99), times(batched, without), ms(c.p99))
  }
  console.log()
  head(
    ...[`batching, requests come evenly to ${CONNECTIONS} connections`, 'requests/s', 'times those that ask again without'],
    ...['p50, ms', 'p99, ms', 'few requests/s', 'p50, ms', 'p99, ms', 'p99 times that of few'],
  )
  for (const [model, { without, light, heavy }] of found) {
    const [a, b] = [heavy, light].map((each) => middle(each, 'p99'))
    const p99 = times(heavy, light, 'p99')
    row(model, whole(a.rate), times(heavy, without), ms(a.p50), ms(a.p99), whole(b.rate), ms(b.p50), ms(b.p99), p99)
  }
}

async function measure(server, model, { rounds, seconds }) {
  const name = `${model}_batched`
  await askingAgain(server, model, 4, 1)
  await askingAgain(server, name, CONNECTIONS, 1)
  const found = { without: [], batched: [], one: [], light: [], heavy: [] }
  for (let i = 0; i < rounds; i++) {
    const without = await askingAgain(server, model, CONNECTIONS, seconds)
    found.without.push(without)
    const batched = await askingAgain(server, name, CONNECTIONS, seconds)
    found.batched.push(batched)
    found.one.push(await askingAgain(server, name, 1, seconds))
    const open = (rate, longer) => openLoop(server, name, { rate, seconds: seconds * longer, connections: CONNECTIONS })
    found.light.push(await open(LIGHT * batched.rate, LONGER))
    found.heavy.push(await open(Math.min(HEAVY * batched.rate, ENOUGH * without.rate), 1))
  }
  return found
}
