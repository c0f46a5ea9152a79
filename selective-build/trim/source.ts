import ts from 'typescript'

/** A bundle that was not minified: esbuild says in a comment which file each stretch of it comes from. */
export interface BundleSource {
  readonly text: string
  readonly tree: ts.SourceFile
  /** The file that the code at a position comes from, relative to the project; empty for what esbuild adds. */
  fileAt(position: number): string
}

const SECTION = /^\/\/ ([^\s:]+\.[cm]?[jt]s)$/gm

export function parseBundle(text: string): BundleSource {
  const tree = ts.createSourceFile('bundle.js', text, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS)
  const sections = [...text.matchAll(SECTION)].map((match) => ({ start: match.index, file: match[1]! }))
  const fileAt = (position: number): string => {
    let [low, high] = [0, sections.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sections[middle]!.start <= position) low = middle + 1
      else high = middle
    }
    return sections[low - 1]?.file ?? ''
  }
  return { text, tree, fileAt }
}

/** A stretch of text and what takes its place. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Makes edits that do not overlap; of those inside of others the outer ones. Insertions at one place stay in order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits.map((edit, i) => ({ edit, i })).sort((a, b) => a.edit.start - b.edit.start || b.edit.end - a.edit.end || a.i - b.i)
  const pieces: string[] = []
  let at = 0
  for (const { edit } of sorted) {
    if (edit.start < at) continue
    pieces.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  return pieces.join('') + text.slice(at)
}
