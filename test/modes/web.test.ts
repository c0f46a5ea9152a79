import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadModule } from '../../src/index.js'
import { webLibrary, withoutWeb } from '../support/web.js'
import { dataOfAll, errorBetween, inputOf, models, turns } from './models.js'

/** Networks on kernels of WebAssembly, interpreted and as plans. */

/** Of the largest value of an output: other vectors make other sums. */
const MAX_ERROR = 2e-4

const work = mkdtempSync(join(tmpdir(), 'ptlite-modes-'))
t.teardown(() => {
  rmSync(work, { recursive: true })
})

for (const { name, path, calls, isOtherForm } of models(work)) {
  if (isOtherForm) continue
  t.test(name, { skip: withoutWeb }, async (t) => {
    const web = await webLibrary()
    const native = await loadModule(path, { compile: 'off' })
    const order = turns(calls)
    const expected = order.map(({ inputs, outputs }) => outputs ?? dataOfAll(native.forward(...inputs.map(inputOf))))
    native.dispose()
    for (const compile of ['off', 'eager'] as const) {
      const module = await web.loadModule(path, { compile })
      for (const [i, { inputs }] of order.entries()) {
        const args = inputs.map(({ dtype, shape, data }) => web.Tensor.fromStorage(data.slice(), { dtype, shape }))
        const error = errorBetween(dataOfAll(module.forward(...args)), expected[i]!)
        t.ok(error <= MAX_ERROR, `compile ${compile}, call ${i}: ${error}`)
      }
      module.dispose()
    }
  })
}
