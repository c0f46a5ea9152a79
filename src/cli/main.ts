import { runCommandLine } from './command-line.js'
import { endWithStreams } from './streams.js'

endWithStreams('ptlite')

// not awaited here: the built command is CommonJS
void runCommandLine(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
