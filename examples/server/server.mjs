// Digits over HTTP, by a pool of worker threads: node server.mjs [PORT]; POST 64 bytes from 0 to 16, the 8 x 8 pixels of a digit.
//   head -c 64 /dev/zero | curl --data-binary @- http://localhost:8080
import { createServer } from 'node:http'
import { availableParallelism } from 'node:os'
import { Pool } from './pool.mjs'

const PIXELS = 64
const pool = new Pool(new URL('worker.mjs', import.meta.url), Math.min(4, availableParallelism()))

/** The body of a request, up to one byte more than there may be. */
async function bodyOf(request) {
  const parts = []
  let length = 0
  for await (const part of request) {
    parts.push(part)
    length += part.length
    if (length > PIXELS) break
  }
  return Buffer.concat(parts)
}

const server = createServer(async (request, response) => {
  const answer = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(`${JSON.stringify(value)}\n`)
  }
  try {
    const pixels = await bodyOf(request)
    if (request.method !== 'POST' || pixels.length !== PIXELS) answer(400, { error: `POST ${PIXELS} bytes` })
    else answer(200, await pool.run(Uint8Array.from(pixels)))
  } catch (error) {
    answer(500, { error: error.message })
  }
})
server.listen(Number(process.argv[2] ?? 8080), () => console.log(`listening on port ${server.address().port}`))

process.once('SIGTERM', () => {
  server.close(() => pool.close())
  server.closeIdleConnections()
})
