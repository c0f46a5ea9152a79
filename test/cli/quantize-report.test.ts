import { fileURLToPath } from 'node:url'
import t from 'tap'
import { differenceOf, tokenDifference } from '../../src/cli/output-difference.js'
import { ptlite } from './in-process.js'

const model = fileURLToPath(new URL('../fixtures/tied.ptl', import.meta.url))

interface Row {
  readonly format: string
  readonly layer?: string
  readonly bytes: number
  readonly relative: number
  readonly cosine: number
  readonly tokens: { readonly top1: number; readonly divergence: number } | null
}

const tokens = JSON.stringify({ dtype: 'int64', shape: [1, 4], data: [3, 17, 42, 8] })

t.test('quantize-report compares formats and layers', async (t) => {
  const input = `${t.testdir({ 'tokens.json': tokens })}/tokens.json`
  const { status, stdout, stderr } = await ptlite('quantize-report', model, '-i', input, '--formats', 'int8,int4', '--runs', '2', '--json')
  t.equal(status, 0, stderr)
  const { formats, layers } = JSON.parse(stdout) as { readonly formats: Row[]; readonly layers: Row[] }
  t.same(
    formats.map(({ format }) => format),
    ['float32', 'int8', 'int4'],
  )
  const [exact, eight, four] = formats as [Row, Row, Row]
  t.match(exact, { relative: 0, tokens: { top1: 1, divergence: 0 } })
  t.ok(eight.bytes < exact.bytes / 3 && four.bytes < eight.bytes / 1.5)
  t.ok(eight.relative > 0 && eight.relative < 0.02 && four.relative > eight.relative && four.relative < 0.2)
  t.ok(four.tokens!.divergence > eight.tokens!.divergence)
  t.equal(layers.length, 8, 'each matrix in each format')
  t.same([...new Set(layers.map(({ layer }) => layer))].sort(), ['down.weight', 'embedding.weight', 'mix', 'up.weight'])
  t.ok(
    layers.every(({ relative }, i) => relative > 0 && (i === 0 || relative <= layers[i - 1]!.relative)),
    'the worst first',
  )
  const text = await ptlite('quantize-report', model, '-i', input, '--formats', 'int4', '--runs', '1', '--no-layers')
  t.match(text.stdout, /int4 .* ms/)
  t.notMatch(text.stdout, /layers/)
  t.match(await ptlite('quantize-report', model, '--formats', 'int3'), { status: 2, stderr: /found 'int3'/ })
})

t.test('differences of results', async (t) => {
  const floats = (...data: number[]) => [{ shape: [2, data.length / 2], data: Float32Array.from(data) }]
  const exact = floats(3, 0, 0, 4)
  t.match(differenceOf(floats(3, 1, 0, 4), exact), { largest: 1, relative: 0.2, cosine: 25 / (5 * Math.sqrt(26)) })
  t.ok(Number.isNaN(differenceOf(floats(3, NaN, 0, 4), exact).largest))
  const { top1, divergence } = tokenDifference(floats(0, 0, 1, 0), floats(Math.log(3), 0, 1, 0))!
  t.equal(top1, 1, 'the first of several')
  // of (3/4, 1/4) from (1/2, 1/2), over two rows
  const wanted = (0.75 * Math.log(1.5) + 0.25 * Math.log(0.5)) / 2
  t.ok(Math.abs(divergence - wanted) < 1e-6)
  t.equal(tokenDifference([], []), null)
})
