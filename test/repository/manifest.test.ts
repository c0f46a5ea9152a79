import { readFileSync } from 'node:fs'
import t from 'tap'

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

t.test('lockfiles name no download address', (t) => {
  for (const name of ['package-lock.json', 'bench/package-lock.json']) {
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

t.test('the README and the CI script name the same test command', (t) => {
  const commands = /```sh\n([^`]*)```/.exec(read('README.md'))![1]!.trim().split('\n')
  t.strictSame(commands, ['./setup.sh && npm run demo', './setup.sh && npm test'])
  t.ok(read('.ci/run').split('\n').includes(commands[1]!))
  t.end()
})

t.test('the README links to files that exist', (t) => {
  for (const document of ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md']) {
    const folder = document.includes('/') ? 'docs/' : ''
    for (const [, target] of read(document).matchAll(/\]\(([^)#:]+)\)/g))
      t.doesNotThrow(() => read(`${folder}${target!}`), `${document} -> ${target!}`)
  }
  t.end()
})
