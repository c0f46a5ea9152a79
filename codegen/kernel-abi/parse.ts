import { at, failAt } from '../error.js'
import type { Entry, Field } from '../yaml-file.js'
import { translate } from './expression.js'
import { expandMixins } from './mixins.js'
import { isReserved, isReservedMember } from './reserved.js'
import {
  type Extent,
  type FrameField,
  HEADER_BYTES,
  type Kernel,
  type KernelAbi,
  type KernelEnum,
  MAX_FRAME_BYTES,
  type ScalarKind,
  SIZE_OF,
  type Access,
  ACCESSES,
  type Effect,
  EFFECTS,
  IN_PLACE,
  KERNEL_OPTIONS,
} from './model.js'
import { checkFacts } from './check-facts.js'
import { numbersOf } from './numbers.js'

const KEYS = new Set(
  'kernel doc vectorized host random total effect option in_place extends variant fields results extents require flops'.split(' '),
)
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const TYPE = /^(?:(in|out|in-out) +)?([A-Za-z_][A-Za-z0-9_]*)(?:\[(\w+)\])?$/

/**
 * Reads kernel declarations and lays their frames out. Kernels are sorted by name. Of the library's own ones (`isLibrary`) everything has to be
 * said that its compiler goes by; of others an address without access is read and written. Throws CodegenError.
 */
export function parseKernels(declared: readonly Entry[], isLibrary = false): KernelAbi {
  const entries = expandMixins(declared)
  const enums = new Map<string, KernelEnum>()
  for (const entry of entries) if (entry.fields[0]?.key === 'enum') addEnum(enums, entry)
  const numbers = numbersOf(entries)
  const limits = new Map(numbers.flatMap(({ kind, name, value }) => (kind === 'limit' ? [[name, value]] : [])))
  const kernels = new Map<string, Kernel>()
  for (const entry of entries) {
    const func = entry.fields.find((f) => f.key === 'func')
    if (func !== undefined) failAt(func.source, String(func.value).split('(')[0]!, 'an operator among declarations of kernels')
    if (/^(enum|limit|status)$/.test(entry.fields[0]?.key ?? '')) continue
    const base = baseOf(entry, entries)
    const kernel = parseKernel(entry, { enums, limits }, base)
    if (isLibrary) checkFacts(kernel, base === null ? [entry] : [base, entry])
    const other = kernels.get(kernel.name)
    if (other !== undefined) failAt(entry.source, kernel.name, `declared twice; the other declaration is at ${at(other.source)}`)
    const namesake = enums.get(kernel.name)
    if (namesake !== undefined) failAt(entry.source, kernel.name, `an enum has this name, too, at ${at(namesake.source)}`)
    kernels.set(kernel.name, kernel)
  }
  const byName = <T extends { name: string }>(a: T, b: T): number => (a.name < b.name ? -1 : 1)
  return { enums: [...enums.values()].sort(byName), numbers, kernels: [...kernels.values()].sort(byName) }
}

/** The text stands in a comment of the generated files. */
function checkDoc(entry: Entry, name: string): void {
  const doc = entry.fields.find((f) => f.key === 'doc')
  if (doc === undefined) return
  if (typeof doc.value !== 'string' || doc.value.trim() === '') failAt(doc.source, name, "'doc' must be a text")
  if (doc.value.includes('*/') || doc.value.trimEnd().endsWith('\\'))
    failAt(doc.source, name, "'doc' stands in a comment: it cannot have '*/' nor end in a backslash")
}

const isScalarKind = (name: string): name is ScalarKind => Object.hasOwn(SIZE_OF, name)

function addEnum(enums: Map<string, KernelEnum>, entry: Entry): void {
  const name = String(entry.fields[0]!.value)
  const values = entry.fields.find((f) => f.key === 'values')?.value
  checkDoc(entry, name)
  const unknown = entry.fields.find((f) => f.key !== 'enum' && f.key !== 'values' && f.key !== 'doc')
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name) || !Array.isArray(values) || values.length === 0)
    failAt(entry.source, name, 'an enum needs a name and a list of values')
  if (isReserved(name) || isScalarKind(name)) failAt(entry.source, name, 'this name means something else in C++ or TypeScript')
  const names = values.map((value) => (typeof value === 'string' ? value : `${String(value)}, which is no text,`))
  for (const value of names) if (!NAME.test(value)) failAt(entry.source, name, `'${value}' is no identifier`)
  if (new Set(names).size !== names.length) failAt(entry.source, name, 'a value is listed twice')
  const other = enums.get(name)
  if (other !== undefined && other.values.join() !== names.join()) {
    failAt(entry.source, name, `declared twice with other values; the other declaration is at ${at(other.source)}`)
  }
  enums.set(name, { name, values: names, source: entry.source })
}

/** The kernel whose fields come first in the frame of one that extends it, so that the one frame starts as the other. */
function baseOf(entry: Entry, entries: readonly Entry[]): Entry | null {
  const field = entry.fields.find((f) => f.key === 'extends')
  if (field === undefined || field.value === null) return null
  const of = (e: Entry, key: string): unknown => e.fields.find((f) => f.key === key)?.value
  const base = typeof field.value === 'string' ? entries.find((e) => of(e, 'kernel') === field.value) : undefined
  if (base === undefined || of(base, 'extends') !== undefined || of(base, 'results') !== undefined)
    failAt(field.source, String(of(entry, 'kernel')), `'extends' must name a kernel without results that extends none`)
  return base
}

/** What declarations of kernels may name. */
interface Names {
  readonly enums: ReadonlyMap<string, KernelEnum>
  readonly limits: ReadonlyMap<string, number>
}

function parseKernel(entry: Entry, names: Names, base: Entry | null): Kernel {
  const get = (key: string): Field | undefined => entry.fields.find((f) => f.key === key)
  const text = (key: string): string => {
    const value = get(key)?.value
    return typeof value === 'string' ? value.trim() : ''
  }
  const name = text('kernel')
  if (!NAME.test(name)) failAt(entry.source, name || 'entry', "expected 'kernel: name' or 'enum: Name'")
  if (isReserved(name)) failAt(entry.source, name, 'this name means something else in C++ or TypeScript')
  for (const field of entry.fields) {
    if (!KEYS.has(field.key)) failAt(field.source, name, `unknown key '${field.key}'`)
    if (field.value === null) failAt(field.source, name, `'${field.key}' has no value`)
  }
  checkDoc(entry, name)
  const flag = (key: string): boolean => {
    const field = get(key)
    if (field !== undefined && typeof field.value !== 'boolean') failAt(field.source, name, `'${key}' must be true or false`)
    return field?.value === true
  }
  const host = hostOf(name, get('host'))
  const layout = new Layout(name, entry, names)
  const members = [...layout.members(base?.fields.find((f) => f.key === 'fields')), ...layout.members(get('fields'))]
  const fields = withInPlace(name, members, get('in_place'))
  const results = layout.members(get('results'), true)
  for (const member of [...fields, ...results])
    if (host !== null && member.name === 'host') failAt(entry.source, name, "'host' is the JavaScript memory of this kernel")
  for (const result of results) if (result.length !== null) failAt(entry.source, name, `result '${result.name}' cannot be an array`)
  const size = layout.finish()
  const inherited = (key: string): Field | undefined => base?.fields.find((f) => f.key === key)
  const scope = { fields, limits: names.limits }
  const flops = get('flops') ?? inherited('flops')
  const reach = {
    extents: extentsOf(name, [inherited('extents'), get('extents')], scope, host !== null),
    require: [inherited('require'), get('require')].flatMap((field) => conditionsOf(name, field, scope)),
    flops: flops === undefined ? null : expression(name, flops, flops.value, scope),
  }
  const word = <T extends string>(key: string, known: readonly T[]): T | null => {
    const field = get(key) ?? inherited(key)
    return field === undefined ? null : oneOf(name, field, known)
  }
  const facts = {
    host,
    random: flag('random'),
    // what a variant does beside, such as post-ops, no contents of memory make fail
    total: flag('total') || (get('variant') !== undefined && inherited('total')?.value === true),
    effect: word<Effect>('effect', EFFECTS),
    option: word('option', KERNEL_OPTIONS),
  }
  const variant = get('variant') === undefined ? null : { of: text('extends'), suffix: text('variant') }
  return {
    name,
    doc: text('doc'),
    vectorized: flag('vectorized'),
    variant,
    ...facts,
    fields,
    results,
    size,
    ...reach,
    source: entry.source,
  }
}

function oneOf<T extends string>(kernel: string, { key, value, source }: Field, known: readonly T[]): T {
  const found = known.find((word) => word === value)
  if (found === undefined) failAt(source, kernel, `'${key}' must be ${known.join(', ')}, not '${String(value)}'`)
  return found
}

/** `true` says that it is read and written. */
function hostOf(kernel: string, field: Field | undefined): Access | null {
  if (field === undefined || field.value === false) return null
  return field.value === true ? 'in-out' : oneOf(kernel, field, ACCESSES)
}

/** The fields with what `in_place` says of them: a map of operands to conditions. */
function withInPlace(kernel: string, fields: readonly FrameField[], field: Field | undefined): readonly FrameField[] {
  if (field === undefined) return fields
  if (!isMap(field.value)) failAt(field.source, kernel, "'in_place' must be a map of operands to conditions")
  const written = fields.filter(({ access }) => access === 'out' || access === 'in-out')
  const [out] = written
  if (written.length !== 1 || out!.access !== 'out' || out!.length !== null)
    failAt(field.source, kernel, "'in_place' needs a kernel with one output")
  const conditions = new Map(Object.entries(field.value).map(([name, value]) => [name, oneOf(kernel, { ...field, value }, IN_PLACE)]))
  for (const [name, condition] of conditions) {
    const operand = fields.find((f) => f.name === name)
    if (operand?.access !== 'in' || operand.length !== null)
      failAt(field.source, kernel, `'in_place': '${name}' is no address that is only read`)
    const missing = ['ndim', `${name}_dtype`, `${out!.name}_dtype`].find((needed) => !fields.some((f) => f.name === needed))
    if (condition === 'dense' && missing !== undefined) failAt(field.source, kernel, `'in_place': dense operands need a field '${missing}'`)
  }
  return fields.map((f) => ({ ...f, inPlace: conditions.get(f.name) ?? null }))
}

/** Each address of the frame, and the host array, has its extent; those of a kernel that it extends are taken over. */
function extentsOf(kernel: string, declared: readonly (Field | undefined)[], scope: Scope, host: boolean): Map<string, Extent> | null {
  const present = declared.filter((field) => field !== undefined)
  const last = present.at(-1)
  if (last === undefined) return null
  const extents = new Map<string, Extent>()
  for (const field of present) {
    if (!isMap(field.value)) failAt(field.source, kernel, "'extents' must be a map of names to expressions")
    const own = new Set<string>()
    for (const [key, value] of Object.entries(field.value)) {
      const optional = key.endsWith('?')
      const name = optional ? key.slice(0, -1) : key
      if (own.has(name)) failAt(field.source, kernel, `two extents for '${name}'`)
      own.add(name)
      extents.set(name, { bytes: expression(kernel, field, value, scope), optional })
    }
  }
  const addresses = [...scope.fields.filter((f) => f.kind === 'ptr').map((f) => f.name), ...(host ? ['host'] : [])]
  const missing = addresses.filter((name) => !extents.has(name))
  const unknown = [...extents.keys()].filter((name) => !addresses.includes(name))
  if (missing.length > 0) failAt(last.source, kernel, `no extent for ${missing.join(', ')}`)
  if (unknown.length > 0) failAt(last.source, kernel, `${unknown.join(', ')} is no address of the frame`)
  return extents
}

function conditionsOf(kernel: string, field: Field | undefined, scope: Scope): string[] {
  if (field === undefined) return []
  if (!Array.isArray(field.value)) failAt(field.source, kernel, "'require' must be a list of conditions")
  return field.value.map((value) => expression(kernel, field, value, scope))
}

/** What expressions may name. */
interface Scope {
  readonly fields: readonly FrameField[]
  readonly limits: ReadonlyMap<string, number>
}

/** The text of an expression, with numbers in place of limits. */
function expression(kernel: string, field: Field, value: unknown, { fields, limits }: Scope): string {
  if (typeof value !== 'string' && typeof value !== 'number') failAt(field.source, kernel, `'${field.key}' needs expressions`)
  const text = String(value).replace(/\b[A-Z]\w*\b/g, (name) => String(limits.get(name) ?? name))
  try {
    translate(text, fields)
  } catch (error) {
    failAt(field.source, kernel, `${field.key}: ${(error as Error).message}`)
  }
  return text
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Places members in declared order at their natural alignment, as C does. */
class Layout {
  private offset = HEADER_BYTES
  private readonly names = new Set<string>(['header'])

  constructor(
    private readonly kernel: string,
    private readonly entry: Entry,
    private readonly known: Names,
  ) {}

  members(field: Field | undefined, areResults = false): FrameField[] {
    if (field === undefined) return []
    if (!isMap(field.value)) failAt(field.source, this.kernel, `'${field.key}' must be a map of names to types`)
    return Object.entries(field.value).map(([name, type]) => {
      if (typeof type !== 'string') failAt(field.source, this.kernel, `'${name}' needs the name of a type`)
      return this.member(name, type, field, areResults)
    })
  }

  private member(name: string, type: string, field: Field, isResult: boolean): FrameField {
    const match = TYPE.exec(type)
    if (!NAME.test(name) || this.names.has(name)) failAt(field.source, this.kernel, `'${name}' is no name or used twice`)
    if (isReservedMember(name)) failAt(field.source, this.kernel, `'${name}' is a word of C++`)
    if (match === null) failAt(field.source, this.kernel, `'${name}' has no type of frames: '${type}'`)
    this.names.add(name)
    const base = match[2]!
    const isEnum = this.known.enums.has(base)
    if (!isEnum && !isScalarKind(base)) {
      failAt(field.source, this.kernel, `'${name}' has unknown type '${base}', expected ${Object.keys(SIZE_OF).join(', ')} or an enum`)
    }
    const kind = isEnum ? 'i32' : (base as ScalarKind)
    if (match[1] !== undefined && (kind !== 'ptr' || isResult))
      failAt(field.source, this.kernel, `'${name}' is no address that is given: it has no access`)
    const length = match[3] === undefined ? null : (this.known.limits.get(match[3]) ?? Number(match[3]))
    if (Number.isNaN(length)) failAt(field.source, this.kernel, `'${name}' has an unknown limit: '${match[3]}'`)
    if (length === 0) failAt(field.source, this.kernel, `'${name}' has no elements`)
    const size = SIZE_OF[kind]
    const offset = Math.ceil(this.offset / size) * size
    this.offset = offset + size * (length ?? 1)
    const access = kind !== 'ptr' || isResult ? null : ((match[1] as Access | undefined) ?? 'in-out')
    return { name, kind, enumName: isEnum ? base : null, length, offset, access, inPlace: null }
  }

  finish(): number {
    const size = Math.ceil(this.offset / 8) * 8
    if (size > MAX_FRAME_BYTES) failAt(this.entry.source, this.kernel, `its frame has ${size} bytes, at most ${MAX_FRAME_BYTES} fit`)
    return size
  }
}
