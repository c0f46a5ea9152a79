import { existsSync } from 'node:fs'
import t from 'tap'
import { parseEntry } from '../../codegen/model/parse-entry.js'
import { resolveOperators } from '../../codegen/model/resolve.js'
import { emitOperators } from '../../codegen/generate.js'
import { parseSchema } from '../../codegen/schema/parser.js'
import { printSchema } from '../../codegen/schema/printer.js'
import { readEntries } from '../../codegen/yaml-file.js'
import { stubModules, typeErrors } from './support/compile.js'
import { build } from './support/declare.js'

// Debian's python3-torch carries PyTorch 1.13's own file
const path = '/usr/lib/python3/dist-packages/torchgen/packaged/ATen/native/native_functions.yaml'
const skip = existsSync(path) ? false : `${path} is not installed`

await t.test("PyTorch's whole file", { skip }, async (t) => {
  const start = process.cpuUsage()
  const natives = readEntries(path, 'native_functions.yaml').map(parseEntry)

  await t.test('every entry parses and prints back equal', (t) => {
    t.equal(natives.length, 2493)
    for (const { schema } of natives) t.same(parseSchema(printSchema(schema)), schema)
    t.end()
  })

  await t.test('what is emitted type-checks', (t) => {
    const files = emitOperators(resolveOperators(natives), build('CPU', 'QuantizedCPU'))
    t.ok(process.cpuUsage(start).user < 5e6, 'in under 5 s of processor time')
    const stubs = stubModules(files.get('runtime/backends/generated/interfaces.ts')!)
    t.same(typeErrors(new Map([...files, ...stubs])).slice(0, 20), [])
    t.end()
  })
})
