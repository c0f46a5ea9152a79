import t from 'tap'
import { raiseTopmost } from '../../program/raise.js'
import type { Value } from '../../runtime/tensor/value.js'

function messageOf(...values: Value[]): string {
  try {
    raiseTopmost({ values, top: values.length })
  } catch (error) {
    return (error as Error).message
  }
}

t.test('an exception has a message, and maybe a class above it', (t) => {
  t.equal(messageOf('too large'), 'too large')
  t.equal(messageOf('too large', null), 'too large')
  t.equal(messageOf('too large', 'builtins.ValueError'), 'builtins.ValueError: too large')
  t.equal(messageOf('something below', 'too large'), 'too large')
  t.equal(messageOf(7, 'too large'), 'too large')
  t.end()
})
