import { failAt } from '../error.js'
import { parseSchema } from '../schema/parser.js'
import type { FunctionSchema } from '../schema/model.js'
import { unknownType } from '../types/known.js'
import type { Entry, Field } from '../yaml-file.js'
import type { DispatchRow, NativeFunction, Precomputed } from './native-function.js'

/** Every dispatch key of PyTorch 1.13, and `Builtin` for what its own tables register outside native_functions.yaml. */
const DISPATCH_KEYS = new Set([
  'CompositeImplicitAutograd', 'CompositeExplicitAutograd', 'CompositeExplicitAutogradNonFunctional',
  'CompositeImplicitAutogradNestedTensor', 'Builtin', 'CPU', 'CUDA', 'HIP', 'XLA', 'MPS', 'IPU', 'XPU', 'HPU', 'VE', 'Lazy', 'Meta',
  'PrivateUse1', 'PrivateUse2', 'PrivateUse3', 'Undefined', 'ZeroTensor', 'MkldnnCPU', 'Vulkan', 'Metal',
  ...['Quantized', 'Sparse', 'SparseCsr', 'NestedTensor'].flatMap((kind) => ['CPU', 'CUDA', 'Meta', 'XPU', 'VE', 'HIP'].map((device) => kind + device)),
]) // prettier-ignore

/** PyTorch 1.13's tags.yaml. */
const TAGS = [
  'inplace_view',
  'view_copy',
  'dynamic_output_shape',
  'data_dependent_output',
  'generated',
  'nondeterministic_seeded',
  'nondeterministic_bitwise',
]

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
    structuredInherits: reader.text('structured_inherits'),
    precomputed: reader.precomputed(),
    dispatch: reader.dispatch(),
    autogen: reader.words('autogen'),
    foreach: reader.text('foreach'),
    complex: reader.flag('complex'),
    deviceCheck: reader.oneOf('device_check', ['NoCheck', 'ExactSame']),
    deviceGuard: reader.flag('device_guard', true),
    tags: reader.words('tags', TAGS),
    pythonModule: reader.text('python_module'),
    categoryOverride: reader.text('category_override'),
    manualKernelRegistration: reader.flag('manual_kernel_registration'),
    manualCppBinding: reader.flag('manual_cpp_binding'),
    useConstRefForMutableTensors: reader.flag('use_const_ref_for_mutable_tensors'),
    cppNoDefaultArgs: reader.strings('cpp_no_default_args'),
    ufuncInnerLoop: reader.map('ufunc_inner_loop'),
  }
  reader.finish()
  checkTogether(result, name)
  return result
}

function readSchema(func: Field): FunctionSchema {
  if (typeof func.value !== 'string') failAt(func.source, 'entry', "'func' must be a schema")
  const name = func.value.split('(')[0]!
  const schema = schemaOf(func.value, func, name)
  for (const { type } of [...schema.arguments, ...schema.returns]) {
    const unknown = unknownType(type)
    if (unknown !== null) failAt(func.source, name, `unknown type '${unknown}'`)
  }
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
  if (f.ufuncInnerLoop !== null && !f.structured) failAt(f.source, name, "'ufunc_inner_loop' belongs to structured entries")
  for (const argument of f.cppNoDefaultArgs) {
    if (!f.schema.arguments.some((a) => a.name === argument)) failAt(f.source, name, `cpp_no_default_args names no argument: '${argument}'`)
  }
}

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
    if (typeof field.value !== 'string') this.fail(field, `'${key}' must be a text`)
    return field.value
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | null {
    const [word] = this.words(key, allowed)
    return (word as T | undefined) ?? null
  }

  /** A list, or words separated by commas. */
  words(key: string, allowed?: readonly string[]): string[] {
    const field = this.take(key)
    if (field === undefined) return []
    const list = Array.isArray(field.value) ? field.value.map(String) : String(field.value).split(',')
    const words = list.map((w) => w.trim()).filter((w) => w !== '')
    const unknown = words.find((w) => allowed !== undefined && !allowed.includes(w))
    if (unknown !== undefined) this.fail(field, `unknown ${key} '${unknown}', expected one of ${allowed!.join(', ')}`)
    return words
  }

  strings(key: string): string[] {
    const field = this.take(key)
    if (field === undefined) return []
    if (!Array.isArray(field.value)) this.fail(field, `'${key}' must be a list`)
    return field.value.map(String)
  }

  map(key: string): Record<string, string> | null {
    const field = this.take(key)
    if (field === undefined) return null
    if (typeof field.value !== 'object' || field.value === null) this.fail(field, `'${key}' must be a map`)
    return field.value as Record<string, string>
  }

  /** The dispatch table with grouped keys (`CPU, CUDA: f`) taken apart. */
  dispatch(): DispatchRow[] {
    const field = this.fields.get('dispatch')
    const rows: DispatchRow[] = []
    for (const [keys, kernel] of Object.entries(this.map('dispatch') ?? {})) {
      if (typeof kernel !== 'string' || !/^[A-Za-z_][A-Za-z0-9_:]*$/.test(kernel))
        this.fail(field!, `'${keys}' needs the name of a native function`)
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
    const [left, right] = row.includes('->') ? row.split('->') : [null, row]
    const parsed = schemaOf(`f(${right!.trim()}) -> ()`, field, this.name)
    return { replaced: left?.trim() ?? null, by: parsed.arguments }
  }

  finish(): void {
    for (const field of this.fields.values()) this.fail(field, `unknown key '${field.key}'`)
  }
}
