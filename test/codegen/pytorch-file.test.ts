import { existsSync } from 'node:fs'
import t from 'tap'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../codegen/model/resolve.js'
import { emitOperators } from '../../codegen/generate.js'
import { parseCount, parseSchema } from '../../codegen/schema/parser.js'
import { printSchema } from '../../codegen/schema/printer.js'
import { readEntries } from '../../codegen/yaml-file.js'
import { stubModules, typeErrors } from './support/compile.js'
import { build } from './support/declare.js'

// Debian's python3-torch carries PyTorch 1.13's own file
const path = '/usr/lib/python3/dist-packages/torchgen/packaged/ATen/native/native_functions.yaml'
const skip = existsSync(path) ? false : `${path} is not installed`

await t.test("PyTorch's whole file", { skip }, async (t) => {
  const start = performance.now()
  const before = parseCount
  const entries = readEntries(path, 'native_functions.yaml')
  const natives = entries.map(parseEntry)
  let asked = 0
  const options = build('CPU', 'QuantizedCPU')
  const selector = { ...options.selector, operator: () => ++asked > 0 }
  const operators = resolveOperators(natives)
  const files = emitOperators(operators, { ...options, selector })
  t.comment(`${operators.length} operators in ${Math.round(performance.now() - start)} ms`)

  await t.test('nothing is done twice', (t) => {
    t.equal(parseCount - before, natives.length + natives.flatMap((f) => f.precomputed).length, 'schemas parsed')
    t.equal(asked, operators.length, 'operators looked at')
    t.end()
  })

  await t.test('every entry parses and prints back equal', (t) => {
    t.equal(natives.length, 2493)
    const texts = entries.map((entry) => String(entry.fields.find((f) => f.key === 'func')!.value).replace(/\s/g, ''))
    const printed = natives.map(({ schema }) => printSchema(schema))
    t.same(
      printed.map((text) => text.replace(/\s/g, '')),
      texts,
    )
    for (const [i, { schema }] of natives.entries()) t.same(parseSchema(printed[i]!), schema)
    t.end()
  })

  await t.test('what is emitted type-checks', (t) => {
    const stubs = stubModules(files.get('runtime/operators/support/generated/interfaces.ts')!)
    t.same(typeErrors(new Map([...files, ...stubs])).slice(0, 20), [])
    t.end()
  })
})
