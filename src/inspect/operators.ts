import type { Program } from '../../program/program.js'
import { upgraderFor } from '../../program/upgraders.js'
import { findOperator } from '../../runtime/operators/registry.js'

/** An operator that the code of a file names. */
export interface OperatorUse {
  /** Qualified: `aten::add.Tensor`. */
  readonly name: string
  /** How many functions call it. */
  readonly functions: number
  /** This build has it. */
  readonly present: boolean
}

/** The operators that a program names, sorted. */
export function operatorsOf(program: Pick<Program, 'functions' | 'operatorVersion'>): OperatorUse[] {
  const counts = new Map<string, number>()
  for (const fn of program.functions) {
    const names = new Set(fn.operators.map((op) => (op.overload === '' ? op.name : `${op.name}.${op.overload}`)))
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const present = (name: string): boolean => {
    const upgrader = upgraderFor(name, program.operatorVersion)
    return (upgrader?.uses ?? [name]).every((used) => findOperator(used) !== undefined)
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, functions]) => ({ name, functions, present: present(name) }))
}
