import type { DebugInfo } from '../../program/program.js'
import type { Site } from './graph.js'

/** Calls that a stack trace shows. */
const MAX_CALLS = 100

/** Characters of a line that a stack trace shows. */
const MAX_SHOWN = 400

/** Where instructions come from, in the code of the archive. */
export class CodePlaces implements DebugInfo {
  /** `sites`: by function, the site of each instruction. */
  constructor(private readonly sites: ReadonlyMap<string, readonly Site[]>) {}

  stackTraceAt(functionName: string, pc: number, most = MAX_CALLS): string | undefined {
    const places: string[] = []
    for (let site = this.sites.get(functionName)?.[pc] ?? null; site !== null && places.length < most; site = site.caller)
      places.push(describe(site))
    return places.length === 0 ? undefined : places.reverse().join('\n')
  }
}

/** As PyTorch prints a place: the file and line, and the line with a mark under it. */
function describe({ source, at, unit }: Site): string {
  const line = source.lineTextAt(at)
  const from = line.text.length > MAX_SHOWN ? Math.max(0, line.column - MAX_SHOWN / 2) : 0
  const text = line.text.slice(from, from + MAX_SHOWN)
  const column = line.column - from
  const mark = `${' '.repeat(column)}${'~'.repeat(Math.max(1, text.length - column))} <--- HERE`
  return `  File "${source.path}", line ${source.lineOf(at)}, in ${unit.syntax.name}\n${text}\n${mark}`
}
