import { PtliteError } from '../runtime/error.js'
import { pace } from '../runtime/pace.js'
import { findOperator } from '../runtime/operators/table/registry.js'
import { isWritten, type SchemaArgument } from '../runtime/operators/table/schema.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { ScriptObject, type Value } from '../runtime/tensor/value.js'
import { LONGEST_NAME } from './attributes.js'
import type { FunctionCode, OperatorName } from './code.js'
import { constantText } from './disassemble.js'
import {
  attributesOf,
  Effort,
  either,
  type Flow,
  flowText,
  identity,
  keysOf,
  listOf,
  ofNode,
  ofText,
  partOf,
  TOO_LARGE,
  truthOf,
  UNKNOWN,
} from './flow-values.js'
import { Opcode, PROMOTED } from './generated/opcodes.js'
import { type GraphNode, lastSourceLine, type ModelGraph } from './graph-info.js'
import { linkFunctions } from './link.js'
import type { LinkedFunction, LinkedOperator } from './linked.js'
import type { Program } from './program.js'
import { upgraderFor } from './upgraders.js'
import { argumentCount, resultsOf } from './verifier.js'

const RAISE = 'prim::RaiseException'
/** Values that are looked at, all in all. */
const MAX_WORK = 20_000_000
/** Instructions that leave one value which is computed from those they take, with what they are called, how many they take and the type of what they give. */
const COMPUTING: Readonly<Record<number, readonly [name: string, takes: number, type: string]>> = {
  [Opcode.ISINSTANCE]: ['prim::isinstance', 1, 'bool'],
  [Opcode.DICT_INDEX]: ['aten::__getitem__', 2, 't'],
  [Opcode.DEVICE]: ['prim::device', 1, 'Device'],
  [Opcode.DTYPE]: ['prim::dtype', 1, 'int'],
  [Opcode.DIM]: ['aten::dim', 1, 'int'],
  [Opcode.IS_CUDA]: ['prim::is_cuda', 1, 'bool'],
  [Opcode.TO_LIST]: [PROMOTED[Opcode.TO_LIST]!, 3, 'list'],
  [Opcode.NUM_TO_TENSOR]: [PROMOTED[Opcode.NUM_TO_TENSOR]!, 1, 'Tensor'],
}

/** The code cannot be followed: it is damaged, or an operator that is not known does not say how many arguments it takes. */
const LOST = new Error('the code cannot be followed')

interface Place {
  readonly registers: Map<number, Flow>
  readonly stack: Flow[]
}

type Made = Omit<GraphNode, 'args' | 'parameters' | 'source' | 'place'> & {
  readonly values: readonly Flow[]
  readonly names: readonly string[]
}

/** A function of a file and what it computes. */
export interface FunctionGraph {
  /** Qualified: `__torch__.Net.forward`. */
  readonly function: string
  /** Of methods of the root object their name; null for other functions. */
  readonly method: string | null
  /** null where the code cannot be followed, or the graph is too large. */
  readonly graph: ModelGraph | null
}

/**
 * What the functions of a program compute from what, as their code says; nothing runs. Branches that attributes of the module and constants decide are
 * taken as they will be; where both may be, a value comes from several nodes.
 */
export function graphsOf(program: Program): FunctionGraph[] {
  const { functions, root } = program
  const effort = new Effort(MAX_WORK)
  const changing = slotsThatChange(functions)
  const linked = argumentsUnsaid(functions) ? linkedOrNone(program) : null
  return functions.map((fn, i) => {
    const isMethod = fn.className === root.typeName
    const walk = new Walk(fn, program, isMethod, changing, effort, linked?.[i]?.operators)
    return { function: fn.name, method: isMethod ? fn.method : null, graph: graphOf(walk) }
  })
}

/** Whether calls do not say how many arguments they give, which files of bytecode version 4 and 5 leave to the code around them. */
function argumentsUnsaid(functions: readonly FunctionCode[]): boolean {
  return functions.some(({ operators }) => operators.some(({ argCount }) => argCount < 0))
}

/** null where the program cannot be linked. */
function linkedOrNone({ functions, operatorVersion }: Program): readonly LinkedFunction[] | null {
  try {
    return linkFunctions(functions, operatorVersion, new Map())
  } catch (error) {
    if (error instanceof PtliteError) return null
    throw error
  }
}

function graphOf(walk: Walk): ModelGraph | null {
  try {
    return walk.graph()
  } catch (error) {
    if (error === TOO_LARGE || error === LOST) return null
    throw error
  }
}

/** Numbers of the slots that some function sets, of whatever class: what they hold in the file says nothing of later calls. */
function slotsThatChange(functions: readonly FunctionCode[]): Set<number> {
  const slots = new Set<number>()
  for (const { code } of functions) for (let at = 0; at < code.length; at += 3) if (code[at] === Opcode.SET_ATTR) slots.add(code[at + 1]!)
  return slots
}

class Walk {
  /** By instruction; inputs have negative keys. */
  private readonly made = new Map<number, Made>()
  private readonly states = new Map<number, Place>()
  private readonly targets = new Set<number>()
  private readonly pending = new Set<number>()

  constructor(
    private readonly fn: FunctionCode,
    private readonly program: Program,
    /** A method of the root object. */
    private readonly isRoot: boolean,
    private readonly changing: ReadonlySet<number>,
    private readonly effort: Effort,
    private readonly linked: readonly LinkedOperator[] | undefined,
  ) {
    const { code } = fn
    for (let pc = 0; 3 * pc < code.length; pc++)
      if ([Opcode.JF, Opcode.JMP, Opcode.LOOP].includes(code[3 * pc]! as never)) this.targets.add(pc + code[3 * pc + 1]!)
  }

  graph(): ModelGraph {
    this.reach(0, { registers: new Map(), stack: this.arguments() })
    while (this.pending.size > 0) {
      const pc = Math.min(...this.pending)
      this.effort.spend(this.pending.size)
      this.pending.delete(pc)
      this.follow(pc)
    }
    const keys = [...this.made.keys()].sort((a, b) => (a < 0 && b < 0 ? b - a : a - b))
    const numbers = new Map(keys.map((key, i) => [key, i]))
    const numberOf = (key: number): number => numbers.get(key) ?? -1
    return { nodes: keys.map((key) => this.node(key, this.made.get(key)!, numberOf)) }
  }

  private node(key: number, { values, names, ...made }: Made, numberOf: (key: number) => number): GraphNode {
    pace(64)
    const args = values.map((value, i) => ({
      name: names[i] ?? '',
      text: flowText(value, numberOf),
      from: keysOf([value], this.effort).map(numberOf),
    }))
    const place = key < 0 ? null : { function: this.fn.name, instruction: key }
    const source = key < 0 ? null : (lastSourceLine(this.program.debug?.stackTraceAt(this.fn.name, key, 1)) ?? null)
    return { ...made, args, parameters: attributesOf(values, this.effort), place, source }
  }

  private arguments(): Flow[] {
    const { schema } = this.fn
    const { inputs, root } = this.program
    const declared = this.isRoot && this.fn.method === 'forward' ? inputs : undefined
    return Array.from({ length: argumentCount(this.fn) }, (_, i): Flow => {
      if (i === 0 && this.isRoot) return { kind: 'object', object: root, name: '' }
      const key = -1 - i
      const argument = schema?.args[i]
      const info = declared !== undefined && declared.length === (schema?.args.length ?? 0) - 1 ? declared[i - 1] : undefined
      const sizes = info?.shape?.map(({ text }) => text).join(', ')
      const type = info?.dtype === undefined || sizes === undefined ? (argument?.type ?? '') : `${info.dtype}[${sizes}]`
      this.make(key, 'input', info?.name ?? argument?.name ?? `argument ${i}`, [], [], [type])
      return ofNode(key)
    })
  }

  private make(
    key: number,
    kind: GraphNode['kind'],
    name: string,
    values: readonly Flow[],
    names: readonly string[] = [],
    results: readonly string[] = [],
    missing = false,
  ): void {
    this.effort.spend(values.length)
    this.made.set(key, { kind, name, values, names, results, missing })
  }

  /** Goes on at an instruction that paths meet at, where this one brings something new. */
  private reach(pc: number, { registers, stack }: Place): void {
    if (pc < 0 || 3 * pc >= this.fn.code.length) throw LOST
    const { effort } = this
    const known = this.states.get(pc)
    effort.spend(registers.size + stack.length)
    if (known === undefined) {
      this.states.set(pc, { registers: new Map(registers), stack: [...stack] })
      this.pending.add(pc)
      return
    }
    if (known.stack.length !== stack.length) throw LOST
    let changed = false
    const meet = (before: Flow, now: Flow, set: (flow: Flow) => void): void => {
      const both = either(before, now, effort)
      if (both === before) return
      set(both)
      changed = true
    }
    stack.forEach((value, i) => meet(known.stack[i]!, value, (both) => (known.stack[i] = both)))
    // what is not set on one path is not read behind it
    for (const [register, value] of registers) {
      const before = known.registers.get(register)
      if (before !== undefined) meet(before, value, (both) => known.registers.set(register, both))
      else {
        known.registers.set(register, value)
        changed = true
      }
    }
    if (changed) this.pending.add(pc)
  }

  /** Follows the code from where paths meet to the next such place, or to its end. */
  private follow(start: number): void {
    const { registers: before, stack: below } = this.states.get(start)!
    this.effort.spend(before.size + below.length)
    const place: Place = { registers: new Map(before), stack: [...below] }
    for (let pc = start; ; pc++) {
      if (3 * pc >= this.fn.code.length) throw LOST
      if (pc > start && this.targets.has(pc)) {
        this.reach(pc, place)
        return
      }
      this.effort.spend(1)
      if (!this.step(pc, place)) return
    }
  }

  /** What an instruction does; false where the path ends or goes on elsewhere. */
  private step(pc: number, place: Place): boolean {
    const { registers, stack } = place
    const { code, constants, operators } = this.fn
    const [opcode, x, n] = [code[3 * pc]!, code[3 * pc + 1]!, code[3 * pc + 2]!]
    const pop = (): Flow => {
      const value = stack.pop()
      if (value === undefined) throw LOST
      return value
    }
    const popMany = (count: number): Flow[] => {
      if (count < 0 || count > stack.length) throw LOST
      return stack.splice(stack.length - count, count)
    }
    const computed = (name: string, values: readonly Flow[], type = 'bool'): void => {
      this.make(pc, 'operator', name, values, [], [type])
      stack.push(ofNode(pc))
    }
    switch (opcode) {
      case Opcode.OP:
      case Opcode.OPN: {
        const operator = operators[x]
        if (operator === undefined) throw LOST
        return this.operator(pc, operator, opcode === Opcode.OPN ? n : operator.argCount, this.linked?.[x]?.given, place, popMany)
      }
      case Opcode.LOAD:
      case Opcode.MOVE:
        stack.push(registers.get(x) ?? UNKNOWN)
        if (opcode === Opcode.MOVE) registers.delete(x)
        return true
      case Opcode.STOREN:
        popMany(n).forEach((value, i) => registers.set(x + i, value))
        return true
      case Opcode.STORE:
        registers.set(x, pop())
        return true
      case Opcode.DROP:
        pop()
        return true
      case Opcode.DROPR:
        registers.delete(x)
        return true
      case Opcode.LOADC:
        stack.push(this.constant(constants[x], x))
        return true
      case Opcode.JF: {
        const condition = pop()
        const truth = truthOf(condition)
        if (truth === null) this.make(pc, 'branch', 'if', [condition])
        if (truth !== true) this.reach(pc + x, place)
        return truth !== false
      }
      case Opcode.JMP:
        this.reach(pc + x, place)
        return false
      case Opcode.LOOP: {
        const frame = popMany(n + 1)
        const carried = frame.slice(3)
        this.make(pc, 'loop', 'loop', frame.slice(1, 3), ['most', 'while'])
        this.reach(pc + x, { registers, stack: [...stack, ...carried] })
        stack.push(ofNode(pc), frame[1]!, ofNode(pc), ...carried)
        return truthOf(frame[2]!) !== false
      }
      case Opcode.RET: {
        const result = pop()
        this.make(pc, 'output', 'return', result.kind === 'list' ? result.items : [result])
        return false
      }
      case Opcode.CALL: {
        const callee = this.program.functions[x]
        if (callee === undefined) throw LOST
        const names = callee.schema?.args.map(({ name }) => name) ?? []
        this.make(pc, 'call', callee.name, popMany(argumentCount(callee)), names)
        stack.push(ofNode(pc))
        return true
      }
      case Opcode.INTERFACE_CALL: {
        const method = constants[x]
        if (typeof method !== 'string') throw LOST
        this.make(pc, 'call', method, popMany(n))
        stack.push(ofNode(pc))
        return true
      }
      case Opcode.GET_ATTR:
        stack.push(this.attribute(pop(), x))
        return true
      case Opcode.SET_ATTR: {
        const [object, value] = popMany(2) as [Flow, Flow]
        const name = object.kind === 'object' ? nameIn(object.name, object.object, x) : `slot ${x}`
        this.make(pc, 'state', name, object.kind === 'nodes' ? [value, object] : [value])
        return true
      }
      case Opcode.LIST_UNPACK: {
        const list = pop()
        const part = partOf(list, this.effort)
        this.effort.spend(x)
        for (let i = 0; i < x; i++) stack.push(list.kind === 'list' && list.items.length === x ? list.items[i]! : part)
        return true
      }
      case Opcode.TUPLE_CONSTRUCT:
        stack.push(listOf(popMany(x), '()', this.effort))
        return true
      case Opcode.NAMED_TUPLE_CONSTRUCT:
        stack.push(listOf(popMany(n), '()', this.effort))
        return true
      case Opcode.LIST_CONSTRUCT:
        stack.push(listOf(popMany(n), '[]', this.effort))
        return true
      case Opcode.DICT_CONSTRUCT:
        stack.push(listOf(popMany(n), '{}', this.effort))
        return true
      case Opcode.CREATE_OBJECT:
      case Opcode.UN_INITIALIZED:
        stack.push(UNKNOWN)
        return true
      case Opcode.TUPLE_SLICE: {
        const tuple = pop()
        stack.push(tuple.kind === 'list' ? listOf(tuple.items.slice(x, x + n), '()', this.effort) : tuple)
        return true
      }
      case Opcode.TUPLE_INDEX: {
        const [tuple, index] = popMany(2) as [Flow, Flow]
        const at = index.kind === 'text' ? Number(index.text) : NaN
        const item = tuple.kind === 'list' ? tuple.items.at(at) : undefined
        stack.push(Number.isInteger(at) && item !== undefined ? item : partOf(tuple, this.effort))
        return true
      }
      case Opcode.RAISE_EXCEPTION:
        return false
      case Opcode.UNCHECKED_CAST:
        return true
      case Opcode.WARN:
        popMany(2)
        return true
      case Opcode.__NOT__: {
        const value = pop()
        const truth = truthOf(value)
        if (truth === null) computed('aten::__not__', [value])
        else stack.push(booleanFlow(!truth))
        return true
      }
      case Opcode.__IS__:
      case Opcode.__ISNOT__: {
        const [left, right] = popMany(2) as [Flow, Flow]
        const same = identity(left, right)
        const isNot = opcode === Opcode.__ISNOT__
        if (same === null) computed(isNot ? 'aten::__isnot__' : 'aten::__is__', [left, right])
        else stack.push(booleanFlow(same !== isNot))
        return true
      }
      case Opcode.FORMAT:
        computed(PROMOTED[Opcode.FORMAT]!, popMany(x), 'str')
        return true
      default: {
        const row = COMPUTING[opcode]
        if (row === undefined) throw LOST
        computed(row[0], popMany(row[1]), row[2])
        return true
      }
    }
  }

  private operator(
    pc: number,
    operator: OperatorName,
    said: number,
    linked: number | undefined,
    { stack, registers }: Place,
    popMany: (count: number) => Flow[],
  ): boolean {
    const name = operator.overload === '' ? operator.name : `${operator.name}.${operator.overload}`
    if (name === RAISE) return false
    const upgrader = upgraderFor(name, this.program.operatorVersion)
    const missing = (upgrader?.uses ?? [name]).some((used) => findOperator(used) === undefined)
    const schema = findOperator(upgrader?.uses[0] ?? name)?.schema
    const given = said >= 0 ? said : (linked ?? upgrader?.argCount ?? schema?.arguments.length)
    if (given === undefined) throw LOST
    const values = popMany(given)
    const args = schema?.arguments ?? []
    const results = schema === undefined || schema.isVarret ? resultsOf(this.fn.code, 3 * pc) : schema.returns.length
    this.make(
      pc,
      'operator',
      name,
      values,
      schema === undefined || schema.isVararg ? [] : namesOf(args, given),
      schema?.isVarret === false ? schema.returns.map(({ type }) => type) : [],
      missing,
    )
    this.effort.spend(results)
    for (let i = 0; i < results; i++) stack.push(ofNode(pc))
    // whoever reads a value that was written to reads what this has made of it
    if (schema?.isVararg === false && args.some(isWritten)) {
      this.effort.spend(registers.size + stack.length)
      values.forEach((value, i) => {
        if ((value.kind !== 'nodes' && value.kind !== 'list') || !isWritten(args[i])) return
        for (const [register, held] of registers) if (held === value) registers.set(register, ofNode(pc))
        stack.forEach((held, at) => held === value && (stack[at] = ofNode(pc)))
      })
    }
    return true
  }

  private attribute(of: Flow, slot: number): Flow {
    if (of.kind !== 'object') return partOf(of, this.effort)
    const name = nameIn(of.name, of.object, slot)
    const value = of.object.slots[slot]
    if (value instanceof ScriptObject) return { kind: 'object', object: value, name }
    const isKept = value !== undefined && isPlain(value) && !this.changing.has(slot)
    return isKept ? textFlow(value) : { kind: 'attribute', name }
  }

  private constant(value: Value | undefined, index: number): Flow {
    if (value === undefined) throw LOST
    return isPlain(value) ? textFlow(value) : { kind: 'attribute', name: `${this.fn.method} constant ${index}` }
  }
}

/** The names of the arguments that a call gives, which are the first ones and those for results. */
function namesOf(args: readonly SchemaArgument[], given: number): string[] {
  const outs = args.filter(({ isOut }) => isOut).length
  return [...args.slice(0, given - outs), ...args.slice(args.length - outs)].map(({ name }) => name)
}

function nameIn(path: string, { names }: ScriptObject, slot: number): string {
  const name = `${path === '' ? '' : `${path}.`}${names[slot] ?? `slot${slot}`}`
  if (name.length > LONGEST_NAME) throw TOO_LARGE
  return name
}

/** It is written out in a few characters. */
function isPlain(value: Value): boolean {
  if (Array.isArray(value)) return value.every((item) => !Array.isArray(item) && isPlain(item))
  return typeof value !== 'object' || value === null || value instanceof Float || value instanceof Complex
}

function textFlow(value: Value): Flow {
  return typeof value === 'boolean' ? booleanFlow(value) : ofText(constantText(value))
}

function booleanFlow(truth: boolean): Flow {
  return ofText(truth ? 'True' : 'False')
}
