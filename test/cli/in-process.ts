import { runCommandLine } from '../../src/cli/command-line.js'

export interface Outcome {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `ptlite` in this process; what it prints is caught. One call at a time. */
export async function ptlite(...args: string[]): Promise<Outcome> {
  const caught = { log: '', error: '' }
  const { log, error } = console
  console.log = (text: string) => (caught.log += `${text}\n`)
  console.error = (...texts: unknown[]) =>
    (caught.error += `${texts.map((text) => (text instanceof Error ? text.stack : String(text))).join(' ')}\n`)
  try {
    return { status: await runCommandLine(args), stdout: caught.log, stderr: caught.error }
  } finally {
    Object.assign(console, { log, error })
  }
}
