import { build } from 'esbuild'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))

/** A module finds its files from where its source stands. `transform` may change the text of a source first. */
function sourceUrls(transform) {
  return {
    name: 'source-urls',
    setup({ onLoad }) {
      onLoad({ filter: /\.(ts|mjs)$/ }, ({ path }) => {
        const url = JSON.stringify(pathToFileURL(path).href)
        const text = transform(readFileSync(path, 'utf8'), path)
        return { contents: text.replaceAll(/(?<=[(, ])import\.meta\.url(?=[),])/g, url), loader: path.endsWith('.ts') ? 'ts' : 'js' }
      })
    },
  }
}

/** Test files take their tests from the subtest that they are run in. */
const TAP = join(root, 'test/support/tap-of-file.ts')
const tapOfFile = {
  name: 'tap-of-file',
  setup({ onResolve }) {
    onResolve({ filter: /^tap$/ }, ({ importer }) => (importer === TAP ? undefined : { path: TAP }))
  },
}

/** Bundles TypeScript files of this project into a folder, which is emptied before. They share chunks. */
export async function bundle(entryPoints, outdir, transform = (text) => text) {
  rmSync(outdir, { recursive: true, force: true })
  await build({
    entryPoints,
    absWorkingDir: root,
    outbase: '.',
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
    plugins: [tapOfFile, sourceUrls(transform)],
  })
}
