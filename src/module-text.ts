import type { ArgumentInfo } from '../program/signature-info.js'
import { PtliteError } from '../runtime/error.js'
import { formatBytes } from './format-bytes.js'
import { Module } from './module.js'

/** Operators that are named; there may be hundreds. */
const NAMED = 8

/** What `console.log` and `String` say of a module: methods, inputs and outputs, operators, weights. */
function moduleText(module: Module): string {
  try {
    const { methods, inputs, outputs, operators, missing } = module
    const lines = [
      `methods: ${methods.join(', ')}`,
      ...(inputs === null ? [] : [`inputs: ${inputs.map(argumentText).join(', ')}`]),
      ...(outputs === null ? [] : [`outputs: ${outputs.map(argumentText).join(', ')}`]),
      `operators: ${operators.length}${operators.length === 0 ? '' : ` (${namesOf(operators)})`}`,
      ...(missing.length === 0 ? [] : [`missing: ${namesOf(missing.map(({ operator }) => operator))}`]),
      weightsText(module),
    ]
    return `Module {\n${lines.map((line) => `  ${line}\n`).join('')}}`
  } catch (error) {
    if (error instanceof PtliteError && error.code === 'DISPOSED') return 'Module (disposed)'
    throw error
  }
}

function argumentText({ name, type, dtype, shape, constant }: ArgumentInfo): string {
  if (constant !== undefined) return `${name} = ${String(constant)}`
  const sizes = shape === undefined ? '' : `[${shape.map(({ text }) => text).join(', ')}]`
  return `${name}: ${dtype === undefined && sizes === '' ? type : `${dtype ?? type}${sizes}`}`
}

function namesOf(names: readonly string[]): string {
  return names.length <= NAMED ? names.join(', ') : `${names.slice(0, NAMED).join(', ')}, ...`
}

function weightsText(module: Module): string {
  const tensors = [...module.parameters().values()]
  const bytes = tensors.reduce((sum, t) => sum + t.numel * t.itemSize, 0)
  return `weights: ${tensors.length} tensors, ${formatBytes(bytes)}`
}

for (const key of ['toString', Symbol.for('nodejs.util.inspect.custom')])
  Object.defineProperty(Module.prototype, key, {
    value(this: Module) {
      return moduleText(this)
    },
  })
