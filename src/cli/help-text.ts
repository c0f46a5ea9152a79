import { describe, usageOf } from './options.js'
import type { Command } from './usage.js'

type Described = Omit<Command, 'run'>

/** Columns of help where it is not printed on a terminal, and the most on one. */
const COLUMNS = 100
const MAX_COLUMNS = 140

/** What a command says of itself under --help, in lines of a terminal's width. */
export function helpOf(command: Described, program: string, columns = terminalColumns()): string {
  const { about, options, notes } = command
  const paragraphs = [about, ...(Object.keys(options).length === 0 ? [] : [describe(options)]), ...(notes === undefined ? [] : [notes])]
  return `${usageLines(command, program, columns)}\n\n${wrapped(paragraphs.join('\n\n'), columns)}`
}

function terminalColumns(): number {
  const { isTTY, columns } = process.stdout
  return isTTY && columns > 0 ? Math.min(Math.max(columns, 60), MAX_COLUMNS) : COLUMNS
}

/** How a command is written, broken between options. */
export function usageLines({ synopsis, options }: Described, program: string, columns = terminalColumns()): string {
  const usage = usageOf(program === '' ? synopsis : `${program} ${synopsis}`, options)
  return fill('', usage.split(/ (?=\[|--)/), 4, columns)
}

/** Paragraphs, and options with what they mean beside them, whose further lines stand below that. */
function wrapped(text: string, columns: number): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const last = lines.at(-1)
    const goesOn = last !== undefined && last !== '' && line !== '' && indentOf(last) === 0 && indentOf(line) === 0
    if (goesOn) lines[lines.length - 1] = `${last} ${line}`
    else lines.push(line)
  }
  return lines
    .map((line) => {
      const hang = hangOf(line)
      return line.length <= columns ? line : fill(line.slice(0, hang), line.slice(hang).split(' '), hang, columns)
    })
    .join('\n')
}

const indentOf = (line: string): number => line.length - line.trimStart().length

/** Where what a line says begins: after an option and two spaces. */
function hangOf(line: string): number {
  return /^ +-\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? indentOf(line)
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
