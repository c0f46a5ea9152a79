import { writeSync } from 'node:fs'

/** Ends the process where what it prints cannot be written: quietly where a reader such as `head` has closed the pipe, else with one line and status 1. */
export function endWithStreams(program: string): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') process.exit(0)
    try {
      writeSync(2, `${program}: cannot write to stdout: ${message} (WRITE_FAILED)\n`)
    } catch {
      // stderr is no better
    }
    process.exit(1)
  })
  // nobody is left to be told
  process.stderr.on('error', () => process.exit(1))
}
