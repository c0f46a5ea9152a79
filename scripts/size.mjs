// Bytes of what a user downloads and loads: the library as one minified module, gzipped, and the kernel library.
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const { outputFiles } = await build({
  entryPoints: [`${root}src/index.ts`],
  bundle: true,
  minify: true,
  write: false,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: ['koffi'],
  mainFields: ['module', 'main'],
})
const code = outputFiles[0].contents
const rows = [
  ['index.js, minified, flatbuffers included', code.length],
  ['  gzipped', gzipSync(code, { level: 9 }).length],
  ['libptlite.so', statSync(`${root}dist/libptlite.so`).size],
]
for (const [name, bytes] of rows) console.log(`${name.padEnd(42)} ${(bytes / 1000).toFixed(1).padStart(9)} kB`)
