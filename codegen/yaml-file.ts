import { readFileSync } from 'node:fs'
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Pair, parseDocument, visit, type YAMLMap } from 'yaml'
import { CodegenError, failAt, type Source } from './error.js'

/** One `key: value` of an entry. */
export interface Field {
  readonly key: string
  readonly value: unknown
  readonly source: Source
}

/** One item of a YAML list of maps, its keys in order. */
export interface Entry {
  readonly source: Source
  readonly fields: readonly Field[]
}

/** Reads a YAML list of maps. `shown` is the file name that errors and generated files use. Throws CodegenError. */
export function readEntries(path: string, shown: string): Entry[] {
  return parseEntries(readFileSync(path, 'utf8'), shown)
}

export function parseEntries(text: string, file: string): Entry[] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const lineOf = (node: unknown): number => {
    const range = (node as { range?: [number, number, number] | null } | null)?.range
    return range ? lines.linePos(range[0]).line : 1
  }
  const [error] = [...document.errors, ...document.warnings]
  if (error !== undefined) throw new CodegenError(`${file}:${lines.linePos(error.pos[0]).line}: ${error.message}`)
  visit(document, (_, node) => {
    if (isAlias(node)) throw new CodegenError(`${file}:${lineOf(node)}: an entry is written out: no '*${node.source}'`)
  })
  const root = document.contents
  if (root === null) return []
  if (!isSeq(root)) throw new CodegenError(`${file}:${lineOf(root)}: expected a list of entries`)
  return root.items.map((item) => {
    const source = { file, line: lineOf(item) }
    if (!isMap(item)) failAt(source, 'entry', 'expected a map')
    return { source, fields: fieldsOf(item, file, lineOf) }
  })
}

function fieldsOf(map: YAMLMap, file: string, lineOf: (node: unknown) => number): Field[] {
  return map.items.map((pair: unknown) => {
    if (!isPair(pair)) throw new CodegenError(`${file}: expected key: value`)
    const { key, value } = pair as Pair
    const source = { file, line: lineOf(key) }
    if (!isScalar(key) || typeof key.value !== 'string') failAt(source, 'entry', 'expected a plain key')
    const plain = isScalar(value) ? value.value : value === null ? null : (value as { toJSON(): unknown }).toJSON()
    return { key: key.value, value: plain, source }
  })
}
