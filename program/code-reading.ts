import { RESULTS } from './generated/opcode-results.js'
import { EFFECT_LETTERS, Opcode } from './generated/opcodes.js'
import { column } from './opcodes.js'
import type { LinkedFunction, LinkedOperator } from './linked.js'
import { ANY_KIND, kindOfValue, kindsOfSchemaType, kindsOfTypeText } from './value-kinds.js'
import { argumentCount, numberOf, resultsOf } from './verifier.js'

/** An operator that functions of a file call. */
export interface Call {
  readonly operator: LinkedOperator
  /** The file does not say how many arguments it takes. */
  readonly isOpen: boolean
  /** Arguments of today's schema, or those that the file says. */
  readonly total: number
}

/** A call whose number of arguments must be chosen before code can be read on. */
export interface OpenCall {
  readonly call: Call
  readonly counts: readonly number[]
}

/** Kinds that arguments and results of an operator can have. */
interface Signature {
  readonly args: readonly number[]
  readonly outs: readonly number[]
  readonly returns: readonly number[]
}

/** What is on the stack: the kinds that each value can have. */
type Kinds = number[]

const POPS = column(2, EFFECT_LETTERS)
const PUSHES = column(3, EFFECT_LETTERS)

/** Values that an instruction can leave on the stack: N is no larger, and nobody unpacks longer lists. */
const MAX_PUSHES = 1 << 16

/**
 * Follows all paths of functions at once, from the first instruction to the last, with the kinds of the values on the stack. Registers are known by
 * the only instruction that stores into them; where paths meet, values are of the kinds of either path, and of any kind where code is repeated. Operands
 * are not trusted: they have not been verified.
 */
export class CodeReading {
  private readonly signatures = new Map<Call, Signature>()

  constructor(
    private readonly functions: readonly LinkedFunction[],
    private readonly calls: ReadonlyMap<LinkedOperator, Call>,
    /** Values must be of the types that schemas want; else only their number counts. */
    private readonly byKinds: boolean,
    /** Instructions and values that may still be looked at. */
    private steps: number,
  ) {}

  /** The steps are used up: 'fails' may only mean that. */
  get isExhausted(): boolean {
    return this.steps < 0
  }

  /**
   * Reads a function whose calls have these numbers of arguments. Returns null where all of it fits, 'fails' where something does not or the steps
   * are used up, and otherwise the first call that is only among the candidates, with those of its numbers that fit there.
   */
  read(fn: LinkedFunction, counts: ReadonlyMap<Call, number>, candidates: ReadonlyMap<Call, readonly number[]>): OpenCall | 'fails' | null {
    const { code } = fn.source
    const { repeated, stores } = this.survey(code)
    const registers = new Map<number, number>()
    /** The stacks of paths that jump forward. */
    const waiting = new Map<number, Kinds>()
    const depths = new Map<number, number>()
    let stack: Kinds | null = argumentKinds(fn)
    for (let pc = 0; pc < code.length / 3; pc++) {
      const other = waiting.get(pc)
      if (other !== undefined && (stack = merged(stack, other)) === null) return 'fails'
      if (stack === null) continue
      if (repeated.has(pc)) stack.fill(ANY_KIND)
      depths.set(pc, stack.length)
      const opcode = code[3 * pc]!
      const x = code[3 * pc + 1]!
      const call = opcode <= Opcode.OPN ? this.calls.get(fn.operators[x]!) : undefined
      if (call !== undefined && opcode === Opcode.OP) {
        const given = counts.get(call)
        const fits = (count: number): boolean => this.fits(call, count, stack!)
        if (given === undefined) return { call, counts: candidates.get(call)!.filter(fits) }
        if (!fits(given)) return 'fails'
      }
      if (opcode === Opcode.RET && stack.length !== 1) return 'fails'
      const taken = this.step(fn, pc, stack, call, counts, registers)
      if (taken === null) return 'fails'
      if (opcode === Opcode.STORE || opcode === Opcode.STOREN) store(registers, stores, x, taken)
      if (opcode === Opcode.JF || opcode === Opcode.JMP || opcode === Opcode.LOOP) {
        // LOOP goes on without the three values that count
        const left: Kinds = opcode === Opcode.LOOP ? stack.slice(0, -3) : stack.slice()
        this.steps -= left.length
        const target = pc + x
        if (target <= pc) {
          if (depths.get(target) !== left.length) return 'fails'
        } else {
          const both = merged(waiting.get(target) ?? null, left)
          if (both === null || 3 * target >= code.length) return 'fails'
          waiting.set(target, both)
        }
      }
      if (opcode === Opcode.JMP || opcode === Opcode.RET || opcode === Opcode.RAISE_EXCEPTION || call?.operator.ends === true) stack = null
    }
    return stack === null ? null : 'fails'
  }

  /**
   * Takes off the stack what the instruction takes, and puts there what it leaves. Returns the values taken; null where there are fewer, or where
   * there is no such instruction.
   */
  private step(
    fn: LinkedFunction,
    pc: number,
    stack: Kinds,
    call: Call | undefined,
    counts: ReadonlyMap<Call, number>,
    registers: ReadonlyMap<number, number>,
  ): Kinds | null {
    const { code } = fn.source
    const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
    const callee = opcode === Opcode.CALL ? this.functions[x] : undefined
    if ((opcode <= Opcode.OPN && call === undefined) || (opcode === Opcode.CALL && callee === undefined)) return null
    const takes = call !== undefined ? (counts.get(call) ?? 0) : callee !== undefined ? argumentCount(callee.source) : 0
    const results = call === undefined ? null : this.resultsOf(call, code, 3 * pc)
    const pops = numberOf(POPS[opcode] ?? 0, x, n, takes)
    const pushes = results?.length ?? numberOf(PUSHES[opcode] ?? 0, x, n, 1)
    if (pops < 0 || pops > stack.length || pushes < 0 || pushes > MAX_PUSHES) return null
    this.steps -= 1 + pops + pushes
    if (this.steps < 0) return null
    const taken = stack.splice(stack.length - pops, pops)
    for (let i = 0; i < pushes; i++) stack.push(results?.[i] ?? resultOf(fn, opcode, x, registers))
    return taken
  }

  private resultsOf(call: Call, code: Int32Array, at: number): readonly number[] {
    return call.operator.returns < 0 ? new Array<number>(resultsOf(code, at)).fill(ANY_KIND) : this.signatureOf(call).returns
  }

  /** Whether `count` values on top of the stack can be the arguments of a call. */
  private fits(call: Call, count: number, stack: Kinds): boolean {
    if (count > stack.length) return false
    if (!this.byKinds) return true
    const { args, outs } = this.signatureOf(call)
    const base = stack.length - count
    const inputs = count - outs.length
    for (let i = 0; i < count; i++) {
      const wanted = i < inputs ? args[i] : outs[i - inputs]
      if (wanted !== undefined && (wanted & stack[base + i]!) === 0) return false
    }
    return true
  }

  private signatureOf(call: Call): Signature {
    let signature = this.signatures.get(call)
    if (signature === undefined) this.signatures.set(call, (signature = signatureOf(call.operator)))
    return signature
  }

  /** Places that are jumped back to, and how many instructions store into each register. */
  private survey(code: Int32Array): { repeated: ReadonlySet<number>; stores: ReadonlyMap<number, number> } {
    const repeated = new Set<number>()
    const stores = new Map<number, number>()
    for (let at = 0; at < code.length; at += 3) {
      const opcode = code[at]!
      const x = code[at + 1]!
      if (opcode >= Opcode.JF && opcode <= Opcode.LOOP && x <= 0) repeated.add(at / 3 + x)
      const stored = opcode === Opcode.STORE ? 1 : opcode === Opcode.STOREN ? code[at + 2]! : 0
      this.steps -= 1 + stored
      for (let i = 0; i < stored && this.steps > 0; i++) stores.set(x + i, (stores.get(x + i) ?? 0) + 1)
    }
    return { repeated, stores }
  }
}

/** What a function is called with. */
function argumentKinds({ source }: LinkedFunction): Kinds {
  return Array.from({ length: argumentCount(source) }, (_, i) => {
    const type = source.schema?.args[i]?.type
    return i === 0 || type === undefined ? ANY_KIND : kindsOfTypeText(type)
  })
}

/** Registers that only one instruction stores into hold what that one stored. */
function store(registers: Map<number, number>, stores: ReadonlyMap<number, number>, first: number, values: Kinds): void {
  values.forEach((kinds, i) => {
    if (stores.get(first + i) === 1) registers.set(first + i, kinds)
  })
}

/** Kinds of what an instruction leaves on the stack that calls no operator. */
function resultOf({ source }: LinkedFunction, opcode: number, x: number, registers: ReadonlyMap<number, number>): number {
  switch (opcode) {
    case Opcode.LOAD:
    case Opcode.MOVE:
      return registers.get(x) ?? ANY_KIND
    case Opcode.LOADC:
      return x >= 0 && x < source.constants.length ? kindOfValue(source.constants[x]!) : ANY_KIND
    case Opcode.LIST_CONSTRUCT:
      return kindsOfTypeText(source.types[x] ?? '')
    default:
      return RESULTS[opcode] ?? ANY_KIND
  }
}

function signatureOf({ entry, outs, returns }: LinkedOperator): Signature {
  if (entry === null) return { args: [], outs: [], returns: new Array<number>(Math.max(returns, 0)).fill(ANY_KIND) }
  const { schema } = entry
  const kinds = schema.arguments.map(({ type }) => kindsOfSchemaType(type))
  const inputs = kinds.length - outs
  return { args: kinds.slice(0, inputs), outs: kinds.slice(inputs), returns: schema.returns.map(({ type }) => kindsOfSchemaType(type)) }
}

/** The values of two paths where they meet, or those of `b` where there is no other; null if one has more than the other. */
function merged(a: Kinds | null, b: Kinds): Kinds | null {
  if (a === null) return b
  return a.length === b.length ? a.map((kinds, i) => kinds | b[i]!) : null
}
