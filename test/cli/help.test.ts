import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { commandsDoc } from '../../scripts/commands-doc.js'
import { COMMANDS } from '../../src/cli/command-line.js'
import { helpOf, usageLines } from '../../src/cli/help-text.js'
import { ptlite } from './in-process.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

t.test('docs/commands.md is printed from what commands say', async (t) => {
  t.equal(readFileSync(`${root}docs/commands.md`, 'utf8'), commandsDoc(), 'npx tsx scripts/print-commands.ts > docs/commands.md')
})

t.test('help fits a terminal, and shows each option of a usage', async (t) => {
  const overview = await ptlite('help')
  t.equal(overview.status, 0)
  const tooLong = (text: string): string[] => text.split('\n').filter((line) => line.length > 160)
  t.strictSame(tooLong(overview.stdout), [])
  for (const [name, { usage, help }] of Object.entries(COMMANDS)) {
    const entry = overview.stdout.split('\n').find((line) => line.startsWith(`  ptlite ${name} `))
    t.ok(entry?.endsWith(` ${help.split('\n')[0]!}`), name)
    const shown = await ptlite(name, '--help')
    t.strictSame(await ptlite('help', name), shown)
    t.strictSame(
      helpOf(COMMANDS[name]!, 'ptlite', 100)
        .split('\n')
        .filter((line) => line.length > 100),
      [],
    )
    for (const [option] of usage.matchAll(/--[a-z-]+/g)) t.match(help, new RegExp(`${option}\\b`), `${name} ${option}`)
  }
  const long = usageLines(`a ${'[--option VALUE] '.repeat(20).trim()}`, 100).split('\n')
  t.ok(long.length > 1 && long.every((line) => line.length <= 100))
  t.equal(long.map((line) => line.trim()).join(' '), `a ${'[--option VALUE] '.repeat(20).trim()}`)
  const help = `Does.

One line of text, which
goes on here.

  -x, --option X  means what it
                  says here
      --bare X
      --other     short`
  t.equal(
    helpOf({ usage: 'a', help }, 'p', 30),
    `p a

Does.

One line of text, which goes
on here.

  -x, --option X  means what
                  it says here
      --bare X
      --other     short`,
  )
})

t.test('a command that is not there', async (t) => {
  for (const args of [['none'], ['help', 'none']])
    t.match(await ptlite(...args), { status: 2, stderr: /unknown command 'none'; expected run, inspect/ })
})
