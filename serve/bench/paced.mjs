import { setTimeout as pause } from 'node:timers/promises'
import { Connection } from './connection.mjs'

/**
 * Requests that come evenly, `rate` a second for `seconds`, over `connections` that carry one at a time: an open loop, as many clients make it. A latency counts from when its
 * request was due, so that waiting for a connection is part of it. Gives requests per second of those that were answered, latencies in milliseconds, and how many failed.
 */
export async function paced(url, request, { rate, seconds, connections }) {
  const all = Array.from({ length: connections }, () => new Connection(url, request))
  const idle = [...all]
  const count = Math.floor(rate * seconds)
  const latencies = []
  let [sent, failed] = [0, 0]
  const begun = performance.now()
  const dueOf = (i) => begun + (i / rate) * 1000
  const isDue = () => sent < count && dueOf(sent) <= performance.now()
  function send(connection) {
    const due = dueOf(sent++)
    connection.send((status) => {
      if (status === 200) latencies.push(performance.now() - due)
      else failed++
      if (isDue()) send(connection)
      else idle.push(connection)
    })
  }
  while (sent < count || idle.length < connections) {
    while (idle.length > 0 && isDue()) send(idle.pop())
    await pause(1)
  }
  const took = (performance.now() - begun) / 1000
  for (const connection of all) connection.end()
  latencies.sort((a, b) => a - b)
  const at = (part) => latencies[Math.floor((latencies.length - 1) * part)] ?? NaN
  return { rate: latencies.length / took, p50: at(0.5), p99: at(0.99), failed }
}
