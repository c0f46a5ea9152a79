import { fieldsOf } from '../../runtime/bytes.js'
import { latin1TextOf } from '../../runtime/encoding.js'
import { damaged } from '../../program/file-error.js'
import type { FilePart } from '../containers/file-part.js'
import { FlatReader, type FlatTable } from '../containers/flatbuffer/reader.js'
import type { ValueBudget } from '../containers/value-budget.js'
import { Field } from './schema.js'

/** The extended header of a program: what stands behind the identifier, at byte 8. */
const EXTENDED = { magic: 'eh00', at: 8, least: 24, withSegments: 32 }
/** That of a flat tensor file. */
const FLAT_TENSOR = { magic: 'FH01', at: 8, least: 40 }

/** A flatbuffer and the segments that follow it. */
export class SegmentedFile {
  private constructor(
    readonly root: FlatTable,
    private readonly segments: readonly FilePart[],
  ) {}

  /** A `.pte` file, with an extended header or without one, which has no segments. */
  static program(file: FilePart, budget: ValueBudget, objects?: number): SegmentedFile {
    const length = headerLength(file, EXTENDED)
    const size = length === 0 ? file.size : number64(file, 16)
    const base = length === 0 ? 0 : number64(file, 24)
    const flat = file.part(0, size)
    if (length >= EXTENDED.withSegments && base > 0) file.part(base, number64(file, 32))
    const root = new FlatReader(flat, objects, budget, true).root()
    return new SegmentedFile(root, segmentsOf(root, Field.program.segments, file, base))
  }

  /** A `.ptd` file. */
  static flatTensor(file: FilePart, budget: ValueBudget): SegmentedFile {
    if (headerLength(file, FLAT_TENSOR) === 0) throw damaged('it has no header of a .ptd file')
    const [start, size, base] = [number64(file, 16), number64(file, 24), number64(file, 32)]
    // its offsets count from where the flatbuffer begins, which is the start of the file
    if (start !== 0 && file.size < start + size) throw damaged('its header names a flatbuffer outside of it')
    const root = new FlatReader(file.part(0, Math.max(start + size, 8)), undefined, budget, true).root()
    return new SegmentedFile(root, segmentsOf(root, Field.flatTensor.segments, file, base))
  }

  segment(index: number): FilePart {
    const segment = this.segments[index]
    if (segment === undefined) throw damaged(`it refers to segment ${index}; there are ${this.segments.length}`)
    return segment
  }
}

/** 0 where there is no such header. */
function headerLength(file: FilePart, header: { magic: string; at: number; least: number }): number {
  if (file.size < header.at + 8 || latin1TextOf(file.read(header.at, 4)) !== header.magic) return 0
  const length = fieldsOf(file.read(header.at + 4, 4)).getUint32(0, true)
  if (length < header.least || header.at + length > file.size)
    throw damaged(`its header says that it is ${length} bytes long; expected ${header.least} at least`)
  return length
}

function number64(file: FilePart, at: number): number {
  const value = fieldsOf(file.read(at, 8)).getBigUint64(0, true)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged(`its header has the offset or size ${value}`)
  return Number(value)
}

function segmentsOf(root: FlatTable, field: number, file: FilePart, base: number): FilePart[] {
  return root.tables(field).map((segment, i) => {
    const [offset, size] = [offsetOf(segment.int64(Field.segment.offset)), offsetOf(segment.int64(Field.segment.size))]
    // files without segments may have an entry of one
    if (size === 0) return file.part(0, 0)
    if (base === 0) throw damaged(`it has segment ${i}, but no header that says where segments are`)
    return file.part(base + offset, size)
  })
}

/** A 64-bit offset or size as a number. */
export function offsetOf(value: number | bigint): number {
  if (typeof value === 'bigint' || value < 0) throw damaged(`it has the offset or size ${value}`)
  return value
}
