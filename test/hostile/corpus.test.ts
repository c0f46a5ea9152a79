import { readFileSync } from 'node:fs'
import t from 'tap'
import { filesTarget } from './files/target.js'
import { codeOf, runModule } from './files/run-module.js'

/** A file that once did what no file should. */
interface Found {
  readonly file: string
  /** The fixture that it was made of: its calls are made. */
  readonly base: string
  /** What it did. */
  readonly about: string
}

const folder = new URL('corpus/', import.meta.url)
const corpus = JSON.parse(readFileSync(new URL('files.json', folder), 'utf8')) as readonly Found[]
const { bases } = filesTarget()

/** As bytes and interpreted; compiled; by path; shown. */
const CHOICES = [0x701, 0x1, 0x710, 0x0]

for (const { file, base, about } of corpus) {
  t.test(`${file} (${about})`, async (t) => {
    const bytes = readFileSync(new URL(file, folder))
    const found = bases.find(({ name }) => name === base)!
    for (const choice of CHOICES) {
      const outcome = await runModule(bytes, found, choice).catch(codeOf)
      t.not(outcome, 'INTERNAL', outcome)
    }
  })
}

t.test('mutants of a seed are the same ones', (t) => {
  t.ok(corpus.every(({ base }) => bases.some(({ name }) => name === base)))
  t.end()
})
