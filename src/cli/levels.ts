import { spawnSync } from 'node:child_process'
import { PtliteError } from '../../runtime/error.js'
import { cpu } from '../index.js'
import { CommandFailed } from './usage.js'

/** The level of this name, in any case. Throws INVALID_ARGUMENT where there is none, or it is not in use here, saying why. */
export function levelNamed(name: string): string {
  const { levels } = cpu.report()
  const level = levels.find((l) => l.name === name.toUpperCase())
  if (level === undefined) {
    const known = levels.map((l) => l.name).join(', ')
    throw new PtliteError('INVALID_ARGUMENT', `--isa: no level '${name}'; expected ${known.toLowerCase()}`)
  }
  if (!level.inUse) {
    throw new PtliteError('INVALID_ARGUMENT', `--isa ${name}: plans are made by running their kernels, but ${level.reason}`)
  }
  return level.name
}

/** Runs this command line in a process of its own that uses no level above `level`: a process chooses once. Throws CommandFailed with its exit status. */
export function repeatAt(level: string, args: readonly string[]): void {
  const env = { ...process.env, ATEN_CPU_CAPABILITY: level }
  const command = [...process.execArgv, process.argv[1]!, ...args]
  const { status, error } = spawnSync(process.execPath, command, { env, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) throw new CommandFailed(status ?? 1)
}
