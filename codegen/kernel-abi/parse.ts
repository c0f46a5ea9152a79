import { at, failAt } from '../error.js'
import type { Entry, Field } from '../yaml-file.js'
import { translate } from './expression.js'
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
} from './model.js'

const KEYS = new Set(['kernel', 'doc', 'vectorized', 'host', 'extends', 'fields', 'results', 'extents', 'require', 'flops'])
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const TYPE = /^([A-Za-z_][A-Za-z0-9_]*)(?:\[(\d+)\])?$/

/** Reads kernel declarations and lays their frames out. Kernels are sorted by name. Throws CodegenError. */
export function parseKernels(entries: readonly Entry[]): KernelAbi {
  const enums = new Map<string, KernelEnum>()
  for (const entry of entries) if (entry.fields[0]?.key === 'enum') addEnum(enums, entry)
  const kernels = new Map<string, Kernel>()
  for (const entry of entries) {
    if (entry.fields[0]?.key === 'enum') continue
    const kernel = parseKernel(entry, enums, baseOf(entry, entries))
    const other = kernels.get(kernel.name)
    if (other !== undefined) failAt(entry.source, kernel.name, `declared twice; the other declaration is at ${at(other.source)}`)
    kernels.set(kernel.name, kernel)
  }
  const byName = <T extends { name: string }>(a: T, b: T): number => (a.name < b.name ? -1 : 1)
  return { enums: [...enums.values()].sort(byName), kernels: [...kernels.values()].sort(byName) }
}

function addEnum(enums: Map<string, KernelEnum>, entry: Entry): void {
  const name = String(entry.fields[0]!.value)
  const values = entry.fields.find((f) => f.key === 'values')?.value
  const unknown = entry.fields.find((f) => f.key !== 'enum' && f.key !== 'values' && f.key !== 'doc')
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name) || !Array.isArray(values) || values.length === 0)
    failAt(entry.source, name, 'an enum needs a name and a list of values')
  const names = values.map(String)
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
  if (field === undefined) return null
  const of = (e: Entry, key: string): unknown => e.fields.find((f) => f.key === key)?.value
  const base = entries.find((e) => of(e, 'kernel') === field.value)
  if (base === undefined || of(base, 'extends') !== undefined || of(base, 'results') !== undefined)
    failAt(field.source, String(of(entry, 'kernel')), `'extends' must name a kernel without results that extends none`)
  return base
}

function parseKernel(entry: Entry, enums: ReadonlyMap<string, KernelEnum>, base: Entry | null): Kernel {
  const get = (key: string): Field | undefined => entry.fields.find((f) => f.key === key)
  const text = (key: string): string => {
    const value = get(key)?.value
    return typeof value === 'string' ? value.trim() : ''
  }
  const name = text('kernel')
  if (!NAME.test(name)) failAt(entry.source, name || 'entry', "expected 'kernel: name' or 'enum: Name'")
  for (const field of entry.fields) if (!KEYS.has(field.key)) failAt(field.source, name, `unknown key '${field.key}'`)
  const flag = (key: string): boolean => {
    const value = get(key)?.value ?? false
    if (typeof value !== 'boolean') failAt(get(key)!.source, name, `'${key}' must be true or false`)
    return value
  }
  const layout = new Layout(name, entry, enums)
  const fields = [...layout.members(base?.fields.find((f) => f.key === 'fields')), ...layout.members(get('fields'))]
  const results = layout.members(get('results'))
  for (const result of results) if (result.length !== null) failAt(entry.source, name, `result '${result.name}' cannot be an array`)
  const size = layout.finish()
  const host = flag('host')
  const inherited = (key: string): Field | undefined => base?.fields.find((f) => f.key === key)
  const flops = get('flops') ?? inherited('flops')
  const reach = {
    extents: extentsOf(name, [inherited('extents'), get('extents')], fields, host),
    require: [inherited('require'), get('require')].flatMap((field) => conditionsOf(name, field, fields)),
    flops: flops === undefined ? null : expression(name, flops, flops.value, fields),
  }
  return { name, doc: text('doc'), vectorized: flag('vectorized'), host, fields, results, size, ...reach, source: entry.source }
}

/** Each address of the frame, and the host array, has its extent; those of a kernel that it extends are taken over. */
function extentsOf(
  kernel: string,
  declared: readonly (Field | undefined)[],
  fields: readonly FrameField[],
  host: boolean,
): Map<string, Extent> | null {
  const present = declared.filter((field) => field !== undefined)
  const last = present.at(-1)
  if (last === undefined) return null
  const extents = new Map<string, Extent>()
  for (const field of present) {
    if (typeof field.value !== 'object' || field.value === null)
      failAt(field.source, kernel, "'extents' must be a map of names to expressions")
    for (const [key, value] of Object.entries(field.value)) {
      const optional = key.endsWith('?')
      extents.set(optional ? key.slice(0, -1) : key, { bytes: expression(kernel, field, value, fields), optional })
    }
  }
  const addresses = [...fields.filter((f) => f.kind === 'ptr').map((f) => f.name), ...(host ? ['host'] : [])]
  const missing = addresses.filter((name) => !extents.has(name))
  const unknown = [...extents.keys()].filter((name) => !addresses.includes(name))
  if (missing.length > 0) failAt(last.source, kernel, `no extent for ${missing.join(', ')}`)
  if (unknown.length > 0) failAt(last.source, kernel, `${unknown.join(', ')} is no address of the frame`)
  return extents
}

function conditionsOf(kernel: string, field: Field | undefined, fields: readonly FrameField[]): string[] {
  if (field === undefined) return []
  if (!Array.isArray(field.value)) failAt(field.source, kernel, "'require' must be a list of conditions")
  return field.value.map((value) => expression(kernel, field, value, fields))
}

function expression(kernel: string, field: Field, value: unknown, fields: readonly FrameField[]): string {
  const text = String(value)
  try {
    translate(text, fields)
  } catch (error) {
    failAt(field.source, kernel, `${field.key}: ${(error as Error).message}`)
  }
  return text
}

/** Places members in declared order at their natural alignment, as C does. */
class Layout {
  private offset = HEADER_BYTES
  private readonly names = new Set<string>(['header'])

  constructor(
    private readonly kernel: string,
    private readonly entry: Entry,
    private readonly enums: ReadonlyMap<string, KernelEnum>,
  ) {}

  members(field: Field | undefined): FrameField[] {
    if (field === undefined || field.value === null) return []
    if (typeof field.value !== 'object') failAt(field.source, this.kernel, `'${field.key}' must be a map of names to types`)
    return Object.entries(field.value).map(([name, type]) => this.member(name, String(type), field))
  }

  private member(name: string, type: string, field: Field): FrameField {
    const match = TYPE.exec(type)
    if (!NAME.test(name) || this.names.has(name)) failAt(field.source, this.kernel, `'${name}' is no name or used twice`)
    if (match === null) failAt(field.source, this.kernel, `'${name}' has no type of frames: '${type}'`)
    this.names.add(name)
    const base = match[1]!
    const isEnum = this.enums.has(base)
    if (!isEnum && !(base in SIZE_OF)) {
      failAt(field.source, this.kernel, `'${name}' has unknown type '${base}', expected ${Object.keys(SIZE_OF).join(', ')} or an enum`)
    }
    const kind = isEnum ? 'i32' : (base as ScalarKind)
    const length = match[2] === undefined ? null : Number(match[2])
    const size = SIZE_OF[kind]
    const offset = Math.ceil(this.offset / size) * size
    this.offset = offset + size * (length ?? 1)
    return { name, kind, enumName: isEnum ? base : null, length, offset }
  }

  finish(): number {
    const size = Math.ceil(this.offset / 8) * 8
    if (size > MAX_FRAME_BYTES) failAt(this.entry.source, this.kernel, `its frame has ${size} bytes, at most ${MAX_FRAME_BYTES} fit`)
    return size
  }
}
