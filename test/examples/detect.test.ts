import { join } from 'node:path'
import t from 'tap'
import { decoded, pixelAt } from './pictures.js'
import { example, printed } from './run-example.js'

/** What examples/detect/make.py drew, as it prints it. */
const DRAWN: readonly (readonly [kind: string, box: readonly number[]])[] = [
  ['circle', [7, 20, 105, 117]],
  ['square', [185, 153, 265, 234]],
  ['triangle', [122, 70, 193, 144]],
  ['cross', [186, 84, 247, 146]],
  ['triangle', [28, 116, 92, 177]],
  ['triangle', [241, 37, 311, 111]],
]

function overlap(a: readonly number[], b: readonly number[]): number {
  const area = ([left, top, right, bottom]: readonly number[]): number => Math.max(0, right! - left!) * Math.max(0, bottom! - top!)
  const both = area([Math.max(a[0]!, b[0]!), Math.max(a[1]!, b[1]!), Math.min(a[2]!, b[2]!), Math.min(a[3]!, b[3]!)])
  return both / (area(a) + area(b) - both)
}

t.test('shapes are found where they were drawn, and framed', (t) => {
  const out = join(t.testdir(), 'out.png')
  const lines = printed('detect/main.mjs', [example('detect/shapes.png'), out])
    .trim()
    .split('\n')
  t.equal(lines.pop(), `${DRAWN.length} boxes drawn: ${out}`)
  const found = lines.map((line) => {
    const [, kind, score, box] = /^([a-z]+) (\d+) % at (.*)$/.exec(line)!
    return { kind: kind!, score: Number(score), box: box!.split(', ').map(Number) }
  })
  for (const [kind, box] of DRAWN)
    t.ok(
      found.some((one) => one.kind === kind && overlap(one.box, box) > 0.7),
      `${kind} at ${box.join(', ')}`,
    )
  t.ok(
    found.every(({ score }, i) => score > 50 && score <= (found[i - 1]?.score ?? 100)),
    'the best one first',
  )
  const [before, after] = [decoded(example('detect/shapes.png')), decoded(out)]
  t.strictSame([after.width, after.height], [before.width, before.height])
  const COLOURS: Readonly<Record<string, readonly number[]>> = {
    ...{ circle: [255, 214, 0], cross: [0, 200, 255], square: [255, 90, 140], triangle: [120, 230, 90] },
  }
  for (const { kind, box } of found) {
    const [left, , right, bottom] = box
    const line = Array.from({ length: right! - left! }, (_, i) => pixelAt(after, left! + i, bottom! - 1).join())
    // others may lie over it
    const drawn = line.filter((colour) => colour === COLOURS[kind]!.join()).length
    t.ok(drawn > 0.6 * line.length, `${drawn} of ${line.length} pixels below the ${kind}`)
  }
  t.end()
})
