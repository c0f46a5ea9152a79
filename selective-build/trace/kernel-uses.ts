import { i32, type LaunchObserver, observeLaunches } from '../../runtime/native/frame.js'
import { enumValues, kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { dtypeTag } from './dtype-tags.js'
import type { KernelUse } from './trace.js'

interface Field {
  /** Place in the frame, in 32-bit words. */
  readonly word: number
  /** The names of an enumeration's values with the enumeration's name in front; null for a dtype. */
  readonly values: readonly string[] | null
}

interface Row {
  readonly name: string
  readonly fields: readonly Field[]
  /** What was asked for, as numbers in base 64. */
  readonly seen: Set<number>
  readonly use: { readonly dtypes: Set<string>; readonly operations: Set<string> }
}

/** Notes, for every kernel that is launched, the dtypes and operations that its frames ask for. */
export class KernelUses {
  private readonly rows: (Row | undefined)[] = []
  private before: LaunchObserver | null = null

  start(): void {
    this.before = observeLaunches((id, name, host, own) => {
      if (own) this.note(id, i32)
      this.before?.(id, name, host, own)
    })
  }

  stop(): void {
    observeLaunches(this.before)
  }

  /** By kernel name. */
  result(): Map<string, KernelUse> {
    return new Map(this.rows.flatMap((row) => (row === undefined ? [] : [[row.name, row.use] as const])))
  }

  /** Notes a frame of the kernel `id`, as 32-bit words. */
  note(id: number, words: Int32Array): void {
    const row = (this.rows[id] ??= decode(id))
    let key = 0
    for (const { word } of row.fields) key = key * 64 + (words[word]! & 63)
    if (row.seen.has(key)) return
    row.seen.add(key)
    for (const { word, values } of row.fields) {
      const value = words[word]!
      if (values !== null) row.use.operations.add(values[value] ?? `${values[0]!.split('.')[0]!}.${value}`)
      else {
        const tag = dtypeTag(value)
        if (tag !== undefined) row.use.dtypes.add(tag)
      }
    }
  }
}

function decode(id: number): Row {
  const [name, ...fields] = (kernelFields[id] ?? `kernel${id}`).split(' ')
  return {
    name: name!,
    fields: fields.map((text) => {
      const [word, enumeration] = text.split(':')
      const values = enumeration === undefined ? null : enumValues[enumeration]!.split(' ').map((value) => `${enumeration}.${value}`)
      return { word: Number(word), values }
    }),
    seen: new Set(),
    use: { dtypes: new Set(), operations: new Set() },
  }
}
