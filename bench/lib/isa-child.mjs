// Times kernel families at the level that ATEN_CPU_CAPABILITY allows. Reads requests {family, milliseconds} as messages of
// the parent, answers {microseconds}: processor time per call, so that it does not count what other processes take.
import { cpu } from '../../dist/index.js'
import { FAMILIES } from './kernel-families.mjs'

const runs = new Map()

function time(name, milliseconds) {
  let run = runs.get(name)
  if (run === undefined) {
    run = FAMILIES.find((family) => family.name === name).make()
    for (let i = 0; i < 3; i++) run()
    runs.set(name, run)
  }
  let calls = 0
  const begin = process.cpuUsage()
  const end = performance.now() + milliseconds
  do {
    run()
    calls++
  } while (performance.now() < end || calls < 3)
  const { user, system } = process.cpuUsage(begin)
  return (user + system) / calls
}

process.on('message', ({ family, milliseconds }) => process.send({ microseconds: time(family, milliseconds) }))
process.send({ level: cpu.currentLevel(), kernels: cpu.kernels() })
