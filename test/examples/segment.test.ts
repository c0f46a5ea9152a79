import { join } from 'node:path'
import t from 'tap'
import { decoded, pixelAt } from './pictures.js'
import { example, printed } from './run-example.js'

t.test('cells and nuclei are coloured where they are', (t) => {
  const out = join(t.testdir(), 'out.png')
  const text = printed('segment/main.mjs', [example('segment/cells.png'), out])
  t.ok(text.endsWith(`drawn: ${out}\n`))
  const [before, after, truth] = [decoded(example('segment/cells.png')), decoded(out), decoded(example('segment/truth.png'))]
  t.strictSame([after.width, after.height], [truth.width, truth.height])
  /** The class of a pixel, by what its colour was mixed with. */
  const classAt = (x: number, y: number): number => {
    const [r, g, b] = pixelAt(before, x, y)
    const mixed = [[0, 0.75, 0.3, 0.45] as const, [1, 0.25, 0, 0.6] as const].map(([red, green, blue, cover]) =>
      [r! + (255 * red - r!) * cover, g! + (255 * green - g!) * cover, b! + (255 * blue - b!) * cover].map(Math.round),
    )
    const drawn = pixelAt(after, x, y)
    const isNear = (colour: readonly number[]): boolean => colour.every((c, i) => Math.abs(c - drawn[i]!) <= 1)
    if (isNear([r!, g!, b!])) return 0
    return mixed.findIndex(isNear) + 1 || NaN
  }
  const [both, either, found] = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ]
  for (let y = 0; y < truth.height; y++)
    for (let x = 0; x < truth.width; x++) {
      const [is, should] = [classAt(x, y), pixelAt(truth, x, y)[0]! / 100]
      found[is]!++
      if (is === should) both[is]!++
      for (const k of new Set([is, should])) either[k]!++
    }
  for (const [k, least] of [0.9, 0.8, 0.7].entries()) t.ok(both[k]! / either[k]! > least, `class ${k}: ${both[k]! / either[k]!} in common`)
  const shares = [...text.matchAll(/([\d.]+) %/g)].map(([, share]) => Number(share))
  for (const [k, share] of shares.entries()) t.ok(Math.abs(share - (100 * found[k]!) / (truth.width * truth.height)) < 0.06)
  t.equal(shares.length, 3)
  t.end()
})
