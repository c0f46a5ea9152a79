import t from 'tap'
import { expected, multiplyIn, products } from '../native/fixtures/int8-product.js'
import { withoutWeb } from '../support/web.js'
import { launch, levels, newKernels, place } from '../support/web-kernels.js'

for (const level of levels)
  t.test(`products of 8-bit integers are exact: ${level}`, { skip: withoutWeb }, (t) => {
    const kernels = newKernels(level)
    let taken: number[] = []
    for (const product of products()) {
      const { m, n, k } = product
      const found = multiplyIn(
        {
          address(data) {
            taken.push(place(kernels, data))
            return taken.at(-1)!
          },
          floats: (address, count) => [...new Float32Array(kernels.exports.memory.buffer, address, count)],
          launch: (name, call, field) => {
            const read = launch(kernels, name, call)
            return field === undefined ? 0 : read(field)
          },
        },
        product,
      )
      t.strictSame(found, expected(product), `${m} x ${n} x ${k}, ${product.activations} by ${product.weights}`)
      for (const address of taken) kernels.give(address)
      taken = []
    }
    t.end()
  })
