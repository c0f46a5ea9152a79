import type { FunctionCode } from './code.js'
import { Opcode } from './generated/opcodes.js'

/** What functions of a file call: by number, or methods of a name, whatever object they are called on. */
export class Calls {
  private readonly byMethod = new Map<string, FunctionCode[]>()
  private readonly known = new Map<FunctionCode, Set<FunctionCode>>()

  constructor(private readonly functions: readonly FunctionCode[]) {
    for (const fn of functions) {
      const others = this.byMethod.get(fn.method)
      if (others === undefined) this.byMethod.set(fn.method, [fn])
      else others.push(fn)
    }
  }

  /** The functions that the instruction at `pc` may call; null where it calls none. */
  at({ code, constants }: FunctionCode, pc: number): readonly FunctionCode[] | null {
    const [opcode, x] = [code[3 * pc]!, code[3 * pc + 1]!]
    if (opcode === Opcode.CALL) return this.functions[x] === undefined ? [] : [this.functions[x]]
    if (opcode !== Opcode.INTERFACE_CALL) return null
    const method = constants[x]
    return typeof method === 'string' ? (this.byMethod.get(method) ?? []) : []
  }

  /** A function and all that it may come to. */
  from(fn: FunctionCode): FunctionCode[] {
    const found = new Set([fn])
    for (const next of found) for (const callee of this.of(next)) found.add(callee)
    return [...found]
  }

  private of(fn: FunctionCode): ReadonlySet<FunctionCode> {
    let callees = this.known.get(fn)
    if (callees === undefined) {
      callees = new Set()
      for (let pc = 0; 3 * pc < fn.code.length; pc++) for (const callee of this.at(fn, pc) ?? []) callees.add(callee)
      this.known.set(fn, callees)
    }
    return callees
  }
}

/** By what `namesIn` finds in functions: the methods of a class that come to it, or may, by themselves or by what they call; sorted. */
export function usersOf(
  functions: readonly FunctionCode[],
  className: string,
  namesIn: (fn: FunctionCode) => Iterable<string>,
): ReadonlyMap<string, readonly string[]> {
  const calls = new Calls(functions)
  const names = new Map(functions.map((fn) => [fn, [...namesIn(fn)]]))
  const users = new Map<string, Set<string>>()
  for (const fn of functions) {
    if (fn.className !== className) continue
    for (const callee of calls.from(fn)) {
      for (const name of names.get(callee)!) {
        const methods = users.get(name)
        if (methods === undefined) users.set(name, new Set([fn.method]))
        else methods.add(fn.method)
      }
    }
  }
  return new Map([...users].map(([name, methods]) => [name, [...methods].sort()]))
}
