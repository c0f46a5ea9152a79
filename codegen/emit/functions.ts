import { type Lanes, type Op, type Operand, OPS, type Program, type Step } from '../functions/program.js'
import type { GeneratedFiles } from '../generate.js'
import { banner, floatLiteral } from './file.js'

const INPUT = 'codegen/functions.yaml'

/** The functions of codegen/functions.yaml: inline C++, and tables of steps for what generates code. */
export function emitFunctions(programs: readonly Program[]): GeneratedFiles {
  const generated = programs.filter(({ only }) => only !== 'vectors')
  const head = banner('functions.ts', INPUT)
  return new Map([
    ['kernels/vec/generated/functions.h', `${head}${programs.map(inlineText).join('\n')}`],
    ['kernels/vec/generated/function_steps.h', head + new Tables(generated).headerText()],
    ['runtime/native/generated/functions.ts', `${head}\n${new Tables(generated.filter(({ only }) => only === '')).typeScriptText()}`],
  ])
}

const TYPES: Readonly<Record<Lanes, string>> = { float: 'V', int: 'Vec<int32_t>', mask: 'typename V::Mask' }

/** What C++ calls operations that are functions of their operands. */
const CALLS: Readonly<Partial<Record<Op, string>>> = {
  fma: 'detail::multiply_add',
  square_rest: 'detail::square_rest',
  round: 'rint',
  scale: 'detail::scale_by_power',
  to_float: 'convert<float>',
  bits: 'bit_cast<int32_t>',
  from_bits: 'bit_cast<float>',
  rounded: 'detail::rounded',
}
const INFIX: Readonly<Partial<Record<Op, string>>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  less: '<',
  greater: '>',
  equal: '==',
  int_sub: '-',
}

function inlineText(program: Program): string {
  const { name, doc, parameters, steps, isGeneric } = program
  const lines = steps.map(({ op, operands, lanes, series, shift }, i) => {
    const type = op === 'int_sub' ? 'Vec<int32_t>' : 'V'
    const scalar = isGeneric ? 'typename V::Scalar' : op === 'int_sub' ? 'int32_t' : 'float'
    const [a = '', b = '', c = ''] = operands.map((operand) => inlineOperand(operand, type, scalar))
    const text = ((): string => {
      switch (op) {
        case 'neg':
          return `-${a}`
        case 'fms':
          return `detail::multiply_add(${a}, ${b}, -${c})`
        case 'fnma':
          return `detail::multiply_add(-${a}, ${b}, ${c})`
        case 'minus_product':
          return `${a} - ${b} * ${c}`
        case 'series':
          // written out: compilers keep loops over more than a few coefficients
          return series
            .map((coefficient) => inlineOperand({ kind: 'number', value: coefficient }, type, scalar))
            .reduceRight((sum, coefficient) => `detail::multiply_add(${sum}, ${a}, ${coefficient})`)
        case 'shift_left':
          return `${a} << ${shift}`
        case 'shift_right':
          return `${a} >> ${shift}`
      }
      const sign = INFIX[op]
      return sign === undefined ? `${CALLS[op] ?? op}(${[a, b, c].slice(0, operands.length).join(', ')})` : `${a} ${sign} ${b}`
    })()
    return i === steps.length - 1 ? `  return ${text};\n` : `  const ${TYPES[lanes]} v${i + 1} = ${text};\n`
  })
  const comment = doc
    .trim()
    .split('\n')
    .map((line) => `// ${line}\n`)
    .join('')
  const head = isGeneric ? `template <class V>\nPTLITE_INLINE V` : `PTLITE_INLINE F32`
  const body = lines.join('').replaceAll(/(?:typename )?\bV\b/g, (word) => (isGeneric ? word : word.replace(/(?:typename )?V/, 'F32')))
  return `${comment}${head} ${name}(${isGeneric ? 'V' : 'F32'} x${parameters.map((p) => `, float ${p}`).join('')}) {\n${body}}\n`
}

function inlineOperand(operand: Operand, type: string, scalar: string): string {
  if (operand.kind === 'value') return operand.index === 0 ? 'x' : `v${operand.index}`
  if (operand.kind === 'parameter') return `${type}(${operand.name})`
  if (scalar === 'int32_t') return `${type}(${operand.value})`
  return scalar === 'float' ? `${type}(${floatLiteral(operand.value)})` : `${type}(${scalar}(${operand.value}))`
}

/** Numbers in front of those of the table: of a step of a graph. */
const PARAMETERS = ['alpha', 'beta']
/** What changes no bit. */
const NOTHING: readonly Op[] = ['rounded', 'bits', 'from_bits']

/**
 * Steps as four numbers: the operation and three operands. An operand from 0 on is a value: x, then each step's. Below, -1 is alpha, -2 beta, and
 * -3 - i number i, whose bits count. A series has its place among the coefficients and their count behind its operand, and a shift has its distance there.
 */
class Tables {
  private readonly numbers: number[] = []
  private readonly series: number[] = []
  private readonly functions: { readonly name: string; readonly steps: readonly (readonly number[])[] }[]

  constructor(programs: readonly Program[]) {
    this.functions = programs.map(({ name, steps }) => ({ name, steps: this.stepsOf(steps) }))
  }

  headerText(): string {
    const ops = OPS.filter((op) => !NOTHING.includes(op)).map((op) => `  ${op},\n`)
    const functions = this.functions.map(({ name, steps }) => {
      const rows = steps.map(([op, ...operands]) => `    {Op::${OPS[op!]!}, ${operands.join(', ')}},\n`)
      return `constexpr Step ${name}_steps[] = {\n${rows.join('')}};\nconstexpr Function ${name} = {${name}_steps, ${steps.length}};\n`
    })
    return (
      `#pragma once\n\n#include <stdint.h>\n\nnamespace ptlite {\nnamespace steps {\n\nenum class Op : uint8_t {\n${ops.join('')}};\n\n` +
      `struct Step {\n  Op op;\n  int16_t a, b, c;\n};\n\nstruct Function {\n  const Step* steps;\n  int count;\n};\n\n` +
      `constexpr float numbers[] = {${this.numbers.map(floatLiteral).join(', ')}};\nconstexpr float series[] = {${this.series.map(floatLiteral).join(', ')}};\n\n` +
      `${functions.join('')}\n}  // namespace steps\n}  // namespace ptlite\n`
    )
  }

  typeScriptText(): string {
    const ops = OPS.filter((op) => !NOTHING.includes(op)).map((op) => `'${op}'`)
    const functions = this.functions.map(({ name, steps }) => `  ${name}: [${steps.map((step) => step.join(', ')).join(', ')}],\n`)
    return (
      `export const OPS = [${ops.join(', ')}] as const\n` +
      `export const NUMBERS: readonly number[] = [${this.numbers.map(shortest).join(', ')}]\n` +
      `export const SERIES: readonly number[] = [${this.series.map(shortest).join(', ')}]\n` +
      `export const FUNCTIONS = {\n${functions.join('')}} satisfies Record<string, readonly number[]>\n`
    )
  }

  private stepsOf(steps: readonly Step[]): number[][] {
    const places = [0]
    const rows: number[][] = []
    for (const { op, operands, series, shift } of steps) {
      const [a = 0, b = 0, c = 0] = operands.map((operand) => this.place(operand, places, op === 'int_sub'))
      if (NOTHING.includes(op)) {
        places.push(a)
        continue
      }
      const number = OPS.indexOf(op)
      if (series.length > 0) rows.push([number, a, this.seriesAt(series), series.length])
      else rows.push([number, a, op.startsWith('shift') ? shift : b, c])
      places.push(rows.length)
    }
    return rows
  }

  private place(operand: Operand, places: readonly number[], isInt: boolean): number {
    if (operand.kind === 'value') return places[operand.index]!
    if (operand.kind === 'parameter') return -1 - PARAMETERS.indexOf(operand.name)
    const number = isInt ? new Float32Array(Int32Array.of(operand.value).buffer)[0]! : Math.fround(operand.value)
    const known = this.numbers.findIndex((other) => Object.is(other, number))
    return -1 - PARAMETERS.length - (known < 0 ? this.numbers.push(number) - 1 : known)
  }

  private seriesAt(coefficients: readonly number[]): number {
    for (let at = 0; at + coefficients.length <= this.series.length; at++) {
      if (coefficients.every((c, i) => this.series[at + i] === c)) return at
    }
    return this.series.push(...coefficients) - coefficients.length
  }
}

/** The shortest text of a number that gives the same float32. */
function shortest(x: number): string {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find((count) => Math.fround(Number(x.toPrecision(count))) === x)
  return String(Number(x.toPrecision(digits ?? 9)))
}
