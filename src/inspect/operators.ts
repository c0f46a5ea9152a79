import { usersOf } from '../../program/calls.js'
import type { FunctionCode } from '../../program/code.js'
import type { Program } from '../../program/program.js'
import { upgraderFor } from '../../program/upgraders.js'
import { findOperator } from '../../runtime/operators/table/registry.js'

/** An operator that the code of a file names. */
export interface OperatorUse {
  /** Qualified: `aten::add.Tensor`. */
  readonly name: string
  /** How many functions call it. */
  readonly functions: number
  /** This build has it. */
  readonly present: boolean
  /** The methods whose code comes to it, or may; sorted. */
  readonly methods: readonly string[]
}

/** The operators that a program names, sorted. */
export function operatorsOf(program: Pick<Program, 'functions' | 'operatorVersion' | 'root'>): OperatorUse[] {
  const counts = new Map<string, number>()
  const namesIn = ({ operators }: FunctionCode): ReadonlySet<string> =>
    new Set(operators.map(({ name, overload }) => (overload === '' ? name : `${name}.${overload}`)))
  const users = usersOf(program.functions, program.root.typeName, namesIn)
  for (const fn of program.functions) {
    for (const name of namesIn(fn)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const present = (name: string): boolean => {
    const upgrader = upgraderFor(name, program.operatorVersion)
    return (upgrader?.uses ?? [name]).every((used) => findOperator(used) !== undefined)
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, functions]) => ({ name, functions, present: present(name), methods: users.get(name) ?? [] }))
}
