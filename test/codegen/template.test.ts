import t from 'tap'
import { CodegenError } from '../../codegen/error.js'
import { emitDerived } from '../../codegen/emit/derived.js'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../codegen/model/resolve.js'
import { expandTemplates } from '../../codegen/model/template.js'
import { parseEntries } from '../../codegen/yaml-file.js'
import { build, functionText } from './support/declare.js'

const declare = (yaml: string) => resolveOperators(expandTemplates(parseEntries(yaml, 'ops.yaml')).map(parseEntry))

const bases = `
- func: add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
  dispatch: { CPU: add }
- func: max2(Tensor self, Tensor other) -> Tensor
  dispatch: { CPU: max2 }
`

t.test('an entry with names stands for one entry per name', (t) => {
  const operators = declare(`
- names: [sin, cos]
  entries:
    - func: <name>(Tensor self) -> Tensor
      dispatch: { CPU: <name>_kernel }
      autogen: <name>.out
`)
  t.strictSame(
    operators.map((o) => o.qualifiedName),
    ['aten::cos', 'aten::cos.out', 'aten::sin', 'aten::sin.out'],
  )
  t.equal(operators[0]!.branches[0]!.kernel, 'cos_kernel')
  t.end()
})

t.test('foreach applies an operator to the elements of lists', (t) => {
  const derived = emitDerived(
    declare(`${bases}
- func: each_add(Tensor[] self, Scalar[] scalars) -> Tensor[]
  foreach: add.Scalar
  autogen: each_add.out
- func: each_add_one(Tensor[] self, Tensor numbers) -> Tensor[]
  foreach: add.Scalar
- func: each_max_one(Tensor[] self, Tensor other) -> Tensor[]
  foreach: max2
- func: each_max_(Tensor(a!)[] self, Tensor[] other) -> ()
  foreach: max2
`),
    build('CPU'),
  )
  t.match(functionText(derived, 'each_add'), 'return each([self, scalars], (i) => cpu.add(self[i]!, scalars[i]!, 1))')
  t.match(functionText(derived, 'each_add_out'), 'writeOuts(out, each(')
  t.match(functionText(derived, 'each_add_one'), 'each([self, numbers], (i) => cpu.add(self[i]!, numbers[i]!, 1))')
  t.match(functionText(derived, 'each_max_one'), 'each([self], (i) => cpu.max2(self[i]!, zeroDim(other)))')
  t.match(functionText(derived, 'each_max_'), 'at.copy_(self[i]!, cpu.max2(self[i]!, other[i]!), false)')
  t.end()
})

t.test('mistakes name file, line and entry', (t) => {
  const refused = (yaml: string, message: RegExp): void => {
    const generate = (): string => emitDerived(declare(bases + yaml), build('CPU'))
    t.throws(generate, CodegenError)
    t.throws(generate, { message })
  }
  refused('- names: [a]\n  entries: 3\n', /^ops\.yaml:6: entry: 'entries' must be a list/)
  refused('- names: [a]\n  entries: []\n  tags: x\n', /^ops\.yaml:8: entry: unknown key 'tags' beside 'names'/)
  refused('- names: [1]\n  entries: [{}]\n', /'names' must be texts/)
  refused(
    '- func: f(Tensor[] self) -> Tensor[]\n  foreach: other\n',
    /^ops\.yaml:6: aten::f: 'foreach' names no declared operator: 'other'/,
  )
  refused('- func: f(Tensor self) -> Tensor\n  foreach: max2\n', /'foreach' needs a list/)
  refused('- func: f(Tensor[] self) -> Tensor[]\n  foreach: max2\n', /'other' has no value/)
  refused('- func: f(Tensor[] self) -> Tensor[]\n  foreach: max2\n  dispatch: { CPU: f }\n', /'foreach' stands in place of 'dispatch'/)
  t.end()
})
