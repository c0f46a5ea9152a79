import { PtliteError } from '../../runtime/error.js'
import { type Command, CommandFailed, UsageError } from './usage.js'

/**
 * Runs a command of `program`. Returns the exit status: 0, 1 for a PtliteError (its message is on stderr), 2 for a wrong command line.
 */
export async function execute(command: Command, args: string[], program: string): Promise<number> {
  const usage = program === '' ? command.usage : `${program} ${command.usage}`
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`${usage}\n\n${command.help}`)
    return 0
  }
  const name = usage.split(' ', 1)[0]!
  try {
    await command.run(args)
    return 0
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`${name}: ${error.message}\nusage: ${usage}`)
      return 2
    }
    if (error instanceof CommandFailed) return error.status
    if (error instanceof PtliteError) {
      console.error(`${name}: ${error.message} (${error.code})`)
      return 1
    }
    console.error(`${name}: internal error`, error)
    return 1
  }
}
