import t from 'tap'
import { checkPrintable } from '../../src/cli/printable.js'
import { tensorsIn } from '../../src/inspect/tensors-in.js'
import { type Output, tensor } from '../../src/index.js'
import { constantText } from '../../program/disassemble.js'
import { tensorAttributes } from '../../program/attributes.js'
import { ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { deepList } from '../tensor/random-values.js'

/** Lists that hold the one before twice. */
function shared(innermost: Value): Value {
  let value = innermost
  for (let i = 0; i < 60; i++) value = [value, value]
  return value
}

t.test('results that have no text to print', (t) => {
  checkPrintable([[1, 'x'], new Map([['a', [2]]])])
  const cycle: Output[] = []
  cycle.push(cycle)
  for (const result of [cycle, shared(1) as Output, deepList(100_000) as Output])
    t.throws(() => checkPrintable(result), { code: 'INVALID_ARGUMENT', message: /cannot be printed/ })
  t.end()
})

t.test('tensors in results', (t) => {
  const x = tensor([1])
  const cycle: unknown[] = [new Map([['x', x]]), x]
  cycle.push(cycle)
  for (const result of [x, cycle, shared(x), deepList(100_000, x)]) t.strictSame([...tensorsIn(result)], [x])
  t.end()
})

t.test('constants in a listing', (t) => {
  t.equal(constantText([[1, [2]], 'a']), '[[1, [2]], "a"]')
  t.ok(constantText(shared(1)).length < 200)
  t.end()
})

t.test('names of attributes', (t) => {
  const x = tensor([1])
  const names = (levels: number, name: string): string[] => {
    let object = new ScriptObject('A', [name], [x])
    for (let i = 1; i < levels; i++) object = new ScriptObject('A', [name], [object])
    return [...tensorAttributes(object)].map(([found]) => found)
  }
  t.strictSame(names(3, 'a'), ['a.a.a'])
  t.equal(names(20_000, 'a')[0]!.length, 39_999)
  t.throws(() => names(1100, 'a'.repeat(1000)), { code: 'INVALID_FILE', message: /names/ })
  const many = new ScriptObject('A', new Array<string>(2000).fill('a'.repeat(60_000)), new Array<Value>(2000).fill(x))
  t.throws(() => [...tensorAttributes(many)], { code: 'INVALID_FILE' })
  t.end()
})
