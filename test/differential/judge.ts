import { writeProgram } from './archive.js'
import { difference, largestIn } from './compare.js'
import { convert } from './convert.js'
import { type Files, type Mode, MODES, TRUTH } from './modes.js'
import type { Failure, Outcome, Outcomes } from './outcomes.js'
import type { Program } from './program.js'

export interface Fault {
  readonly mode: string
  /** From 0 on; -1 where the file was not loaded. */
  readonly call: number
  readonly text: string
}

/** The outcome of a program. */
export interface Verdict {
  readonly fault: Fault | null
  /** Calls that ended in an error in the interpreter, too. */
  readonly errors: number
  readonly outcomes: readonly Outcome[]
}

/** Runs a program in all modes. Throws PtliteError where the reader refuses its file. */
export async function judge(
  program: Program,
  modes: readonly Mode[] = MODES,
  onMode: (name: string) => void = () => undefined,
  truths: Mode = TRUTH,
): Promise<Verdict> {
  const pt = writeProgram(program)
  const files: Files = { pt, ...convert(pt) }
  onMode(truths.name)
  const truth = await truths.outcomes(program, files)
  if (truth === null || 'failure' in truth)
    return { fault: faultOf(truths, truth ?? { call: -1, failure: 'nothing' }), errors: 0, outcomes: [] }
  const errors = truth.filter(({ error }) => error !== null).length
  const references = new Map<Mode, Outcomes | null>([[truths, truth]])
  for (const mode of modes) {
    if (mode.family !== undefined && mode.family !== program.family) continue
    onMode(mode.name)
    const reference = mode.reference ?? truths
    if (!references.has(reference)) references.set(reference, await reference.outcomes(program, files))
    const wanted = references.get(reference)!
    if (wanted === null || 'failure' in wanted)
      return { fault: faultOf(reference, wanted ?? { call: -1, failure: 'nothing' }), errors, outcomes: truth }
    const found = references.get(mode) ?? (await mode.outcomes(program, files))
    references.set(mode, found)
    const fault =
      found === null ? null : 'failure' in found ? faultOf(mode, found) : compare(found, wanted, mode, mode.tolerance?.(program))
    if (fault !== null) return { fault, errors, outcomes: truth }
  }
  return { fault: null, errors, outcomes: truth }
}

function faultOf({ name }: Mode, { call, failure }: Failure): Fault {
  return { mode: name, call, text: failure }
}

function compare(found: readonly Outcome[], wanted: readonly Outcome[], mode: Mode, tolerance?: number): Fault | null {
  // attributes may be seen behind the last call alone
  const largest = Math.max(...wanted.flatMap(({ result, args, attributes }) => [result, args, attributes].map(largestIn)))
  for (const [call, want] of wanted.entries()) {
    const got = found[call]!
    const text =
      got.error === want.error
        ? (['result', 'args', 'attributes'] as const)
            .map((part) => difference(got[part], want[part], part, mode.tellsSharing, largest, tolerance))
            .find((text) => text !== null)
        : `${got.error ?? 'a result'} for ${want.error ?? 'a result'}`
    if (text !== undefined && text !== null) return { mode: mode.name, call, text }
    if (mode.tellsSharing && got.again.join() !== want.again.join())
      return { mode: mode.name, call, text: `tensors of the result are those of calls ${got.again.join()} for ${want.again.join()}` }
  }
  return null
}
