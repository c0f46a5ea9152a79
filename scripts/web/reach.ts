import { readFileSync } from 'node:fs'
import { transformSync } from 'esbuild'
import { parseAst } from 'rollup/parseAst'

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

/** What is declared at the top level of a file. */
interface Source {
  /** What each declaration names: identifiers, and members of them (`kernels.copy`). */
  readonly declared: Map<string, Set<string>>
  /** Names of imports; null for all that a file exports. */
  readonly imports: Map<string, { readonly from: string; readonly name: string | null }>
  readonly exported: Map<string, { readonly from: string | null; readonly name: string }>
  readonly passedOn: string[]
}

/** A declaration: its file and its name. */
export type Place = readonly [file: string, name: string]

export interface ReachOptions {
  /** The file that an import means; null for what is no source. */
  readonly sourceOf: (importer: string, specifier: string) => string | null
  /** Declarations and names in them that are left out. */
  readonly isCut: (file: string, name: string) => boolean
}

/**
 * What code comes to from its declarations: all that these name, and what that names. Methods count as their class, and which branch is taken does not count, so that
 * nothing is missing but what is called by a name that is text.
 */
export class Reach {
  private readonly sources = new Map<string, Source>()
  private readonly next = new Map<string, readonly Place[]>()

  constructor(private readonly options: ReachOptions) {}

  /** All declarations that are come to from these, by their files. */
  from(from: readonly Place[]): Map<string, Set<string>> {
    const seen = new Set<string>()
    const files = new Map<string, Set<string>>()
    const waiting = [...from]
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const key = place.join('#')
      if (seen.has(key) || this.options.isCut(...place)) continue
      seen.add(key)
      const names = files.get(place[0]) ?? new Set()
      files.set(place[0], names.add(place[1]))
      let next = this.next.get(key)
      if (next === undefined) this.next.set(key, (next = this.named(...place)))
      waiting.push(...next)
    }
    return files
  }

  /** Where a file has what it exports, or declares, by a name; null for none. */
  find(file: string, name: string): Place | null {
    const { declared, imports, exported, passedOn } = this.sourceAt(file)
    const other = exported.get(name)
    if (other !== undefined && other.from !== null) return this.findIn(file, other.from, other.name)
    const local = other?.name ?? name
    if (declared.has(local)) return [file, local]
    const imported = imports.get(local)
    if (imported !== undefined) return imported.name === null ? null : this.findIn(file, imported.from, imported.name)
    for (const from of passedOn) {
      const found = this.findIn(file, from, name)
      if (found !== null) return found
    }
    return null
  }

  /** Names that a file exports. */
  names(file: string): string[] {
    const { exported, passedOn } = this.sourceAt(file)
    const others = passedOn.map((from) => this.options.sourceOf(file, from)).filter((other) => other !== null)
    return [...exported.keys(), ...others.flatMap((other) => this.names(other))]
  }

  private findIn(importer: string, specifier: string, name: string): Place | null {
    const file = this.options.sourceOf(importer, specifier)
    return file === null ? null : this.find(file, name)
  }

  private named(file: string, name: string): Place[] {
    const { declared, imports } = this.sourceAt(file)
    return [...declared.get(name)!].flatMap((text): Place[] => {
      if (this.options.isCut(file, text)) return []
      const [object, member] = text.split('.') as [string, string?]
      const imported = imports.get(object)
      const found = member === undefined ? this.find(file, text) : imported?.name === null ? this.findIn(file, imported.from, member) : null
      return found === null ? [] : [found]
    })
  }

  private sourceAt(file: string): Source {
    let source = this.sources.get(file)
    if (source === undefined) this.sources.set(file, (source = readSource(file)))
    return source
  }
}

function readSource(file: string): Source {
  const { code } = transformSync(readFileSync(file, 'utf8'), { loader: 'ts', target: 'node20' })
  const source: Source = { declared: new Map(), imports: new Map(), exported: new Map(), passedOn: [] }
  for (const statement of parseAst(code).body as unknown as Node[]) {
    const from = (statement.source as { value: string } | null | undefined)?.value ?? null
    const specifiers = (statement.specifiers ?? []) as Node[]
    switch (statement.type) {
      case 'ImportDeclaration':
        for (const { type, local, imported } of specifiers)
          source.imports.set(nameOf(local), { from: from!, name: type === 'ImportSpecifier' ? nameOf(imported) : null })
        break
      case 'ExportAllDeclaration':
        source.passedOn.push(from!)
        break
      case 'ExportNamedDeclaration':
        for (const { local, exported } of specifiers) source.exported.set(nameOf(exported), { from, name: nameOf(local) })
        if (statement.declaration)
          for (const name of declare(statement.declaration as Node, source)) source.exported.set(name, { from: null, name })
        break
      default:
        declare(statement, source)
    }
  }
  return source
}

/** Notes what a statement declares, and returns the names. */
function declare(statement: Node, { declared }: Source): string[] {
  const parts =
    statement.type === 'VariableDeclaration'
      ? (statement.declarations as Node[]).map(({ id, init }): [string[], Node | null] => [patternNames(id as Node), init as Node | null])
      : statement.id
        ? [[[nameOf(statement.id)], statement] as [string[], Node]]
        : []
  for (const [names, node] of parts) {
    const used = new Set<string>()
    if (node !== null) addNames(node, used)
    for (const name of names) declared.set(name, used)
  }
  return parts.flatMap(([names]) => names)
}

function patternNames(node: Node): string[] {
  if (node.type === 'Identifier') return [nameOf(node)]
  const inner = (node.properties ?? node.elements ?? []) as (Node | null)[]
  return inner.flatMap((part) => (part === null ? [] : patternNames((part.value ?? part.argument ?? part) as Node)))
}

function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: string; readonly value?: unknown }
  return name ?? String(value)
}

function addNames(node: Node, names: Set<string>): void {
  const { type, computed } = node
  if (type === 'Identifier') {
    names.add(nameOf(node))
    return
  }
  if (type === 'MemberExpression' && computed !== true && (node.object as Node).type === 'Identifier')
    names.add(`${nameOf(node.object)}.${nameOf(node.property)}`)
  for (const [key, value] of Object.entries(node)) {
    // names of members and of properties are not those of declarations
    if ((key === 'property' || key === 'key') && computed !== true) continue
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value])
      if (typeof child === 'object' && child !== null && typeof (child as Node).type === 'string') addNames(child as Node, names)
  }
}
