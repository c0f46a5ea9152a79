#!/usr/bin/env node
import { CommandError, runServe, SERVE_HELP } from './command.js'

const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) console.log(SERVE_HELP)
else
  try {
    await runServe(args)
  } catch (error) {
    console.error(`ptlite-serve: ${(error as Error).message}`)
    process.exitCode = error instanceof CommandError ? error.status : 1
  }
