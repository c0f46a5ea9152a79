/** A type of C that a function here may take or give: what koffi calls it, the dtype of tensors of such elements, and how numbers are checked. */
export interface CType {
  readonly koffi: string
  readonly dtype: string | null
  readonly kind: 'integer' | 'floating' | 'bool' | 'text'
  /** Of integers. */
  readonly bits: number
  readonly isSigned: boolean
}

export interface CParameter {
  readonly name: string
  readonly type: CType
  readonly isPointer: boolean
  readonly isConst: boolean
}

/** `int row_means(const float* x, int64_t rows, float* out)`; `result` is null for void. */
export interface Prototype {
  readonly text: string
  readonly name: string
  readonly result: CType | null
  readonly parameters: readonly CParameter[]
}

const integer = (bits: number, isSigned: boolean, dtype = `${isSigned ? '' : 'u'}int${bits}`): CType => ({
  koffi: `${isSigned ? '' : 'u'}int${bits}_t`,
  dtype,
  kind: 'integer',
  bits,
  isSigned,
})
const floating = (koffi: string, dtype: string): CType => ({ koffi, dtype, kind: 'floating', bits: 0, isSigned: true })
const BOOL: CType = { koffi: 'bool', dtype: 'bool', kind: 'bool', bits: 0, isSigned: false }
const TEXT: CType = { koffi: 'str', dtype: null, kind: 'text', bits: 0, isSigned: false }

/** `long` is not among them: it has 32 bits on Windows and 64 elsewhere. */
const TYPES: Readonly<Record<string, CType>> = {
  float: floating('float', 'float32'),
  double: floating('double', 'float64'),
  bool: BOOL,
  _Bool: BOOL,
  'signed char': integer(8, true),
  'unsigned char': integer(8, false),
  short: integer(16, true),
  'unsigned short': integer(16, false),
  int: integer(32, true),
  unsigned: integer(32, false),
  'unsigned int': integer(32, false),
  'long long': integer(64, true),
  'unsigned long long': integer(64, false),
  size_t: integer(64, false),
  ssize_t: integer(64, true),
  ptrdiff_t: integer(64, true),
  ...Object.fromEntries(
    [8, 16, 32, 64].flatMap((bits) => [
      [`int${bits}_t`, integer(bits, true)],
      [`uint${bits}_t`, integer(bits, false)],
    ]),
  ),
}

/** Reads the prototype of a function in C. Throws Error saying what is wrong. */
export function parsePrototype(text: string): Prototype {
  const match = /^\s*([^()]*?)\b([A-Za-z_]\w*)\s*\(([^()]*)\)\s*;?\s*$/.exec(text)
  if (match === null)
    throw new Error(`'${text}' is no prototype of a function in C, such as 'void f(const float* x, int64_t n, float* out)'`)
  const [result, name, list] = [match[1]!.trim(), match[2]!, match[3]!.trim()]
  const parameters = list === '' || list === 'void' ? [] : list.split(',').map(parseParameter)
  const twice = parameters.find((p, i) => parameters.findIndex((other) => other.name === p.name) < i)
  if (twice !== undefined) throw new Error(`'${text}' has two parameters '${twice.name}'`)
  return { text: text.trim().replace(/;$/, ''), name, result: result === 'void' ? null : typeNamed(result), parameters }
}

function parseParameter(text: string): CParameter {
  const match = /^\s*(.*?[\s*])([A-Za-z_]\w*)\s*$/.exec(text)
  if (match === null) throw new Error(`the parameter '${text.trim()}' needs a type and a name`)
  const words = match[1]!.replace(/\b(restrict|__restrict__|__restrict)\b/g, '').trim()
  const [base, ...stars] = words.split('*')
  const isConst = /\bconst\b/.test(base!)
  const type = base!.replace(/\bconst\b/g, '').trim()
  const name = match[2]!
  if (stars.length > 1 || (stars[0]?.trim() ?? '') !== '')
    throw new Error(`the parameter '${name}' must be a number or a pointer to numbers`)
  if (stars.length === 1 && type === 'char') {
    if (!isConst) throw new Error(`the parameter '${name}' must be a const char*: texts cannot be written to`)
    return { name, type: TEXT, isPointer: false, isConst }
  }
  return { name, type: typeNamed(type.replace(/\s+/g, ' ')), isPointer: stars.length === 1, isConst }
}

function typeNamed(name: string): CType {
  const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined
  if (type === undefined) throw new Error(`no type '${name}'; expected ${Object.keys(TYPES).join(', ')}, or a pointer to one`)
  return type
}
