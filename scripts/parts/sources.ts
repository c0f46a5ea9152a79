import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { transformSync } from 'esbuild'
import { inlineNumbers, type Numbers, numbersIn } from './inline.js'
import { type Half, type Halves, split } from './split.js'

/** Id of the half of a file that usual programs do not run. */
export const RARE = '\0rare:'

const NO_NUMBERS: ReadonlyMap<string, Numbers> = new Map()

/** The files of the project as the modules that the parts are made of. */
export class Sources {
  private readonly halves = new Map<string, Halves>()
  private readonly code = new Map<string, string>()
  private readonly numbers = new Map<string, ReadonlyMap<string, Numbers>>()
  private readonly homes = new Map<string, Map<string, string>>()

  constructor(
    readonly root: string,
    /** Functions of a file, given relative to the project, that stay in the first half; null for all. */
    private readonly commonOf: (file: string) => ReadonlySet<string> | null,
  ) {}

  of(path: string): Halves {
    let found = this.halves.get(path)
    if (found === undefined) this.halves.set(path, (found = this.read(path)))
    return found
  }

  /** The module of an id: a path, or RARE and a path. */
  half(id: string): Half {
    if (!id.startsWith(RARE)) return this.of(id).common
    const { rare } = this.of(id.slice(RARE.length))
    if (rare === null) throw new Error(`${id} has no functions`)
    return rare
  }

  /** Whether what a module exports is in more than one part. */
  isDivided(id: string): boolean {
    if (id.startsWith(RARE) || !id.endsWith('.ts')) return false
    const { common, rare } = this.of(id)
    return rare !== null || common.reexports.size > 0 || common.passedOn.some((from) => this.isDivided(this.resolve(id, from)))
  }

  /** The module that has a function which `id` exports, itself or by `export *`. */
  home(id: string, name: string): string | null {
    return this.allOf(id).get(name) ?? null
  }

  /** All functions that a module exports. */
  namesOf(id: string): Iterable<string> {
    return this.allOf(id).keys()
  }

  private allOf(id: string): Map<string, string> {
    let all = this.homes.get(id)
    if (all === undefined) {
      this.homes.set(id, (all = new Map<string, string>()))
      const { functions, passedOn, reexports } = this.half(id)
      for (const from of passedOn) for (const [name, home] of this.allOf(this.resolve(id, from))) all.set(name, home)
      for (const [name, { from, name: there }] of reexports) {
        const home = this.home(this.resolve(id, from), there)
        if (home !== null) all.set(name, there === name ? home : id)
      }
      for (const name of functions) all.set(name, id)
    }
    return all
  }

  /** The module that a specifier in `importer` names. */
  resolve(importer: string, specifier: string): string {
    if (specifier.startsWith(RARE)) return specifier
    return sourceOf(importer.replace(RARE, ''), specifier)
  }

  /** JavaScript of a file, with numbers in place of keys of enumerations. */
  inlined(path: string): string {
    return inlineNumbers(this.javascript(path), (from) => this.numbersOf(path, from))
  }

  private javascript(path: string): string {
    let code = this.code.get(path)
    if (code === undefined) this.code.set(path, (code = readSource(path)))
    return code
  }

  private numbersOf(importer: string, specifier: string): ReadonlyMap<string, Numbers> {
    const path = sourceOf(importer, specifier)
    if (!specifier.startsWith('.') || !path.endsWith('.ts')) return NO_NUMBERS
    let numbers = this.numbers.get(path)
    if (numbers === undefined) this.numbers.set(path, (numbers = numbersIn(this.javascript(path))))
    return numbers
  }

  private read(path: string): Halves {
    const file = relative(this.root, path)
    const common = this.commonOf(file)
    return split(this.inlined(path), {
      isCommon: (name) => common === null || common.has(name),
      makesFunctions: file.startsWith('runtime/backends/'),
      commonId: path,
      rareId: RARE + path,
    })
  }
}

/** The JavaScript of a source file. */
export function readSource(path: string): string {
  return transformSync(readFileSync(path, 'utf8'), { loader: 'ts', target: 'node20' }).code
}

export function sourceOf(importer: string, specifier: string): string {
  const path = resolve(dirname(importer), specifier)
  const source = path.replace(/\.js$/, '.ts')
  return existsSync(source) ? source : path
}
