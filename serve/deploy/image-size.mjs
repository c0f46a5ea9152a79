/**
 * Stages what the image holds and says what it weighs: node serve/deploy/image-size.mjs [FOLDER] [--json]
 * The folder is kept where it is named. The status is 1 where the image is larger than it may be.
 */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

export const LIMIT = 120e6

const PARTS = [
  ['Node', (path) => path === 'usr/bin/node'],
  ['libraries of the system', (path) => /\.so(\.|$)/.test(path) && !path.startsWith('app/')],
  ['kernels', (path) => path.endsWith('libptlite.so')],
  ['ptlite, JavaScript', (path) => path.startsWith('app/node_modules/ptlite/')],
  ['@ptlite/serve', (path) => path.startsWith('app/dist/')],
  ['packages that it depends on', (path) => path.startsWith('app/node_modules/')],
  ['all else', () => true],
]

/** Files below a folder, links not followed. */
function* filesIn(folder, below = '') {
  for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
    const path = join(below, entry.name)
    if (entry.isDirectory()) yield* filesIn(folder, path)
    else yield path
  }
}

/** Bytes of each part of a staged folder, and in all; `gzipped` where that is asked for, which takes seconds. */
export function weigh(folder, withGzip = false) {
  const parts = new Map(PARTS.map(([name]) => [name, { bytes: 0, gzipped: 0, files: 0 }]))
  for (const path of filesIn(folder)) {
    const [name] = PARTS.find(([, holds]) => holds(path))
    const part = parts.get(name)
    part.files++
    part.bytes += lstatSync(join(folder, path)).size
    if (withGzip) part.gzipped += gzipSync(readFileSync(join(folder, path))).length
  }
  const sum = (key) => [...parts.values()].reduce((total, part) => total + part[key], 0)
  return { parts, bytes: sum('bytes'), gzipped: sum('gzipped') }
}

/** Runs stage.sh. */
export function stage(folder) {
  const { status, stderr } = spawnSync(join(import.meta.dirname, 'stage.sh'), [folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`stage.sh: ${stderr}`)
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({ options: { json: { type: 'boolean' } }, allowPositionals: true })
  const temporary = positionals[0] === undefined ? mkdtempSync(join(tmpdir(), 'ptlite-image-')) : undefined
  const folder = positionals[0] ?? join(temporary, 'rootfs')
  stage(folder)
  const { parts, bytes, gzipped } = weigh(folder, true)
  if (temporary !== undefined) rmSync(temporary, { recursive: true })
  if (values.json) console.log(JSON.stringify({ bytes, gzipped, parts: Object.fromEntries(parts) }))
  else {
    const row = (name, part) =>
      console.log(
        `${name.padEnd(30)} ${(part.bytes / 1e6).toFixed(1).padStart(7)} MB ${(part.gzipped / 1e6).toFixed(1).padStart(7)} MB gzipped`,
      )
    for (const [name, part] of parts) row(name, part)
    row('in all', { bytes, gzipped })
  }
  if (bytes > LIMIT) {
    console.error(`the image has ${bytes} bytes, and may have ${LIMIT}`)
    process.exitCode = 1
  }
}
