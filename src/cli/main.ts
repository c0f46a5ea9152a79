#!/usr/bin/env node
import { runCommandLine } from './command-line.js'

// a reader such as `head` that closes the pipe is not an error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

// not awaited here: the built command is CommonJS
void runCommandLine(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
