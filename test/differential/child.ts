/** Runs programs from a seed on; takes down which one it is at, so that another process knows where this one ended. */
import { openSync, writeSync } from 'node:fs'
import { PtliteError } from '../../src/index.js'
import { generate } from './generator.js'
import { type Fault, judge, type Verdict } from './judge.js'
import { MODES } from './modes.js'
import type { Program } from './program.js'
import { report } from './report.js'
import { shrink } from './shrink.js'

export interface ChildJob {
  readonly families: readonly string[]
  readonly seed: number
  readonly count: number
  /** On the clock of Date.now(). */
  readonly end: number
  readonly modes: string | null
  readonly shrinks: boolean
  /** A file for the seed and family that it is at. */
  readonly position: string
  /** Programs of a seed that are left out: those before it have run. */
  readonly skip: number
}

/** Of the file, whatever it says. */
const POSITION_BYTES = 400

/** What the file of a child says. */
export interface Position {
  readonly seed: number
  readonly family: string
  readonly mode: string
  readonly result: ChildResult
}

export interface ChildResult {
  programs: number
  calls: number
  errors: number
  refused: number
  faults: number
  isDone: boolean
}

/** A program that takes longer, of the processor or at all, hangs: others may have the processor. */
const MAX_WORK = 20_000
const MAX_WAIT = 240_000
const MAX_SHRINK = 15_000
/** Programs of one process: what a fault leaves behind must not go on for ever. Fewer would cost the most: that their code is compiled again. */
const PER_CHILD = 20_000

async function judged(program: Program, modes: typeof MODES, onMode?: (name: string) => void): Promise<Verdict> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Verdict>((resolve) => {
    const [start, before] = [Date.now(), process.cpuUsage()]
    timer = setInterval(() => {
      const { user, system } = process.cpuUsage(before)
      if ((user + system) / 1000 < MAX_WORK && Date.now() - start < MAX_WAIT) return
      const fault: Fault = { mode: 'all', call: 0, text: 'it does not end' }
      resolve({ fault, errors: 0, outcomes: [] })
    }, 1000)
  })
  try {
    return await Promise.race([judge(program, modes, onMode), late])
  } finally {
    clearInterval(timer)
  }
}

async function main(job: ChildJob): Promise<void> {
  const modes = MODES.filter(({ name }) => job.modes === null || name.includes(job.modes))
  const result: ChildResult = { programs: 0, calls: 0, errors: 0, refused: 0, faults: 0, isDone: true }
  const position = openSync(job.position, 'w')
  let skip = job.skip
  const note = (family: string, mode: string): void =>
    void writeSync(position, `${JSON.stringify({ seed: at, family, mode, result } satisfies Position)}\n`.padEnd(POSITION_BYTES), 0)
  let at = job.seed
  programs: for (; at < job.seed + job.count; at++) {
    for (const family of job.families) {
      if (skip-- > 0) continue
      if (Date.now() > job.end) break programs
      const program = generate(family, at)
      const onMode = (mode: string): void => note(family, mode)
      try {
        const { fault, errors } = await judged(program, modes, onMode)
        result.programs++
        result.calls += program.calls.length * (modes.length + 1)
        result.errors += errors
        if (fault === null) continue
        result.faults++
        await tell(program, fault, job.shrinks)
        if (fault.text === 'it does not end') process.exit(3)
      } catch (error) {
        if (!(error instanceof PtliteError) || error.code === 'INTERNAL' || error.code === 'NATIVE_LIBRARY') throw error
        // what the generator gets wrong, or the reader does not know
        result.refused++
        if (process.env['PTLITE_REFUSED'] !== undefined) console.log(family, at, error.message)
      }
    }
    if (result.programs > PER_CHILD) {
      result.isDone = at + 1 >= job.seed + job.count
      at++
      break
    }
  }
  note(job.families[0]!, '')
  process.exit(0)
}

async function tell(program: Program, fault: Fault, shrinks: boolean): Promise<void> {
  if (!shrinks) return console.log(report(program, fault).split('\n').slice(0, 2).join('\n'))
  const only = MODES.filter(({ name }) => name === fault.mode)
  let latest = fault
  const isFaulty = async (smaller: Program): Promise<boolean> => {
    try {
      const { fault: found } = await judged(smaller, only)
      if (found === null) return false
      latest = found
      return true
    } catch {
      return false
    }
  }
  const smaller = only.length === 0 ? program : await shrink(program, isFaulty, MAX_SHRINK)
  console.log(report(smaller, latest))
}

await main(JSON.parse(process.argv[2]!) as ChildJob)
