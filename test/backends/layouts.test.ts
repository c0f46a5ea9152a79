import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { fixturePath } from '../module/fixtures.js'
import { layoutCases, observed, type LayoutCase } from './support/layout-cases.js'

/**
 * Calls by the operator's name and their numbers in the data file: those whose results lie otherwise than PyTorch's, and those that are refused
 * here. `UPDATE_LAYOUTS=1 npm test -- test/backends/layouts.test.ts` writes the lists anew.
 */
interface Differing {
  readonly differ: Record<string, number[]>
  readonly refused: Record<string, number[]>
}
const LIST = fixturePath('layouts/differing.json')
const MAX_TOLD = 20

function judged(name: string, expected: LayoutCase): { kind: keyof Differing; text: string } | null {
  const call = `${name} ${JSON.stringify(expected.args)}`
  try {
    const { result, after } = observed(name, expected)
    const [found, wanted] = [JSON.stringify([result, after]), JSON.stringify([expected.result, expected.after])]
    return found === wanted ? null : { kind: 'differ', text: `${call}: ${found}, in PyTorch ${wanted}` }
  } catch (error) {
    return { kind: 'refused', text: `${call}: ${String(error)}` }
  }
}

t.test('results lie in memory as those of PyTorch 2.13 do, but for those listed', (t) => {
  const found: Differing = { differ: {}, refused: {} }
  const texts = new Map<string, string>()
  let calls = 0
  for (const [name, cases] of layoutCases()) {
    cases.forEach((one, i) => {
      calls++
      const fault = judged(name, one)
      if (fault === null) return
      ;(found[fault.kind][name] ??= []).push(i)
      texts.set(`${fault.kind} ${name} ${i}`, fault.text)
    })
  }
  if (process.env.UPDATE_LAYOUTS === '1') {
    writeFileSync(LIST, `${JSON.stringify(found, null, 1).replace(/\n {3,}|\n {2}(?=\])/g, '')}\n`)
  }
  const listed = JSON.parse(readFileSync(LIST, 'utf8')) as Differing
  const keys = (list: Differing): string[] =>
    (['differ', 'refused'] as const).flatMap((kind) =>
      Object.entries(list[kind]).flatMap(([name, numbers]) => numbers.map((i) => `${kind} ${name} ${i}`)),
    )
  const [now, before] = [new Set(keys(found)), new Set(keys(listed))]
  const unlisted = [...now].filter((key) => !before.has(key))
  t.same(
    unlisted.slice(0, MAX_TOLD).map((key) => texts.get(key)),
    [],
    `${unlisted.length} calls differ that are not listed`,
  )
  const right = [...before].filter((key) => !now.has(key))
  t.same(right.slice(0, MAX_TOLD), [], `${right.length} calls are listed that are right by now`)
  t.ok(calls > 50_000)
  t.end()
})
