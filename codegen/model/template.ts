import { failAt } from '../error.js'
import type { Entry, Field } from '../yaml-file.js'

/**
 * Families of operators that differ in a name alone: an entry with `names: [a, b]` and `entries: [...]` stands for these
 * entries once per name, `<name>` in their keys and texts replaced. Throws CodegenError.
 */
export function expandTemplates(entries: readonly Entry[]): Entry[] {
  return entries.flatMap((entry) => (entry.fields.some((f) => f.key === 'names') ? expand(entry) : [entry]))
}

function expand(entry: Entry): Entry[] {
  const other = entry.fields.find((f) => f.key !== 'names' && f.key !== 'entries')
  if (other !== undefined) failAt(other.source, 'entry', `unknown key '${other.key}' beside 'names'`)
  const names = listOf(entry, 'names')
  const templates = listOf(entry, 'entries')
  const twice = names.find((name, i) => names.indexOf(name) < i)
  if (twice !== undefined) failAt(entry.source, 'entry', `'names' has '${String(twice)}' twice`)
  return names.flatMap((name) => templates.map((template) => instance(entry, template, name)))
}

function listOf(entry: Entry, key: string): unknown[] {
  const value = entry.fields.find((f) => f.key === key)?.value
  return Array.isArray(value) && value.length > 0 ? (value as unknown[]) : failAt(entry.source, 'entry', `'${key}' must be a list`)
}

function instance(entry: Entry, template: unknown, name: unknown): Entry {
  const { source } = entry
  if (typeof name !== 'string') failAt(source, 'entry', "'names' must be texts")
  if (typeof template !== 'object' || template === null || Array.isArray(template)) failAt(source, 'entry', "'entries' must be maps")
  const fields = Object.entries(template).map(([key, value]): Field => ({ key, value: filled(value, name), source }))
  return { source, fields }
}

function filled(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value.replaceAll('<name>', name)
  if (Array.isArray(value)) return value.map((item) => filled(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [filled(key, name), filled(item, name)]))
}
