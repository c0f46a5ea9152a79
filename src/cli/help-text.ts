import type { Command } from './usage.js'

/** Columns of help where it is not printed on a terminal, and the most on one. */
const COLUMNS = 100
const MAX_COLUMNS = 140

/** What a command says of itself under --help, in lines of a terminal's width. */
export function helpOf({ usage, help }: Pick<Command, 'usage' | 'help'>, program: string, columns = terminalColumns()): string {
  return `${usageLines(program === '' ? usage : `${program} ${usage}`, columns)}\n\n${wrapped(help, columns)}`
}

function terminalColumns(): number {
  const { isTTY, columns } = process.stdout
  return isTTY && columns > 0 ? Math.min(Math.max(columns, 60), MAX_COLUMNS) : COLUMNS
}

/** A usage, broken between options. */
export function usageLines(usage: string, columns = terminalColumns()): string {
  return fill('', usage.split(/ (?=\[)/), 4, columns)
}

/** Paragraphs, and options with what they mean beside them, whose further lines stand below that. */
function wrapped(text: string, columns: number): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const last = lines.at(-1)
    const indent = line.length - line.trimStart().length
    if (last !== undefined && last !== '' && line !== '' && indent === hangOf(last)) lines[lines.length - 1] = `${last} ${line.trim()}`
    else lines.push(line)
  }
  return lines
    .map((line) =>
      line.length <= columns ? line : fill(line.slice(0, hangOf(line)), line.slice(hangOf(line)).split(' '), hangOf(line), columns),
    )
    .join('\n')
}

/** Where what a line says begins: after an option and two spaces. */
function hangOf(line: string): number {
  return /^ +\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? (line.startsWith(' ') ? line.length : 0)
}

function fill(head: string, parts: readonly string[], indent: number, columns: number): string {
  const lines: string[] = []
  let line = head
  let isEmpty = true
  for (const part of parts) {
    if (!isEmpty && line.length + 1 + part.length > columns) {
      lines.push(line)
      line = ' '.repeat(indent) + part
    } else line += isEmpty ? part : ` ${part}`
    isEmpty = false
  }
  return [...lines, line].join('\n')
}
