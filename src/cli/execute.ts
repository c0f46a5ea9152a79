import { PtliteError } from '../../runtime/error.js'
import { helpOf, usageLines } from './help-text.js'
import { withStdin } from './stdin.js'
import { red } from './terminal.js'
import { type Command, CommandFailed, UsageError } from './usage.js'

/**
 * Runs a command of `program`. Returns the exit status: 0, 1 for a PtliteError (its message is on stderr), 2 for a wrong command line. With
 * `--json` stdout has `{"error":{"code","message"}}` in place of a result; the code of a wrong command line is USAGE.
 */
export async function execute(command: Command, args: string[], program: string): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(helpOf(command, program))
    return 0
  }
  const name = program === '' ? command.synopsis.split(' ', 1)[0]! : program
  try {
    await command.run(withStdin(args))
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      return reportFailure(name, 'USAGE', error.message, args, `\nusage: ${usageLines(command, program)}`)
    }
    if (error instanceof CommandFailed) return error.status
    console.error(`${red(`${name}:`)} ${textOf(error)}`)
    const { code, message } = codeOf(error)
    reportError(code, message, args)
    return 1
  }
}

/** Says what is wrong with a command line, and gives its exit status. */
export function reportFailure(name: string, code: string, message: string, args: readonly string[], more = ''): number {
  console.error(`${red(`${name}:`)} ${message}${more}`)
  reportError(code, message, args)
  return 2
}

/** Under --json what reads stdout as JSON is told there, too. */
function reportError(code: string, message: string, args: readonly string[]): void {
  if (args.includes('--json')) console.log(JSON.stringify({ error: { code, message } }))
}

function codeOf(error: unknown): { code: string; message: string } {
  const { code, syscall, message } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException
  const isForeseen = error instanceof PtliteError || syscall !== undefined
  return { code: isForeseen ? (code ?? 'INTERNAL') : 'INTERNAL', message }
}

/** One line, unless the message itself is a list; of errors that nobody foresaw PTLITE_DEBUG=1 shows the stack. */
function textOf(error: unknown): string {
  if (error instanceof PtliteError) return `${error.message} (${error.code})`
  const { code, syscall, message, stack } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException
  // of the system, which says what it could not do and where
  if (syscall !== undefined) return `${message} (${code ?? 'INTERNAL'})`
  return process.env['PTLITE_DEBUG'] === '1'
    ? `internal error: ${stack ?? message}`
    : `internal error: ${message.split('\n', 1)[0]!} (INTERNAL)`
}
