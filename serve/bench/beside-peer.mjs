import { askingAgain, head, middle, ms, row, times, urlOf, whole } from './measure.mjs'
import { numbersOf, requestFor } from './models.mjs'

/** Requests per second and latencies of two servers, by turns. */
export async function besidePeer(ours, peer, { models, connections, rounds, seconds }) {
  head(
    ...['model', 'connections', 'ptlite: requests/s', 'p50, ms', 'p99, ms', 'event loop p99, ms', 'processor, ms'],
    ...[`${peer.name}: requests/s`, 'p50, ms', 'p99, ms', 'processor, ms', 'times'],
  )
  for (const model of models) {
    await compare(ours, peer, model)
    for (const child of [ours, peer]) await askingAgain(child, model, 4, 1)
    for (const count of connections) {
      const found = [[], []]
      for (let i = 0; i < rounds; i++)
        for (const [j, child] of [ours, peer].entries()) found[j].push(await askingAgain(child, model, count, seconds))
      const [a, b] = found.map((each) => middle(each))
      row(
        ...[model, count, whole(a.rate), ms(a.p50), ms(a.p99), ms(a.eventLoop), a.cpu.toFixed(3)],
        ...[whole(b.rate), ms(b.p50), ms(b.p99), b.cpu.toFixed(3), times(...found)],
      )
    }
  }
}

async function answers(child, model) {
  const { headers, body } = requestFor(model)
  return numbersOf(await fetch(urlOf(child, model), { method: 'POST', headers, body }))
}

/** Both compute the same. */
async function compare(ours, peer, model) {
  const [a, b] = [await answers(ours, model), await answers(peer, model)]
  const scale = Math.max(...b.map(Math.abs))
  const worst = Math.max(...a.map((each, i) => Math.abs(each - b[i]))) / scale
  if (a.length !== b.length || !(worst < 1e-3)) throw new Error(`${model}: results differ by ${worst} of the largest`)
}
