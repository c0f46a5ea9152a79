import { closeSync, openSync, writeSync } from 'node:fs'
import { PtliteError } from '../../src/index.js'
import { writeProgram } from './archive.js'
import { convert } from './convert.js'
import { generate } from './generator.js'
import { judge } from './judge.js'
import { SOURCE } from './modes.js'
import type { Outcome } from './outcomes.js'
import type { Action, Call, ClassCode, Program, Spec } from './program.js'

/** Names of attributes, and those of objects below theirs. */
interface Names {
  readonly [name: string]: Names | null
}

/** Writes programs with what the interpreter makes of them, a line of JSON each, for `pytorch.py`. */
export async function exportPrograms(families: readonly string[], seed: number, count: number, path: string): Promise<void> {
  const file = openSync(path, 'w')
  for (const family of families) {
    for (let at = seed; at < seed + count; at++) {
      const made = generate(family, at)
      const calls = made.calls.map((call) => ({ ...call, after: call.after.filter((action) => isAlike(action, call)) }))
      const program: Program = { ...made, calls }
      const pt = writeProgram(program)
      const outcomes = await outcomesOf(program)
      if (outcomes === null) continue
      const line = {
        family,
        seed: at,
        looks: program.looks,
        calls,
        attributes: namesOf(program.classes.at(-1)!, program),
        pt: Buffer.from(pt).toString('base64'),
        ptl: Buffer.from(convert(pt).ptl).toString('base64'),
        outcomes,
      }
      writeSync(file, `${JSON.stringify(line, replaced)}\n`)
    }
  }
  closeSync(file)
}

/** Whether PyTorch does the same: nothing is disposed there, and what a container that is an argument holds afterwards is in a copy. */
function isAlike({ kind, of }: Action, { args }: Call): boolean {
  const isPlain = (arg: Spec): boolean => arg === null || typeof arg === 'boolean' || !('list' in arg || 'dict' in arg || 'tuple' in arg)
  return kind === 'write' && (of !== 'argument' || args.every(isPlain))
}

/** null where the reader refuses the program, as PyTorch does where the generator is wrong. */
async function outcomesOf(program: Program): Promise<readonly Outcome[] | null> {
  try {
    const { fault, outcomes } = await judge(program, [], undefined, SOURCE)
    if (fault !== null) throw new Error(`${program.family}, seed ${program.seed}: ${fault.text}`)
    return outcomes
  } catch (error) {
    if (error instanceof PtliteError && error.code !== 'INTERNAL') return null
    throw error
  }
}

/** JSON has no such numbers. */
function replaced(_: string, value: unknown): unknown {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value)
  return value
}

function namesOf(code: ClassCode, program: Program): Names {
  return Object.fromEntries(
    code.attributes.map(({ name, type }) => {
      const found = program.classes.find((c) => type === `__torch__.${c.name}`)
      return [name, found === undefined ? null : namesOf(found, program)]
    }),
  )
}
