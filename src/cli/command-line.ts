import { VERSION } from '../../runtime/version.js'
import { bench } from './bench.js'
import { codegen } from './codegen.js'
import { compile } from './compile.js'
import { completion } from './completion.js'
import { convert } from './convert.js'
import { cpu } from './cpu.js'
import { execute, reportFailure } from './execute.js'
import { inspect } from './inspect.js'
import { prune } from './prune.js'
import { run } from './run.js'
import { serve } from './serve.js'
import { trace } from './trace.js'
import type { Command } from './usage.js'
import { verify } from './verify-files.js'

const COMMANDS: Readonly<Record<string, Command>> = {
  ...{ run, inspect, trace, compile, convert, bench, prune, verify, serve, cpu, codegen },
  completion: completion(() => COMMANDS),
}

function overview(): string {
  const lines = Object.values(COMMANDS).map((command) => `  ptlite ${command.usage}\n      ${command.help.split('\n')[0]}`)
  return `Runs PyTorch mobile modules (.ptl and .ff), TorchScript archives (.pt) and what they are compiled to (.ptlc).\n\n${lines.join('\n')}\n\nptlite COMMAND --help tells more. A file may be -, which is stdin. With --json a failure is {"error":{"code","message"}} on stdout; its line on stderr and the exit status stay.`
}

/** Runs `ptlite` with these arguments. Exit status: 0, 1 for a PtliteError (its message is on stderr), 2 for a wrong command line. */
export async function runCommandLine(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(overview())
    return name === undefined ? 2 : 0
  }
  if (name === '--version' || name === '-v' || name === '-V') {
    console.log(VERSION)
    return 0
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) {
    return reportFailure('ptlite', 'USAGE', `unknown command '${name}'; expected ${Object.keys(COMMANDS).join(', ')}`, rest)
  }
  return execute(command, rest, 'ptlite')
}
