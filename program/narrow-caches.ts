import { DType } from '../runtime/tensor/dtype.js'
import { Float } from '../runtime/tensor/scalar.js'
import type { Value } from '../runtime/tensor/value.js'
import type { CacheUse } from './cache-calls.js'
import { CodeEditor, instruction } from './code-editor.js'
import type { FunctionCode, OperatorName } from './code.js'

/** The largest number of a row becomes this. */
export const LARGEST = 127
/** Of a row, at least: what is smaller has no float32 reciprocal. */
export const LEAST_SCALE = 1e-30

/** How a cache is kept: the dtype, and that of what its rows are as others read and write them. */
export interface NarrowForm {
  readonly kept: DType
  readonly outside: DType
}

const OPERATORS = {
  abs: { name: 'aten::abs', overload: '', argCount: 1 },
  amax: { name: 'aten::amax', overload: '', argCount: 3 },
  clamp: { name: 'aten::clamp_min', overload: '', argCount: 2 },
  divide: { name: 'aten::div', overload: 'Tensor', argCount: 2 },
  multiply: { name: 'aten::mul', overload: 'Tensor', argCount: 2 },
  byNumber: { name: 'aten::div', overload: 'Scalar', argCount: 2 },
  round: { name: 'aten::round', overload: '', argCount: 1 },
  to: { name: 'aten::to', overload: 'dtype', argCount: 5 },
} as const satisfies Readonly<Record<string, OperatorName>>

/**
 * A function whose caches hold numbers of fewer bits. Those of 8 bits are integers, and the slot beside a cache has what its rows are multiplied with:
 *
 *     index_copy_(cache, 2, at, x)    →    scale = max(abs(x), -1) / 127
 *                                          index_copy_(cache, 2, at, round(x / scale)), index_copy_(scales, 2, at, scale)
 *     attention(q, cache)             →    attention(q, cache * scales)
 */
export function withNarrowCaches(source: FunctionCode, uses: ReadonlyMap<number, CacheUse>, form: NarrowForm): FunctionCode {
  return new Narrowing(source, uses, form).code()
}

class Narrowing {
  private readonly editor: CodeEditor
  /** Registers of an instruction's arguments, and behind them of a row and its scale. */
  private readonly first: number
  private readonly row: number
  /** Registers of scales of caches. */
  private readonly held: number
  private readonly rows: Value = [-1]
  private readonly largest = new Float(LARGEST)
  private readonly least = new Float(LEAST_SCALE)

  constructor(
    private readonly source: FunctionCode,
    private readonly uses: ReadonlyMap<number, CacheUse>,
    private readonly form: NarrowForm,
  ) {
    this.editor = new CodeEditor(source)
    this.first = source.registerSize + 1
    this.row = this.first + Math.max(0, ...[...uses.values()].map((use) => (use.kind === 'load' ? 0 : use.given)))
    this.held = this.row + 2
  }

  code(): FunctionCode {
    const { editor, uses, held, source } = this
    let most = 0
    for (const [pc, use] of uses) {
      editor.replace(pc, this.part(use, editor.at(pc)))
      if (use.kind === 'load') most = Math.max(most, use.register + 1)
      if (use.kind === 'write' && use.made !== null) most = Math.max(most, use.made + 1)
    }
    return editor.finish(held + most - source.registerSize)
  }

  private part(use: CacheUse, original: number[]): number[] {
    const isInteger = this.form.kept === DType.int8
    switch (use.kind) {
      case 'load':
        return isInteger ? this.load(use.beside, use.register, original) : original
      case 'read':
        return [...this.stored(use.given), ...this.arguments(use.given, (i) => this.read(i, use.places.get(i))), ...original]
      case 'write':
        return isInteger ? this.write(use, original) : this.narrowed(use, original)
      case 'copy':
      case 'clear':
        return isInteger ? this.twice(use, original) : original
    }
  }

  private load(beside: number, register: number, original: number[]): number[] {
    const held = this.held + register
    return [
      ...[...instruction('STORE', held), ...instruction('LOAD', held), ...original],
      ...[...instruction('MOVE', held), ...instruction('GET_ATTR', beside), ...instruction('STORE', held)],
    ]
  }

  private stored(given: number): number[] {
    return instruction('STOREN', this.first, given)
  }

  /** Pushes arguments, from their registers but for those that are made otherwise. */
  private arguments(given: number, made: (place: number) => number[] | undefined, how = 'MOVE'): number[] {
    return Array.from({ length: given }, (_, i) => made(i) ?? instruction(how, this.first + i)).flat()
  }

  private read(place: number, register: number | undefined): number[] | undefined {
    if (register === undefined) return undefined
    const { editor, form } = this
    const numbers = instruction('MOVE', this.first + place)
    if (form.kept !== DType.int8) return [...numbers, ...this.to(form.outside)]
    const rows = [...numbers, ...instruction('LOAD', this.held + register), ...editor.call(OPERATORS.multiply)]
    return form.outside === DType.float32 ? rows : [...rows, ...this.to(form.outside)]
  }

  private narrowed({ given, source }: Extract<CacheUse, { kind: 'write' }>, original: number[]): number[] {
    const rows = [...instruction('MOVE', this.first + source), ...this.to(this.form.kept)]
    return [...this.stored(given), ...this.arguments(given, (i) => (i === source ? rows : undefined)), ...original]
  }

  private write({ given, register, source, made }: Extract<CacheUse, { kind: 'write' }>, original: number[]): number[] {
    const { editor, form, row } = this
    const call = (name: keyof typeof OPERATORS): number[] => editor.call(OPERATORS[name])
    const scale = row + 1
    const [held, kept] = [this.held + register, made === null ? instruction('DROP', 0) : instruction('STORE', this.held + made)]
    return [
      ...this.stored(given),
      ...instruction('MOVE', this.first + source),
      ...(form.outside === DType.float32 ? [] : this.to(DType.float32)),
      ...[...instruction('STORE', row), ...instruction('LOAD', row), ...call('abs')],
      ...[...editor.constant(this.rows), ...editor.constant(true), ...call('amax')],
      ...[...editor.constant(this.largest), ...call('byNumber'), ...editor.constant(this.least), ...call('clamp')],
      ...instruction('STORE', scale),
      ...[...instruction('MOVE', row), ...instruction('LOAD', scale), ...call('divide'), ...call('round'), ...this.to(DType.int8)],
      ...instruction('STORE', row),
      ...this.arguments(given, (i) => (i === source ? instruction('MOVE', row) : undefined), 'LOAD'),
      ...original,
      ...this.arguments(given, (i) => (i === 0 ? instruction('LOAD', held) : i === source ? instruction('MOVE', scale) : undefined)),
      // of other sizes than what a file says of the cache
      ...[...editor.unbounded(original), ...kept],
    ]
  }

  /** The same for scales. */
  private twice(use: Extract<CacheUse, { kind: 'copy' | 'clear' }>, original: number[]): number[] {
    const { given, register } = use
    const scales = (i: number): number[] | undefined => {
      if (i === 0) return instruction('LOAD', this.held + register)
      return i === 1 && use.kind === 'copy' ? instruction('LOAD', this.held + use.from) : undefined
    }
    return [
      ...this.stored(given),
      ...this.arguments(given, () => undefined, 'LOAD'),
      ...original,
      ...this.arguments(given, scales),
      ...[...this.editor.unbounded(original), ...instruction('DROP', 0)],
    ]
  }

  private to(type: DType): number[] {
    const { editor } = this
    return [...[type, false, false, null].flatMap((value) => editor.constant(value)), ...editor.call(OPERATORS.to)]
  }
}
