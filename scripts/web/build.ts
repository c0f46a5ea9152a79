// Bundles the library for browsers: dist/web.js. The kernels are those of scripts/build-web.sh.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'
import { readKernels } from '../../codegen/generate.js'
import { constantFields } from '../../selective-build/build/constants.js'
import { rewriteConstants } from '../../selective-build/build/rewrite.js'
import { forBrowsers } from '../../web/bundling/for-browsers.js'
import { buildWorker } from './worker.js'
import { GLOBALS, REPLACED } from '../../web/bundling/manifest.js'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const out = process.argv[2] ?? `${root}/dist/web.js`
const constants = constantFields(readKernels(`${root}/codegen/kernels`, `${root}/`))

const replaced: Plugin = {
  name: 'replaced files',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const file = REPLACED[relative(root, path)]
      if (file !== undefined)
        return { contents: `export * from ${JSON.stringify(join(root, file))}`, loader: 'ts', resolveDir: dirname(path) }
      return { contents: rewriteConstants(readFileSync(path, 'utf8'), constants), loader: 'ts' }
    })
  },
}

const { outputFiles, metafile } = await build({
  entryPoints: [`${root}/web/index.ts`],
  absWorkingDir: root,
  outfile: out,
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
  mainFields: ['module', 'main'],
  inject: GLOBALS.map((file) => join(root, file)),
  plugins: [forBrowsers(root), replaced],
  metafile: true,
  write: false,
})
for (const { path, contents } of outputFiles) writeFileSync(path, contents)
await buildWorker(root, join(dirname(out), 'web/worker.js'))
const code = outputFiles.find(({ path }) => path.endsWith('.js'))!
console.log(
  `${relative(root, out)}: ${code.contents.length} bytes, ${gzipSync(code.contents).length} gzipped, of ${Object.keys(metafile.inputs).length} files`,
)
