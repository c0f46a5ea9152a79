import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'
import { operators } from '../../../src/index.js'
import type { Base, Target } from '../harness/target.js'
import { type KnownOperator, mutateBytecode } from '../mutate/bytecode.js'
import { mutateBytes } from '../mutate/bytes.js'
import { mutateSites, mutateTree } from '../mutate/flat.js'
import { MODULE_FORMAT, moduleChanges } from '../mutate/module-fbs.js'
import { mutatePickle } from '../mutate/pickle.js'
import { mutateSource } from '../mutate/source.js'
import { mutateZip, partsOf, type ZipPart, zipOf } from '../mutate/zip.js'
import type { Random } from '../random.js'
import { instructionsModel } from './instructions.js'
import { runModule } from './run-module.js'

/** Larger files say nothing that smaller ones do not, and take longer. */
const MAX_BYTES = 21_000
const FOLDER = fileURLToPath(new URL('../../fixtures/', import.meta.url))

function fixtures(): Base[] {
  return ['', 'old/', 'complex/', 'torchscript/'].flatMap((folder) =>
    readdirSync(FOLDER + folder)
      .filter((name) => /\.(ptl|ff|pt)$/.test(name))
      .sort()
      .map((name) => ({ name: folder + name, bytes: readFileSync(FOLDER + folder + name) }))
      .filter(({ bytes }) => bytes.length <= MAX_BYTES),
  )
}

/** Model files: archives with their pickles and code, and flatbuffers. */
export function target(): Target {
  const bases = [...fixtures(), { name: 'instructions', bytes: instructionsModel() }]
  const table: KnownOperator[] = operators().map(({ name, overload, schema }) => ({ name, overload, ...countsOf(schema) }))
  const changes = moduleChanges(table)
  const other = (random: Random): Buffer => random.pick(bases).bytes

  const changedZip = (parts: ZipPart[], random: Random): Buffer => {
    const code = parts.find(({ name }) => name.toString().endsWith('/bytecode.pkl'))
    if (code !== undefined && code.method === 0 && random.below(5) < 2) {
      const content = mutateBytecode(code.content, random, table)
      if (content !== null) return zipOf(parts.map((part) => (part === code ? { ...part, content } : part)))
    }
    const sources = code === undefined ? parts.filter(({ name }) => name.toString().endsWith('.py')) : []
    if (sources.length > 0 && random.below(3) < 2) return changedSource(parts, random.pick(sources), random)
    if (random.once(4)) return mutateZip(parts, random)
    const pickles = parts.filter(({ name, method }) => method === 0 && /pkl$/.test(name.toString()))
    const one = pickles.length > 0 && !random.once(12) ? random.pick(pickles) : random.pick(parts)
    const content = pickles.includes(one)
      ? random.once(10)
        ? mutateBytes(one.content, random, random.pick(pickles).content)
        : mutatePickle(one.content, random)
      : mutateBytes(one.content, random, random.pick(parts).content)
    return zipOf(parts.map((part) => (part === one ? { ...part, content } : part)))
  }

  const changedSource = (parts: readonly ZipPart[], part: ZipPart, random: Random): Buffer => {
    const changed = { ...part, method: 0, content: mutateSource(contentOf(part), random, table) }
    return zipOf(parts.map((other) => (other === part ? changed : other)))
  }

  return {
    bases,
    mutate(bytes, random) {
      if (random.once(10)) return mutateBytes(bytes, random, other(random))
      if (bytes.toString('latin1', 4, 8) === 'PTMF') {
        const changed = random.below(5) < 2 ? mutateSites(bytes, MODULE_FORMAT, random) : mutateTree(bytes, MODULE_FORMAT, random, changes)
        if (changed !== null) return changed
      } else {
        const parts = partsOf(bytes)
        if (parts !== null && parts.length > 0) return changedZip(parts, random)
      }
      return mutateBytes(bytes, random, other(random))
    },
    run: runModule,
  }
}

/** The text of a record, inflated where that can be done: mutants are mutated, too. */
function contentOf({ method, content }: ZipPart): Buffer {
  try {
    return method === 8 ? inflateRawSync(content, { maxOutputLength: 2 ** 22 }) : content
  } catch {
    return content
  }
}

/** Numbers of arguments and results of a schema, by its text. */
function countsOf(schema: string): { args: number; returns: number } {
  const arrow = schema.lastIndexOf(' -> ')
  const returns = schema.slice(arrow + 4)
  const list = schema.slice(schema.indexOf('(') + 1, arrow - 1)
  return { args: parts(list), returns: returns === '()' ? 0 : returns.startsWith('(') ? parts(returns) : 1 }
}

function parts(list: string): number {
  return list.trim() === '' ? 0 : list.split(', ').filter((part) => part !== '*').length
}
