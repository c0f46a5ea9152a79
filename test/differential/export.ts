import { closeSync, openSync, writeSync } from 'node:fs'
import { writeProgram } from './archive.js'
import { convert } from './convert.js'
import { generate } from './generator.js'
import { judge } from './judge.js'
import type { ClassCode, Program } from './program.js'

/** Names of attributes, and those of objects below theirs. */
interface Names {
  readonly [name: string]: Names | null
}

/** Writes programs with what the interpreter makes of them, a line of JSON each, for `pytorch.py`. Nothing is disposed there: PyTorch has no such thing. */
export async function exportPrograms(families: readonly string[], seed: number, count: number, path: string): Promise<void> {
  const file = openSync(path, 'w')
  for (const family of families) {
    for (let at = seed; at < seed + count; at++) {
      const made = generate(family, at)
      const calls = made.calls.map((call) => ({ ...call, after: call.after.filter(({ kind }) => kind === 'write') }))
      const program: Program = { ...made, calls }
      const pt = writeProgram(program)
      const { outcomes } = await judge(program, [])
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
