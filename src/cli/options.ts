import type { ParseArgsConfig } from 'node:util'

type ParserOption = NonNullable<ParseArgsConfig['options']>[string]

/** An option as Node's parser takes it, and what --help, completion and docs/commands.md say of it. */
export interface OptionRow extends ParserOption {
  /** What stands behind it: `FILE`. */
  readonly value?: string
  /** What it means. */
  readonly help: string
  /** Whether a command line without it is refused. */
  readonly isRequired?: boolean
  /** False where the synopsis names it already, and for details that would make the usage long. */
  readonly inUsage?: boolean
}

/** The options of a command by name, in the order in which they are described. */
export type OptionTable = Readonly<Record<string, OptionRow>>

/** Columns before what options mean, at most: that of a longer one stands below it. */
const MAX_HANG = 24

/** `[--input FILE ...]` for each option. */
export function usageOf(synopsis: string, options: OptionTable): string {
  const parts = Object.entries(options).map(([name, { value, multiple, isRequired, inUsage }]) => {
    if (inUsage === false) return ''
    const text = `--${name}${value === undefined ? '' : ` ${value}`}${multiple === true ? ' ...' : ''}`
    return isRequired === true ? ` ${text}` : ` [${text}]`
  })
  return synopsis + parts.join('')
}

/** A line for each option. */
export function describe(options: OptionTable): string {
  const labelled = Object.entries(options).map(([name, row]) => {
    const short = row.short === undefined ? '    ' : `-${row.short}, `
    return [`  ${short}--${name}${row.value === undefined ? '' : ` ${row.value}`}`, row.help] as const
  })
  const hang = Math.min(MAX_HANG, Math.max(...labelled.map(([label]) => label.length + 2)))
  return labelled
    .map(([label, help]) => (label.length > hang - 2 ? `${label}\n${' '.repeat(hang)}${help}` : `${label.padEnd(hang)}${help}`))
    .join('\n')
}
