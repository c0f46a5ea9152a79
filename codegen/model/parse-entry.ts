import { failAt } from '../error.js'
import { mistakeIn } from '../schema/check.js'
import { parseSchema } from '../schema/parser.js'
import { type FunctionSchema, isOutArgument, type SchemaType } from '../schema/model.js'
import { isNumber } from '../types/unboxing.js'
import type { Entry, Field } from '../yaml-file.js'
import { type Fact, FACTS, TAGS } from './tags.js'
import type { DispatchRow, NativeFunction, Precomputed } from './native-function.js'

/** Every dispatch key of PyTorch 1.13, and `Builtin` for what its own tables register outside native_functions.yaml. */
const DISPATCH_KEYS = new Set([
  'CompositeImplicitAutograd', 'CompositeExplicitAutograd', 'CompositeExplicitAutogradNonFunctional',
  'CompositeImplicitAutogradNestedTensor', 'Builtin', 'CPU', 'CUDA', 'HIP', 'XLA', 'MPS', 'IPU', 'XPU', 'HPU', 'VE', 'Lazy', 'Meta',
  'PrivateUse1', 'PrivateUse2', 'PrivateUse3', 'Undefined', 'ZeroTensor', 'MkldnnCPU', 'Vulkan', 'Metal',
  ...['Quantized', 'Sparse', 'SparseCsr', 'NestedTensor'].flatMap((kind) => ['CPU', 'CUDA', 'Meta', 'XPU', 'VE', 'HIP'].map((device) => kind + device)),
]) // prettier-ignore

const UFUNC_KEYS = ['Generic', 'ScalarOnly', 'CUDAFunctor', 'CUDAFunctorOnSelf', 'CUDAFunctorOnOther', 'CPUScalar', 'CPUVector']

/** Reads one entry. Throws CodegenError naming file, line and entry for unknown keys, bad values and bad schemas. */
export function parseEntry(entry: Entry): NativeFunction {
  const func = entry.fields.find((f) => f.key === 'func')
  if (func === undefined) failAt(entry.source, 'entry', "'func' is missing")
  const schema = readSchema(func)
  const name = String(func.value).split('(')[0]!
  const reader = new FieldReader(entry, name)
  const result: NativeFunction = {
    source: entry.source,
    schema,
    variants: reader.words('variants', ['function', 'method']) as NativeFunction['variants'],
    structured: reader.flag('structured'),
    structuredDelegate: reader.text('structured_delegate'),
    structuredInherits: reader.identifier('structured_inherits'),
    precomputed: reader.precomputed(),
    dispatch: reader.dispatch(),
    autogen: reader.words('autogen'),
    foreach: reader.text('foreach'),
    complex: reader.flag('complex'),
    deviceCheck: reader.oneOf('device_check', ['NoCheck', 'ExactSame']),
    deviceGuard: reader.flag('device_guard', true),
    tags: reader.words('tags', TAGS),
    facts: reader.words('facts', FACTS) as Fact[],
    pythonModule: reader.identifier('python_module'),
    categoryOverride: reader.identifier('category_override'),
    manualKernelRegistration: reader.flag('manual_kernel_registration'),
    manualCppBinding: reader.flag('manual_cpp_binding'),
    useConstRefForMutableTensors: reader.flag('use_const_ref_for_mutable_tensors'),
    cppNoDefaultArgs: reader.strings('cpp_no_default_args'),
    ufuncInnerLoop: reader.ufuncs(),
  }
  reader.finish()
  checkTogether(result, name)
  return result
}

function readSchema(func: Field): FunctionSchema {
  if (typeof func.value !== 'string') failAt(func.source, 'entry', "'func' must be a schema")
  const name = func.value.split('(')[0]!
  const schema = schemaOf(func.value, func, name)
  const mistake = mistakeIn(schema)
  if (mistake !== null) failAt(func.source, name, mistake)
  return schema
}

function schemaOf(text: string, field: Field, name: string): FunctionSchema {
  try {
    return parseSchema(text)
  } catch (error) {
    failAt(field.source, name, (error as Error).message, error)
  }
}

function checkTogether(f: NativeFunction, name: string): void {
  if (f.structured && f.structuredDelegate !== null) failAt(f.source, name, "'structured' and 'structured_delegate' exclude each other")
  if (f.foreach !== null && (f.structured || f.structuredDelegate !== null || f.dispatch.length > 0))
    failAt(f.source, name, "'foreach' stands in place of 'dispatch'")
  if (f.foreach !== null && !f.schema.arguments.some((a) => a.type.kind === 'list')) failAt(f.source, name, "'foreach' needs a list")
  if (f.structured && f.dispatch.length === 0) failAt(f.source, name, "a structured entry needs 'dispatch'")
  if (f.structured && !f.schema.arguments.some(isOutArgument))
    failAt(f.source, name, 'a structured entry is the overload that writes its results: it needs out arguments')
  for (const [key, given] of Object.entries({
    ufunc_inner_loop: f.ufuncInnerLoop !== null,
    structured_inherits: f.structuredInherits !== null,
    precomputed: f.precomputed.length > 0,
  }))
    if (given && !f.structured) failAt(f.source, name, `'${key}' belongs to structured entries`)
  for (const { replaced } of f.precomputed) {
    if (replaced !== null && !f.schema.arguments.some((a) => a.name === replaced))
      failAt(f.source, name, `'precomputed' replaces no argument: '${replaced}'`)
  }
  if (f.complex && ![...f.schema.arguments, ...f.schema.returns].some((a) => isNumeric(a.type)))
    failAt(f.source, name, "'complex' says that numbers may be complex: neither argument nor result is a Scalar")
  for (const argument of f.cppNoDefaultArgs) {
    if (!f.schema.arguments.some((a) => a.name === argument)) failAt(f.source, name, `cpp_no_default_args names no argument: '${argument}'`)
  }
}

function isNumeric(type: SchemaType): boolean {
  return type.kind === 'base' ? isNumber(type.name) : (type.kind === 'optional' || type.kind === 'list') && isNumeric(type.inner)
}

const IDENTIFIER = /^[A-Za-z_]\w*$/

/** Takes the fields of an entry by key; `finish` complains about those that nobody took. */
class FieldReader {
  private readonly fields = new Map<string, Field>()

  constructor(
    entry: Entry,
    private readonly name: string,
  ) {
    for (const field of entry.fields) {
      if (this.fields.has(field.key)) this.fail(field, `'${field.key}' is given twice`)
      this.fields.set(field.key, field)
    }
    this.fields.delete('func')
  }

  private take(key: string): Field | undefined {
    const field = this.fields.get(key)
    this.fields.delete(key)
    return field
  }

  private fail(field: Field, message: string): never {
    failAt(field.source, this.name, message)
  }

  flag(key: string, absent = false): boolean {
    const field = this.take(key)
    if (field === undefined) return absent
    if (typeof field.value !== 'boolean') this.fail(field, `'${key}' must be True or False`)
    return field.value
  }

  text(key: string): string | null {
    const field = this.take(key)
    if (field === undefined) return null
    if (typeof field.value !== 'string' || field.value.trim() === '') this.fail(field, `'${key}' must be a text`)
    return field.value
  }

  identifier(key: string): string | null {
    const field = this.fields.get(key)
    const text = this.text(key)
    if (text !== null && !IDENTIFIER.test(text)) this.fail(field!, `'${key}' must be an identifier, not '${text}'`)
    return text
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | null {
    const field = this.fields.get(key)
    const words = this.words(key, allowed)
    if (words.length > 1) this.fail(field!, `'${key}' must be one of ${allowed.join(', ')}`)
    return (words[0] as T | undefined) ?? null
  }

  /** A list, or words separated by commas. */
  words(key: string, allowed?: readonly string[]): string[] {
    const field = this.take(key)
    if (field === undefined) return []
    const list: unknown[] = Array.isArray(field.value) ? field.value : typeof field.value === 'string' ? field.value.split(',') : []
    const words = list.map((w) => (typeof w === 'string' ? w.trim() : ''))
    if (words.length === 0 || words.includes('')) this.fail(field, `'${key}' must be words, separated by commas`)
    const twice = words.find((w, i) => words.indexOf(w) < i)
    if (twice !== undefined) this.fail(field, `'${key}' has '${twice}' twice`)
    const unknown = words.find((w) => allowed !== undefined && !allowed.includes(w))
    if (unknown !== undefined) this.fail(field, `unknown ${key} '${unknown}', expected one of ${allowed!.join(', ')}`)
    return words
  }

  strings(key: string): string[] {
    const field = this.take(key)
    if (field === undefined) return []
    const list: unknown[] = Array.isArray(field.value) ? field.value : []
    const texts = list.filter((item): item is string => typeof item === 'string')
    if (texts.length === 0 || texts.length < list.length) this.fail(field, `'${key}' must be a list of texts`)
    return texts
  }

  map(key: string): Record<string, string> | null {
    const field = this.take(key)
    if (field === undefined) return null
    const { value } = field
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (!isMap || Object.keys(value).length === 0) this.fail(field, `'${key}' must be a map`)
    const other = Object.entries(value).find(([, text]) => typeof text !== 'string')
    if (other !== undefined) this.fail(field, `'${key}': '${other[0]}' needs a text`)
    return value as Record<string, string>
  }

  ufuncs(): Record<string, string> | null {
    const field = this.fields.get('ufunc_inner_loop')
    const loops = this.map('ufunc_inner_loop')
    const unknown = Object.keys(loops ?? {}).find((key) => !UFUNC_KEYS.includes(key))
    if (unknown !== undefined) this.fail(field!, `unknown ufunc_inner_loop '${unknown}', expected one of ${UFUNC_KEYS.join(', ')}`)
    return loops
  }

  /** The dispatch table with grouped keys (`CPU, CUDA: f`) taken apart. */
  dispatch(): DispatchRow[] {
    const field = this.fields.get('dispatch')
    const rows: DispatchRow[] = []
    for (const [keys, kernel] of Object.entries(this.map('dispatch') ?? {})) {
      if (!/^(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*$/.test(kernel)) this.fail(field!, `'${keys}' needs the name of a native function`)
      for (const key of keys.split(',').map((k) => k.trim())) {
        if (!DISPATCH_KEYS.has(key)) this.fail(field!, `unknown dispatch key '${key}'`)
        if (rows.some((row) => row.key === key)) this.fail(field!, `dispatch key '${key}' is given twice`)
        rows.push({ key, kernel })
      }
    }
    return rows
  }

  /** `dim -> int dim, int valid`; a row without an arrow adds arguments. */
  precomputed(): Precomputed[] {
    const field = this.fields.get('precomputed')
    return this.strings('precomputed').map((row) => this.precomputedRow(row, field!))
  }

  private precomputedRow(row: string, field: Field): Precomputed {
    const [left, right, more] = row.includes('->') ? row.split('->') : [null, row]
    if (more !== undefined) this.fail(field, `'precomputed': a second '->' in '${row}'`)
    const parsed = schemaOf(`f(${right!.trim()}) -> ()`, field, this.name)
    return { replaced: left?.trim() ?? null, by: parsed.arguments }
  }

  finish(): void {
    for (const field of this.fields.values()) this.fail(field, `unknown key '${field.key}'`)
  }
}
