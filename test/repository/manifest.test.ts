import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import t from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (name: string): string => readFileSync(join(root, name), 'utf8')

t.test('lockfiles name no download address', (t) => {
  for (const name of [
    'package-lock.json',
    'bench/package-lock.json',
    'scripts/hosts/package-lock.json',
    'scripts/site/package-lock.json',
  ]) {
    const lock = JSON.parse(read(name)) as { packages: Record<string, { resolved?: string; integrity?: string; version?: string }> }
    const entries = Object.entries(lock.packages).filter(([path]) => path !== '')
    t.ok(entries.length > 0)
    t.strictSame(
      entries.filter(([, entry]) => entry.resolved !== undefined).map(([path]) => path),
      [],
      `${name}: no address`,
    )
    t.strictSame(
      entries.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path),
      [],
      `${name}: every package has its hash`,
    )
  }
  t.end()
})

t.test('the package needs no other one', (t) => {
  const fields = ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies']
  for (const name of ['package.json', 'package-lock.json']) {
    const manifest = JSON.parse(read(name)) as { packages?: Record<string, Record<string, unknown>> } & Record<string, unknown>
    const own = manifest.packages?.[''] ?? manifest
    t.strictSame(
      fields.filter((field) => own[field] !== undefined),
      [],
      name,
    )
  }
  t.end()
})

t.test('the README and the CI script name the same test command', (t) => {
  const commands = /```sh\n([^`]*)```/.exec(read('README.md'))![1]!.trim().split('\n')
  t.strictSame(commands, ['./setup.sh && npm run demo', './setup.sh && npm test'])
  t.ok(read('.ci/run').split('\n').includes(commands[1]!))
  t.end()
})

t.test('the code in the README runs', (t) => {
  const { code: program } = transformSync(/```ts\n([^`]*)```/.exec(read('README.md'))![1]!, { loader: 'ts', format: 'esm' })
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' })
  t.equal(status, 0, stderr)
  t.match(stdout, /^\[ \[ \d+, \d+, \d+ \] \] \[ \[ [\d.,\s]+ \] \] Float32Array\(10\)/)
  t.end()
})

t.test('documents link to files that exist', (t) => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs'))
      .filter((n) => n.endsWith('.md'))
      .map((n) => `docs/${n}`),
  ]
  for (const document of documents) {
    // code has brackets of its own
    const text = read(document).replaceAll(/^```.*?^```/gms, '')
    for (const [, target] of text.matchAll(/\]\(([^)#:]+)\)/g)) {
      t.ok(existsSync(join(root, dirname(document), target!)), `${document} -> ${target!}`)
    }
  }
  t.end()
})
