// Bundles the library for Node: dist/*.cjs, a file for each chunk, and what `import`, `require`, the command line and the background thread begin with.
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { rollup } from 'rollup'
import { ACTING, CHUNKS, checkOrder, minified, placeFiles, type Sources, typescript } from './chunks.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist`

const sources: Sources = {
  root,
  replaced: { 'chunks/all.ts': 'chunks/node-loader.ts', 'src/index.ts': 'src/library.ts' },
  // yaml's files for Node are CommonJS; these are modules
  isActing: (file) => ACTING.has(file) || file.startsWith('chunks/'),
  packages: { yaml: 'node_modules/yaml/browser/index.js', flatbuffers: 'node_modules/flatbuffers/mjs/flatbuffers.js' },
}
const entries = { ...CHUNKS, 'background-thread': ['engine/background/worker.ts'], 'command-line': ['src/cli/main.ts'] }
const places = await placeFiles(sources, entries)

// files of chunks that there were before
for (const name of readdirSync(out)) if (/\.cjs(\.map)?$/.test(name) && !name.startsWith('decoders')) rmSync(`${out}/${name}`)
const bundle = await rollup({
  input: Object.fromEntries(Object.entries(entries).map(([name, [file]]) => [name === 'tensors' ? 'library' : name, `${root}/${file}`])),
  external: [/^node:/],
  plugins: [
    // a bundle of its own, as what it is made of is CommonJS
    { name: 'decoders', resolveId: (specifier) => (specifier.endsWith('/decoders.js') ? { id: './decoders.cjs', external: true } : null) },
    typescript(sources, 'node20'),
    { name: 'dynamic imports', renderDynamicImport: () => ({ left: 'require("./import.cjs")(', right: ')' }) },
    minified({ format: 'cjs', target: 'node20' }),
  ],
  treeshake: { moduleSideEffects: (id) => sources.isActing(relative(root, id)) },
  onwarn(warning, warn) {
    if (warning.code !== 'CIRCULAR_DEPENDENCY') warn(warning)
  },
})
const { output } = await bundle.write({
  ...{
    dir: out,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    sourcemap: true,
    sourcemapExcludeSources: true,
  },
  ...{ freeze: false, generatedCode: 'es2015', minifyInternalExports: true, hoistTransitiveImports: false, externalLiveBindings: false },
  esModule: false,
  manualChunks: (id) => places.get(relative(root, id)) ?? null,
})

checkOrder(output, places)

// chunks come with compiled code, where that is kept (src/code-cache)
const hash = createHash('sha256')
for (const file of output) hash.update(file.type === 'chunk' ? file.code : file.source)
await build({
  ...{ entryPoints: ['load', 'save'].map((name) => `${root}/src/code-cache/${name}.ts`), outdir: out, outExtension: { '.js': '.cjs' } },
  ...{ format: 'cjs', platform: 'node', target: 'node20', minify: true, sourcemap: true, sourcesContent: false },
  define: { BUILD: JSON.stringify(hash.digest('hex').slice(0, 12)) },
})
rmSync(`${out}/.cache`, { recursive: true, force: true })
const load = (name: string): string => `require("./load.cjs").load("./${name}.cjs")`
for (const [name, chunk] of [
  ['index', 'library'],
  ['worker', 'background-thread'],
  ['cli', 'command-line'],
] as const)
  writeFileSync(`${out}/${name}.cjs`, `module.exports=${load(chunk)};\n`)
// what `import` loads is the same instance
const library = output.find((file) => file.type === 'chunk' && file.name === 'library')
const names = library?.type === 'chunk' ? library.exports : []
const opening = `import{createRequire}from"node:module";`
const entry = (name: string): string => `createRequire(import.meta.url)("./${name}.cjs")`
writeFileSync(`${out}/index.js`, `${opening}export const{${names.join(',')}}=${entry('index')};\n`)
writeFileSync(`${out}/cli.js`, `#!/usr/bin/env node\n${opening}${entry('cli')};\n`, { mode: 0o755 })
console.log(`${output.length} files of the library in ${out}`)
