import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'

interface Load {
  readonly rate: number
  readonly seconds: number
  readonly connections: number
}
interface Found {
  readonly rate: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
}
// of the benchmarks, which have no types
const { paced } = (await import(new URL('../bench/paced.mjs', import.meta.url).href)) as {
  paced(url: string, request: { headers: Record<string, string>; body: string | Buffer }, load: Load): Promise<Found>
}
const REQUEST = { headers: { 'content-type': 'text/plain' }, body: 'é' }

async function urlOf(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/there`
}

const http = (t: Test, listener: RequestListener): Promise<string> => urlOf(t, createServer(listener))

t.test('it sends what is due, over connections that stay', async (t) => {
  const seen = new Set<string>()
  const sockets = new Set<unknown>()
  let count = 0
  const url = await http(t, (request, response) => {
    count++
    sockets.add(request.socket)
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      seen.add(`${request.method} ${request.url} ${request.headers['content-type']} ${request.headers['content-length']} ${body}`)
      response.writeHead(count % 10 === 0 ? 503 : 200, { 'content-length': 1e5 }).end(Buffer.alloc(1e5))
    })
  })
  const { failed, p50, p99 } = await paced(url, REQUEST, { rate: 200, seconds: 0.5, connections: 4 })
  t.strictSame([...seen], ['POST /there text/plain 2 é'])
  t.equal(count, 100)
  t.equal(failed, 10, 'answers with another status than 200')
  t.ok(sockets.size <= 4)
  t.ok(p50 > 0 && p50 <= p99)
})

t.test('a request waits for a connection from when it is due', async (t) => {
  const url = await http(t, (_request, response) => void pause(20).then(() => response.end('.')))
  const { p50, failed } = await paced(url, REQUEST, { rate: 100, seconds: 0.4, connections: 1 })
  t.equal(failed, 0)
  // the last of 40 is due after 390 ms, and has its answer after 40 times 20 ms
  t.ok(p50 > 150, `${p50} ms`)
})

t.test('answers come in pieces', async (t) => {
  const server = createTcpServer((socket) =>
    socket.on('data', () => {
      void (async () => {
        for (const piece of ['HTTP/1.1 200 OK\r\nContent-', 'Length: 5\r\n\r', '\n12', '345']) {
          socket.write(piece)
          await pause(2)
        }
      })()
    }),
  )
  const { failed, rate } = await paced(await urlOf(t, server), REQUEST, { rate: 50, seconds: 0.2, connections: 2 })
  t.equal(failed, 0)
  t.ok(rate > 0)
})

t.test('connections that end, and servers that are gone, are failures', async (t) => {
  const server = createTcpServer((socket) => socket.on('data', () => socket.destroy()))
  const url = await urlOf(t, server)
  t.match(await paced(url, REQUEST, { rate: 100, seconds: 0.1, connections: 2 }), { failed: 10, rate: 0 })
  server.close()
  await once(server, 'close')
  t.match(await paced(url, REQUEST, { rate: 100, seconds: 0.1, connections: 2 }), { failed: 10, rate: 0 })
})
