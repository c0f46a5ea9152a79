import type ts from 'typescript'
import { type CutInput, unneededParts, withoutParts } from './cut.js'
import { withMarks } from './marks.js'
import type { Observation } from './observe.js'
import { type Part, partsOf } from './parts.js'
import { applyEdits, type BundleSource, parseBundle } from './source.js'
import { exportsOf } from './syntax.js'

/**
 * Files whose functions are left out where no traced model comes to them: they read models, prove them right and link them. What tells formats apart
 * stays, since errors name the reader that a build is without. So does what finds operators that are missing, which are those of other models: in archives
 * with code that is most of what compiles it.
 */
const LOADER = /^(?:formats\/(?!ptlc|registry|torchscript\/)|program\/(?!link(?:ed)?\.|missing\.)|engine\/(?:interpreter\/|load-program))/
const isWithin = (file: string): boolean => LOADER.test(file)
/** Of these those that only loadProgram calls; of what they hand on, debug information is read when models are loaded. */
const LOADING =
  /^(?:formats\/(?!ptlc|torchscript\/)|program\/(?:attributes|file-error|verifier|(?:generated\/)?opcodes|upgraders|argument-counts|code-reading|value-kinds|generated\/opcode-results)\.ts)/
const isLoading = (file: string): boolean => LOADING.test(file)

/** A bundle whose parts can be observed while models run, and then be cut. */
export class Trimming {
  private readonly source: BundleSource
  private readonly parts: readonly Part[]

  constructor(text: string) {
    this.source = parseBundle(text)
    this.parts = partsOf(this.source, isWithin)
  }

  /** The bundle that notes which parts run: it exports Marks too. */
  marked(): string {
    return withMarks(this.source, this.parts)
  }

  /** The bundle without what was not seen, and how many parts were cut. `missing` is the name of what its export throws the error with. */
  cut(seen: Observation, missing: string): { text: string; count: number } {
    const input: CutInput = {
      source: this.source,
      isWithin,
      isLoading,
      parts: this.parts,
      seen,
      missing: localName(this.source.tree, missing),
    }
    const { text, cut } = withoutParts(input, unneededParts(input))
    return { text, count: cut.length }
  }
}

/** The bundle without some of its exports. */
export function withoutExports(text: string, names: readonly string[]): string {
  const [first, ...rest] = exportsOf(parseBundle(text).tree)
  const kept = [first, ...rest].filter((element) => element !== undefined && !names.includes(element.name.text))
  if (first === undefined) return text
  const { elements } = first.parent
  const list = kept.map((element) => element!.getText()).join(', ')
  return applyEdits(text, [{ start: elements[0]!.getStart(), end: elements[elements.length - 1]!.end, text: list }])
}

/** The name in a bundle of what it exports. */
export function localName(tree: ts.SourceFile, exported: string): string {
  const specifier = exportsOf(tree).find((element) => element.name.text === exported)!
  return (specifier.propertyName ?? specifier.name).text
}
