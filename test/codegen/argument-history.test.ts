import t from 'tap'
import { readHistory } from '../../codegen/argument-history.js'
import { emitArgumentHistory } from '../../codegen/emit/argument-history.js'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../codegen/model/resolve.js'
import { parseEntries } from '../../codegen/yaml-file.js'

const DECLARED = `
- func: gelu.out(Tensor self, *, str approximate="none", Tensor(a!) out) -> Tensor(a!)
- func: convolve(Tensor self, int groups, bool fast) -> Tensor
- func: quantized::linear(Tensor self, Scalar? low=None, Scalar? high=None) -> Tensor
`
const operators = resolveOperators(parseEntries(DECLARED, 'ops.yaml').map(parseEntry))
const read = (text: string): ReturnType<typeof readHistory> => readHistory(parseEntries(text, 'history.yaml'), operators)

t.test('what operators took in earlier versions', (t) => {
  const history = read(`
- names: [gelu.out]
  counts: [2]
- names: [convolve]
  counts: [2]
  values: [True]
- names: ['quantized::linear']
  counts: [1, 2]
- names: []
`)
  t.same(history[0], { qualifiedName: 'aten::gelu.out', counts: [2], values: [], other: [] })
  const text = emitArgumentHistory(history)
  t.match(text, /^ {2}'quantized::linear': \[1,2\],$/m)
  t.match(text, /^ {2}'aten::convolve': \[true\],$/m)
  t.end()
})

t.test('what does not fit the schemas', (t) => {
  for (const [text, message] of [
    ['- names: [gelu]\n  counts: [1]', /history\.yaml:1: aten::gelu: no such operator is declared/],
    ['- names: [gelu.out]\n  counts: [3]', /takes 3 arguments today: 3 is no earlier number/],
    ['- names: [gelu.out]\n  counts: [0]', /0 is no earlier number/],
    ['- names: [gelu.out]\n  other: [x]', /x is no earlier number/],
    ['- names: [convolve]\n  counts: [2]', /'fast' has no default: 'values' must give it/],
    ['- names: [convolve]\n  counts: [1]\n  values: [True]', /'values' must be as many as are missing/],
    ['- names: [gelu.out]\n  counts: [2]\n- names: [gelu.out]\n  other: [2]', /history\.yaml:3: aten::gelu\.out: stands here twice/],
    ['- names: [gelu.out]\n  count: [2]', /unknown key 'count'/],
    ['- names: gelu.out', /'names' must be a list/],
  ] as const)
    t.throws(() => read(text), { message }, text)
  t.end()
})
