// Bundles the library for Node: dist/*.cjs, a file for each chunk, and what `import`, `require`, the command line and the background thread begin with.
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { build } from 'esbuild'
import { CHUNKS, root, writeChunks } from './chunks.js'

const out = process.argv[2] ?? `${root}/dist`

// files of chunks that there were before
for (const name of readdirSync(out)) if (/\.cjs(\.map)?$/.test(name) && !name.startsWith('decoders')) rmSync(`${out}/${name}`)
const { tensors, ...others } = CHUNKS
const programs = { 'background-thread': ['engine/background/worker.ts'], 'command-line': ['src/cli/main.ts'] }
const output = await writeChunks({
  sources: {
    replaced: { 'chunks/all.ts': 'chunks/node-loader.ts', 'src/index.ts': 'src/library.ts' },
    // yaml's files for Node are CommonJS; these are modules
    packages: { yaml: 'node_modules/yaml/browser/index.js', flatbuffers: 'node_modules/flatbuffers/mjs/flatbuffers.js' },
  },
  entries: { tensors, ...others, ...programs },
  input: Object.fromEntries(Object.entries({ library: tensors, ...others, ...programs }).map(([name, [file]]) => [name, file!])),
  target: 'node20',
  // Node prints the whole line that an uncaught error comes from
  lineLimit: 160,
  plugins: [
    // a bundle of its own, as what it is made of is CommonJS
    { name: 'decoders', resolveId: (specifier) => (specifier.endsWith('/decoders.js') ? { id: './decoders.cjs', external: true } : null) },
    { name: 'dynamic imports', renderDynamicImport: () => ({ left: 'require("./import.cjs")(', right: ')' }) },
  ],
  output: { dir: out, format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' },
})

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
