import type { FrameField } from './model.js'

/** Functions that expressions may call (see runtime/native/extents.ts), with what each argument is: a number, or the name of an array. */
const FUNCTIONS: Readonly<Record<string, readonly ('number' | 'array' | 'numbers')[]>> = {
  size: ['number'],
  arithmetic: ['number'],
  floating: ['number'],
  real: ['number'],
  index: ['number'],
  quantized: ['number'],
  item: ['number'],
  min: ['number', 'number'],
  max: ['number', 'number'],
  ceil: ['number'],
  product: ['array'],
  product_of: ['number', 'array'],
  span: ['numbers'],
  span_at: ['number', 'array', 'array'],
  both: ['number', 'number'],
  walk: ['number', 'array', 'array'],
  walk_from: ['number', 'array', 'array', 'number'],
  elements: ['number', 'number', 'array', 'array'],
  distinct: ['number', 'array', 'array'],
  window: ['number', 'number', 'number', 'number', 'number', 'number'],
  windows: ['array', 'array', 'array', 'array', 'array', 'array'],
  pads: ['number', 'number', 'array', 'array', 'array'],
  grouped: ['number', 'number', 'number', 'number', 'number'],
  parts: ['number', 'array', 'array', 'number'],
  operands: ['array', 'number', 'number'],
  pack: ['number', 'number', 'number', 'number', 'number'],
  quantized_pack: ['number', 'number'],
  packed_weight: ['number', 'number', 'number', 'number', 'number', 'number'],
}

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(<=|>=|==|!=|&&|\|\||[-+*/%()[\],?:<>]))/y

/**
 * Turns an expression over the fields of a frame into TypeScript over `f`, a FrameReader: numbers, fields, `field[index]`, arithmetic,
 * comparisons, `&&`, `||`, `c ? a : b`, and calls of FUNCTIONS. `each` is the position in an array of addresses. Throws Error saying
 * what is wrong.
 */
export function translate(text: string, fields: readonly FrameField[]): string {
  return new Translator(text, fields).whole()
}

class Translator {
  private readonly tokens: string[] = []
  private next = 0

  constructor(
    private readonly text: string,
    private readonly fields: readonly FrameField[],
  ) {
    TOKEN.lastIndex = 0
    while (TOKEN.lastIndex < text.trimEnd().length) {
      const start = TOKEN.lastIndex
      const match = TOKEN.exec(text)
      if (match === null) throw new Error(`'${text.slice(start).trim()}' cannot be read`)
      this.tokens.push(match[1] ?? match[2] ?? match[3]!)
    }
  }

  whole(): string {
    const code = this.choice()
    if (this.next < this.tokens.length) throw new Error(`'${this.tokens[this.next]}' was not expected in '${this.text}'`)
    return code
  }

  private choice(): string {
    const condition = this.operators(0)
    if (!this.take('?')) return condition
    const yes = this.choice()
    this.need(':')
    return `${condition} ? ${yes} : ${this.choice()}`
  }

  private operators(level: number): string {
    const known = LEVELS[level]
    if (known === undefined) return this.atom()
    let code = this.operators(level + 1)
    for (let operator = this.tokens[this.next]; operator !== undefined && known.includes(operator); operator = this.tokens[this.next]) {
      this.next++
      code += ` ${JAVASCRIPT[operator] ?? operator} ${this.operators(level + 1)}`
    }
    return code
  }

  private atom(): string {
    const token = this.tokens[this.next++] ?? ''
    if (/^\d/.test(token)) return token
    if (token === '(') {
      const inner = this.choice()
      this.need(')')
      return `(${inner})`
    }
    if (token === 'each') return 'each'
    if (!/^[A-Za-z_]/.test(token)) throw new Error(`a number or name was expected in '${this.text}', found '${token}'`)
    if (this.take('(')) return this.call(token)
    const field = this.field(token)
    if (this.take('[')) {
      const index = this.choice()
      this.need(']')
      if (field.length === null) throw new Error(`'${token}' is no array`)
      return `f.at('${token}', ${index})`
    }
    if (field.length !== null) throw new Error(`'${token}' is an array`)
    return field.kind === 'ptr' ? `f.isSet('${token}')` : `f.n('${token}')`
  }

  private call(name: string): string {
    const parameters = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
    if (parameters === undefined) throw new Error(`no function '${name}'; expected ${Object.keys(FUNCTIONS).join(', ')}`)
    const args = parameters.map((kind, i) => {
      if (i > 0) this.need(',')
      if (kind === 'numbers') return this.numbers()
      if (kind === 'number') return this.choice()
      const array = this.tokens[this.next++] ?? ''
      if (this.field(array).length === null) throw new Error(`'${array}' is no array`)
      return `'${array}'`
    })
    this.need(')')
    return `f.${name}(${args.join(', ')})`
  }

  private numbers(): string {
    const list = [this.choice()]
    while (this.take(',')) list.push(this.choice())
    return list.join(', ')
  }

  private field(name: string): FrameField {
    const field = this.fields.find((f) => f.name === name)
    if (field === undefined) throw new Error(`no field '${name}'`)
    return field
  }

  private take(token: string): boolean {
    if (this.tokens[this.next] !== token) return false
    this.next++
    return true
  }

  private need(token: string): void {
    if (!this.take(token)) throw new Error(`'${token}' was expected in '${this.text}'`)
  }
}

/** Operators from those that bind least to those that bind most. */
const LEVELS = [['||'], ['&&'], ['==', '!=', '<', '<=', '>', '>='], ['+', '-'], ['*', '/', '%']]
const JAVASCRIPT: Readonly<Record<string, string>> = { '==': '===', '!=': '!==' }
