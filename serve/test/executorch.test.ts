import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { input, repository, start } from './support/server.js'

const fixture = (name: string): string => fileURLToPath(new URL(`../../test/fixtures/pte/${name}`, import.meta.url))

interface Stored {
  readonly tensor: number[]
  readonly shape: number[]
}

t.test('programs of ExecuTorch are served, portable ones and those of XNNPACK', async (t) => {
  const server = await start(t, repository(t, { 'net.pte': fixture('net.pte'), 'lowered/1/model.pte': fixture('net_xnnpack.pte') }))
  for (const [model, name] of [
    ['net', 'net'],
    ['lowered', 'net_xnnpack'],
  ] as const) {
    const { calls } = JSON.parse(readFileSync(fixture(`${name}.json`), 'utf8')) as { calls: { args: [Stored]; result: Stored }[] }
    const [{ args, result }] = calls as [(typeof calls)[number]]
    const about = (await server.get(`/v2/models/${model}`)).body as { inputs: [{ name: string }] }
    const answer = await server.infer(model, [input(about.inputs[0].name, 'FP32', args[0].shape, args[0].tensor)])
    t.equal(answer.status, 200, JSON.stringify(answer.body))
    const [output] = (answer.body as { outputs: [{ shape: number[]; data: number[] }] }).outputs
    t.strictSame(output.shape, result.shape)
    for (const [i, value] of result.tensor.entries()) t.ok(Math.abs(output.data[i]! - value) < 1e-4, `${model}, element ${i}`)
  }
})
