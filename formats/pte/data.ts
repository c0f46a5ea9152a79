import { damaged, guarded } from '../../program/file-error.js'
import { absent } from '../../runtime/error.js'
import * as features from '../../runtime/features.js'
import type { SectionInfo } from '../../program/layout-info.js'
import type { ByteSource } from '../containers/bytes.js'
import { FilePart } from '../containers/file-part.js'
import type { FlatTable } from '../containers/flatbuffer/reader.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { offsetOf, SegmentedFile } from './container.js'
import { Field, Location } from './schema.js'

/** The constants, initial values, named data and delegates' payloads of a program, in its file or in `.ptd` files that belong to it. */
export class ProgramData {
  private readonly named = new Map<string, () => FilePart>()
  /** Those of other files. */
  private readonly others: (readonly [key: string, part: () => FilePart])[] = []
  private readonly root: FlatTable
  private readonly constants: Subsegments
  private readonly inline: readonly FlatTable[]
  private readonly mutable: readonly Subsegments[]

  constructor(
    private readonly file: SegmentedFile,
    private readonly part: FilePart,
    others: readonly ByteSource[],
    budget: ValueBudget,
  ) {
    const { root } = file
    this.root = root
    this.inline = root.tables(Field.program.constantBuffer)
    this.constants = subsegmentsOf(root.table(Field.program.constantSegment))
    this.mutable = root.tables(Field.program.mutableSegments).map(subsegmentsOf)
    this.name(file, Field.program.namedData)
    for (const other of others)
      guarded(other.label, () => {
        if (!features.dataFiles) throw absent('the reader of .ptd files', 'UNSUPPORTED_FILE')
        this.name(SegmentedFile.flatTensor(FilePart.whole(other), budget), Field.flatTensor.namedData)
      })
  }

  private name(file: SegmentedFile, field: number): void {
    for (const entry of file.root.tables(field)) {
      const key = entry.text(Field.namedData.key)
      const index = entry.uint32(Field.namedData.segment)
      if (this.named.has(key)) continue
      const part = (): FilePart => file.segment(index)
      this.named.set(key, part)
      if (file !== this.file) this.others.push([key, part])
    }
  }

  /** The bytes of constant number `index`, `size` of them. */
  constant(index: number, size: number): FilePart {
    if (this.constants.offsets.length > 1 || this.inline.length === 0) return this.inSegment(this.constants, index, size, 'constant')
    const table = this.inline[index]
    if (table === undefined) throw damaged(`it refers to constant ${index}; there are ${this.inline.length}`)
    return this.inlineBytes(table, `constant ${index}`).part(0, size)
  }

  /** The first value of a mutable tensor. */
  initial(segment: number, index: number, size: number): FilePart {
    const offsets = this.mutable[segment]
    if (offsets === undefined) throw damaged(`it refers to initial values number ${segment}; there are ${this.mutable.length}`)
    return this.inSegment(offsets, index, size, 'initial value')
  }

  /** Data by name, from the program's file or one beside it; undefined where none has them. */
  find(key: string): FilePart | undefined {
    return this.named.get(key)?.()
  }

  /** The payload of a delegate. */
  payload(reference: FlatTable | null): FilePart {
    if (reference === null) throw damaged('a delegate has no payload')
    const index = reference.uint32(Field.processed.index)
    if (reference.int8(Field.processed.location) === Location.segment) return this.file.segment(index)
    const table = this.root.tables(Field.program.delegateData)[index]
    if (table === undefined) throw damaged(`a delegate refers to payload ${index}, which there is not`)
    return this.inlineBytes(table, `payload ${index}`)
  }

  /** What there is beside the flatbuffer's tables, segment by segment, and of other files what has a name. */
  sections(): SectionInfo[] {
    if (!features.inspection) return []
    const { root, file } = this
    const names = new Map<number, string>()
    if (this.constants.offsets.length > 1) names.set(this.constants.segment, 'constants')
    for (const { segment } of this.mutable) names.set(segment, 'initial values')
    for (const plan of root.tables(Field.program.plans))
      for (const delegate of plan.tables(Field.plan.delegates)) {
        const processed = delegate.table(Field.delegate.processed)
        if (processed?.int8(Field.processed.location) !== Location.segment) continue
        names.set(processed.uint32(Field.processed.index), `delegate ${delegate.text(Field.delegate.id)}`)
      }
    for (const entry of root.tables(Field.program.namedData))
      names.set(entry.uint32(Field.namedData.segment), `data ${entry.text(Field.namedData.key)}`)
    const own = root.tables(Field.program.segments).map((_, i) => ({ name: names.get(i) ?? `segment ${i}`, bytes: file.segment(i).size }))
    const inline = [
      ...this.inline.map((table, i) => [`constant ${i}`, table] as const),
      ...root.tables(Field.program.delegateData).map((table, i) => [`delegate payload ${i}`, table] as const),
    ].map(([name, table]) => ({ name, bytes: table.vector(Field.bytes.data, 1).length }))
    return [...inline, ...own, ...this.others.map(([key, part]) => ({ name: `data ${key} (.ptd)`, bytes: part().size }))].filter(
      ({ bytes }) => bytes > 0,
    )
  }

  private inSegment({ segment, offsets }: Subsegments, index: number, size: number, what: string): FilePart {
    const offset = offsets[index]
    if (offset === undefined) throw damaged(`it refers to ${what} ${index}; there are ${offsets.length}`)
    return guarded(`${what} ${index}`, () => this.file.segment(segment).part(offset, size))
  }

  private inlineBytes(table: FlatTable, what: string): FilePart {
    const { start, length } = table.vector(Field.bytes.data, 1)
    return guarded(what, () => this.part.part(start, length))
  }
}

interface Subsegments {
  readonly segment: number
  readonly offsets: readonly number[]
}

function subsegmentsOf(table: FlatTable | null): Subsegments {
  if (table === null) return { segment: 0, offsets: [] }
  const { reader } = table
  const { segment, offsets } = Field.subsegments
  return { segment: table.uint32(segment), offsets: table.list(offsets, 8, (at) => offsetOf(reader.int64(at))) }
}
