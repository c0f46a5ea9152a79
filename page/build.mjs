// Writes the page into a folder that any server of files can serve: node build.mjs [FOLDER]
import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageFiles } from './files.mjs'
import { ISOLATION } from './serve.mjs'

const out = resolve(process.argv[2] ?? fileURLToPath(new URL('dist', import.meta.url)))
let bytes = 0
const files = pageFiles()
for (const [place, path] of files) {
  if (!existsSync(path)) {
    console.error(`${path} is missing; run 'npm run build:web' first`)
    process.exit(1)
  }
  const to = join(out, place)
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(path, to)
  bytes += statSync(path).size
}
// hosts such as Netlify and Cloudflare Pages read headers from here; others have a place of their own for them
writeFileSync(
  join(out, '_headers'),
  `/*\n${Object.entries(ISOLATION)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('')}`,
)
console.log(`${out}: ${files.size} files, ${(bytes / 1e6).toFixed(1)} MB`)
