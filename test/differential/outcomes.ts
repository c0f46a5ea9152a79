import type { Input, Module, Output, Tensor } from '../../src/index.js'
import type { Library } from './library.js'
import type { Program } from './program.js'
import { argumentsOf, Observer, type Seen, tensorsIn } from './values.js'

/** What there is to see behind a call. */
export interface Outcome {
  readonly error: string | null
  /** The line of the code where it failed, where the file has that. */
  readonly line: number | null
  readonly result: Seen
  readonly args: Seen
  readonly attributes: Seen
  /** For each tensor of the result the last call before that gave the same object, or -1. */
  readonly again: readonly number[]
}

/** What is wrong by itself: an error that is no PtliteError. */
export interface Failure {
  /** From 0 on; -1 where the file was not loaded. */
  readonly call: number
  readonly failure: string
}

export type Outcomes = readonly Outcome[] | Failure

/** How a method is called. */
export type Caller = (module: Module, method: string, args: readonly Input[]) => Output | Promise<Output>

const byCall: Caller = (module, method, args) => module.call(method, args)

/** Carries the calls of a program out, with a module that `open` loads. */
export async function outcomesOf(library: Library, program: Program, open: () => Promise<Module>, caller = byCall): Promise<Outcomes> {
  const outcomes: Outcome[] = []
  let module: Module
  try {
    module = await open()
  } catch (error) {
    return { call: -1, failure: textOf(error) }
  }
  try {
    await callAll(library, program, module, caller, outcomes)
    return outcomes
  } catch (error) {
    return { call: outcomes.length, failure: textOf(error) }
  } finally {
    module.dispose()
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? `${error.stack}` : String(error))

/** Throws what is no PtliteError, and INTERNAL. */
async function callAll(library: Library, program: Program, module: Module, caller: Caller, outcomes: Outcome[]): Promise<void> {
  const { PtliteError, callOperator } = library
  const names = program.classes.at(-1)!.attributes.map(({ name }) => name)
  const attributes = (): unknown[] => names.map((name) => module.getAttribute(name))
  const code = (thrown: unknown): string => {
    if (!(thrown instanceof PtliteError) || thrown.code === 'INTERNAL') throw thrown
    return `${thrown.code}: ${thrown.message.split('\n')[0]}`
  }
  const lineOf = (thrown: unknown): number | null => {
    const frames = [...(thrown as Error).message.matchAll(/^ *File .*, line (\d+)/gm)]
    return frames.length === 0 ? null : Number(frames.at(-1)![1])
  }
  const results: Tensor[][] = []
  for (const [k, call] of program.calls.entries()) {
    let error: string | null = null
    let line: number | null = null
    let result: unknown = null
    const args = argumentsOf(library, call, results)
    try {
      result = await caller(module, call.method, args)
    } catch (thrown) {
      error = code(thrown)
      line = lineOf(thrown)
    }
    const tensors = tensorsIn(library, result)
    const again = tensors.map((t) => results.findLastIndex((others) => others.includes(t)))
    results.push(tensors)
    const observer = new Observer(library)
    const looks = program.looks === 'always' || k === program.calls.length - 1
    outcomes.push({
      error,
      line,
      result: observer.see(result),
      args: observer.see(args),
      attributes: looks ? observer.see(attributes()) : null,
      again,
    })
    for (const action of call.after) {
      const of = action.of === 'result' ? tensors : tensorsIn(library, action.of === 'argument' ? args : attributes())
      const t = of[action.tensor]
      if (t === undefined) continue
      if (action.kind === 'dispose') t.dispose()
      else {
        try {
          callOperator('aten::add_.Scalar', [t, 1])
        } catch (thrown) {
          code(thrown)
        }
      }
    }
  }
}
