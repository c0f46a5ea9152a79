import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule, tensor, Tensor } from '../../src/index.js'
import { fixturePath } from './fixtures.js'

/** Of the largest value of an output. */
const MAX_ERROR = 1e-4

interface Described {
  readonly dtype: 'float32' | 'int64'
  readonly shape: readonly number[]
  /** Base64 of the elements, row by row. */
  readonly data: string
}

interface Golden {
  readonly inputs: readonly Described[]
  readonly outputs: Readonly<Record<string, readonly Described[]>>
}

function elements({ dtype, data }: Described): Float32Array | BigInt64Array {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  return dtype === 'int64' ? new BigInt64Array(bytes.buffer) : new Float32Array(bytes.buffer)
}

/** Largest difference, relative to the largest value that was expected. */
function errorOf(got: Tensor, wanted: Described): number {
  const expected = Array.from(elements(wanted), Number)
  const found = Array.from(got.data(), Number)
  const scale = Math.max(...expected.map(Math.abs))
  return Math.max(...expected.map((value, i) => Math.abs(value - found[i]!))) / scale
}

const folder = fixturePath('models')
for (const name of readdirSync(folder).filter((file) => file.endsWith('.json'))) {
  const golden = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as Golden
  for (const [kind, wanted] of Object.entries(golden.outputs)) {
    const file = name.replace('.json', `.${kind}`)
    t.test(file, async (t) => {
      const module = await loadModule(`${folder}/${file}`)
      const inputs = golden.inputs.map((input) => tensor(elements(input), [...input.shape], input.dtype))
      for (const run of ['first', 'second']) {
        const output = module.forward(...inputs)
        const found = Array.isArray(output) ? output : [output]
        t.equal(found.length, wanted.length)
        for (const [i, value] of found.entries()) {
          if (!(value instanceof Tensor)) throw new Error('expected a tensor')
          t.same(value.shape, wanted[i]!.shape)
          const error = errorOf(value, wanted[i]!)
          t.ok(error <= MAX_ERROR, `${run} run: output ${i} is off by ${error.toExponential(1)}`)
        }
      }
      module.dispose()
    })
  }
}
