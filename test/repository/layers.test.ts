import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Top to bottom, as docs/architecture.md draws them; rooms of one row may not import each other. */
const ROWS: readonly (readonly string[])[] = [
  ['src/cli'],
  ['src'],
  ['selective-build'],
  ['codegen'],
  ['engine'],
  ['formats'],
  ['formats/ptl', 'formats/ff', 'formats/ptlc'],
  ['formats/reading'],
  ['formats/containers'],
  ['compiler'],
  ['engine/interpreter'],
  ['program'],
  ['runtime/operators'],
  ['runtime/backends/composite'],
  ['runtime/backends/generated'],
  ['runtime/backends/quantized-cpu', 'runtime/backends/builtin'],
  // quantized operators end in the same copies and casts
  ['runtime/backends/cpu'],
  ['runtime/backends/support'],
  ['runtime/backends'],
  ['runtime/shapes'],
  ['runtime/tensor'],
  ['runtime/native'],
  ['runtime'],
]

/** Whose files are looked at. */
const FOLDERS = ['src', 'selective-build', 'engine', 'formats', 'compiler', 'program', 'runtime']

/** Rooms that do not import the other one, though that is lower: what is written with other operators calls them, whoever computes them. */
const NEUTRAL: Readonly<Record<string, string>> = { 'runtime/backends/composite': 'runtime/backends/cpu' }

const ROOMS = ROWS.flatMap((rooms, row) => rooms.map((room) => ({ room, row }))).sort((a, b) => b.room.length - a.room.length)

function place(file: string): { room: string; row: number } | undefined {
  return ROOMS.find(({ room }) => file.startsWith(`${room}/`))
}

function* sources(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    // generated files follow from the declarations, whose emitters are tested by themselves
    if (entry.isDirectory() && entry.name !== 'generated') yield* sources(path)
    else if (entry.name.endsWith('.ts')) yield path
  }
}

t.test('a lower room never imports a higher one', (t) => {
  const wrong: string[] = []
  let files = 0
  for (const file of FOLDERS.flatMap((folder) => [...sources(folder)])) {
    files++
    // what stands in for a file of another room in a selective build may import what that may
    const from = place(file.startsWith('selective-build/absent/') ? 'src/index.ts' : file)!
    for (const [, specifier] of readFileSync(join(root, file), 'utf8').matchAll(/\bfrom '(\.[^']*)'/g)) {
      const target = relative(root, join(root, dirname(file), specifier!))
      const to = place(target)
      if (to === undefined) wrong.push(`${file} imports ${target}, which is in no room`)
      else if (to.row < from.row || (to.row === from.row && to.room !== from.room) || NEUTRAL[from.room] === to.room)
        wrong.push(`${file} imports ${target}`)
    }
  }
  t.ok(files > 100, `${files} files`)
  t.strictSame(wrong, [])
  t.end()
})
