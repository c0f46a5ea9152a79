/**
 * A plain proxy before several servers, one after the other: node proxy.mjs PORT HOST:PORT...
 * A server takes part while it answers v2/health/ready, which is asked five times a second, and until a connection to it fails. What could not be sent
 * goes to the next server; what was sent and not answered is 502, as the proxy cannot know whether it was run.
 */
import { Agent, createServer, request } from 'node:http'

const [port, ...addresses] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
const servers = addresses.map((address) => ({ address, ready: false, drained: false, inFlight: 0, answered: 0, underWayAtLoss: 0 }))
let turn = 0

function next(tried) {
  for (let i = 0; i < servers.length; i++) {
    const server = servers[turn++ % servers.length]
    if (server.ready && !server.drained && !tried.has(server)) return server
  }
  return undefined
}

function takeOut(server) {
  // an answer of the health check that was under way may come later, and have it taken out twice
  if (server.ready) server.underWayAtLoss = Math.max(server.underWayAtLoss, server.inFlight)
  server.ready = false
}

function pass(incoming, body, outgoing, tried) {
  const server = next(tried)
  if (server === undefined) return outgoing.writeHead(503, { 'retry-after': '1' }).end('{"error":"no server is ready"}')
  let isConnected = false
  let isOver = false
  const end = () => {
    if (!isOver) server.inFlight--
    isOver = true
  }
  const onward = request({
    agent,
    host: server.address.split(':')[0],
    port: server.address.split(':')[1],
    method: incoming.method,
    path: incoming.url,
    headers: incoming.headers,
  })
  server.inFlight++
  onward.on('socket', (socket) => (socket.connecting ? socket.once('connect', () => (isConnected = true)) : (isConnected = true)))
  onward.on('response', (answer) => {
    const parts = []
    answer.on('data', (part) => parts.push(part))
    answer.on('end', () => {
      end()
      server.answered++
      outgoing.writeHead(answer.statusCode, answer.headers).end(Buffer.concat(parts))
    })
    answer.on('error', () => lost())
  })
  const lost = () => {
    if (isOver) return
    if (!server.drained) takeOut(server)
    end()
    if (!isConnected) return pass(incoming, body, outgoing, new Set([...tried, server]))
    outgoing.writeHead(502).end('{"error":"the server has gone"}')
  }
  onward.on('error', lost)
  onward.end(body)
}

createServer((incoming, outgoing) => {
  const parts = []
  incoming.on('data', (part) => parts.push(part))
  incoming.on('end', () => pass(incoming, Buffer.concat(parts), outgoing, new Set()))
}).listen(Number(port), '127.0.0.1', () => process.send?.({ listening: true }))

setInterval(() => {
  for (const server of servers)
    fetch(`http://${server.address}/v2/health/ready`, { signal: AbortSignal.timeout(1000) }).then(
      ({ ok }) => (server.ready = ok),
      () => takeOut(server),
    )
}, 200)

// what an orchestrator does: it asks what is under way, and takes a server out before that is told to end
process.on('message', ({ drain, add, state }) => {
  for (const server of servers) {
    if (server.address === drain) server.drained = true
    if (server.address === add) server.drained = false
  }
  if (state !== undefined) process.send({ state: servers.map((server) => ({ ...server })) })
})
