import { readFileSync } from 'node:fs'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Output, type Tensor, tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

/** A network that FX graph mode has quantized: interpreted, as a plan and from a file it gives PyTorch's bits. */

interface Case {
  readonly shape: number[]
  readonly x: number[]
  readonly y: number[]
}

const path = fixturePath('quantized_network.ptl')
const { shape, x, y } = JSON.parse(readFileSync(fixturePath('quantized_network.json'), 'utf8')) as Case
const input = (): Tensor => tensor(Float32Array.from(x), shape)
const dataOf = (output: Output): number[] => Array.from((output as Tensor).data() as Float32Array)

t.test('results', async (t) => {
  const bytes = compileAhead(path, () => [{ method: 'forward', args: [input()] }])
  for (const [name, source, compile] of [
    ['interpreted', path, 'off'],
    ['a plan', path, 'eager'],
    ['from a file', bytes, 'auto'],
  ] as const) {
    const m = await loadModule(source, { compile })
    for (let call = 0; call < 3; call++) t.strictSame(dataOf(m.forward(input())), y, name)
    if (compile !== 'off') t.equal(m.plans()[0]?.state, 'plan', name)
    m.dispose()
  }
})

t.test('operators of the plan', async (t) => {
  const m = await loadModule(path)
  const graph = (m.explain('forward', [input()]) as string).split('\n# after ').at(-1)!
  const count = (op: string): number => graph.split(` = ${op}(`).length - 1
  const found = Object.fromEntries(
    ['lookup', 'aten::quantize_per_tensor', 'aten::dequantize.self', 'aten::silu', 'aten::mish'].map((op) => [op, count(op)]),
  )
  t.strictSame(found, {
    lookup: 4,
    'aten::quantize_per_tensor': 0,
    'aten::dequantize.self': 1,
    'aten::silu': 0,
    'aten::mish': 0,
  })
  m.dispose()
})
