import type { FunctionArgument, FunctionCode, OperatorName } from '../../program/code.js'
import { withoutEmptyReads } from '../../program/empty-reads.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { upgraderFor } from '../../program/upgraders.js'
import type { OperatorEntry } from '../../runtime/operators/table/registry.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { pace } from '../../runtime/pace.js'
import type { Value as Constant } from '../../runtime/tensor/value.js'
import type { Block, Node, Site, Value } from './graph.js'
import type { FunctionUnit } from './library.js'
import { type Liveness, livenessOf } from './liveness.js'

/** Operators that are instructions since bytecode version 8. */
const PROMOTED: Readonly<Record<string, string>> = {
  'aten::__is__': '__IS__',
  'aten::__isnot__': '__ISNOT__',
  'aten::__not__': '__NOT__',
  'aten::dim': 'DIM',
  'aten::format': 'FORMAT',
  'prim::device': 'DEVICE',
  'prim::dtype': 'DTYPE',
  'prim::is_cuda': 'IS_CUDA',
  'prim::NumToTensor.Scalar': 'NUM_TO_TENSOR',
  'prim::NumToTensor.bool': 'NUM_TO_TENSOR',
  'aten::__getitem__.Dict_str': 'DICT_INDEX',
  'aten::__getitem__.Dict_int': 'DICT_INDEX',
  'aten::__getitem__.Dict_bool': 'DICT_INDEX',
  'aten::__getitem__.Dict_float': 'DICT_INDEX',
  'aten::__getitem__.Dict_complex': 'DICT_INDEX',
  'aten::__getitem__.Dict_Tensor': 'DICT_INDEX',
}

/** A function as instructions, and where each of them comes from. */
export interface EmittedFunction {
  readonly code: FunctionCode
  readonly sites: readonly Site[]
}

/** Writes a function's graph as instructions. `numberOf` gives the number of a function that stays a call. */
export function emitFunction(
  unit: FunctionUnit,
  body: Block,
  operatorVersion: number,
  numberOf: (unit: FunctionUnit) => number,
): EmittedFunction {
  return new Emitter(unit, body, operatorVersion, numberOf).emit()
}

class Emitter {
  private readonly words: number[] = []
  private readonly sites: Site[] = []
  private site: Site
  private readonly registers = new Map<Value, number>()
  private registerSize = 0
  /** How often values were put on the stack. */
  private readonly used = new Map<Value, number>()
  /** Blocks that are being written, and how many of them there are where a value is stored: it is of the innermost one. */
  private level = 0
  private readonly levels = new Map<Value, number>()
  /** By level: values whose last use is in a block of the node that is being written there. */
  private readonly leaving: Value[][] = []
  private readonly constants: Constant[] = []
  private readonly constantNumbers = new Map<unknown, number>()
  private readonly textNumbers = new Map<string, number>()
  private readonly types: string[] = []
  private readonly typeNumbers = new Map<string, number>()
  private readonly operators: OperatorName[] = []
  private readonly operatorNumbers = new Map<string, number>()
  /** By operator: arguments that the function's calls give before `out`; what they leave out are defaults. */
  private readonly given = new Map<OperatorEntry, number>()
  private readonly liveness: Liveness

  constructor(
    private readonly unit: FunctionUnit,
    private readonly body: Block,
    private readonly operatorVersion: number,
    private readonly numberOf: (unit: FunctionUnit) => number,
  ) {
    this.site = { source: unit.source, at: unit.syntax.at, unit, caller: null }
    this.liveness = livenessOf(body, this.site)
    this.countArguments(body)
  }

  emit(): EmittedFunction {
    this.block(this.body)
    this.add('RET')
    const { name } = this.unit
    const dot = name.lastIndexOf('.')
    const code: FunctionCode = {
      name,
      method: name.slice(dot + 1),
      className: name.slice(0, Math.max(dot, 0)),
      code: Int32Array.from(this.words),
      operators: this.operators,
      constants: this.constants,
      types: this.types,
      registerSize: this.registerSize,
      schema: {
        args: this.unit.args.map((arg): FunctionArgument => ({ name: arg.name, type: arg.type.text, default: arg.default })),
        returns: this.unit.returns.map(({ text }) => ({ type: text })),
      },
    }
    return { code: withoutEmptyReads(code), sites: this.sites }
  }

  private get length(): number {
    return this.words.length / 3
  }

  private add(opcode: string, x = 0, n = 0): number {
    pace(4)
    this.sites.push(this.site)
    return this.words.push(OPCODE_BY_NAME.get(opcode)!, x, n) / 3 - 1
  }

  /** Makes a jump at `from` lead to what comes next. */
  private land(from: number): void {
    this.words[3 * from + 1] = this.length - from
  }

  private block(block: Block): void {
    this.leaving[++this.level] = []
    this.store(block.params)
    for (const node of block.nodes) {
      if (this.liveness.inline.has(node)) continue
      this.node(node)
      this.store(node.outputs)
    }
    this.load(block.results)
    this.level--
  }

  private store(values: readonly Value[]): void {
    if (values.length === 0) return
    const first = this.registerSize + 1
    for (const value of values) {
      this.registers.set(value, ++this.registerSize)
      this.levels.set(value, this.level)
    }
    if (values.length === 1) this.add('STORE', first)
    else this.add('STOREN', first, values.length)
  }

  /**
   * Puts values on the stack. The last use of one takes it out of its register, where that is in the block that the value is of. A block inside may run again,
   * or not at all: what it uses last goes behind the node that it belongs to.
   */
  private load(values: readonly Value[]): void {
    for (const value of values) {
      if (value.constant !== undefined) this.add('LOADC', this.constant(value.constant))
      else if (value.node !== null && this.liveness.inline.has(value.node)) this.node(value.node)
      else {
        const count = (this.used.get(value) ?? 0) + 1
        this.used.set(value, count)
        const isLast = count === this.liveness.uses.get(value)
        const level = this.levels.get(value)!
        this.add(isLast && level === this.level ? 'MOVE' : 'LOAD', this.registers.get(value)!)
        if (isLast && level < this.level) this.leaving[level]!.push(value)
      }
    }
  }

  /** What was used last in blocks that end here. */
  private leave(): void {
    const values = this.leaving[this.level]!
    for (const value of values) this.add('DROPR', this.registers.get(value)!)
    values.length = 0
  }

  private node(node: Node): void {
    const before = this.site
    this.site = node.site
    const { action } = node
    switch (action.kind) {
      case 'drop':
        this.drop(node.inputs)
        break
      case 'if':
        this.conditional(node)
        break
      case 'loop':
        this.loop(node)
        break
      case 'operator':
        this.operator(node, action.entry)
        break
      default:
        this.load(node.inputs)
        this.instruction(node)
    }
    this.site = before
  }

  private drop(values: readonly Value[]): void {
    for (const value of values) {
      if (value.node !== null && this.liveness.inline.has(value.node)) {
        this.node(value.node)
        this.add('DROP')
      } else this.add('DROPR', this.registers.get(value)!)
    }
  }

  private instruction({ action, inputs, outputs }: Node): void {
    const count = inputs.length
    switch (action.kind) {
      case 'call':
        this.add('CALL', this.numberOf(action.unit))
        break
      case 'missing':
        this.add('OP', this.numberOfMissing(action.name, count))
        break
      case 'method':
        this.add('INTERFACE_CALL', this.constant(action.name), count)
        break
      case 'GET_ATTR':
      case 'SET_ATTR':
        this.add(action.kind, action.slot)
        break
      case 'LIST_UNPACK':
        this.add(action.kind, outputs.length)
        break
      case 'TUPLE_CONSTRUCT':
        this.add(action.kind, count)
        break
      case 'NAMED_TUPLE_CONSTRUCT':
      case 'LIST_CONSTRUCT':
      case 'DICT_CONSTRUCT':
      case 'CREATE_OBJECT':
        this.add(action.kind, this.type(action.type), action.kind === 'CREATE_OBJECT' ? 0 : count)
        break
      case 'ISINSTANCE':
        this.add(action.kind, this.types.length, action.types.length)
        this.types.push(...action.types)
        break
      case 'TUPLE_SLICE':
        this.add(action.kind, action.start, action.count)
        break
      default:
        this.add(action.kind)
    }
  }

  private conditional(node: Node): void {
    this.load(node.inputs)
    const toElse = this.add('JF')
    this.block(node.blocks[0]!)
    const toEnd = this.add('JMP')
    this.land(toElse)
    this.block(node.blocks[1]!)
    this.land(toEnd)
    this.leave()
  }

  private loop(node: Node): void {
    this.add('LOADC', this.constant(0))
    this.load(node.inputs)
    const start = this.add('LOOP', 0, node.inputs.length)
    this.block(node.blocks[0]!)
    this.add('JMP', start - this.length)
    this.land(start)
    this.leave()
  }

  private operator(node: Node, entry: OperatorEntry): void {
    const { inputs } = node
    const { qualifiedName, schema } = entry
    const promoted = Object.hasOwn(PROMOTED, qualifiedName) ? PROMOTED[qualifiedName] : undefined
    if (promoted !== undefined || schema.isVararg) {
      this.load(inputs)
      if (promoted !== undefined) this.add(promoted, promoted === 'FORMAT' ? inputs.length : 0)
      else this.add('OPN', this.operatorNumber(entry, -1), inputs.length)
      return
    }
    const given = this.given.get(entry)!
    const outs = outsOf(entry)
    const skipped = inputs.length - outs - given
    this.load([...inputs.slice(0, given), ...inputs.slice(given + skipped)])
    this.add('OP', this.operatorNumber(entry, given + outs))
  }

  private operatorNumber({ qualifiedName }: OperatorEntry, argCount: number): number {
    let number = this.operatorNumbers.get(qualifiedName)
    if (number === undefined) {
      const dot = qualifiedName.indexOf('.', qualifiedName.indexOf('::'))
      const [name, overload] = dot < 0 ? [qualifiedName, ''] : [qualifiedName.slice(0, dot), qualifiedName.slice(dot + 1)]
      number = this.operators.push({ name, overload, argCount }) - 1
      this.operatorNumbers.set(qualifiedName, number)
    }
    return number
  }

  /** The code has no overloads; it has all arguments, in the order of the schema. */
  private numberOfMissing(name: string, argCount: number): number {
    const key = `${argCount} ${name}`
    const number = this.operatorNumbers.get(key) ?? this.operators.push({ name, overload: '', argCount }) - 1
    this.operatorNumbers.set(key, number)
    return number
  }

  private countArguments(block: Block): void {
    for (const { action, inputs, blocks } of block.nodes) {
      if (action.kind === 'operator') {
        const { entry } = action
        // PyTorch's upgraders take all arguments from the stack
        const isUpgraded = upgraderFor(entry.qualifiedName, this.operatorVersion) !== undefined
        const needed = isUpgraded ? entry.schema.arguments.length - outsOf(entry) : neededArguments(entry, inputs)
        this.given.set(entry, Math.max(this.given.get(entry) ?? 0, needed))
      }
      for (const inner of blocks) this.countArguments(inner)
    }
  }

  private constant(value: Constant): number {
    const [numbers, key] = typeof value === 'string' ? [this.textNumbers, value] : [this.constantNumbers, constantKey(value)]
    let number = numbers.get(key as string)
    if (number === undefined) numbers.set(key as string, (number = this.constants.push(value) - 1))
    return number
  }

  private type(text: string): number {
    let number = this.typeNumbers.get(text)
    if (number === undefined) this.typeNumbers.set(text, (number = this.types.push(text) - 1))
    return number
  }
}

function outsOf({ schema }: OperatorEntry): number {
  return schema.arguments.filter(({ isOut }) => isOut).length
}

/** How many arguments before `out` a call has to give: what is behind them are the schema's defaults. */
function neededArguments(entry: OperatorEntry, inputs: readonly Value[]): number {
  const args = entry.schema.arguments
  let needed = args.length - outsOf(entry)
  while (needed > 0) {
    const { constant } = inputs[needed - 1] ?? {}
    const { defaultValue } = args[needed - 1]!
    if (constant === undefined || defaultValue === undefined || !isEqual(constant, defaultValue)) break
    needed--
  }
  return needed
}

function isEqual(a: Constant, b: Constant): boolean {
  if (a instanceof Float && b instanceof Float) return Object.is(a.value, b.value)
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i]!))
  return a === b
}

/** Equal numbers are one constant. */
function constantKey(value: Constant): unknown {
  if (value instanceof Float) return `float ${Object.is(value.value, -0) ? '-0' : value.value}`
  return typeof value === 'bigint' ? `int ${value}` : value
}
