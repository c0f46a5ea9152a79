import { callOperator, PtliteError, type Tensor } from '../../src/index.js'
import { writeProgram } from './archive.js'
import { difference } from './compare.js'
import { convert } from './convert.js'
import { type Files, type Mode, MODES, TRUTH } from './modes.js'
import type { Program } from './program.js'
import { argumentsOf, Observer, type Seen, tensorsIn } from './values.js'

/** What there is to see behind a call. */
export interface Outcome {
  readonly error: string | null
  readonly result: Seen
  readonly args: Seen
  readonly attributes: Seen
}

export interface Fault {
  readonly mode: string
  /** From 0 on; -1 where the file was not loaded. */
  readonly call: number
  readonly text: string
}

/** What became of a program. */
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
): Promise<Verdict> {
  const pt = writeProgram(program)
  const files: Files = { pt, ...convert(pt) }
  onMode(TRUTH.name)
  const truth = await outcomesOf(program, files, TRUTH)
  if ('fault' in truth) return { fault: truth.fault, errors: 0, outcomes: [] }
  const errors = truth.outcomes.filter(({ error }) => error !== null).length
  for (const mode of modes) {
    onMode(mode.name)
    const found = await outcomesOf(program, files, mode)
    const fault = 'fault' in found ? found.fault : compare(found.outcomes, truth.outcomes, mode)
    if (fault !== null) return { fault, errors, outcomes: truth.outcomes }
  }
  return { fault: null, errors, outcomes: truth.outcomes }
}

function compare(found: readonly Outcome[], wanted: readonly Outcome[], mode: Mode): Fault | null {
  for (const [call, want] of wanted.entries()) {
    const got = found[call]!
    const text =
      got.error === want.error
        ? (['result', 'args', 'attributes'] as const)
            .map((part) => difference(got[part], want[part], part, mode.tellsSharing))
            .find((text) => text !== null)
        : `${got.error ?? 'a result'} for ${want.error ?? 'a result'}`
    if (text !== undefined && text !== null) return { mode: mode.name, call, text }
  }
  return null
}

async function outcomesOf(
  program: Program,
  files: Files,
  mode: Mode,
): Promise<{ readonly outcomes: readonly Outcome[] } | { readonly fault: Fault }> {
  const outcomes: Outcome[] = []
  const results: Tensor[][] = []
  const names = program.classes.at(-1)!.attributes.map(({ name }) => name)
  const faultOf = (error: unknown): { readonly fault: Fault } => ({
    fault: { mode: mode.name, call: outcomes.length, text: error instanceof Error ? `${error.stack}` : String(error) },
  })
  let runner
  try {
    runner = await mode.open(files)
  } catch (error) {
    return { fault: { mode: mode.name, call: -1, text: error instanceof Error ? `${error.stack}` : String(error) } }
  }
  try {
    for (const [k, call] of program.calls.entries()) {
      let error: string | null = null
      let result: unknown = null
      const args = argumentsOf(call, results)
      try {
        result = await runner.call(call.method, args)
      } catch (thrown) {
        if (!(thrown instanceof PtliteError) || thrown.code === 'INTERNAL') return faultOf(thrown)
        error = `${thrown.code}: ${thrown.message.split('\n')[0]}`
      }
      const tensors = tensorsIn(result)
      results.push(tensors)
      const observer = new Observer()
      const looks = program.looks === 'always' || k === program.calls.length - 1
      const attributes = (): unknown[] => names.map((name) => runner.attribute(name))
      outcomes.push({
        error,
        result: observer.see(result),
        args: observer.see(args),
        attributes: looks ? observer.see(attributes()) : null,
      })
      for (const action of call.after) {
        const of = action.of === 'result' ? tensors : tensorsIn(action.of === 'argument' ? args : attributes())
        const t = of[action.tensor]
        if (t === undefined) continue
        if (action.kind === 'dispose') t.dispose()
        else {
          try {
            callOperator('aten::add_.Scalar', [t, 1])
          } catch (thrown) {
            if (!(thrown instanceof PtliteError) || thrown.code === 'INTERNAL') throw thrown
          }
        }
      }
    }
    return { outcomes }
  } catch (error) {
    return faultOf(error)
  } finally {
    runner.dispose()
  }
}
