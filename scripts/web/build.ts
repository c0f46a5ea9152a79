// Bundles the library for browsers: dist/web.js, and the program of its threads: dist/web/thread.js. The kernels are those of scripts/build-web.sh.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { readKernels } from '../../codegen/generate.js'
import { constantFields } from '../../selective-build/build/constants.js'
import { rewriteConstants } from '../../selective-build/build/rewrite.js'
import { forBrowsers } from '../../web/bundling/for-browsers.js'
import { GLOBALS, REPLACED, WITH_THREADS } from '../../web/bundling/manifest.js'
import { buildWorker } from './worker.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist/web.js`
const threadOut = join(dirname(out), 'web/thread.js')
const replacements = { ...REPLACED, ...WITH_THREADS }
const constants = constantFields(readKernels(`${root}/codegen/kernels`, `${root}/`))

const replaced: Plugin = {
  name: 'replaced files',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = replacements[relative(root, path)]
      if (file !== undefined)
        return { contents: `export * from ${JSON.stringify(join(root, file))}`, loader: 'ts', resolveDir: dirname(path) }
      return { contents: rewriteConstants(readFileSync(path, 'utf8'), constants), loader: 'ts' }
    })
  },
}

/** Tools that bundle programs look for `new URL(…, import.meta.url)` by its text: a line that ends within it ends behind it. */
function withWholeUrls(code: string): string {
  return code.replace(/new URL\([^()]*\)/g, (url) => {
    const whole = url.replace(/\\?\n/g, '')
    return whole === url ? url : `${whole}\n`
  })
}

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'browser',
  target: 'es2022',
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  treeShaking: true,
  legalComments: 'none',
  lineLimit: 160,
  metafile: true,
  write: false,
} satisfies BuildOptions

const library = await build({
  ...common,
  entryPoints: [`${root}/web/index.ts`],
  outfile: out,
  mainFields: ['module', 'main'],
  inject: GLOBALS.map((file) => join(root, file)),
  plugins: [forBrowsers(root), replaced],
})
const thread = await build({ ...common, entryPoints: [`${root}/runtime/native/wasm/threads/thread.ts`], outfile: threadOut })
mkdirSync(dirname(threadOut), { recursive: true })
for (const { outputFiles, metafile } of [library, thread]) {
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.js') ? withWholeUrls(text) : text)
  const { path, contents } = outputFiles.find(({ path }) => path.endsWith('.js'))!
  console.log(
    `${relative(root, path)}: ${contents.length} bytes, ${gzipSync(contents).length} gzipped, of ${Object.keys(metafile.inputs).length} files`,
  )
}
await buildWorker(root, join(dirname(out), 'web/worker.js'))
