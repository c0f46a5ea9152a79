import { PtliteError } from '../runtime/error.js'
import { growBy } from '../runtime/tensor/element-budget.js'
import { type Stack, Tuple, type Value } from '../runtime/tensor/value.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import { insertDefaults } from './insert-defaults.js'
import * as step from './instructions.js'
import { LEFT } from './run-state.js'
import { drop } from './lifetime.js'
import { Opcode } from '../program/generated/opcodes.js'
import { ArgumentUse, type LinkedFunction, type LinkedOperator } from '../program/linked.js'
import { messageText, raise } from '../program/raise.js'
import { cannotRun } from '../program/unknown-instruction.js'
import type { Run } from './run-state.js'
import { collect, isCrowded, pinArguments, pinStored, retainResult } from './container-lifetimes.js'
import { profilerOf, recorderOf, TRAP, trapHandler } from './watchers.js'
import * as features from '../runtime/features.js'

/** Calls of functions inside functions; deeper recursion is an error of the model. Each takes room on the stack of JavaScript. */
const MAX_DEPTH = 1000

/**
 * Runs `fn` on the arguments that lie on the stack, `self` first, and leaves its result there. The code has
 * passed the verifier: operands and stack depths are in range. A function that was left before goes on at `pc` with its `registers`.
 */
export function execute(
  fn: LinkedFunction,
  stack: Stack,
  run: Run,
  registers = new Array<Value>(fn.source.registerSize + 1).fill(null),
  pc = 0,
): void {
  if (run.frames.length >= MAX_DEPTH) throw new PtliteError('MODEL_ERROR', `functions call each other more than ${MAX_DEPTH} deep`)
  const { code, constants, registerSize } = fn.source
  const { operators } = fn
  const values = stack.values
  run.frames.push(registers)
  // the words from here to `pc` are those that were carried out and are not counted yet, however it got there
  let from = pc
  try {
    for (;;) {
      const x = code[pc + 1]!
      switch (code[pc]) {
        case Opcode.OP:
          runOperator(operators[x]!, operators[x]!.given, stack, run, code[pc + 2]!, fn, pc)
          pc += 3
          continue
        case Opcode.OPN:
          runOperator(operators[x]!, code[pc + 2]!, stack, run, 1, fn, pc)
          pc += 3
          continue
        case Opcode.LOAD: {
          const v = registers[x]!
          if (v instanceof Tensor) v.uses++
          values[stack.top++] = v
          pc += 3
          continue
        }
        case Opcode.MOVE:
          values[stack.top++] = registers[x]!
          registers[x] = null
          pc += 3
          continue
        case Opcode.STOREN: {
          const n = code[pc + 2]!
          stack.top -= n
          for (let i = 0; i < n; i++) store(registers, x + i, values[stack.top + i]!, run)
          pc += 3
          continue
        }
        case Opcode.STORE:
          store(registers, x, values[--stack.top]!, run)
          pc += 3
          continue
        case Opcode.DROP:
          drop(values[--stack.top]!, run.lifetimes)
          pc += 3
          continue
        case Opcode.DROPR:
          drop(registers[x]!, run.lifetimes)
          registers[x] = null
          pc += 3
          continue
        case Opcode.LOADC:
          values[stack.top++] = constants[x]!
          pc += 3
          continue
        case Opcode.JF:
          if (step.toBool(values[--stack.top]!)) pc += 3
          else {
            pc += 3 * x
            if (x > 0) from += 3 * x - 3
            else {
              spend(run, pc - from - 3 * x + 3)
              from = pc
            }
          }
          continue
        case Opcode.JMP:
          pc += 3 * x
          if (x > 0) from += 3 * x - 3
          else {
            spend(run, pc - from - 3 * x + 3)
            from = pc
          }
          continue
        case Opcode.LOOP: {
          const n = code[pc + 2]!
          recorderOf(run)?.settles(stack, n + 1)
          if (step.nextIteration(stack, n)) {
            pc += 3
            spend(run, pc - from)
            from = pc
          } else {
            pc += 3 * x
            from += 3 * x - 3
          }
          continue
        }
        case Opcode.RET:
          use(run, pc + 3 - from)
          from = pc
          for (let i = 1; i <= registerSize; i++) {
            const v = registers[i]!
            if (typeof v === 'object' && v !== null) drop(v, run.lifetimes)
          }
          run.frames.pop()
          return
        case Opcode.CALL:
          use(run, pc + 3 - from)
          from = pc + 3
          call(run.program.functions[x]!, stack, run, fn, pc)
          pc += 3
          continue
        case Opcode.__IS__:
        case Opcode.__ISNOT__: {
          recorderOf(run)?.settles(stack, 2)
          const b = values[--stack.top]!
          const a = values[stack.top - 1]!
          recorderOf(run)?.compares(a, b, fn, pc)
          values[stack.top - 1] = step.isSame(a, b) === (code[pc] === Opcode.__IS__)
          drop(a, run.lifetimes)
          drop(b, run.lifetimes)
          pc += 3
          continue
        }
        case Opcode.DEVICE:
        case Opcode.DTYPE:
        case Opcode.DIM:
        case Opcode.IS_CUDA: {
          const v = values[stack.top - 1]!
          values[stack.top - 1] = step.describeTensor(code[pc]!, v)
          drop(v, run.lifetimes)
          pc += 3
          continue
        }
        case Opcode.__NOT__:
          values[stack.top - 1] = !step.toBool(values[stack.top - 1]!)
          pc += 3
          continue
        case Opcode.RAISE_EXCEPTION:
          raise(values[stack.top - 2]!, values[stack.top - 1]!)
        case Opcode.TO_LIST:
        case Opcode.NUM_TO_TENSOR: {
          const op = fn.promoted.get(code[pc]!)!
          runOperator(op, op.given, stack, run, 1, fn, pc)
          pc += 3
          continue
        }
        default:
          if (features.compiler && trapHandler !== null && code[pc] === TRAP) {
            trapHandler(code, pc)
            continue
          }
          if (!features.structures) throw cannotRun(code[pc]!)
          // what makes containers and objects, or takes something out of them
          switch (code[pc]) {
            case Opcode.INTERFACE_CALL:
              use(run, pc + 3 - from)
              from = pc + 3
              call(step.findInterfaceMethod(run.program, stack, constants[x]!, code[pc + 2]!), stack, run, fn, pc)
              pc += 3
              continue
            case Opcode.GET_ATTR: {
              const object = step.toObject(values[stack.top - 1]!)
              if (x >= object.slots.length) step.noSlot(object, x)
              recorderOf(run)?.attributeRead(object, x)
              values[stack.top - 1] = object.slots[x]!
              pc += 3
              continue
            }
            case Opcode.SET_ATTR: {
              const value = values[--stack.top]!
              const object = step.toObject(values[--stack.top]!)
              run.lifetimes.pin(value)
              recorderOf(run)?.attributeWritten(object, x, fn, pc)
              step.setAttribute(run.program, object, x, value)
              pc += 3
              continue
            }
            case Opcode.LIST_UNPACK:
              step.unpackList(stack, x)
              pc += 3
              continue
            case Opcode.TUPLE_CONSTRUCT:
              step.construct(stack, x, (items) => new Tuple(items))
              pc += 3
              continue
            case Opcode.NAMED_TUPLE_CONSTRUCT: {
              const { fields } = fn.types[x]!
              step.construct(stack, code[pc + 2]!, (items) => new Tuple(items, fields))
              pc += 3
              continue
            }
            case Opcode.LIST_CONSTRUCT:
              step.constructList(stack, fn.types[x]!, code[pc + 2]!)
              pc += 3
              continue
            case Opcode.DICT_CONSTRUCT: {
              recorderOf(run)?.settles(stack, code[pc + 2]!)
              const dict = step.constructDict(stack, code[pc + 2]!)
              run.lifetimes.pin(dict)
              pc += 3
              continue
            }
            case Opcode.CREATE_OBJECT:
              growBy(0)
              values[stack.top++] = run.program.createObject(fn.source.types[x]!)
              recorderOf(run)?.objectCreated(values[stack.top - 1]!)
              pc += 3
              continue
            case Opcode.ISINSTANCE: {
              recorderOf(run)?.settles(stack, 1)
              const v = values[stack.top - 1]!
              const is = step.isInstance(v, fn.types, x, code[pc + 2]!)
              drop(v, run.lifetimes)
              values[stack.top - 1] = is
              pc += 3
              continue
            }
            case Opcode.TUPLE_SLICE:
              step.sliceTuple(stack, x, code[pc + 2]!, run.lifetimes)
              pc += 3
              continue
            case Opcode.TUPLE_INDEX:
              recorderOf(run)?.settles(stack, 1)
              step.indexTuple(stack, run.lifetimes)
              pc += 3
              continue
            case Opcode.DICT_INDEX:
              recorderOf(run)?.settles(stack, 1)
              step.indexDict(stack)
              pc += 3
              continue
            case Opcode.UNCHECKED_CAST:
              pc += 3
              continue
            case Opcode.UN_INITIALIZED:
              values[stack.top++] = null
              pc += 3
              continue
            case Opcode.FORMAT:
              runOperator(fn.promoted.get(code[pc]!)!, x, stack, run, 1, fn, pc)
              pc += 3
              continue
            case Opcode.WARN: {
              drop(values[--stack.top]!, run.lifetimes)
              run.program.warn(messageText(values[--stack.top]!))
              recorderOf(run)?.refuse('warns', fn, pc)
              pc += 3
              continue
            }
            default:
              throw cannotRun(code[pc]!)
          }
      }
    }
  } catch (error) {
    run.budget.fuel -= pc + 3 - from
    run.trace.push({ fn, pc: pc / 3 })
    throw error
  }
}

/** Calls a function from the instruction at `pc` of `caller`. */
function call(fn: LinkedFunction, stack: Stack, run: Run, caller: LinkedFunction, pc: number): void {
  recorderOf(run)?.called(caller, pc)
  execute(fn, stack, run)
  recorderOf(run)?.returned()
}

function store(registers: Value[], index: number, value: Value, run: Run): void {
  const old = registers[index]!
  registers[index] = value
  // what objects hold is pinned: by their file, and by SET_ATTR
  pinStored(value, run)
  if (typeof old === 'object' && old !== null) drop(old, run.lifetimes)
}

/** Counts an iteration and what it carried out. */
function spend(run: Run, words: number): void {
  if (--run.iterations < 0) throw new PtliteError('LIMIT_EXCEEDED', 'the call took more loop iterations than maxIterations allows')
  use(run, words)
}

/** Counts instructions, by their words. */
function use(run: Run, words: number): void {
  const { budget } = run
  if ((budget.fuel -= words) < 0) budget.refuel()
}

/** Calls one operator, which has to leave `results` values if its schema does not say how many: fills defaults, counts results in, arguments out, and releases temporaries. */
function runOperator(op: LinkedOperator, given: number, stack: Stack, run: Run, results: number, fn: LinkedFunction, pc: number): void {
  const { values } = stack
  const recorder = recorderOf(run)
  if (recorder !== null && recorder.leavesBefore(op, fn, pc)) throw LEFT
  if (run.budget.clocked) run.budget.check()
  if (op.defaults !== null) insertDefaults(op, stack)
  const argc = op.defaults === null ? given : given + op.defaults.length
  const base = stack.top - argc
  const held = run.held
  for (let i = 0; i < argc; i++) held[i] = values[base + i]!
  if (op.vararg) values[stack.top++] = argc
  const profiler = profilerOf(run)
  const started = profiler === null ? 0 : profiler.now()
  if (recorder === null) op.call(stack)
  else recorder.operator({ op, args: held, argc, stack, base, fn, pc, run })
  if (profiler !== null) profiler.record(op.qualifiedName, started, { function: fn.source.name, instruction: pc / 3 })
  if (op.returns < 0 && stack.top - base !== results) step.wrongResults(op.qualifiedName, stack.top - base, results)
  if (op.use !== ArgumentUse.move) {
    if (op.use === ArgumentUse.keep) pinArguments(argc, run)
    for (let i = base; i < stack.top; i++) {
      const v = values[i]!
      if (v instanceof Tensor) v.uses++
      else retainResult(v, argc, run)
    }
    for (let i = 0; i < argc; i++) {
      const v = held[i]!
      if (typeof v === 'object' && v !== null) {
        drop(v, run.lifetimes)
        held[i] = null
      }
    }
  }
  const { created } = run.scope
  while (created.length > 0) {
    const t = created.pop()!
    if (t.uses === 0 && !t.pinned) t.release()
  }
  if (isCrowded(run)) collect(stack, run)
}
