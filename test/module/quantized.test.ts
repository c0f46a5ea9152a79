import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { float, int, loadModule, Tensor, tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/** Quantized networks of torchvision against PyTorch on QNNPACK: the whole, and each layer and block by itself. */

interface Integers {
  readonly shape: readonly number[]
  readonly scale: number
  readonly zeroPoint: number
  readonly data: string
}

interface Golden {
  readonly input: { readonly shape: readonly number[]; readonly data: string }
  readonly output: { readonly shape: readonly number[]; readonly data: string }
  /** Scale of the output's integers. */
  readonly quantum: number
  readonly layers: readonly { readonly name: string; readonly input: Integers; readonly output: Integers }[]
}

const bytesOf = (data: string): Uint8Array => new Uint8Array(Buffer.from(data, 'base64'))
const floatsOf = (data: string): Float32Array => new Float32Array(bytesOf(data).buffer)

function largestDifference(got: ArrayLike<number | bigint>, want: ArrayLike<number>): number {
  let largest = got.length === want.length ? 0 : Infinity
  for (let i = 0; i < want.length; i++) largest = Math.max(largest, Math.abs(Number(got[i]) - want[i]!))
  return largest
}

function asTensor(value: unknown): Tensor {
  if (value instanceof Tensor) return value
  throw new Error('expected a tensor')
}

const folder = fixturePath('quantized')
for (const file of readdirSync(folder).filter((name) => /\.(ptl|ff)$/.test(name))) {
  const golden = JSON.parse(readFileSync(`${folder}/${file.replace(/\.\w+$/, '.json')}`, 'utf8')) as Golden
  t.test(file, async (t) => {
    const module = await loadModule(`${folder}/${file}`)
    t.teardown(() => {
      module.dispose()
    })

    await t.test('the network', (t) => {
      const x = tensor(floatsOf(golden.input.data), [...golden.input.shape])
      const y = asTensor(module.forward(x))
      t.same(y.shape, golden.output.shape)
      const apart = largestDifference(y.data(), floatsOf(golden.output.data)) / golden.quantum
      t.ok(apart < 1.001, `${apart} quanta apart`)
      t.end()
    })

    await t.test('its layers', (t) => {
      for (const [i, { name, input, output }] of golden.layers.entries()) {
        const x = tensor(bytesOf(input.data), [...input.shape], 'uint8')
        const y = asTensor(module.call(`layer_${i}`, [x, float(input.scale), int(input.zeroPoint)]))
        t.same(y.shape, output.shape)
        const apart = largestDifference(y.data(), bytesOf(output.data))
        t.ok(apart <= 1, `${name}: ${apart} quanta apart`)
      }
      t.end()
    })
  })
}
