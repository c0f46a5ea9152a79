import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Operator } from '../../codegen/model/operator.js'
import { parseSchema } from '../../codegen/schema/parser.js'
import {
  BASELINE,
  baselineText,
  compareSchemas,
  compareWithPyTorch,
  differenceOf,
  readSections,
} from '../../scripts/schema-check/compare.js'
import { compareTags, tagDifferences } from '../../scripts/schema-check/tags.js'
import { operators } from '../../src/values/operators.js'

t.test('what differs from PyTorch 2.13 and what is missing is what the baseline says', (t) => {
  const comparison = compareWithPyTorch(operators().map(({ schema }) => schema))
  t.ok(comparison.equal.length > 2700)
  const found = baselineText(comparison, compareTags()).split('\n')
  const known = readFileSync(BASELINE, 'utf8').split('\n')
  const [before, now] = [new Set(known), new Set(found)]
  const changes = [...known.filter((l) => !now.has(l)).map((l) => `- ${l}`), ...found.filter((l) => !before.has(l)).map((l) => `+ ${l}`)]
  t.same(changes, [], 'write it down by: npm run schemas:check -- --update')
  t.end()
})

t.test('tags that are missing, and that PyTorch has not got', (t) => {
  const declared = (name: string, ...tags: string[]): Operator => ({ qualifiedName: `aten::${name}`, tags }) as unknown as Operator
  const ours = [declared('item', 'data_dependent_output'), declared('relu'), declared('rand', 'pointwise')]
  t.same(tagDifferences(ours, '# x\ndata_dependent_output: aten::item\npointwise: aten::relu aten::neg\n'), [
    'aten::rand: has pointwise',
    'aten::relu: lacks pointwise',
  ])
  t.end()
})

t.test('calls that PyTorch writes', (t) => {
  const difference = (ours: string, theirs: string): string | null => differenceOf(parseSchema(`f(${ours}`), parseSchema(`f(${theirs}`))
  for (const [ours, theirs] of [
    ['Tensor self, int[] size) -> Tensor', 'Tensor x, SymInt[] size) -> Tensor'],
    ['Tensor self, Scalar? c=None) -> Tensor', 'Tensor self, int? c=None) -> Tensor'],
    ['Tensor self, int[2] s=1) -> Tensor', 'Tensor self, SymInt[2] s=[1, 1]) -> Tensor'],
    ['Tensor self, bool a=True, *, Tensor(a!) out) -> Tensor(a!)', 'Tensor self, *, Tensor(b!) out) -> Tensor(b!)'],
    ['Tensor self, int a=0) -> Tensor', 'Tensor self, int a) -> Tensor'],
    ['...) -> Any', 'Tensor self) -> Tensor'],
  ] as const)
    t.equal(difference(ours, theirs), null, theirs)
  for (const [ours, theirs, reason] of [
    ['Tensor self) -> Tensor', 'Tensor self, *, str? path=None) -> Tensor', 'has no str? path=None'],
    ['Tensor self, int a) -> Tensor', 'Tensor self) -> Tensor', 'wants int a'],
    ['Tensor self, int? a=None) -> Tensor', 'Tensor self, Scalar? a=None) -> Tensor', 'takes int? a=None instead of Scalar? a=None'],
    ['Tensor self, int a) -> Tensor', 'Tensor self, int? a) -> Tensor', 'takes int a instead of int? a'],
    ['Tensor self, int a) -> Tensor', 'Tensor self, int a=1) -> Tensor', 'wants int a, which has a default: int a=1'],
    ['Tensor self, int a=2) -> Tensor', 'Tensor self, int a=1) -> Tensor', 'has int a=2 instead of int a=1'],
    ['Tensor self, Tensor b) -> Tensor', 'Tensor self, Tensor(a!) b) -> Tensor', 'does not write into b'],
    ['Tensor self, *, Tensor(a!) out) -> Tensor(a!)', 'Tensor self) -> Tensor', 'has 1 out arguments instead of 0'],
    ['Tensor self) -> Tensor', 'Tensor self) -> (Tensor, Tensor)', 'returns 1 values instead of 2'],
    ['Tensor self) -> Tensor', 'Tensor self) -> Tensor[]', 'returns Tensor instead of Tensor[]'],
  ] as const)
    t.equal(difference(ours, theirs), reason, theirs)
  t.end()
})

t.test('sections: only what is for inference can be missing, all can differ', (t) => {
  const sections = readSections(
    '# by hand\n[inference]\nn::a(Tensor x) -> Tensor\nn::b() -> ()\nn::c(SymInt x) -> ()\n[training]\nn::d() -> ()\nn::e(int x) -> ()\n',
  )
  const comparison = compareSchemas(['n::a(Tensor x) -> Tensor', 'n::c(int x) -> ()', 'n::e() -> ()'], sections)
  t.same(comparison, { equal: ['n::a'], compatible: ['n::c'], different: new Map([['n::e', 'has no int x']]), missing: ['n::b'] })
  t.match(
    baselineText(comparison, ['n::f: lacks core']),
    /\[different\]\nn::e: has no int x\n\[missing\]\nn::b\n\[tags\]\nn::f: lacks core\n$/,
  )
  t.end()
})
