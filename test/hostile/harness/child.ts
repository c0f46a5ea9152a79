/** Runs the mutants that its argument, a Job as JSON, names. */
import { appendFileSync, copyFileSync, ftruncateSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Coverage } from './coverage.js'
import {
  BROKEN,
  type Current,
  CURRENT,
  CURRENT_BYTES,
  CURRENT_LENGTH,
  type Fault,
  FAULTS,
  type Job,
  STATISTICS,
  type Statistics,
} from './job.js'
import { type Mutant, mutantOf } from './mutant.js'
import type { Base } from './target.js'
import { targetOf } from './targets.js'
import { mix, Random } from '../random.js'

const job = JSON.parse(process.argv[2]!) as Job
const { seed, from, to, mask, folder } = job
/** Mutants between turns of the event loop, in which memory that was collected is given back. */
const TURN = 32
/** Mutants between writes of the statistics. */
const REPORT = 256
/** Mutants that others are made of. */
const MAX_KEPT = 2000

const target = await targetOf(job.target)
const coverage = job.guided ? Coverage.open() : null
const currentFile = openSync(join(folder, CURRENT), 'w')
const bytesFile = openSync(join(folder, CURRENT_BYTES), 'w')
const outcomes: Record<string, number> = {}
const kept: Base[] = []
let slowest: [number, number] = [0, from]
let done = 0

function report(): void {
  const statistics: Statistics = { done, outcomes, blocks: coverage?.reached ?? 0, kept: kept.length, slowest }
  const path = join(folder, STATISTICS)
  writeFileSync(`${path}.new`, JSON.stringify(statistics))
  renameSync(`${path}.new`, path)
}

/** Message and innermost functions of an error, without what differs from run to run. */
function signatureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const frames = (error.stack ?? '').split('\n').filter((line) => /^ +at /.test(line))
  const names = frames.map((line) => /^ +at (?:async )?([^ ]+)/.exec(line)?.[1] ?? '').slice(0, 3)
  return `${error.name} ${error.message.replaceAll(/[\d.]+|'[^']*'/g, '#').slice(0, 120)} ${names.join(' < ')}`
}

function made(index: number, old: Base | undefined): Mutant {
  try {
    return mutantOf(target, seed, index, mask, old)
  } catch (error) {
    console.error(`mutant ${index} of seed ${seed} cannot be made:`, error)
    process.exit(BROKEN)
  }
}

for (let index = from; index < to && Date.now() < (job.until ?? Infinity); index++) {
  const random = new Random(mix(seed, index, -1))
  const old = kept.length > 0 && random.once(2) ? random.pick(kept) : undefined
  const { bytes, base, choice, steps } = made(index, old)
  const current: Current = { index, base: base.name, choice, steps }
  writeSync(bytesFile, bytes, 0, bytes.length, 0)
  ftruncateSync(bytesFile, bytes.length)
  writeSync(currentFile, JSON.stringify(current).padEnd(CURRENT_LENGTH), 0)
  const start = performance.now()
  let outcome: string
  try {
    outcome = await target.run(bytes, base, choice)
  } catch (error) {
    outcome = 'FAULT'
    const text =
      error instanceof Error ? `${error.stack}${error.cause instanceof Error ? `\ncause: ${error.cause.stack}` : ''}` : String(error)
    const fault: Fault = { ...current, kind: 'error', signature: signatureOf(error), text }
    copyFileSync(join(folder, CURRENT_BYTES), join(folder, `fault-${index}.bin`))
    appendFileSync(join(folder, FAULTS), `${JSON.stringify(fault)}\n`)
  }
  const took = performance.now() - start
  if (took > slowest[0]) slowest = [Math.round(took), index]
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  done++
  if (coverage?.isNew() === true) {
    const next = { name: base.name, bytes }
    if (kept.length < MAX_KEPT) kept.push(next)
    else kept[random.below(MAX_KEPT)] = next
  }
  if (done % TURN === 0) await new Promise((resolve) => setImmediate(resolve))
  if (done % REPORT === 0) report()
}
report()
// threads of the library that are at work do not hold the process
process.exit(0)
