import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { emitPlainSchemas } from '../../codegen/emit/schemas.js'
import { readOperators } from '../../codegen/generate.js'
import { OPCODES } from '../../program/opcodes.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import type { OperatorSchema } from '../../runtime/operators/table/schema.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { constantFields } from '../../selective-build/build/constants.js'
import { INSTRUCTION_LOOP, withInstructions, withRows } from '../../selective-build/build/instructions.js'
import { rewrite, rewriteConstants } from '../../selective-build/build/rewrite.js'
import { parseBundle } from '../../selective-build/trim/source.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

t.test('clauses of a switch by number', (t) => {
  const source = `switch (x) { case 0: a(); continue; case 1: case 2: b(); continue; case 3: { c() } default: throw d }`
  const kept = (...opcodes: number[]): string => withInstructions(source, new Set(opcodes)).replace(/\s+/g, ' ')
  t.equal(kept(0, 1, 2, 3), source)
  t.equal(kept(0), 'switch (x) { case 0: a(); continue; default: throw d }')
  t.equal(kept(1), 'switch (x) { case 1: b(); continue; default: throw d }')
  t.equal(kept(2), 'switch (x) { case 2: b(); continue; default: throw d }')
  t.equal(kept(), 'switch (x) { default: throw d }')
  t.end()
})

t.test('the instruction loop has a clause for every instruction', (t) => {
  const source = rewriteConstants(
    readFileSync(join(root, INSTRUCTION_LOOP), 'utf8'),
    constantFields({ enums: [], numbers: [], kernels: [] }),
  )
  for (const { code, name, runs } of OPCODES.filter((row) => row.runs)) {
    const only = withInstructions(source, new Set([code]))
    t.equal(/case \d+:/g.exec(only)?.[0], `case ${code}:`, name)
    t.equal(only.match(/case \d+:/g)!.length, 1, `${name} alone`)
    t.ok(runs)
  }
  t.end()
})

t.test('the table of instructions names those that models have', (t) => {
  const bundle =
    '// runtime/a.ts\nvar ROWS = `a\nb`;\n\n// program/generated/opcodes.ts\nvar ROWS2 = `x`, ROWS = `OP o-??\nOPN ocN?\nLOAD r-01`;\n'
  const rows = withRows(parseBundle(bundle), new Set([0, 2]))
  t.equal(rows, bundle.replace(/`OP[^`]*`/, '"OP o-??\\n\\nLOAD r-01"'))
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

t.test('constants and calls at the top level', (t) => {
  const constants = new Map([['Op', { add: 3 }]])
  const out = rewrite(
    `import { make } from '../../runtime/operators/support/make.js'\nconst Op = kernels.Op\nexport const f: F = make('f', Op.add)\nconst g = () => make(Op.toString(), Op.unknown, kernels.Op.add)\n  const inner = make(1 as typeof Op.add)`,
    constants,
  )
  t.match(out, "export const f: F = /* @__PURE__ */ make('f', 3)")
  t.match(out, 'const g = () => make(Op.toString(), Op.unknown, 3)')
  t.match(out, '\n  const inner = make(1 as typeof Op.add)', 'not at the top level; a type stays')
  t.end()
})
