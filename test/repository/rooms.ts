import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** What all formats share. */
const SHARED = ['formats/exported', 'formats/reading', 'formats/writing', 'formats/containers']
/** A room for each format. */
const FORMATS = readdirSync(join(root, 'formats'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `formats/${name}`)
  .filter((room) => !SHARED.includes(room))

/** Top to bottom, as docs/architecture.md draws them; rooms of one row may not import each other. */
const ROWS: readonly (readonly string[])[] = [
  ['scripts', 'bench', 'sweep', 'serve', 'examples'],
  ['src/cli', 'web'],
  ['src/library.ts'],
  ['src/index.ts'],
  ['chunks'],
  ['src'],
  ['speech'],
  ['media'],
  ['generation'],
  ['src/values'],
  ['selective-build'],
  ['web/bundling'],
  ['codegen'],
  ['engine'],
  ['formats'],
  FORMATS,
  ...SHARED.map((room) => [room]),
  ['compiler'],
  ['interpreter'],
  ['program'],
  ['runtime/operators/table'],
  ['runtime/operators/composite'],
  ['runtime/operators/generated'],
  ['runtime/operators/quantized', 'runtime/operators/builtin'],
  // quantized operators end in the same copies and casts
  ['runtime/operators/cpu'],
  ['runtime/operators/support'],
  ['runtime/operators'],
  ['runtime/shapes'],
  ['runtime/tensor'],
  ['runtime/native/wasm'],
  ['runtime/native'],
  ['runtime'],
]

/** Whose files are looked at. */
const FOLDERS = [
  'scripts',
  'bench',
  'sweep',
  'serve/src',
  'examples',
  'web',
  'chunks',
  'src',
  'speech',
  'media',
  'generation',
  'selective-build',
  'codegen',
  'engine',
  'interpreter',
  'formats',
  'compiler',
  'program',
  'runtime',
]

const ROOMS = ROWS.flatMap((rooms, row) => rooms.map((room) => ({ room, row }))).sort((a, b) => b.room.length - a.room.length)

/** All rooms from top to bottom, formats as one. */
export const roomsInOrder: readonly string[] = ROWS.flatMap((rooms) => (rooms === FORMATS ? ['formats/<format>'] : rooms))

/** The room of a file, and the number of its row from the top. */
export function place(file: string): { room: string; row: number } | undefined {
  return ROOMS.find(({ room }) => file === room || file.startsWith(`${room}/`))
}

function* sourcesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name)
    // generated files follow from the declarations, whose emitters are tested by themselves
    if (entry.isDirectory() && !['generated', 'node_modules'].includes(entry.name)) yield* sourcesIn(path)
    else if (entry.name.endsWith('.ts')) yield path
  }
}

/** The files of all rooms but those that are generated. */
export function sources(): string[] {
  return FOLDERS.flatMap((folder) => [...sourcesIn(folder)])
}

export interface Import {
  /** Relative to the project. */
  readonly target: string
  /** It is of types alone, which are gone when the file runs. */
  readonly isOfTypes: boolean
}

/** The files of the project that a file imports, or exports again. */
export function importsOf(file: string): Import[] {
  const found = readFileSync(join(root, file), 'utf8').matchAll(/^(?:import|export)\s+(type\s)?([^'"]*?)from '(\.[^']*)'/gm)
  return [...found].map(([, type, names, specifier]) => ({
    target: relative(root, join(root, dirname(file), specifier!)).replace(/\.js$/, '.ts'),
    isOfTypes:
      type !== undefined ||
      (/^\{[^]*\}\s*$/.test(names!) &&
        names!
          .replace(/[{}]/g, '')
          .split(',')
          .every((name) => /^\s*(type\s|$)/.test(name))),
  }))
}
