import { textOf as decoded, utf8 } from '../../runtime/encoding.js'
import type { Value } from '../../runtime/tensor/value.js'
import { pace } from '../../runtime/pace.js'
import { damaged, unexpected, integerOf, textOf, tupleOf } from '../../program/file-error.js'
import { LISTS_ONLY } from '../containers/pickle/lists.js'
import { unpickle } from '../containers/pickle/unpickler.js'
import type { ValueBudget } from '../containers/value-budget.js'

const STRING_TABLE = 'FORMAT_WITH_STRING_TABLE'
/** Lines shown before and after the marked ones. */
const CONTEXT_LINES = 2
/** Characters of a line. */
const MAX_SHOWN = 1000
/** Pieces can be repeated at little cost to the file. */
const MAX_SOURCE = 2 ** 22

/** A stretch of the source of a function. */
export class SourceRange {
  constructor(
    /** The source that the range is in. Joined from pieces only when asked for. */
    private readonly source: () => string,
    private readonly file: string,
    /** Line of the file at which the source begins, from 1. */
    private readonly firstLine: number,
    /** In bytes of the source as UTF-8. */
    private readonly start: number,
    private readonly end: number,
  ) {}

  /** Characters of the source that `describe` has looked through. */
  length = 0

  /** The place as TorchScript prints it; empty where the source is not there. */
  describe(functionName: string): string[] {
    const text = this.source()
    this.length = text.length
    pace(8 * text.length)
    if (text.trim() === '') return []
    const bytes = utf8(text)
    const start = decoded(bytes.subarray(0, this.start)).length
    const end = decoded(bytes.subarray(0, this.end)).length
    const lines = text.replace(/\n$/, '').split('\n')
    const first = Math.min(lineAt(text, start), lines.length - 1)
    const last = Math.min(Math.max(first, lineAt(text, end - 1)), lines.length - 1)
    const out: string[] = []
    if (this.file !== '') out.push(`  File "${this.file}", line ${this.firstLine + first}, in ${functionName}`)
    let offset = 0
    lines.forEach((whole, i) => {
      const line = whole.slice(0, MAX_SHOWN)
      if (i >= first - CONTEXT_LINES && i <= last + CONTEXT_LINES) out.push(line)
      if (i >= first && i <= last) out.push(marks(line, start - offset, end - offset) + (i === last ? ' <--- HERE' : ''))
      offset += whole.length + 1
    })
    return out
  }
}

/** Tildes under columns `start` to `end` of a line, not under its indentation. */
function marks(line: string, start: number, end: number): string {
  const from = Math.max(start, line.length - line.trimStart().length)
  const to = Math.min(end, line.length)
  return ' '.repeat(Math.max(from, 0)) + '~'.repeat(Math.max(to - from, 1))
}

function lineAt(text: string, offset: number): number {
  let line = 0
  for (let i = 0; i < offset && i < text.length; i++) if (text[i] === '\n') line++
  return line
}

/** The ranges of all `.debug_pkl` records by tag. */
export function sourceRangesOf(records: readonly Uint8Array[], budget?: ValueBudget): Map<number, SourceRange> {
  const ranges = new Map<number, SourceRange>()
  for (const record of records) readRecord(record, ranges, budget)
  return ranges
}

/** ('FORMAT_WITH_STRING_TABLE', texts, ranges), or in older files just ranges with the texts in them. */
function readRecord(record: Uint8Array, ranges: Map<number, SourceRange>, budget: ValueBudget | undefined): void {
  const root = tupleOf(unpickle(record, LISTS_ONLY, budget))
  const tabled = root.length === 3 && root[0] === STRING_TABLE
  const texts = tabled ? tupleOf(root[1]).map(textOf) : []
  for (const item of tabled ? tupleOf(root[2]) : root) {
    // old forms have no tag, and nothing refers to them
    const [, range, tag] = tupleOf(item)
    if (tag === undefined) continue
    const [source, start, end] = tupleOf(range, 3)
    const [pieces, file, firstLine] = tupleOf(source, 3)
    const key = integerOf(tag)
    if (ranges.has(key)) continue
    const text = tabled ? (): string => joined(pieces, texts) : (): string => textOf(pieces)
    const fileName = tabled ? lookUp(texts, file) : typeof file === 'string' ? file : ''
    const line = firstLine === null ? 0 : integerOf(firstLine, 0)
    ranges.set(key, new SourceRange(text, fileName, line, integerOf(start, 0), integerOf(end, 0)))
  }
}

function joined(pieces: Value | undefined, texts: readonly string[]): string {
  if (!Array.isArray(pieces)) throw unexpected('a list of source lines', pieces)
  let text = ''
  for (const piece of pieces) {
    text += lookUp(texts, piece)
    if (text.length > MAX_SOURCE) throw damaged(`a function of more than ${MAX_SOURCE} characters`)
  }
  return text
}

function lookUp(texts: readonly string[], index: Value | undefined): string {
  return texts[integerOf(index, 0, texts.length - 1)]!
}
