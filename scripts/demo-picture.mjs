// `node scripts/demo-picture.mjs`: docs/demo.png, what `ptlite demo` prints in a terminal, by Chromium. Needs a built dist/.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const printed = execFileSync(process.execPath, [join(root, 'dist/cli.js'), 'demo'], { cwd: root, encoding: 'utf8' }).trimEnd()
const lines = printed.split('\n')
const [LINE, PADDING, COLUMN] = [15, 14, 7.3]
const width = Math.ceil(Math.max(...lines.map(({ length }) => length)) * COLUMN) + 2 * PADDING
// the command, and a line between
const height = (lines.length + 2) * LINE + 2 * PADDING
const text = `<span>$</span> npx ptlite demo\n\n${printed}`
const page = `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #1b1f24 }
pre { margin: 0; padding: ${PADDING}px; font: 12px/${LINE}px 'DejaVu Sans Mono', monospace; color: #d7dde4 }
span { color: #7ee787 }
</style><pre>${text}</pre>`

const folder = mkdtempSync(join(tmpdir(), 'ptlite-demo-'))
try {
  writeFileSync(join(folder, 'demo.html'), page)
  const options = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--force-device-scale-factor=1']
  const files = [`--user-data-dir=${folder}`, `--screenshot=${join(root, 'docs/demo.png')}`, `file://${join(folder, 'demo.html')}`]
  execFileSync('chromium', [...options, `--window-size=${width},${height}`, ...files], { stdio: 'ignore' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
