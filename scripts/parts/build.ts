// Bundles the library into its parts, the thread behind Module.run and the command line: dist/*.js but selective-build.js, build-selected.js and whole.js.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { transform, type TransformOptions } from 'esbuild'
import type { Plugin } from 'rollup'
import { bundleParts, OUTPUT } from './bundle.js'
import { toCommonJs } from './commonjs.js'
import { divide } from './lazy-parts.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist`

/** Packages that go into the bundle. yaml's files for Node are CommonJS; these are modules. */
const PACKAGES: Readonly<Record<string, string>> = { yaml: 'yaml/browser/index.js', flatbuffers: 'flatbuffers/mjs/flatbuffers.js' }
const nodeModules = `${root}/node_modules/`

const packages: Plugin = {
  name: 'packages',
  resolveId(specifier) {
    // a bundle of its own, as what it is made of is CommonJS
    if (specifier.endsWith('/decoders.js')) return { id: './decoders.cjs', external: true }
    return specifier in PACKAGES ? nodeModules + PACKAGES[specifier]! : null
  },
}

const ENTRIES = { index: `${root}/src/index.ts`, cli: `${root}/src/cli/main.ts`, worker: `${root}/engine/background/worker.ts` }

const { sideEffects } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { readonly sideEffects: readonly string[] }

/** Modules that are there for what they do. */
const ACTING: ReadonlySet<string> = new Set([ENTRIES.cli, ENTRIES.worker, ...sideEffects.map((path) => path.replace('.', root))])

// Node prints the whole line that an uncaught error comes from
const COMMONJS: TransformOptions = {
  ...{ minify: true, format: 'cjs', target: 'node20', legalComments: 'none', lineLimit: 160 },
  ...{ banner: "'use strict';", sourcemap: 'external', sourcesContent: false },
}
const HERE = `require('node:url').pathToFileURL(__filename).href`

const minified: Plugin = {
  name: 'minified',
  resolveImportMeta: (property) => (property === 'url' ? HERE : null),
  async renderChunk(code, { name }) {
    const text = toCommonJs(withoutCreateRequire(code))
    // Node loads the entries; what they need, and what that needs, comes through the loader
    const linked = name in ENTRIES ? text.replace(/require\("(\.\/[^"]+)"\)/g, 'require("./load.cjs").load("$1")') : text
    return transform(linked, COMMONJS)
  },
}

/** A module of the parts is given a `require` of its own, which other modules have to make one in place of. */
function withoutCreateRequire(code: string): string {
  const text = code.replaceAll(`createRequire(${HERE})`, 'require')
  return text.includes('createRequire(') ? text : text.replace(/import \{ createRequire \} from ["']node:module["'];\n/, '\n')
}

const { plugin, chunkOf } = divide(root, {
  whole: /^(src\/(cli\/|ahead\.ts)|runtime\/operators\/generated\/declarations|codegen\/|selective-build\/(?!trace\/)|node_modules\/)/,
})
const bundle = await bundleParts(
  {
    input: ENTRIES,
    external: [/^node:/],
    plugins: [packages, plugin, minified],
    treeshake: { moduleSideEffects: (id) => ACTING.has(id) },
  },
  ['CIRCULAR_DEPENDENCY'],
)
const { output } = await bundle.write({
  // of modules, which `minified` makes CommonJS: parts are loaded in the middle of a call, which that does in every version of Node and under every loader
  ...OUTPUT,
  dir: out,
  manualChunks: (id) => chunkOf(id),
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name].cjs',
})
const hash = createHash('sha256')
for (const file of output) hash.update(file.type === 'chunk' ? file.code : file.source)
const define = { BUILD: JSON.stringify(hash.digest('hex').slice(0, 12)) }
for (const name of ['load', 'save']) {
  const source = readFileSync(`${root}/src/code-cache/${name}.ts`, 'utf8')
  const { code } = await transform(source, { loader: 'ts', target: 'node20', format: 'esm', define })
  const text = toCommonJs(withoutCreateRequire(code.replaceAll('import.meta.url', HERE)))
  const { code: short, map } = await transform(text, { ...COMMONJS, sourcefile: `../src/code-cache/${name}.ts` })
  writeFileSync(`${out}/${name}.cjs`, `${short}//# sourceMappingURL=${name}.cjs.map\n`)
  writeFileSync(`${out}/${name}.cjs.map`, map)
}
rmSync(`${out}/.cache`, { recursive: true, force: true })
// what `import` loads is a list of names
const index = output.find((file) => file.type === 'chunk' && file.name === 'index')
const names = index?.type === 'chunk' ? index.exports : []
const entry = (name: string): string => `createRequire(import.meta.url)("./${name}.cjs")`
const opening = `import{createRequire}from"node:module";`
writeFileSync(`${out}/index.js`, `${opening}export const{${names.join(',')}}=${entry('index')};\n`)
writeFileSync(`${out}/cli.js`, `#!/usr/bin/env node\n${opening}${entry('cli')};\n`, { mode: 0o755 })
console.log(`${output.length} parts and entries of the library in ${out}`)
