import { fieldsOf } from '../../../runtime/bytes.js'
import { strictTextOf } from '../../../runtime/encoding.js'
import { Float, toInt } from '../../../runtime/tensor/scalar.js'
import { CustomObject, Tuple, type Value } from '../../../runtime/tensor/value.js'
import { damaged, dictKeyOf, tupleOf, unexpected } from '../../../program/file-error.js'
import { PickleGlobal } from './global.js'
import { readInstructions } from './instructions.js'
import { PickleOp } from './opcodes.js'
import { ValueBudget } from '../value-budget.js'

/** What the globals and persistent ids of a pickle mean. */
export interface PickleMeaning {
  /** Numbers of instructions by name, where the pickle is one of bytecode: some of the instructions in it become `Instructions`. */
  readonly opcodes?: ReadonlyMap<Value, number> | undefined
  /** What a name, with its module `torch.FloatStorage`, stands for; undefined where it may not occur at all. */
  readonly lookUp: (name: string) => PickleGlobal | undefined
  readonly persistentLoad: (id: readonly Value[]) => Value
  /** Gives an instance its state. */
  readonly setState: (instance: Value, state: Value) => void
}

/** Where a group of values begins on the stack. */
const MARK = new CustomObject('the beginning of a group', null)

/** What a dict or an object counts for, beside its items. */
const LARGE = 4
/** Objects that are spent at a time. */
const AT_ONCE = 64

/**
 * Reads one pickle. Only what PyTorch writes is understood: any other opcode, global or nesting is an INVALID_FILE
 * error that names it. Values memoized once and fetched twice are the same object. `budget` is that of the file that the pickle is in.
 */
export function unpickle(bytes: Uint8Array, meaning: PickleMeaning, budget = new ValueBudget(bytes.length)): Value {
  const stack: Value[] = []
  /** Where groups begin on it. */
  const marks: number[] = []
  const memo: Value[] = []
  /** Values with other numbers than the next one: an array with gaps could take much more memory than it has values. */
  const elsewhere = new Map<number, Value>()
  const fields = fieldsOf(bytes)
  let at = 0
  /** Within a tuple of instructions. */
  let inCode = false
  let room: Int32Array | undefined

  /** Where the next bytes stand, which are read by that. */
  const next = (count: number): number => (at += count) - count
  const uint8 = (): number => {
    if (at >= bytes.length) throw new RangeError()
    return bytes[at++]!
  }
  const uint32 = (): number => fields.getUint32(next(4), true)
  const text = (length: number): string => {
    const start = next(length)
    if (at > bytes.length) throw new RangeError()
    const value = strictTextOf(bytes.subarray(start, at))
    if (value === undefined) throw damaged(`the text before byte ${at} is not UTF-8`)
    return value
  }
  const line = (): string => {
    const end = bytes.indexOf(0x0a, at)
    const name = text(end < 0 ? Infinity : end - at)
    at++
    return name
  }
  const pop = (): Value => {
    const value = stack.pop()
    if (value === undefined || value === MARK) throw damaged(`the pickle takes a value that is not there, before byte ${at}`)
    return value
  }
  const popToMark = (): Value[] => {
    const mark = marks.pop()
    if (mark === undefined) throw damaged(`the pickle closes a group that it did not open, before byte ${at}`)
    const items = stack.splice(mark + 1)
    stack.pop()
    return items
  }
  const remember = (index: number): Value => {
    const value = pop()
    if (index <= memo.length) memo[index] = value
    else elsewhere.set(index, value)
    return value
  }
  const recall = (index: number): Value => {
    const value = index < memo.length ? memo[index] : elsewhere.get(index)
    if (value === undefined) throw damaged(`the pickle refers to value ${index}, which it has not made`)
    return value
  }
  const fill = (items: readonly Value[], dict: Value): Value => {
    if (!(dict instanceof Map)) throw unexpected('a dict to fill', dict)
    if (items.length % 2 !== 0) throw damaged('a dict has a key without a value')
    for (let i = 0; i < items.length; i += 2) dict.set(dictKeyOf(items[i]!), items[i + 1]!)
    return dict
  }
  const call = (): Value => {
    budget.spend(LARGE)
    const given = pop()
    // members of enums are made of their value
    const args = typeof given === 'number' || typeof given === 'string' || given instanceof Float ? [given] : tupleOf(given)
    const callee = pop()
    if (!(callee instanceof PickleGlobal)) throw unexpected('a function or class to call', callee)
    return callee.invoke(args)
  }

  /** What each opcode does: the value that it pushes. One function each, since engines take long to optimize a large one. */
  const actions: Readonly<Record<number, (() => Value) | undefined>> = {
    [PickleOp.MARK]: () => {
      // the first part of the code of a function: only groups of the whole lie around it
      const top = stack.length - 1
      inCode = meaning.opcodes !== undefined && stack[top] === 'instructions' && isOutermost(marks, top - 1)
      marks.push(stack.length)
      return MARK
    },
    [PickleOp.NONE]: () => null,
    [PickleOp.NEWTRUE]: () => true,
    [PickleOp.NEWFALSE]: () => false,
    [PickleOp.BININT]: () => fields.getInt32(next(4), true),
    [PickleOp.BININT1]: uint8,
    [PickleOp.BININT2]: () => fields.getUint16(next(2), true),
    [PickleOp.LONG1]: () => {
      const length = uint8()
      if (length !== 8) throw damaged(`expected a long of 8 bytes, found ${length}`)
      return toInt(fields.getBigInt64(next(8), true))
    },
    [PickleOp.BINFLOAT]: () => new Float(fields.getFloat64(next(8))),
    [PickleOp.BINUNICODE]: () => text(uint32()),
    [PickleOp.EMPTY_TUPLE]: () => new Tuple([]),
    [PickleOp.TUPLE]: () => {
      inCode = false
      return new Tuple(popToMark())
    },
    [PickleOp.TUPLE1]: () => new Tuple([pop()]),
    [PickleOp.TUPLE2]: () => new Tuple([pop(), pop()].reverse()),
    [PickleOp.TUPLE3]: () => {
      const tuple = new Tuple([pop(), pop(), pop()].reverse())
      if (!inCode) return tuple
      stack.push(tuple)
      const run = readInstructions(bytes, at, memo, meaning.opcodes!, (room ??= new Int32Array((3 * bytes.length) / 7)))
      at = run.end
      budget.spend(run.code.length)
      return run
    },
    [PickleOp.EMPTY_LIST]: () => [],
    [PickleOp.LIST]: popToMark,
    [PickleOp.APPEND]: () => {
      const item = pop()
      const list = pop()
      if (!Array.isArray(list)) throw unexpected('a list to append to', list)
      list.push(item)
      return list
    },
    [PickleOp.APPENDS]: () => {
      const items = popToMark()
      const list = pop()
      if (!Array.isArray(list)) throw unexpected('a list to append to', list)
      for (const item of items) list.push(item)
      return list
    },
    [PickleOp.EMPTY_DICT]: () => {
      budget.spend(LARGE)
      return new Map()
    },
    [PickleOp.DICT]: () => fill(popToMark(), new Map()),
    [PickleOp.SETITEM]: () => {
      const value = pop()
      return fill([pop(), value], pop())
    },
    [PickleOp.SETITEMS]: () => fill(popToMark(), pop()),
    [PickleOp.BINPUT]: () => remember(uint8()),
    [PickleOp.LONG_BINPUT]: () => remember(uint32()),
    [PickleOp.BINGET]: () => recall(uint8()),
    [PickleOp.LONG_BINGET]: () => recall(uint32()),
    [PickleOp.GLOBAL]: () => {
      const name = `${line()}.${line()}`
      const found = meaning.lookUp(name)
      if (found === undefined) throw damaged(`the global '${name}' is not one that PyTorch writes into modules`)
      return found
    },
    [PickleOp.BINPERSID]: () => meaning.persistentLoad(tupleOf(pop())),
    [PickleOp.REDUCE]: call,
    [PickleOp.NEWOBJ]: call,
    [PickleOp.BUILD]: () => {
      const state = pop()
      const instance = pop()
      meaning.setState(instance, state)
      return instance
    },
  }

  /** Does what some opcodes say, whose objects are spent at once. False behind the last. In a function of its own, which engines optimize in little time. */
  const readSome = (): boolean => {
    for (let unmade = budget.take(AT_ONCE); unmade > 0; unmade--) {
      const opcode = uint8()
      if (opcode === PickleOp.STOP) {
        budget.spend(-unmade)
        return false
      }
      if (opcode === PickleOp.PROTO) {
        const version = uint8()
        if (version !== 2) throw damaged(`expected pickle protocol 2, found ${version}`)
        continue
      }
      const action = actions[opcode]
      if (action === undefined)
        throw damaged(`byte ${at - 1} is pickle opcode 0x${opcode.toString(16)}, which is not one that PyTorch writes`)
      stack.push(action())
    }
    return true
  }

  try {
    while (readSome());
  } catch (error) {
    // of the reads
    throw error instanceof RangeError ? damaged('the pickle ends in the middle') : error
  }
  const value = pop()
  if (stack.length > 0) throw damaged(`expected one value at the end of the pickle, found ${stack.length + 1}`)
  return value
}

/** Whether a group that begins at `place` is the only one, or the only one in that of the whole pickle. */
function isOutermost(marks: readonly number[], place: number): boolean {
  return marks.at(-1) === place && marks.length === (marks[0] === 0 ? 2 : 1)
}
