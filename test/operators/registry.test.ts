import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parseCount } from '../../codegen/schema/parser.js'
import { fillDefaults } from '../../runtime/operators/table/fill-defaults.js'
import { missingOperators } from '../../runtime/operators/table/missing-operator.js'
import { entryAt, findOperator, operatorCount, registerOperators } from '../../runtime/operators/table/registry.js'
import type { OperatorSchema, SchemaArgument } from '../../runtime/operators/table/schema.js'
import { schemaText } from '../../runtime/operators/table/schema-text.js'
import type { Stack, Value } from '../../runtime/tensor/value.js'
import { root } from '../codegen/support/compile.js'

const argument = (name: string, defaultValue?: Value, isOut = false): SchemaArgument => ({
  name,
  type: 'int[]',
  alias: isOut ? 'a!' : null,
  annotatedType: isOut ? 'int(a!)[]' : 'int[]',
  kwargOnly: isOut,
  isOut,
  defaultValue,
})

const schema: OperatorSchema = {
  arguments: [argument('a'), argument('b', 2), argument('c', [7]), argument('out', undefined, true)],
  isVararg: false,
  returns: [{ name: null, type: 'int', alias: null, annotatedType: 'int' }],
  isVarret: false,
}

await t.test('every operator is found by name', (t) => {
  for (let i = 0; i < operatorCount(); i++) {
    const { qualifiedName } = entryAt(i)
    t.equal(findOperator(qualifiedName), entryAt(i))
    t.ok(schemaText(qualifiedName, entryAt(i).schema).startsWith(`${qualifiedName}(`))
  }
  t.equal(findOperator('aten::no_such_operator'), undefined)
  t.equal(parseCount, 0, 'schemas parsed')
  t.end()
})

/** All files that `file` needs at run time, itself included. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  for (const [, path] of text.matchAll(/^(?:import|export) (?!type).*from '(\.[^']+)'/gm)) {
    importsOf(join(dirname(file), path.replace(/\.js$/, '.ts')), seen)
  }
  return seen
}

await t.test('schemas print as PyTorch prints them', (t) => {
  const cases = [
    'aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor',
    'aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)',
    'aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)',
    'aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> bool',
    'aten::get.str(Dict(str, t) self, str key) -> t(*)?',
    'aten::items.str(Dict(str, t) self) -> ((str, t)[])',
    'aten::format(str self, ...) -> str',
  ]
  for (const text of cases) {
    const name = text.slice(0, text.indexOf('('))
    t.equal(schemaText(name, findOperator(name)!.schema), text)
  }
  t.end()
})

await t.test('the runtime holds no schema parser', (t) => {
  const files = ['runtime/operators/table/registry.ts', 'chunks/first-operators.ts'].flatMap((file) => [...importsOf(join(root, file))])
  t.ok(files.includes(join(root, 'runtime/operators/table/generated/table.ts')))
  t.same(
    files.filter((file) => file.includes('/codegen/')),
    [],
  )
  t.end()
})

await t.test('custom operators: found, and a second one names both sources', (t) => {
  const custom = { qualifiedName: 'test::f.x', call: () => undefined, schema, source: 'custom_ops.yaml:3' }
  const count = operatorCount()
  t.same(registerOperators([custom]), [count])
  t.match(findOperator('test::f.x'), { index: count, qualifiedName: 'test::f.x', source: 'custom_ops.yaml:3' })
  t.throws(
    () =>
      registerOperators([
        { ...custom, qualifiedName: 'test::g' },
        { ...custom, source: 'other.yaml:9' },
      ]),
    {
      name: 'PtliteError',
      message: 'test::f.x is registered twice: at custom_ops.yaml:3 and at other.yaml:9',
    },
  )
  t.equal(findOperator('test::g'), undefined, 'none is added')
  t.end()
})

await t.test("a replacement takes the place of the library's own, with the same schema", (t) => {
  const own = findOperator('aten::relu')!
  let calls = 0
  const call = (): void => void calls++
  t.throws(() => registerOperators([{ qualifiedName: 'aten::relu', call, schema, source: 'custom_ops.yaml:3' }]), {
    message: /^custom_ops.yaml:3: expected the schema aten::relu\(Tensor self\) -> Tensor, found aten::relu\(int\[\] a/,
  })
  const count = operatorCount()
  t.same(registerOperators([{ qualifiedName: 'aten::relu', call, schema: own.schema, source: 'custom_ops.yaml:3' }]), [own.index])
  findOperator('aten::relu')!.call({ values: [], top: 0 })
  t.equal(calls, 1)
  t.equal(operatorCount(), count)
  t.end()
})

await t.test('defaults go before the out arguments', (t) => {
  const entry = findOperator('test::f.x')!
  const filled = (...given: Value[]): Value[] => {
    const stack: Stack = { values: ['below', ...given], top: given.length + 1 }
    fillDefaults(stack, entry, given.length)
    return stack.values.slice(0, stack.top)
  }
  t.same(filled(1, 'out'), ['below', 1, 2, [7], 'out'])
  t.same(filled(1, 5, 'out'), ['below', 1, 5, [7], 'out'])
  t.same(filled(1, 5, [6], 'out'), ['below', 1, 5, [6], 'out'])
  t.not(filled(1, 'out')[3], entry.schema.arguments[2]!.defaultValue, 'lists are copied')
  t.throws(() => filled('out'), { message: "test::f.x: argument 'a' (int[]) is missing" })
  t.throws(() => filled(), { message: "test::f.x: argument 'out' (int[]) is missing" })
  t.throws(() => filled(1, 2, 3, 4, 5), { message: 'test::f.x: expected at most 4 arguments, found 5' })
  t.end()
})

await t.test('missing operators come with what is closest', (t) => {
  const { code, message } = missingOperators(['test::f.y', 'test::nothing_like_it'])
  t.equal(code, 'MISSING_OPERATOR')
  t.match(message, '2 operators:\n  test::f.y (there is test::f.x)\n  test::nothing_like_it\n')
  t.end()
})
