import { PtliteError } from '../../runtime/error.js'
import { dtypeFromName } from '../../runtime/tensor/dtype.js'
import { Complex, Float, toInt } from '../../runtime/tensor/scalar.js'
import { contiguousStrides } from '../../runtime/tensor/shape.js'
import type { Quant, Tensor } from '../../runtime/tensor/tensor.js'
import { type CustomObject, Device, type DictKey, Tuple, type Value } from '../../runtime/tensor/value.js'
import { findOperator } from '../../runtime/operators/table/registry.js'
import { type CompiledKind, compiledNode, isCompiledKind } from './compiled.js'
import { type Arg, type Graph, type GraphConstant, type GraphNode, type GraphValue, type Result, type ValueId, visitArg } from './graph.js'
import { operandsOf } from './node.js'

/** What the text of a graph names but does not hold. */
export interface ParseContext {
  /** The tensor of a constant. */
  readonly constant: (name: string) => Tensor | undefined
  readonly object?: (index: number, className: string) => CustomObject | undefined
}

/** Reads what `printGraph` writes. Throws INVALID_ARGUMENT naming the line. */
export function parseGraph(text: string, context: ParseContext): Graph {
  const values = new Map<ValueId, GraphValue>()
  const inputs: ValueId[] = []
  const constants: GraphConstant[] = []
  const objects: CustomObject[] = []
  const nodes: GraphNode[] = []
  let output: Arg | undefined
  text.split('\n').forEach((line, i) => {
    const p: LineParser = new LineParser(line, i + 1, values)
    if (p.atEnd) return
    if (p.accept('input ')) inputs.push(p.isDefinition ? p.definition() : p.reference())
    else if (p.accept('object #')) {
      const index = p.integer()
      p.expect(': ')
      const name = p.rest()
      const object = context.object?.(index, name)
      if (object === undefined || index !== objects.length) p.fail(`no object #${index} of class ${name}`)
      objects.push(object)
    } else if (p.accept('constant ')) {
      const id = p.definition()
      p.expect(' = ')
      const name = p.string()
      const tensor = context.constant(name)
      if (tensor === undefined) p.fail(`no tensor named ${JSON.stringify(name)}`)
      constants.push({ id, name, tensor, derived: p.accept(' derived') })
    } else if (p.accept('return ')) output = p.arg()
    else nodes.push(p.node())
    p.finish()
  })
  if (output === undefined) throw new PtliteError('INVALID_ARGUMENT', 'a graph ends with what it returns')
  return { values, inputs, constants, objects, nodes, output }
}

class LineParser {
  private at = 0
  private writes: ValueId[] = []

  constructor(
    private readonly line: string,
    private readonly number: number,
    private readonly values: Map<ValueId, GraphValue>,
  ) {}

  get atEnd(): boolean {
    return this.line.slice(this.at).trim() === ''
  }

  /** True before `%1: type`, false before a mere `%1`. */
  get isDefinition(): boolean {
    return /^%\d+:/.test(this.line.slice(this.at))
  }

  accept(text: string): boolean {
    if (!this.line.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  expect(text: string): void {
    if (!this.accept(text)) this.fail(`expected '${text}'`)
  }

  fail(message: string): never {
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `line ${this.number}, column ${this.at + 1} of a graph: ${message}; found '${this.line.slice(this.at, this.at + 40)}'`,
    )
  }

  finish(): void {
    if (!this.atEnd && !this.line.slice(this.at).trimStart().startsWith('#')) this.fail('expected the end of the line')
  }

  rest(): string {
    const text = this.line.slice(this.at)
    this.at = this.line.length
    return text
  }

  private match(pattern: RegExp, what: string): string {
    const found = new RegExp(pattern.source, 'y')
    found.lastIndex = this.at
    const m = found.exec(this.line)
    if (m === null) this.fail(`expected ${what}`)
    this.at = found.lastIndex
    return m[0]
  }

  integer(): number {
    return Number(this.match(/\d+/, 'a number'))
  }

  private real(): number {
    const text = this.match(/-?inf|nan|-?\d+(?:\.\d*)?(?:e[+-]?\d+)?/, 'a number')
    return text === 'inf' ? Infinity : text === '-inf' ? -Infinity : text === 'nan' ? NaN : Number(text)
  }

  string(): string {
    return JSON.parse(this.match(/"(?:[^"\\]|\\.)*"/, 'a string')) as string
  }

  private items<T>(close: string, item: () => T): T[] {
    const items: T[] = []
    while (!this.accept(close)) {
      if (items.length > 0 && !this.accept(', ')) {
        this.expect(',')
        this.expect(close)
        break
      }
      items.push(item())
    }
    return items
  }

  private numbers(): number[] {
    this.expect('[')
    return this.items(']', () => this.real())
  }

  reference(): ValueId {
    this.expect('%')
    const id = this.integer()
    if (!this.values.has(id)) this.fail(`%${id} is not defined before`)
    return id
  }

  definition(): ValueId {
    this.expect('%')
    const id = this.integer()
    if (this.values.has(id)) this.fail(`%${id} is defined twice`)
    this.expect(': ')
    const dtype = dtypeFromName(this.match(/[a-z0-9]+/, 'a dtype'))
    const shape = this.numbers()
    const strides = this.accept(' strides ') ? this.numbers() : contiguousStrides(shape)
    const offset = this.accept(' from ') ? this.integer() : 0
    const quant = this.accept(' quant ') ? this.quant() : null
    this.expect(' @')
    this.values.set(id, { id, type: { dtype, shape, strides, offset, quant }, storage: this.integer() })
    return id
  }

  private quant(): Quant {
    const floatZeroPoints = this.accept('float ')
    if (!this.accept('along ')) {
      const scale = this.real()
      this.expect(' ')
      return { scale, zeroPoint: this.real() }
    }
    const axis = this.integer()
    this.expect(' ')
    const scales = this.numbers()
    this.expect(' ')
    return { axis, scales, zeroPoints: this.numbers(), ...(floatZeroPoints ? { floatZeroPoints } : {}) }
  }

  node(): GraphNode {
    const results: Result[] = []
    if (/^[%_[]/.test(this.line.slice(this.at))) {
      do results.push(this.result())
      while (this.accept(', '))
      this.expect(' = ')
    }
    const name = this.match(/\w+::\w+(?:\.\w+)?|\w+/, 'an operator')
    const kind = isCompiledKind(name) ? name : null
    if (kind === null && findOperator(name) === undefined) this.fail(`no operator ${name}`)
    this.expect('(')
    this.writes = []
    const defined = new Set<ValueId>()
    for (const result of results) collect(result, defined)
    const node = kind === null ? this.operator(name, results) : this.compiled(kind, results)
    for (const arg of operandsOf(node)) visitArg(arg, (id) => defined.has(id) && this.fail(`%${id} is used before it is defined`))
    return node
  }

  private operator(op: string, results: readonly Result[]): GraphNode {
    const args = this.items(')', () => this.arg())
    return { kind: 'operator', op, args, results, writes: this.writes, origin: null }
  }

  private compiled(kind: CompiledKind, results: readonly Result[]): GraphNode {
    const args = this.items(')', () => {
      const name = this.match(/\w+/, 'the name of a field')
      this.expect('=')
      return [name, this.arg()] as const
    })
    try {
      return compiledNode(kind, new Map(args), { results, writes: this.writes, origin: null })
    } catch (error) {
      this.fail((error as Error).message)
    }
  }

  private result(): Result {
    if (this.accept('_')) return { kind: 'ignored' }
    if (this.accept('[')) return { kind: 'list', items: this.items(']', () => this.result()) }
    return { kind: 'value', id: this.definition() }
  }

  arg(): Arg {
    if (this.line[this.at] === '%') {
      const id = this.reference()
      if (this.accept('!')) this.writes.push(id)
      return { kind: 'value', id }
    }
    if (this.accept('#')) return { kind: 'object', index: this.integer() }
    if (this.accept('[')) return listOf(this.items(']', () => this.arg()))
    const fields = this.accept('tuple<') ? this.fields() : undefined
    if (this.accept('('))
      return tupleOf(
        this.items(')', () => this.arg()),
        fields,
      )
    if (this.accept('{')) {
      const entries = this.items('}', () => {
        const key = this.key()
        this.expect(': ')
        return [key, this.arg()] as const
      })
      return entries.every(([, item]) => item.kind === 'constant')
        ? { kind: 'constant', value: new Map(entries.map(([key, item]) => [key, plain(item)])) }
        : { kind: 'dict', entries }
    }
    return { kind: 'constant', value: this.plainValue() }
  }

  private fields(): string[] {
    return this.items('>', () => this.match(/\w+/, 'a field name'))
  }

  private key(): DictKey {
    const value = this.plainValue()
    if (value instanceof Float) return value.value
    if (value === null || typeof value === 'object') this.fail('expected a key')
    return value
  }

  private plainValue(): Value {
    if (this.accept('None')) return null
    if (this.accept('True')) return true
    if (this.accept('False')) return false
    if (this.accept('device ')) {
      const [type, index] = this.string().split(':') as [string, string | undefined]
      return new Device(type, index === undefined ? null : Number(index))
    }
    if (this.accept('complex ')) {
      const re = this.real()
      this.expect(' ')
      return new Complex(re, this.real())
    }
    if (this.line[this.at] === '"') return this.string()
    const start = this.at
    const value = this.real()
    const text = this.line.slice(start, this.at)
    return /^-?\d+$/.test(text) ? toInt(BigInt(text)) : new Float(value)
  }
}

function collect(result: Result, into: Set<ValueId>): void {
  if (result.kind === 'value') into.add(result.id)
  else if (result.kind === 'list') for (const item of result.items) collect(item, into)
}

function plain(arg: Arg): Value {
  return arg.kind === 'constant' ? arg.value : null
}

function listOf(items: readonly Arg[]): Arg {
  return items.every((item) => item.kind === 'constant') ? { kind: 'constant', value: items.map(plain) } : { kind: 'list', items }
}

function tupleOf(items: readonly Arg[], fields: readonly string[] | undefined): Arg {
  return items.every((item) => item.kind === 'constant')
    ? { kind: 'constant', value: new Tuple(items.map(plain), fields) }
    : { kind: 'tuple', items, fields }
}
