import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { Outbox } from '../src/http/outbox.js'

t.test('answers of one turn are written at its end, but for those whose client has gone', async (t) => {
  // however long this turn takes
  const outbox = new Outbox(() => 0)
  const waiting: ServerResponse[] = []
  const server = createServer((_request, response) => {
    waiting.push(response)
    server.emit('waits')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const gone = new AbortController()
  const answers: Promise<string>[] = []
  for (const signal of [undefined, gone.signal, undefined]) {
    const request = once(server, 'waits')
    answers.push(
      fetch(`http://127.0.0.1:${port}`, signal === undefined ? {} : { signal }).then(
        (answer) => answer.text(),
        () => 'gone',
      ),
    )
    await request
  }
  const closed = once(waiting[1]!, 'close')
  gone.abort()
  await closed
  waiting.forEach((response, i) => outbox.end(response, `answer ${i}`))
  t.notOk(waiting[0]!.writableEnded, 'nothing is written while others of the turn may follow')
  t.strictSame(await Promise.all(answers), ['answer 0', 'gone', 'answer 2'])
})

t.test('an answer does not wait for a long turn', async (t) => {
  const ended: string[] = []
  const response = (name: string): ServerResponse => ({ destroyed: false, end: () => ended.push(name) }) as unknown as ServerResponse
  const outbox = new Outbox()
  outbox.end(response('first'), '')
  const until = performance.now() + 3
  while (performance.now() < until);
  outbox.end(response('second'), '')
  t.strictSame(ended, ['first', 'second'])
  outbox.end(response('third'), '')
  await new Promise(setImmediate)
  t.strictSame(ended, ['first', 'second', 'third'], 'each is written once')
})
