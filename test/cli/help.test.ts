import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { commandsDoc } from '../../scripts/commands-doc.js'
import { COMMANDS } from '../../src/cli/command-line.js'
import { helpOf, usageLines } from '../../src/cli/help-text.js'
import type { OptionRow } from '../../src/cli/options.js'
import { ptlite } from './in-process.js'

const root = fileURLToPath(new URL('../../', import.meta.url))

t.test('docs/commands.md is printed from what commands say', async (t) => {
  t.equal(readFileSync(`${root}docs/commands.md`, 'utf8'), commandsDoc(), 'npx tsx scripts/print-commands.ts > docs/commands.md')
})

/** Options of other programs, or of all commands, that texts speak of. */
const ELSEWHERE = ['--with-compiler', '--weights']

t.test('help fits a terminal, and shows each option of a usage', async (t) => {
  const overview = await ptlite('help')
  t.equal(overview.status, 0)
  const tooLong = (text: string): string[] => text.split('\n').filter((line) => line.length > 160)
  t.strictSame(tooLong(overview.stdout), [])
  for (const [name, command] of Object.entries(COMMANDS)) {
    const entry = overview.stdout.split('\n').find((line) => line.startsWith(`  ptlite ${name} `))
    t.ok(entry?.endsWith(` ${command.about.split('\n')[0]!}`), name)
    const shown = await ptlite(name, '--help')
    t.strictSame(await ptlite('help', name), shown)
    t.strictSame(
      helpOf(command, 'ptlite', 100)
        .split('\n')
        .filter((line) => line.length > 100),
      [],
    )
    const [usage] = shown.stdout.split('\n\n', 1)
    for (const [option, { inUsage }] of Object.entries<OptionRow>(command.options))
      t.match(inUsage === false ? shown.stdout : usage, new RegExp(`--${option}\\b`), `${name} ${option}`)
    for (const [option] of shown.stdout.matchAll(/(?<![\w-])--[a-z][a-z-]*/g))
      t.ok(option.slice(2) in command.options || ELSEWHERE.includes(option), `${name} has ${option}, which it speaks of`)
  }
  const row = (help: string, more: object = {}) => ({ type: 'string', help, ...more }) as const
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`option-${i}`, row('', { value: 'VALUE', multiple: i % 2 > 0 })]))
  const long = usageLines({ synopsis: 'a', about: '', options: many }, '', 100).split('\n')
  t.ok(long.length > 1 && long.every((line) => line.length <= 100))
  t.match(long.map((line) => line.trim()).join(' '), /^a \[--option-0 VALUE\] \[--option-1 VALUE \.\.\.\] /)
  const about = `Does.

One line of text, which
goes on here.`
  const options = {
    option: row('means what it says here', { short: 'x', value: 'X', isRequired: true }),
    bare: row(''),
    'with-a-long-name': row('that stands below', { value: 'VALUE', inUsage: false }),
  }
  t.equal(
    helpOf({ synopsis: 'a', about, options, notes: 'And more of it, which is long.' }, 'p', 40),
    `p a --option X [--bare]

Does.

One line of text, which goes on here.

  -x, --option X        means what it
                        says here
      --bare            ${''}
      --with-a-long-name VALUE
                        that stands
                        below

And more of it, which is long.`,
  )
})

t.test('what is mistyped: the name that was meant, and no advice of the parser of Node', async (t) => {
  const says = async (expected: string, ...args: string[]): Promise<void> => {
    const { status, stderr } = await ptlite(...args)
    t.equal(status, 2)
    t.equal(stderr.split('\n', 1)[0], `ptlite: ${expected}`)
  }
  t.match((await ptlite('rnu')).stderr, /; did you mean run\?\n/)
  t.match((await ptlite('quantize')).stderr, /; did you mean quantize-report\?\n/)
  t.notMatch((await ptlite('none')).stderr, /did you mean/)
  await says('unknown option --jsn; did you mean --json?', 'run', 'm.ptl', '--jsn')
  await says('unknown option --wholly', 'run', 'm.ptl', '--wholly')
  await says('unknown option -z', 'run', 'm.ptl', '-z')
  await says('--method needs a value', 'run', 'm.ptl', '--method')
  await says('--mean needs a value; one that begins with - is given as --mean=-1', 'run', 'm.ptl', '--mean', '-0.5')
  await says('--json takes no value', 'run', 'm.ptl', '--json=1')
})

t.test('a command that is not there', async (t) => {
  for (const args of [['none'], ['help', 'none']])
    t.match(await ptlite(...args), { status: 2, stderr: /unknown command 'none'; expected run, inspect/ })
})
