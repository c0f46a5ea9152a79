/** Runs the programs that it is sent, and answers where it is still there. */
import { judge } from './judge.js'
import { MODES } from './modes.js'
import type { Program } from './program.js'

const MAX_WAIT = 10_000
const modes = MODES.filter(({ name }) => name === process.argv[2])

process.on('message', (program: Program) => {
  const timer = setTimeout(() => process.send!('late'), MAX_WAIT)
  void judge(program, modes)
    .catch(() => undefined)
    .then(() => {
      clearTimeout(timer)
      process.send!('done')
    })
})
