import t from 'tap'
import { printed } from './run-example.js'

// none is of the patterns that the network was trained on, word by word
const SENTENCES: readonly (readonly [text: string, kind: string])[] = [
  ['could you wake me up before seven', 'alarm'],
  ['Switch off every bulb in the garden, please!', 'lights'],
  ['what is this lovely tune called', 'music'],
  ['is it going to be sunny at the beach on sunday', 'weather'],
  ['plya some jaz', 'music'],
  ['set the alarm to go off at half past eight tomorrow', 'alarm'],
]

t.test('sentences of a batch are understood', (t) => {
  const lines = printed('text/main.mjs', [], SENTENCES.map(([text]) => `${text}\n`).join('\n'))
    .trimEnd()
    .split('\n')
  t.equal(lines.length, SENTENCES.length)
  for (const [i, [text, kind]] of SENTENCES.entries()) {
    const [, found, chance, rest] = /^(\w+) +(\d+) % {2}(.*)$/.exec(lines[i]!)!
    t.equal(found, kind, text)
    t.ok(Number(chance) > 60, `${chance} %`)
    t.equal(rest, text)
  }
  t.end()
})

t.test('a sentence alone has the same result as in a batch', (t) => {
  const [text] = SENTENCES[0]!
  const [alone] = printed('text/main.mjs', [text]).split('\n')
  const [first] = printed('text/main.mjs', [text, SENTENCES[1]![0], 'x '.repeat(200)]).split('\n')
  t.equal(alone, first)
  t.end()
})
