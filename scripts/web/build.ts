// Bundles the library for browsers: dist/web.js, and its parts in dist/web, with the programs of threads and of workers. The kernels are those of scripts/build-web.sh.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, transform, type TransformOptions } from 'esbuild'
import type { Plugin } from 'rollup'
import { bundleParts, OUTPUT } from '../parts/bundle.js'
import { divide } from '../parts/lazy-parts.js'
import { GLOBALS, IN_PARTS, NODE_MODULES, REPLACED, WITH_THREADS } from '../../web/bundling/manifest.js'
import { describeParts, LOADERS_FILE, placedIn, REACH_FILE, within } from './parts.js'
import { buildWorker } from './worker.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist`
const replaced = { ...REPLACED, ...WITH_THREADS, ...IN_PARTS }
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
  folders: ['src', 'media', 'compiler', 'formats', 'interpreter', 'program', 'engine', 'runtime', 'selective-build/trace', 'web'],
  isLeftOut: (file) => /^(src\/(cli\/|ahead\.ts)|engine\/background\/worker|web\/(bundling|selected)|src\/selected)/.test(file),
  transform: withGlobals,
  partOf: placedIn,
  // of traced networks: the table of the others is a file to wait for
  alsoCommon: ['aten::_convolution'],
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

/** Tools that bundle programs look for `new URL(…, import.meta.url)` by its text: a line that ends within it ends behind it. */
function withWholeUrls(code: string): string {
  return code.replace(/new URL\([^()]*\)/g, (url) => {
    const whole = url.replace(/\\?\n/g, '')
    return whole === url ? url : `${whole}\n`
  })
}

const MINIFY = {
  ...{ minify: true, format: 'esm', target: 'es2022', legalComments: 'none', lineLimit: 160, sourcemap: 'external', sourcesContent: false },
} satisfies TransformOptions
const minified: Plugin = {
  name: 'minified',
  async renderChunk(code) {
    const { code: short, map } = await transform(code, MINIFY)
    return { code: withWholeUrls(short), map }
  },
}

/** Modules that are there for what they do. */
const ACTING = /^\0part:|\/src\/(index|names|brands|tensor-methods|disposable|tensor-type)\.ts$/

const bundle = await bundleParts(
  {
    input: { web: `${root}/web/index.ts` },
    plugins: [forBrowsers, plugin, minified],
    treeshake: { moduleSideEffects: (id) => ACTING.test(id) },
  },
  ['CIRCULAR_DEPENDENCY', 'CIRCULAR_CHUNK'],
)
// parts that there were before
mkdirSync(`${out}/web`, { recursive: true })
for (const name of readdirSync(`${out}/web`)) if (/\.js(\.map)?$/.test(name)) rmSync(`${out}/web/${name}`)
const { output } = await bundle.write({
  ...OUTPUT,
  dir: out,
  manualChunks: (id) => chunkOf(id),
  entryFileNames: ({ name }) => (name === 'web' ? 'web.js' : 'web/[name].js'),
  chunkFileNames: 'web/[name].js',
})
const chunks = output.filter((file) => file.type === 'chunk')
const sum = (size: (code: string) => number): number => chunks.reduce((bytes, { code }) => bytes + size(code), 0)
console.log(
  `${chunks.length} parts of the library for browsers in ${out}: ${sum((code) => code.length)} bytes, ${sum((code) => gzipSync(code, { level: 9 }).length)} gzipped`,
)

await build({
  ...MINIFY,
  absWorkingDir: root,
  entryPoints: [`${root}/runtime/native/wasm/threads/thread.ts`],
  outfile: `${out}/web/thread.js`,
  bundle: true,
  platform: 'browser',
  sourcemap: true,
})
await buildWorker(root, `${out}/web/worker.js`)
