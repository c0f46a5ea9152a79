import type { DebugInfo } from '../../program/program.js'
import type { Site } from './graph.js'

/** Calls that a stack trace shows. */
const MOST_CALLS = 100

/** Where instructions come from, in the code of the archive. */
export class CodePlaces implements DebugInfo {
  /** `sites`: by function, the site of each instruction. */
  constructor(private readonly sites: ReadonlyMap<string, readonly Site[]>) {}

  stackTraceAt(functionName: string, pc: number): string | undefined {
    const places: string[] = []
    for (let site = this.sites.get(functionName)?.[pc] ?? null; site !== null && places.length < MOST_CALLS; site = site.caller)
      places.push(describe(site))
    return places.length === 0 ? undefined : places.reverse().join('\n')
  }
}

/** As PyTorch prints a place: the file and line, and the line with a mark under it. */
function describe({ source, at, unit }: Site): string {
  const { text, column } = source.lineTextAt(at)
  const mark = `${' '.repeat(column)}${'~'.repeat(Math.max(1, text.length - column))} <--- HERE`
  return `  File "${source.path}", line ${source.lineOf(at)}, in ${unit.syntax.name}\n${text}\n${mark}`
}
