/** What people see on a terminal, and programs that read the output do not. */

const CLEAR_LINE = '\r\x1b[K'
const isTerminal = (): boolean => process.stderr.isTTY && process.env['TERM'] !== 'dumb'

/** Says on a terminal what goes on while `work` runs, which may take long, and takes it back; `work` writes nothing itself. */
export async function during<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  if (!isTerminal()) return await work()
  process.stderr.write(`${CLEAR_LINE}${what} ...`)
  try {
    return await work()
  } finally {
    process.stderr.write(CLEAR_LINE)
  }
}

/** Red on a terminal, but for those who want no colours (no-color.org). */
export function red(text: string): string {
  const wanted = isTerminal() && (process.env['NO_COLOR'] ?? '') === ''
  return wanted ? `\x1b[31m${text}\x1b[39m` : text
}
