import { readFileSync } from 'node:fs'
import t from 'tap'
import { target as filesTarget } from './files/target.js'
import { codeOf, runModule } from './files/run-module.js'
import { mutantOf } from './harness/mutant.js'
import { readTree, writeTree } from './mutate/flat-tree.js'
import { MODULE_FORMAT } from './mutate/module-fbs.js'
import { pickleOf, treeOf } from './mutate/pickle-tree.js'
import { partsOf, zipOf } from './mutate/zip.js'

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
const target = filesTarget()
const { bases } = target

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

t.test('a mutant is its seed, its number and its changes', (t) => {
  const other = filesTarget()
  for (let index = 0; index < 100; index++) {
    const { bytes, base, choice, steps } = mutantOf(target, 1, index)
    t.match(mutantOf(other, 1, index), { bytes, choice, steps, base: { name: base.name } }, `number ${index}`)
    t.ok(mutantOf(target, 1, index, 0).bytes.equals(base.bytes), 'without its changes')
  }
  const all = Array.from({ length: 100 }, (_, index) => mutantOf(target, 1, index).bytes.toString('latin1'))
  t.ok(new Set(all).size > 95, 'others for other numbers')
  t.end()
})

t.test('zip files and trees of values are written as they were read', (t) => {
  let pickles = 0
  for (const { name, bytes } of bases) {
    const parts = partsOf(bytes)
    if (parts === null) continue
    t.strictSame(partsOf(zipOf(parts)), parts, name)
    for (const { name: record, content } of parts) {
      const tree = record.toString().endsWith('.pkl') ? treeOf(content) : null
      if (tree === null) continue
      t.strictSame(treeOf(pickleOf(tree)), tree, `${name} ${record.toString()}`)
      pickles++
    }
  }
  t.ok(pickles > 50)
  t.end()
})

t.test('flatbuffers that are written again are the same modules', async (t) => {
  for (const base of bases.filter(({ name }) => name.endsWith('.ff'))) {
    const { schema, root, identifier } = MODULE_FORMAT
    const tree = readTree(base.bytes, schema, root)!
    const written = writeTree(tree.root, schema, identifier)
    t.equal(await runModule(written, base, 0x701), await runModule(base.bytes, base, 0x701), base.name)
    // what several tables refer to may have become several
    t.strictSame(readTree(written, schema, root)!.root, tree.root)
  }
})
