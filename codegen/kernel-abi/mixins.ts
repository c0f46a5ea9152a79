import { at, failAt } from '../error.js'
import type { Entry, Field } from '../yaml-file.js'

const MIXIN_KEYS = new Set(['mixin', 'suffix', 'doc', 'parameters', 'fields', 'extents', 'require'])
const COPIED = new Set(['fields', 'extents', 'require'])
const NAME = /^[a-z][a-z0-9_]*$/

const fieldOf = (entry: Entry, key: string): Field | undefined => entry.fields.find((field) => field.key === key)
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Mixin {
  readonly name: string
  readonly suffix: string
  readonly parameters: readonly string[]
  readonly entry: Entry
}

/**
 * Entries of kernels in which mixins are written out. A kernel with `mixins: { post_ops: { rows: m } }` is declared once more, as one that extends it,
 * with the suffix, the fields, extents and conditions of mixin `post_ops` behind its own, where `$rows` stands for `m`. Throws CodegenError.
 */
export function expandMixins(entries: readonly Entry[]): Entry[] {
  const mixins = new Map<string, Mixin>()
  for (const entry of entries) {
    if (entry.fields[0]?.key !== 'mixin') continue
    const mixin = mixinOf(entry)
    const other = mixins.get(mixin.name)
    if (other !== undefined) failAt(entry.source, mixin.name, `declared twice; the other declaration is at ${at(other.entry.source)}`)
    mixins.set(mixin.name, mixin)
  }
  return entries
    .filter((entry) => entry.fields[0]?.key !== 'mixin')
    .flatMap((entry) => {
      const field = fieldOf(entry, 'mixins')
      return field === undefined
        ? [entry]
        : [{ ...entry, fields: entry.fields.filter((f) => f !== field) }, ...variants(entry, field, mixins)]
    })
}

function mixinOf(entry: Entry): Mixin {
  const name = String(entry.fields[0]!.value)
  const [suffix, parameters] = [fieldOf(entry, 'suffix')?.value, fieldOf(entry, 'parameters')?.value ?? []]
  const unknown = entry.fields.find((field) => !MIXIN_KEYS.has(field.key))
  if (unknown !== undefined) failAt(unknown.source, name, `unknown key '${unknown.key}'`)
  if (!NAME.test(name) || typeof suffix !== 'string' || !NAME.test(suffix)) failAt(entry.source, name, 'a mixin needs a name and a suffix')
  const names: unknown[] = Array.isArray(parameters) ? parameters : [null]
  if (!names.every((parameter): parameter is string => typeof parameter === 'string' && NAME.test(parameter)))
    failAt(entry.source, name, "'parameters' must be a list of names")
  if (new Set(names).size !== names.length) failAt(entry.source, name, 'a parameter is listed twice')
  return { name, suffix, parameters: names, entry }
}

/** The kernel once more for each of its mixins. */
function variants(entry: Entry, field: Field, mixins: ReadonlyMap<string, Mixin>): Entry[] {
  const kernel = String(fieldOf(entry, 'kernel')?.value)
  if (!isMap(field.value)) failAt(field.source, kernel, "'mixins' must be a map of mixins to their parameters")
  return Object.entries(field.value).map(([name, given]) => {
    const mixin = mixins.get(name)
    if (mixin === undefined) failAt(field.source, kernel, `no mixin '${name}'`)
    const values: Readonly<Record<string, unknown>> = isMap(given) ? given : {}
    const wrong = [...mixin.parameters, ...Object.keys(values)].find(
      (parameter) => !mixin.parameters.includes(parameter) || !['string', 'number'].includes(typeof values[parameter]),
    )
    if (wrong !== undefined) {
      const wanted = mixin.parameters.length === 0 ? 'no parameters' : `${mixin.parameters.join(', ')}, each an expression`
      failAt(field.source, kernel, `${name} takes ${wanted}: see '${wrong}'`)
    }
    const { source } = mixin.entry
    const own = mixin.entry.fields.filter(({ key }) => COPIED.has(key)).map((part) => ({ ...part, value: replaced(part.value, values) }))
    const doc = fieldOf(mixin.entry, 'doc')
    const fields: Field[] = [
      { key: 'kernel', value: `${kernel}_${mixin.suffix}`, source },
      { key: 'extends', value: kernel, source },
      { key: 'variant', value: mixin.suffix, source },
      ...(doc === undefined ? [] : [{ ...doc, value: `Kernel ${kernel} ${String(doc.value).trim()}` }]),
      ...entry.fields.filter(({ key }) => key === 'vectorized' || key === 'host'),
      ...own,
    ]
    return { source, fields }
  })
}

/** A declaration with values in place of `$parameter`. */
function replaced(value: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string') return value.replace(/\$([a-z][a-z0-9_]*)/g, (all, name: string) => String(values[name] ?? all))
  if (Array.isArray(value)) return value.map((item) => replaced(item, values))
  return isMap(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, values)])) : value
}
