import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { red } from './terminal.js'
import { type Command, CommandFailed, UsageError } from './usage.js'

/** What the command takes of the package. */
interface ServePackage {
  readonly runServe: (args: readonly string[]) => Promise<void>
  readonly CommandError: new () => Error & { readonly status: 1 | 2 }
  readonly SERVE_HELP: string
}

export const serve: Command = {
  synopsis: 'serve DIR',
  about: `Serves the models of a folder over the Open Inference Protocol and OpenAI's interface, by the package @ptlite/serve.

DIR has NAME/VERSION/model.ptl and its like, or NAME.ptl; NAME/config.json is optional.`,
  // the package reads them
  options: {
    port: { type: 'string', value: 'N', help: 'of HTTP; 8000 without it, and 0 takes a free one' },
    'grpc-port': { type: 'string', value: 'N', help: 'of gRPC, which is not served without it' },
    host: { type: 'string', value: 'ADDRESS', help: 'to listen on, 127.0.0.1 without it' },
  },
  notes: "'ptlite serve help' lists all options.",

  async run(args) {
    const file = findPackage()
    if (file === null) {
      console.error(`${red('ptlite:')} serve needs the package @ptlite/serve; install it beside ptlite: npm install @ptlite/serve`)
      throw new CommandFailed(1)
    }
    // runs of workers share these threads of Node; there can be more of them only before the first is started
    process.env['UV_THREADPOOL_SIZE'] ??= String(Math.max(4, availableParallelism() + 2))
    const { runServe, CommandError, SERVE_HELP } = (await import(pathToFileURL(file).href)) as ServePackage
    if (args[0] === 'help') {
      console.log(`ptlite ${SERVE_HELP}`)
      return
    }
    try {
      await runServe(args)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      if (error.status === 2) throw new UsageError(error.message)
      console.error(`${red('ptlite:')} ${error.message}`)
      throw new CommandFailed(1)
    }
  },
}

/** Beside this package, where the command is run, or in the clone that this is. */
function findPackage(): string | null {
  for (const from of [fileURLToPath(import.meta.url), join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(from).resolve('@ptlite/serve')
    } catch {
      // the next place
    }
  }
  const inClone = ['../serve/dist/index.js', '../../serve/dist/index.js'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  return inClone.find((path) => existsSync(path)) ?? null
}
