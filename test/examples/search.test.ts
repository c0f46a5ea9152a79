import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { example, printed } from './run-example.js'

interface Hit {
  readonly cosine: number
  readonly name: string
}

/** Of each query what is most like it. */
function hitsOf(text: string): readonly (readonly Hit[])[] {
  return text
    .split(/^\S.*:\n/m)
    .slice(1)
    .map((part) => [...part.matchAll(/^ {2}(-?[\d.]+) {2}(.*)$/gm)].map(([, cosine, name]) => ({ cosine: Number(cosine), name: name! })))
}

t.test('pictures of the same thing are found first', (t) => {
  const [hits, ...others] = hitsOf(printed('search/main.ts'))
  t.equal(others.length, 0)
  t.equal(hits!.length, 5)
  t.strictSame(
    hits!
      .slice(0, 2)
      .map(({ name }) => name)
      .sort(),
    ['green-star-1.png', 'green-star-2.png'],
  )
  t.ok(
    hits!.every(({ cosine }, i) => cosine <= (hits![i - 1]?.cosine ?? 1)),
    'the nearest first',
  )
  t.end()
})

t.test('of a smaller folder and several queries', (t) => {
  const folder = join(t.testdir(), 'some')
  mkdirSync(folder)
  const names = ['red-ring-1.png', 'blue-dots-1.png', 'violet-square-1.png']
  for (const name of names) copyFileSync(example(`search/pictures/${name}`), join(folder, name))
  const hits = hitsOf(printed('search/main.ts', [folder, ...names.map((name) => join(folder, name))]))
  t.equal(hits.length, 3)
  for (const [i, name] of names.entries()) {
    t.equal(hits[i]!.length, 3)
    t.equal(hits[i]![0]!.name, name, 'a picture is most like itself')
    t.ok(Math.abs(hits[i]![0]!.cosine - 1) < 2e-3)
  }
  t.end()
})
