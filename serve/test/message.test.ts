import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Blocks } from '../src/blocks.js'
import { type Body, BodyBudget, readBody } from '../src/http/body.js'
import { DirectMessage } from '../src/http/message.js'

const MOST = 1000

interface Echo {
  readonly budget: BodyBudget
  /** What each body ended with, as they came. */
  readonly ends: (string | Error)[]
  connect(): Promise<Socket & { answer: () => Promise<string> }>
}

/** Answers each request with its body, or with the text of what is wrong with it. */
async function echo(t: Test, before: (request: DirectMessage) => void = () => {}): Promise<Echo> {
  const budget = new BodyBudget(2 * MOST, MOST)
  const ends: (string | Error)[] = []
  const server = createServer({ IncomingMessage: DirectMessage }, (request: DirectMessage, response: ServerResponse) => {
    before(request)
    readBody(request, budget, new Blocks(), (error, body) => {
      ends.push(error ?? textOf(body!))
      if (body !== null) budget.giveBack(body.bytes)
      response.end(error?.message ?? textOf(body!))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  return {
    budget,
    ends,
    async connect() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      await once(socket, 'connect')
      return Object.assign(socket, { answer: () => nextAnswer(socket) })
    },
  }
}

function textOf({ json, binary }: Body): string {
  return json.toString() + (binary === null ? '' : `+${Buffer.from(binary).toString()}`)
}

/** The body of the next answer; of several at a time the last one. */
async function nextAnswer(socket: Socket): Promise<string> {
  const [text] = (await once(socket, 'data')) as [Buffer]
  return text.toString().replace(/^[^]*\r\n\r\n/, '')
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5)
}

const post = (body: string, headers = `Content-Length: ${body.length}\r\n`): string => `POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`

t.test('bodies come whole, however they are cut', async (t) => {
  const { budget, ends, connect } = await echo(t)
  const socket = await connect()
  socket.write(post('at once'))
  t.equal(await socket.answer(), 'at once')
  for (const part of [post('', 'Content-Length: 9\r\n'), 'in ', 'pie', 'ces']) {
    socket.write(part)
    await sleep(20)
  }
  await until(() => ends.length === 2)
  socket.write(post('3\r\nin \r\n6\r\nchunks\r\n0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'))
  await until(() => ends.length === 3)
  socket.write(post('{}12345678', 'Content-Length: 10\r\nInference-Header-Content-Length: 2\r\n'))
  await until(() => ends.length === 4)
  socket.write(post(''))
  await until(() => ends.length === 5)
  t.strictSame(ends, ['at once', 'in pieces', 'in chunks', '{}+12345678', ''])
  t.equal(budget.used, 0)
  socket.destroy()
})

t.test('requests that follow each other on one connection are answered in their order', async (t) => {
  const { ends, connect } = await echo(t)
  const socket = await connect()
  socket.write(post('first') + post('second') + post('third'))
  let text = ''
  socket.on('data', (part: Buffer) => (text += part.toString()))
  while (!text.endsWith('third')) await once(socket, 'data')
  t.strictSame(ends, ['first', 'second', 'third'])
  t.strictSame(text.match(/first|second|third/g), ['first', 'second', 'third'])
  socket.destroy()
})

t.test('what is refused is read to its end, and the connection goes on', async (t) => {
  const { budget, ends, connect } = await echo(t)
  const socket = await connect()
  socket.write(post('', `Content-Length: ${MOST + 1}\r\n`))
  t.match(await socket.answer(), /at most 1000/)
  socket.write('x'.repeat(MOST + 1) + post('the next'))
  t.equal(await socket.answer(), 'the next')
  // a body that does not say how long it is
  socket.write(post(`${(MOST + 1).toString(16)}\r\n${'x'.repeat(MOST + 1)}\r\n0\r\n\r\n`, 'Transfer-Encoding: chunked\r\n'))
  t.match(await socket.answer(), /more than 1000/)
  socket.write(post('after it'))
  t.equal(await socket.answer(), 'after it')
  t.equal(ends.length, 4, 'each has one end')
  t.equal(budget.used, 0)
  socket.destroy()
})

t.test('a client that goes away in the middle gives back what its body was to take', async (t) => {
  const { budget, ends, connect } = await echo(t)
  const socket = await connect()
  socket.write(post('the beginning', 'Content-Length: 500\r\n'))
  await until(() => budget.used > 0)
  socket.destroy()
  await until(() => ends.length === 1)
  t.match(ends[0], { message: 'the client has gone', status: 499 })
  t.equal(budget.used, 0)
})

t.test('a request whose stream is in use keeps it', async (t) => {
  const seen: string[] = []
  const { ends, connect } = await echo(t, (request) => request.on('data', (part: Buffer) => seen.push(part.toString())))
  const socket = await connect()
  socket.write(post('both see it'))
  t.equal(await socket.answer(), 'both see it')
  t.strictSame([seen, ends], [['both see it'], ['both see it']])
  socket.destroy()
})
