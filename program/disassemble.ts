import type { Value } from '../runtime/tensor/value.js'
import { Complex, Float } from '../runtime/tensor/scalar.js'
import { Tensor } from '../runtime/tensor/tensor.js'
import type { FunctionCode } from './code.js'
import { OPCODES, type Operand } from './opcodes.js'
import { kindOf } from '../runtime/tensor/kind-of.js'

/** The code of a function as text: one instruction a line, with what its operands stand for. */
export function disassemble(fn: FunctionCode): string {
  const count = fn.code.length / 3
  const width = String(Math.max(count - 1, 0)).length
  const lines = [`${fn.name}  (${fn.registerSize} registers)`]
  for (let pc = 0; pc < count; pc++) {
    const [op, x, n] = [fn.code[3 * pc]!, fn.code[3 * pc + 1]!, fn.code[3 * pc + 2]!]
    const row = OPCODES[op]
    const name = row?.name ?? `opcode ${op}`
    const operands = [row?.x === 'none' ? '' : String(x), row?.n === 'none' ? '' : String(n)].filter((s) => s !== '').join(' ')
    const note = row === undefined ? '' : explain(fn, row.x, pc, x, n)
    lines.push(`  ${String(pc).padStart(width)}  ${name.padEnd(22)} ${operands.padEnd(8)} ${note}`.trimEnd())
  }
  return lines.join('\n')
}

function explain(fn: FunctionCode, operand: Operand, pc: number, x: number, n: number): string {
  switch (operand) {
    case 'operator': {
      const op = fn.operators[x]
      return op === undefined ? '' : op.overload === '' ? op.name : `${op.name}.${op.overload}`
    }
    case 'constant':
    case 'method':
      return constantText(fn.constants[x] ?? null)
    case 'jump':
      return `-> ${pc + x}`
    case 'type':
    case 'types':
      return fn.types.slice(x, operand === 'types' ? x + n : x + 1).join(', ')
    default:
      return ''
  }
}

/** Lists in lists that are shown. */
const SHOWN_LEVELS = 4

/** A constant in a few characters. */
export function constantText(value: Value, levels = SHOWN_LEVELS): string {
  if (value === null) return 'None'
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
  if (value instanceof Float) return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value)
  if (value instanceof Complex) return String(value)
  if (value instanceof Tensor) return `${value.dtype}[${value.shape.join(', ')}]`
  if (Array.isArray(value)) {
    if (levels === 0) return '[…]'
    const shown = value
      .slice(0, 8)
      .map((item) => constantText(item, levels - 1))
      .join(', ')
    return `[${shown}${value.length > 8 ? ', …' : ''}]`
  }
  return typeof value === 'object' ? kindOf(value) : String(value)
}
