import t from 'tap'
import { packedLiteral, packNumber, packNumbers } from '../../codegen/emit/packed.js'
import { unpackNumbers } from '../../runtime/operators/table/packed.js'

const around = [0, 1, 51, 52, 53, 52 * 35 - 1, 52 * 35, 52 * 35 + 1, 65535, 2 ** 31, 2 ** 40]

await t.test('numbers come back, and small ones are one character', (t) => {
  t.same(unpackNumbers(packNumbers(around)), around)
  const many = Array.from({ length: 4000 }, (_, i) => i)
  t.same(unpackNumbers(packNumbers(many)), many)
  t.same(
    many.map((n) => packNumber(n).length),
    many.map((n) => (n < 52 ? 1 : n < 52 * 35 ? 2 : 3)),
  )
  t.same(unpackNumbers(''), [])
  t.end()
})

await t.test('packed text needs no escape in a string literal', (t) => {
  t.match(packedLiteral(packNumbers(Array.from({ length: 4000 }, (_, i) => i))), /^'[^\\']*'$/)
  t.equal(packedLiteral("it's"), "'it\\'s'")
  t.end()
})
