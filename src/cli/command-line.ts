import { kinds } from '../../formats/registry.js'
import { VERSION } from '../../runtime/version.js'
import { bench } from './bench.js'
import { chat } from './chat.js'
import { codegen } from './codegen.js'
import { compile } from './compile.js'
import { completion } from './completion.js'
import { convert } from './convert.js'
import { cpu } from './cpu.js'
import { demo } from './demo.js'
import { execute, reportFailure } from './execute.js'
import { inspect } from './inspect.js'
import { prune } from './prune.js'
import { quantizeReport } from './quantize-report.js'
import { run } from './run.js'
import { serve } from './serve.js'
import { suggestion } from './suggestion.js'
import { trace } from './trace.js'
import { types } from './types.js'
import type { Command } from './usage.js'
import { verify } from './verify-files.js'

/** In the order in which the overview has them. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ...{ run, inspect, types, trace, compile, convert, bench, prune, verify },
  'quantize-report': quantizeReport,
  ...{ chat, serve, cpu, codegen, demo },
  completion: completion(() => COMMANDS),
}

function overview(): string {
  const lines = Object.values(COMMANDS).map(({ synopsis, about }) => `  ptlite ${synopsis.padEnd(26)} ${about.split('\n')[0]}`)
  const models = kinds().map((kind) => `  ${kind}\n`)
  return `Runs PyTorch's models:\n${models.join('')}\n${lines.join('\n')}\n\n${GENERAL.join('\n')}`
}

/** What holds for all commands. */
const GENERAL = [
  'ptlite COMMAND --help tells more, ptlite -v the version. A file may be -, which is stdin.',
  'The exit status is 0, 1 where a command fails, and 2 for a wrong command line. With --json a failure is',
  '{"error":{"code","message"}} on stdout, beside its line on stderr.',
]

/** Runs `ptlite` with these arguments. Exit status: 0, 1 for a PtliteError (its message is on stderr), 2 for a wrong command line. */
export async function runCommandLine(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    console.log(overview())
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v' || name === '-V') {
    console.log(VERSION)
    return 0
  }
  if (name === 'help') return runCommandLine([rest[0]!, '--help'])
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    const known = Object.keys(COMMANDS)
    return reportFailure('ptlite', 'USAGE', `unknown command '${name}'; expected ${known.join(', ')}${suggestion(name, known)}`, rest)
  }
  return execute(command, rest, 'ptlite')
}
