import t, { type Test } from 'tap'
import { arenaPicture } from '../../src/cli/arena-picture.js'
import { linesOf } from '../../selective-build/report/svg-text.js'
import { type Report } from '../../selective-build/report/report.js'
import { treemap } from '../../selective-build/report/treemap.js'

/** Texts of pictures, none of which is cut off at an edge. */

/** What letters of sans-serif fonts take at most, on the average of a line. */
const LETTER = 0.62

function checkTexts(t: Test, svg: string): void {
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number)
  const down = Number(/translate\(0 (\d+)\)/.exec(svg)?.[1] ?? 0)
  const texts = [...svg.matchAll(/<text class="(?:ink|faint)" x="([\d.]+)" y="([\d.]+)" font-size="(\d+)">([^<]*)</g)]
  t.ok(texts.length > 0)
  for (const [, x, y, size, text] of texts) {
    t.ok(Number(x) + LETTER * Number(size) * text!.length <= width!, text)
    t.ok(Number(y) + down < height!, text)
  }
  t.match(svg, /prefers-color-scheme:dark/)
}

t.test('lines', (t) => {
  t.same(linesOf('a name', 200, 10), ['a name'])
  t.same(linesOf('one two three', 7 * 6.2, 10), ['one two', 'three'])
  t.same(linesOf('x'.repeat(25), 10 * 6.2, 10), ['x'.repeat(10), 'x'.repeat(10), 'x'.repeat(5)])
  t.same(linesOf('', 100, 10), [])
  for (const text of ['aten::max_pool2d_with_indices', 'a-b_c.d/e', '  spaces   inside  ', 'layer1.conv.weight = aten::convolution(x)'])
    for (const letters of [1, 2, 5, 9, 40]) {
      const lines = linesOf(text, letters * 6.2 + 0.01, 10)
      t.ok(
        lines.every((line) => line.length <= letters && line !== ''),
        `${text}: ${letters}`,
      )
      t.equal(lines.join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
    }
  t.end()
})

t.test('arena and report', (t) => {
  const buffers = Array.from({ length: 14 }, (_, i) => ({
    ...{ names: [`%${i} = aten::a_very_long_name_of_an_operator_with_many_parts_${i}`], offset: 64 * i, bytes: 64, first: i, last: i },
  }))
  const kernels = buffers.map((_, i) => `kernel ${i}`)
  const use = { buffers, kernels, arenaBytes: 64 * 14, lowerBound: 64, naiveBytes: 64 * 14 }
  checkTexts(t, arenaPicture(`${'a model with a long name '.repeat(12)}.ptl, forward`, use))
  checkTexts(t, arenaPicture('short', { ...use, buffers: [], kernels: [] }))
  const report = { kernels: { add: { after: 100 } }, files: { 'index.js': 50 }, levels: Array(30).fill('AVX512_BF16'), dtypes: 'all' }
  const svg = treemap(report as unknown as Report)
  checkTexts(t, svg)
  t.ok((svg.match(/font-size="16"/g) ?? []).length > 1, 'a long title has several lines')
  t.end()
})
