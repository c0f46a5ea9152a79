import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { loadModule, Tensor } from '../../src/index.js'
import { type Described, elementsOf, fixturePath, type Golden, inputOf } from './fixtures.js'

/** Of the largest value of an output. */
const MAX_ERROR = 1e-4

/** Largest difference, relative to the largest value that was expected. */
function errorOf(got: Tensor, wanted: Described): number {
  const expected = Array.from(elementsOf(wanted), Number)
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
      const inputs = golden.inputs.map(inputOf)
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
