/* Text of pictures: as wide as it may be, and to be read on white and on black. */

/** Of the size of a letter, what one takes: more than most do. */
const LETTER = 0.62

/** Colours of the page's scheme, by classes: `paper`, `ink`, `faint` for texts beside, `grid` for lines. */
export const SCHEME = `<style>.paper{fill:#fff}.edge{stroke:#fff}.ink{fill:#222}.faint{fill:#555}.grid{stroke:#e4e8ee}.curve{stroke:#222}
@media (prefers-color-scheme:dark){.paper{fill:#14171c}.edge{stroke:#14171c}.ink{fill:#e6e9ee}.faint{fill:#aab2bd}.grid{stroke:#2c323b}.curve{stroke:#e6e9ee}.lower-bound{stroke:#ff6b6b}}</style>`

/** The lines of a text that is no wider than `width` where letters are of `size`: broken at spaces and behind signs, in the middle of names where it has to be. */
export function linesOf(text: string, width: number, size: number): string[] {
  const most = Math.max(1, Math.floor(width / (LETTER * size)))
  const lines: string[] = []
  let line = ''
  for (const part of text.match(/\s+|[^\s_.,:;/=()[\]-]+[_.,:;/=()[\]-]*|[_.,:;/=()[\]-]+/g) ?? []) {
    const isSpace = part.trim() === ''
    if (line !== '' && line.length + (isSpace ? 1 : part.length) > most) {
      lines.push(line.trimEnd())
      line = ''
    }
    if (isSpace) {
      if (line !== '') line += ' '
      continue
    }
    let rest = part
    for (; rest.length > most; rest = rest.slice(most)) lines.push(rest.slice(0, most))
    line += rest
  }
  return line === '' ? lines : [...lines, line.trimEnd()]
}

/** Lines below each other, the first of them at `y`. */
export function textLines(lines: readonly string[], x: number, y: number, size: number, className = 'ink'): string {
  return lines
    .map((line, i) => `<text class="${className}" x="${x}" y="${y + i * lineHeight(size)}" font-size="${size}">${escape(line)}</text>`)
    .join('\n')
}

/** From a line to the next one. */
export function lineHeight(size: number): number {
  return Math.round(1.25 * size)
}

export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
