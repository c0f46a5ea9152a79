// node bundle.mjs SELECTED OUT.js [ENTRY]: bundles an app with the selective build in the folder SELECTED into one file.
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const [selected, outfile, entry = join(dirname(fileURLToPath(import.meta.url)), 'app.mjs')] = process.argv.slice(2)
await build({
  entryPoints: [entry],
  bundle: true,
  minify: true,
  platform: 'node',
  format: 'esm',
  outfile,
  alias: { 'selected-ptlite': resolve(selected, 'index.js') },
})
