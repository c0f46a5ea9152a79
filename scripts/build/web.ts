// Bundles the library for browsers: dist/web.js, and its chunks in dist/web, with the programs of threads and of workers. The kernels are those of scripts/build-web.sh.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { relative } from 'node:path'
import { build, type BuildOptions } from 'esbuild'
import { IN_CHUNKS, PACKAGES, BROWSER_FILES, WITH_THREADS } from '../../web/bundling/manifest.js'
import { CHUNKS, root, writeChunks } from './chunks.js'

const out = process.argv[2] ?? `${root}/dist`

mkdirSync(`${out}/web`, { recursive: true })
// chunks that there were before
for (const name of readdirSync(`${out}/web`)) if (/\.js(\.map)?$/.test(name)) rmSync(`${out}/web/${name}`)
const { tensors, ...others } = CHUNKS
const output = await writeChunks({
  sources: {
    replaced: { ...BROWSER_FILES, ...WITH_THREADS, ...IN_CHUNKS },
    packages: Object.fromEntries(Object.entries(PACKAGES).map(([name, file]) => [name, `node_modules/${file}`])),
  },
  entries: { tensors: ['web/index.ts', ...tensors], ...others, cache: ['web/names-ready.ts', 'web/cache/compiled.ts'] },
  input: { web: 'web/index.ts' },
  target: 'es2022',
  output: { dir: out, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'web/[name].js' },
})
console.log(`${output.length} files of the library for browsers in ${out}`)

const program: BuildOptions = {
  ...{ absWorkingDir: root, bundle: true, format: 'esm', platform: 'browser', target: 'es2022', minify: true, legalComments: 'none' },
}
await build({ ...program, entryPoints: ['runtime/native/wasm/threads/thread.ts'], outfile: `${out}/web/thread.js`, sourcemap: true })
// the program of workers imports the library as its users do: beside it, in the folder above
await build({
  ...program,
  entryPoints: ['web/worker/main.ts'],
  outfile: `${out}/web/worker.js`,
  plugins: [
    {
      name: 'the library',
      setup(builder) {
        builder.onResolve({ filter: /\/index\.js$/ }, ({ importer }) =>
          relative(root, importer).startsWith('web/worker/') ? { path: '../web.js', external: true } : undefined,
        )
      },
    },
  ],
})
