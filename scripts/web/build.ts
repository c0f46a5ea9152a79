// Bundles the library for browsers: dist/web.js, and its parts in dist/web. The kernels are those of scripts/build-web.sh.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { transform, type TransformOptions } from 'esbuild'
import { type Plugin, rollup } from 'rollup'
import { divide } from '../parts/lazy-parts.js'
import { GLOBALS, IN_PARTS, NODE_MODULES, REPLACED } from '../../web/bundling/manifest.js'
import { describeParts, LOADERS_FILE, placedIn, REACH_FILE, within } from './parts.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist`
const replaced = { ...REPLACED, ...IN_PARTS }
const described = describeParts(root, replaced)

/** Globals of Node, by the files that stand for them. */
const NAMES: Readonly<Record<string, string>> = { Buffer: GLOBALS[0]!, process: GLOBALS[1]!, setImmediate: GLOBALS[2]! }

/** Imports what the file uses of them. */
function withGlobals(text: string, file: string): string {
  if (GLOBALS.includes(file)) return text
  const used = Object.keys(NAMES).filter(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\b`).test(text) && !new RegExp(`import [^'"]*\\b${name}\\b|const \\{[^}]*\\b${name}\\b`).test(text),
  )
  return used.map((name) => `import { ${name} } from ${JSON.stringify(join(root, NAMES[name]!))};`).join('') + text
}

const { plugin, chunkOf } = divide(root, {
  whole: /^node_modules\//,
  replaced,
  folders: ['src', 'compiler', 'formats', 'program', 'engine', 'runtime', 'selective-build/trace', 'web'],
  isLeftOut: (file) => /^(src\/(cli\/|ahead\.ts)|engine\/background\/worker|web\/(bundling|selected)|src\/selected)/.test(file),
  transform: withGlobals,
  partOf: placedIn,
  within,
  define: (part, list) => `import { define } from '${root}/web/parts/part.ts'\ndefine('${part}', ${list})\n`,
  written: { [LOADERS_FILE]: described.loaders, [REACH_FILE]: described.reach },
  isLate: true,
})

const forBrowsers: Plugin = {
  name: 'for browsers',
  resolveId(specifier, importer) {
    if (specifier.startsWith('./') && importer?.endsWith(LOADERS_FILE) === true) return { id: specifier, external: true }
    if (specifier === 'flatbuffers') return `${root}/node_modules/flatbuffers/mjs/flatbuffers.js`
    if (!specifier.startsWith('node:')) return null
    const file = NODE_MODULES[specifier]
    if (file === undefined) throw new Error(`${importer ?? ''} imports ${specifier}, for which web/node has nothing`)
    return join(root, file)
  },
}

const MINIFY: TransformOptions = {
  ...{ minify: true, format: 'esm', target: 'es2022', legalComments: 'none', lineLimit: 160, sourcemap: 'external', sourcesContent: false },
}
const minified: Plugin = { name: 'minified', renderChunk: (code) => transform(code, MINIFY) }

/** Modules that are there for what they do. */
const ACTING = /^\0part:|\/src\/(index|names|brands|tensor-methods|disposable|tensor-type)\.ts$/

const faults: string[] = []
const bundle = await rollup({
  input: { web: `${root}/web/index.ts` },
  plugins: [forBrowsers, plugin, minified],
  treeshake: { moduleSideEffects: (id) => ACTING.test(id) },
  shimMissingExports: true,
  onLog(level, log) {
    if (log.code === 'CIRCULAR_DEPENDENCY' || log.code === 'CIRCULAR_CHUNK') return
    if (level !== 'debug')
      faults.push(log.code === 'SHIMMED_EXPORT' ? `${log.exporter!}: ${log.binding!} is wanted in another part` : log.message)
  },
})
if (faults.length > 0) {
  console.error(faults.join('\n').replaceAll('\0', ''))
  process.exit(1)
}
// parts that there were before
for (const name of readdirSync(`${out}/web`)) if (/\.js(\.map)?$/.test(name)) rmSync(`${out}/web/${name}`)
const { output } = await bundle.write({
  dir: out,
  format: 'es',
  freeze: false,
  generatedCode: 'es2015',
  minifyInternalExports: true,
  hoistTransitiveImports: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
  manualChunks: (id) => chunkOf(id),
  entryFileNames: ({ name }) => (name === 'web' ? 'web.js' : 'web/[name].js'),
  chunkFileNames: 'web/[name].js',
})
const chunks = output.filter((file) => file.type === 'chunk')
const sum = (size: (code: string) => number): number => chunks.reduce((bytes, { code }) => bytes + size(code), 0)
console.log(
  `${chunks.length} parts of the library for browsers in ${out}: ${sum((code) => code.length)} bytes, ${sum((code) => gzipSync(code, { level: 9 }).length)} gzipped`,
)
