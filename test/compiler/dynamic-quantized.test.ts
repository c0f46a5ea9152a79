import { readFileSync } from 'node:fs'
import t from 'tap'
import { compileAhead } from '../../src/ahead.js'
import { loadModule, type Output, type Tensor, tensor } from '../../src/index.js'
import { fixturePath } from '../module/fixtures.js'

/** Layers whose inputs are quantized by ranges that depend on data, and resampling of quantized images: in plans and in files. */

interface Numbers {
  readonly shape: readonly number[]
  readonly data: readonly number[]
}
interface Case {
  readonly method: string
  readonly x: Numbers
  readonly y: Numbers
}

const path = fixturePath('dynamic.ptl')
const cases = JSON.parse(readFileSync(fixturePath('dynamic.json'), 'utf8')) as Case[]
const methods = [...new Set(cases.map((c) => c.method))]
const inputOf = ({ shape, data }: Numbers): Tensor => tensor(Float32Array.from(data), [...shape])
const dataOf = (output: Output): Float32Array => (output as Tensor).data() as Float32Array

const bytes = compileAhead(path, () => methods.map((method) => ({ method, args: [inputOf(cases.find((c) => c.method === method)!.x)] })))

for (const method of methods) {
  t.test(method, async (t) => {
    const [interpreted, compiled, filed] = [await loadModule(path, { compile: 'off' }), await loadModule(path), await loadModule(bytes)]
    const of = cases.filter((c) => c.method === method)
    await compiled.compile(method, [inputOf(of[0]!.x)])
    for (const { x, y } of of) {
      const got = dataOf(compiled.call(method, [inputOf(x)]))
      // of resampled integers, one that lies between two may become either
      const most = 2e-6 * Math.max(...y.data.map(Math.abs)) + (method === 'resized' ? 0.05 : 0)
      t.ok(
        y.data.every((v, i) => Math.abs(v - got[i]!) <= most),
        'as PyTorch has it',
      )
      t.strictSame(dataOf(interpreted.call(method, [inputOf(x)])), got)
      t.strictSame(dataOf(filed.call(method, [inputOf(x)])), got)
    }
    for (const m of [compiled, filed]) t.equal(m.plans().find((p) => p.method === method)?.state, 'plan')
    if (method !== 'resized') {
      const bad = { ...of[0]!.x, data: of[0]!.x.data.map((v, i) => (i === 3 ? NaN : v)) }
      for (const m of [interpreted, compiled, filed]) {
        t.throws(() => m.call(method, [inputOf(bad)]), { code: 'INVALID_ARGUMENT', message: /expected finite numbers/ })
      }
    }
    for (const m of [interpreted, compiled, filed]) m.dispose()
  })
}
