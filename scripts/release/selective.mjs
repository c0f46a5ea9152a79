// A selective build in an application that has the packages alone.
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../targets.mjs'
import { sourcesManifest } from './manifests.mjs'

const SOURCES = '@ptlite/selective-build'

/** Makes and uses a selective build in the folder `app`; `run` and `succeed` start commands there. What it is made of is a package of its own. */
export function trySelectiveBuild({ app, packed, archives, run, succeed }) {
  copyFileSync(join(root, 'test/selective-build/fixtures/add_relu.ptl'), join(app, 'net.ptl'))
  copyFileSync(join(root, 'examples/embed/input.json'), join(app, 'input.json'))
  const build = ['npx', 'selective-build', '--trace', 'net.trace', '--isa', 'default', '--out', 'selected']
  succeed('npx', 'ptlite', 'trace', 'net.ptl', '--input', 'input.json', '-o', 'net.trace')
  const refused = run(...build)
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /^selective-build: .*'npm install --save-dev @ptlite\/selective-build@\d/)
  assert.match(succeed('npx', 'selective-build', '--help'), /^selective-build \(--trace FILE/)
  // unpacked by hand, with links for what it needs: npm would look for these in a registry
  const sources = join(app, 'node_modules', SOURCES)
  mkdirSync(sources)
  const archive = archives.find((name) => name.startsWith('ptlite-selective-build-'))
  succeed('tar', 'xzf', join(packed, archive), '-C', sources, '--strip-components=1')
  for (const name of Object.keys(sourcesManifest().dependencies)) {
    const link = join(app, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link)
  }
  assert.match(succeed(...build), /kernel library/)
  writeFileSync(
    join(app, 'selected.mjs'),
    `import { loadModule, tensor } from './selected/index.js'
const x = tensor(new Float32Array([-1, 1]), [2])
console.log((await loadModule('net.ptl')).forward(x, x).toArray())\n`,
  )
  assert.equal(succeed(process.execPath, 'selected.mjs'), '[ 0, 2 ]\n')
  console.log(`made a selective build: ${archive}`)
}
