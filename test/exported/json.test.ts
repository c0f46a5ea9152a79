import t from 'tap'
import { Deferred, JsonReader } from '../../formats/exported/json.js'
import { ValueBudget } from '../../formats/containers/value-budget.js'

const reader = (text: string | Buffer, objects = 100_000): JsonReader => new JsonReader(Buffer.from(text), new ValueBudget(0, objects))

t.test('values', (t) => {
  const text = ' {"a": [1, -2.5, 1e3, true, false, null, "x\\n\\u00e9"], "b": {}, "c": [], "": "é"} '
  t.strictSame(
    reader(text).document(),
    new Map<string, unknown>([
      ['a', [1, -2.5, 1000, true, false, null, 'x\né']],
      ['b', new Map()],
      ['c', []],
      ['', 'é'],
    ]),
  )
  t.strictSame(reader('[9223372036854775807, -9007199254740993, 9007199254740991]').document(), [
    9223372036854775807n,
    -9007199254740993n,
    9007199254740991,
  ])
  t.equal((reader('{"__proto__": 1}').document() as Map<string, unknown>).get('__proto__'), 1)
  t.end()
})

t.test('fields that are passed over are read later', (t) => {
  const json = reader('{"a": {"x": [1, "}"], "y": 2}, "b": [[], {"a": "\\\\\\""}]}')
  const outer = json.document(new Set(['a'])) as Map<string, unknown>
  const a = outer.get('a') as Deferred
  t.ok(a instanceof Deferred)
  t.strictSame(json.at(a), new Map<string, unknown>([['x', [1, '}']], ['y', 2]])) // prettier-ignore
  t.strictSame(json.fieldsAt(a, new Set(['y'])), new Map([['y', 2]]))
  t.end()
})

t.test('damage is refused', (t) => {
  const texts = [
    '', '{', '[', '"', '[1', '[1,]', '[,1]', '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', "'a'", '01', '1.', '.5', '+1', '-', '1e', 'tru', 'nul', 'NaN', '[1] 2', '{"a":1,"a":2}',
    '"\\x"', '"\\u12"', '[1 2]', ']', '}', ':', '{"a" 1}', '1'.repeat(500),
  ] // prettier-ignore
  for (const text of texts) t.throws(() => reader(text).document(), { code: 'INVALID_FILE' }, text.slice(0, 40))
  t.throws(() => reader(Buffer.from([0x22, 0xff, 0x22])).document(), { code: 'INVALID_FILE', message: /UTF-8/ })
  for (const text of ['{"a": }', '{"a": ]}', '{"a": ,}', '{"a": [', '{"a": "'])
    t.throws(() => reader(text).document(new Set(['a'])), { code: 'INVALID_FILE' }, `passing over ${text}`)
  t.end()
})

t.test('what it makes is limited', (t) => {
  t.throws(() => reader('['.repeat(1000) + ']'.repeat(1000)).document(), { code: 'INVALID_FILE', message: /nested more than 200 deep/ })
  t.throws(() => reader(`[${'{},'.repeat(1000)}{}]`, 500).document(), { code: 'INVALID_FILE', message: /more than 500 objects/ })
  // what is passed over takes nothing
  t.ok(reader(`{"a": ${'['.repeat(10_000)}${']'.repeat(10_000)}}`).document(new Set(['a'])))
  t.end()
})
