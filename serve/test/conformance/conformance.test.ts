import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { started } from '../support/started.js'
import { tryExamples } from './examples/index.mjs'
import { RULES, tryRules } from './suite.mjs'

/** Models of different datatypes, numbers of inputs and shapes: each rule applies to one of them. */
const MODELS = ['simple', 'echo', 'mixed', 'half', 'own', 'simple_sequence']

t.test('the server keeps the rules of the protocol', async (t) => {
  const { url, address } = await started(t)
  const tried = new Set<object>()
  for (const model of MODELS)
    await t.test(model, async (t) => {
      const results = await tryRules(url, { grpc: address, model, changes: true, stateful: model === 'simple_sequence' })
      for (const { rule, outcome, reason } of results) {
        if (outcome === 'skipped') continue
        tried.add(rule)
        t.equal(reason, undefined, `${rule.section}: ${rule.rule}`)
      }
    })
  t.strictSame(
    RULES.filter((rule) => !tried.has(rule)).map(({ section, rule }) => `${section}: ${rule}`),
    [],
    'no rule is skipped for each model',
  )
})

t.test('it answers what other clients document', async (t) => {
  const { url, address } = await started(t)
  for (const { example, fault } of await tryExamples(url, address)) t.equal(fault, undefined, `${example.section}: ${example.rule}`)
})

t.test('a server that does not keep a rule is found', async (t) => {
  const { url } = await started(t)
  const parsed = (body: Buffer): Record<string, unknown> => JSON.parse(body.toString()) as Record<string, unknown>
  const lies: [RegExp, string, Lie][] = [
    [/health\/live$/, 'a server that runs says that it is live', () => ({ body: '{"live":"yes"}' })],
    [/\/v2$/, 'the server has a name, a version and extensions', ({ body }) => ({ body: JSON.stringify({ ...parsed(body), version: 1 }) })],
    [/no-such-model$/, 'an unknown model has an error object', () => ({ body: '{"message":"no"}' })],
    [/no-such-model\/infer$/, 'an unknown model has an error object', () => ({ status: 200 })],
    [/echo\/infer$/, 'the id of a request comes back', ({ body }) => ({ body: body.toString().replace('"id":"42"', '"id":"24"') })],
    [/echo\/infer$/, 'binary_data has an output returned as bytes', ({ body }) => ({ body: body.subarray(0, -1) })],
    [
      /echo\/infer$/,
      'bytes and JSON are two forms of the same values',
      ({ body }) => ({ body: body.toString('latin1').replace('"data":[2,', '"data":[3,') }),
    ],
    [
      /stats$/,
      'counts grow with each inference, and the last one has its time',
      ({ body }) => ({ body: body.toString().replace(/"inference_count":\d+/g, '"inference_count":5') }),
    ],
    [/index$/, 'with `ready` those alone that take requests', ({ body }) => ({ body: body.toString().replace('READY', 'UNAVAILABLE') })],
  ]
  for (const [path, wanted, lie] of lies) {
    const rules = RULES.filter(({ rule }) => rule === wanted)
    const honest = await tryRules(url, { model: 'echo', rules })
    t.ok(honest.some(({ outcome }) => outcome === 'passed') && honest.every(({ outcome }) => outcome !== 'failed'), wanted)
    const results = await tryRules(await lying(t, url, path, lie), { model: 'echo', rules }).catch((error: Error) => error.message)
    t.ok(typeof results === 'string' || results.some(({ outcome }) => outcome === 'failed'), `${wanted}, where ${path} is not answered so`)
  }
})

interface Told {
  readonly status: number
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
}

type Lie = (answer: Told) => { readonly status?: number; readonly body?: Buffer | string }

/** A server before another one that alters answers of some paths. */
async function lying(t: Test, target: string, path: RegExp, lie: Lie): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const onward = httpRequest(new URL(incoming.url!, target), { method: incoming.method!, headers: incoming.headers }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        const honest = { status: answer.statusCode!, body: Buffer.concat(parts), headers: answer.headers }
        const { status, body, headers } = path.test(incoming.url!) ? { ...honest, ...lie(honest) } : honest
        const { 'content-length': _, ...others } = headers
        outgoing.writeHead(status, others).end(typeof body === 'string' ? Buffer.from(body, 'latin1') : body)
      })
    })
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
