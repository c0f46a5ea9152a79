import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { emitPlainSchemas } from '../../codegen/emit/schemas.js'
import { readOperators } from '../../codegen/generate.js'
import * as features from '../../runtime/features.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import type { OperatorSchema } from '../../runtime/operators/table/schema.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { featuresOf } from '../../selective-build/build/features.js'
import type { Selection } from '../../selective-build/selection/selection.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

t.test('everything is there from source, and what a selection does not need is not', (t) => {
  t.ok(Object.values(features).every((isHeld) => isHeld))
  const least: Selection = {
    ...{ operators: new Set(['aten::relu']), uncalled: new Set(), kernels: new Set(), dtypes: new Set([6]), operations: new Map() },
    ...{ backends: new Set(['CPU']), loaders: new Set(['ptl']), parts: new Set(), instructions: new Set(['OP', 'RET']) },
  }
  const names = (selection: Selection): string[] =>
    Object.entries(featuresOf(selection, [])).flatMap(([name, isHeld]) => (isHeld ? [name] : []))
  t.strictSame(Object.keys(featuresOf(least, [])).sort(), Object.keys(features).sort())
  t.strictSame(names(least), ['interpreter', 'ptl'])
  t.strictSame(names({ ...least, loaders: new Set(['ptlc']) }), ['ptlc'])
  const parts = new Set(['xnnpack', 'executorch-numbers', 'executorch-operators', 'test-cases', 'data-files'])
  t.strictSame(names({ ...least, loaders: new Set(['pte']), parts: new Set(['xnnpack']) }), ['interpreter', 'pte', 'xnnpack'])
  t.equal(names({ ...least, loaders: new Set(['pte']), parts }).length, 2 + parts.size)
  t.strictSame(names({ ...least, parts }), ['interpreter', 'ptl'], 'of a reader that is not there')
  t.ok(names({ ...least, instructions: null }).includes('containers'))
  t.ok(
    names({ ...least, dtypes: new Set([5, 6]), parts: new Set(['compiler', 'complex', 'sparse']) }).join() ===
      'complex,half,sparse,promotion,containers,structures,interpreter,compiler,ptl',
  )
  t.end()
})

t.test('plain schemas say what the packed ones do', async (t) => {
  const declared = readOperators(join(root, 'codegen/native_functions'), root)
  const operators = declared.sort((a, b) => (a.qualifiedName < b.qualifiedName ? -1 : 1))
  const text = emitPlainSchemas(operators).replace(/^import .*/gm, 'class Float { constructor(value) { this.float = value } }')
  const { decodeSchema } = (await import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`)) as {
    decodeSchema: (index: number) => OperatorSchema
  }
  const comparable = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_key, v: unknown) => (v instanceof Float ? { float: v.value } : typeof v === 'bigint' ? String(v) : v))) // prettier-ignore
  operators.forEach(({ qualifiedName }, index) => {
    const { arguments: args, returns, isVararg, isVarret } = findOperator(qualifiedName)!.schema
    const plain = {
      arguments: args.map(({ name, type, defaultValue, isOut }) => ({ name, type, defaultValue, isOut })),
      returns: returns.map(({ type }) => ({ type })),
    }
    const [found, expected] = [comparable(decodeSchema(index)), comparable({ ...plain, isVararg, isVarret })]
    if (!isDeepStrictEqual(found, expected)) t.strictSame(found, expected, qualifiedName)
  })
  t.ok(operators.length > 2000)
  t.end()
})
