import { itemSize, type DType } from '../../runtime/tensor/dtype.js'
import type { CapturedFrame, CapturedRun, Pointer } from '../capture/captured.js'
import { fieldOf, type FrameLayout } from '../capture/frame-layout.js'

/** A range of bytes that a frame copies from the start of a buffer into another one. */
interface Copied {
  readonly source: number
  readonly target: number
  /** Bytes from the start of the target. */
  readonly start: number
  readonly bytes: number
  /** Numbers of the copies among those of its frame. */
  readonly parts: readonly number[]
}

interface Place {
  readonly target: number
  readonly start: number
}

/**
 * Lets a buffer that is copied whole into a range of another one lie there from the start: what `cat` joins along its outermost
 * dimension is written into the result by those who make it, and the copy goes.
 *
 *     conv(x) → a;  conv(y) → b;  join_rows(a, b) → c     becomes     conv(x) → c;  conv(y) → c + bytes of a
 *
 * Where a later join copies all that lies in `c`, piece by piece, `c` as a whole lies in its result: the features of a DenseNet, each layer of which
 * joins those of all layers before, are written into one buffer per block.
 */
export function elideCopies(run: CapturedRun): CapturedRun {
  const elision = new CopyElision(run)
  run.frames.forEach((frame, step) => {
    for (const copied of elision.joined(copiesOf(frame))) elision.consider(step, copied)
  })
  return elision.finish()
}

class CopyElision {
  private readonly places = new Map<number, Place>()
  /** Parts of frames that are no longer copied. */
  private readonly done = new Map<number, Set<number>>()
  /** Frames that touch each buffer, in order. */
  private readonly touched: readonly (readonly number[])[]
  /** The last frames that touch each buffer, or one that was placed inside of it, and that do more than read it; -1 where none does. */
  private readonly lastTouch: number[]
  private readonly lastWrite: number[]

  constructor(private readonly run: CapturedRun) {
    const touched: number[][] = run.buffers.map(() => [])
    this.lastWrite = run.buffers.map(() => -1)
    run.frames.forEach((frame, step) => {
      for (const pointer of frame.pointers) {
        const { target } = pointer
        if (target.kind !== 'buffer') continue
        if (touched[target.index]!.at(-1) !== step) touched[target.index]!.push(step)
        if (!isRead(frame.layout, pointer)) this.lastWrite[target.index] = step
      }
    })
    this.touched = touched
    this.lastTouch = touched.map((steps) => steps.at(-1) ?? -1)
  }

  /** Copies of pieces that lie one behind the other and fill a buffer, as copies of that buffer. */
  joined(copies: readonly Copied[]): Copied[] {
    const joined: Copied[] = []
    for (let i = 0; i < copies.length; i++) {
      const found = this.wholeFrom(copies, i)
      joined.push(found ?? copies[i]!)
      if (found !== null) i += found.parts.length - 1
    }
    return joined
  }

  private wholeFrom(copies: readonly Copied[], first: number): Copied | null {
    const { source, target, start } = copies[first]!
    const whole = this.placeOf(source).target
    const { bytes } = this.run.buffers[whole]!
    const parts: number[] = []
    let end = 0
    for (let i = first; i < copies.length && end < bytes; i++) {
      const piece = copies[i]!
      const place = this.placeOf(piece.source)
      if (place.target !== whole || place.start !== end || piece.start !== start + end) return null
      parts.push(...piece.parts)
      end += piece.bytes
    }
    return parts.length > 0 && end === bytes && whole !== source ? { source: whole, target, start, bytes, parts } : null
  }

  /** The outermost buffer that a buffer lies in, which may be itself. */
  private placeOf(buffer: number): Place {
    let [target, start] = [buffer, 0]
    for (let place = this.places.get(target); place !== undefined; place = this.places.get(target)) {
      target = place.target
      start += place.start
    }
    return { target, start }
  }

  consider(step: number, copied: Copied): void {
    const { source, target, start, parts } = copied
    const { buffers } = this.run
    if (source === target || buffers[source]!.isOutput || this.places.has(source) || buffers[source]!.bytes !== copied.bytes) return
    // written before, by frames other than the copy
    if (this.touched[source]![0]! >= step || !this.isFree(step, copied)) return
    if (this.lastWrite[source]! > step || !this.isReadBetween(target, step, this.lastTouch[source]!)) return
    this.places.set(source, { target, start })
    for (const last of [this.lastTouch, this.lastWrite]) last[target] = Math.max(last[target]!, last[source]!)
    const done = this.done.get(step) ?? new Set()
    for (const part of parts) done.add(part)
    this.done.set(step, done)
  }

  /** True where the range of the target is touched by nothing but this copy up to its step. */
  private isFree(step: number, { target, start, bytes, parts }: Copied): boolean {
    return this.touched[target]!.filter((at) => at <= step).every((at) => {
      const frame = this.run.frames[at]!
      const into = copiesInto(frame, target)
      return (
        into !== null &&
        into.every((other) => (at === step && parts.includes(other.part)) || other.start >= start + bytes || start >= other.end)
      )
    })
  }

  /** True where frames after `step`, up to `last`, only read a buffer. */
  private isReadBetween(buffer: number, step: number, last: number): boolean {
    return this.touched[buffer]!.every((at) => {
      if (at <= step || at > last) return true
      const frame = this.run.frames[at]!
      return frame.pointers.every((p) => p.target.kind !== 'buffer' || p.target.index !== buffer || isRead(frame.layout, p))
    })
  }

  finish(): CapturedRun {
    if (this.places.size === 0) return this.run
    const frames = this.run.frames.flatMap((frame, step) => {
      const done = this.done.get(step)
      const left = done === undefined ? frame : withoutParts(frame, done)
      return left === null ? [] : [{ ...left, pointers: left.pointers.map((p) => this.moved(p)) }]
    })
    return { ...this.run, frames }
  }

  private moved(pointer: Pointer): Pointer {
    let { target, offset } = pointer
    while (target.kind === 'buffer') {
      const place = this.places.get(target.index)
      if (place === undefined) break
      offset += place.start
      target = { kind: 'buffer', index: place.target }
    }
    return target === pointer.target ? pointer : { at: pointer.at, target, offset }
  }
}

/** A buffer that is placed inside of another may be used by nothing else from then on. */
function isRead({ fields }: FrameLayout, { at }: Pointer): boolean {
  for (const { access, offset, count } of fields.values()) if (access === 'in' && at >= offset && at < offset + 8 * count) return true
  return false
}

/** Ranges of a buffer that a frame of copies writes to; null for other frames. */
function copiesInto(frame: CapturedFrame, buffer: number): { start: number; end: number; part: number }[] | null {
  const ranges = rangesOf(frame)
  const out = frame.layout.fields.get('out')
  if (ranges === null || out === undefined) return null
  // what reads the buffer is no copy into it
  const pointers = frame.pointers.filter((p) => p.target.kind === 'buffer' && p.target.index === buffer)
  if (pointers.length !== 1 || pointers[0]!.at !== out.offset) return null
  const base = pointers[0]!.offset
  return ranges.map(({ start, bytes }, part) => ({ start: base + start, end: base + start + bytes, part }))
}

/** Copies by a frame from whole buffers, as far as both ends are dense. */
function copiesOf(frame: CapturedFrame): Copied[] {
  const ranges = rangesOf(frame)
  const out = frame.layout.fields.get('out')
  const from = frame.layout.fields.get('in')
  if (ranges === null || out === undefined || from === undefined) return []
  const into = frame.pointers.find((p) => p.at === out.offset)
  if (into?.target.kind !== 'buffer') return []
  const { index: target } = into.target
  return ranges.flatMap(({ start, bytes }, part) => {
    const pointer = frame.pointers.find((p) => p.at === from.offset + 8 * part)
    if (pointer?.target.kind !== 'buffer' || pointer.offset !== 0) return []
    return [{ source: pointer.target.index, target, start: into.offset + start, bytes, parts: [part] }]
  })
}

/** The dense ranges that a frame copies to, from its output's address on; null for frames that do more than copy such. */
function rangesOf({ layout, bytes }: CapturedFrame): { start: number; bytes: number }[] | null {
  const field = (name: string, index = 0): number => fieldOf(layout, bytes, name, index)
  if (layout.name === 'copy') {
    if (field('ndim') !== 0 || field('out_dtype') !== field('in_dtype')) return null
    return [{ start: 0, bytes: field('n') * itemSize(field('out_dtype') as DType) }]
  }
  if (layout.name !== 'join_rows' || field('outer') !== 1) return null
  return Array.from({ length: field('count') }, (_, i) => ({ start: field('start', i), bytes: field('length', i) }))
}

/** The frame without some of its copies; null where none are left. */
function withoutParts(frame: CapturedFrame, parts: ReadonlySet<number>): CapturedFrame | null {
  const { layout } = frame
  const count = layout.name === 'copy' ? 1 : fieldOf(layout, frame.bytes, 'count')
  const kept = Array.from({ length: count }, (_, i) => i).filter((i) => !parts.has(i))
  if (kept.length === 0) return null
  const bytes = frame.bytes.slice()
  const view = new DataView(bytes.buffer)
  view.setInt32(layout.fields.get('count')!.offset, kept.length, true)
  for (const name of ['start', 'length']) {
    const { offset } = layout.fields.get(name)!
    kept.forEach((from, to) => {
      view.setBigInt64(offset + 8 * to, BigInt(fieldOf(layout, frame.bytes, name, from)), true)
    })
  }
  const { offset } = layout.fields.get('in')!
  const pointers = frame.pointers.flatMap((p) => {
    if (p.at < offset || p.at >= offset + 8 * count) return [p]
    const to = kept.indexOf((p.at - offset) / 8)
    return to < 0 ? [] : [{ ...p, at: offset + 8 * to }]
  })
  return { ...frame, bytes, pointers }
}
