// Time until the operator table is ready, in a fresh process each time (medians): the generated table, which parses nothing,
// beside the same table made by parsing its schema strings at start, as PyTorch's default registration does.
//
//   node table.mjs [RUNS]
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const runs = Number(process.argv[2] ?? 15)
const folder = mkdtempSync(join(tmpdir(), 'ptlite-table-'))

// the wrappers stay, what they call does not: native functions are no part of the table
const withoutNatives = {
  name: 'without-natives',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /backends\/.*\.js$/ }, () => ({ path: 'natives', namespace: 'stub' }))
    onLoad({ filter: /.*/, namespace: 'stub' }, () => ({ contents: 'module.exports = new Proxy({}, { get: () => () => {} })' }))
  },
}

async function bundle(name, contents) {
  const outfile = join(folder, `${name}.mjs`)
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    plugins: [withoutNatives],
    logLevel: 'error',
    banner: { js: 'const tableStart=performance.now();' },
    footer: { js: 'globalThis.tableReady=performance.now()-tableStart;' },
  })
  return outfile
}

const table = await bundle('table', `export * from '../runtime/operators/table/registry.js'`)
const { schemas } = await import(
  await bundle(
    'print',
    `import { entryAt, operatorCount } from '../runtime/operators/table/registry.js'
     import { schemaText } from '../runtime/operators/table/schema-text.js'
     export const schemas = Array.from({ length: operatorCount() }, (_, i) => schemaText(entryAt(i).qualifiedName, entryAt(i).schema))`,
  )
)
const parsed = await bundle(
  'parsed',
  `import { functions } from './runtime/operators/generated/table.js'
   import { qualifiedName } from '../codegen/schema/model.js'
   import { parseSchema } from '../codegen/schema/parser.js'
   const texts: string[] = ${JSON.stringify(schemas)}
   export const table = new Map(texts.map((text, i) => {
     const schema = parseSchema(text)
     return [qualifiedName(schema), { schema, call: functions[i] }]
   }))`,
)

/** Median milliseconds of [evaluation of the table's module, whole import] over fresh processes. */
function measure(file) {
  const script = `const t = performance.now(); await import(${JSON.stringify(file)}); console.log(globalThis.tableReady, performance.now() - t)`
  const samples = Array.from({ length: runs }, () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).split(' ').map(Number),
  )
  return [0, 1].map((k) => samples.map((s) => s[k]).sort((a, b) => a - b)[runs >> 1])
}

const [ready, loaded] = measure(table)
const [parsedReady, parsedLoaded] = measure(parsed)
rmSync(folder, { recursive: true })

const row = (name, strings, evaluated, whole) =>
  console.log(`${name.padEnd(34)} ${String(strings).padStart(8)} ${evaluated.toFixed(2).padStart(12)} ${whole.toFixed(2).padStart(16)}`)
console.log(`${schemas.length} operators, medians of ${runs} processes`)
console.log(`${''.padEnd(34)} ${'parsed'.padStart(8)} ${'ready, ms'.padStart(12)} ${'with import, ms'.padStart(16)}`)
row('generated table', 0, ready, loaded)
row('schema strings parsed at start', schemas.length, parsedReady, parsedLoaded)
console.log(
  `ready ${(parsedReady / ready).toFixed(0)} times faster, ${(parsedLoaded / loaded).toFixed(1)} times with reading and compiling the file`,
)
