import { ALGORITHMS, type Numbers } from './algorithms.js'
import { SPARSE_CALL as CALL } from './calls.js'
import type { Code } from './code.js'
import { Floats, type Level } from './floats.js'
import { LANES, loadRest, storeRest } from './transfer.js'
import type { Local, Value } from './values.js'

/** A step behind the sums, on the result of the one before. */
export interface SparseStep extends Numbers {
  /** A name of JitAlgorithm. */
  readonly op: string
  /** How the second operand of a binary step is read: of the result's shape, one value per output channel, or one. */
  readonly access: 'full' | 'row' | 'scalar'
}

/** What code of a block-sparse product is generated from: blocks of 16 output channels, whose places are data. */
export interface SparseProduct {
  /** The result is [n, m] and not [m, n]. */
  readonly isChannelMajor: boolean
  /** Of a panel; a multiple of 4 where the result is channel-major. */
  readonly rows: number
  /** Sums that blocks go to in turns. */
  readonly turns: number
  readonly hasBias: boolean
  /** Weights are bfloat16. */
  readonly hasHalves: boolean
  readonly steps: readonly SparseStep[]
}

const BLOCK = 16
const BLOCK_VECTORS = BLOCK / LANES
/** Sums at a time, of the registers that engines have: 16 on x86, one of which they keep. */
const SUMS = 8
/** Instructions of a chain up to which it is written once for each sum. */
const SHORT_CHAIN = 6

/** A product for one column of blocks over all panels, of the type of SparseFunction. Null where no code can be generated. */
export function sparseProduct(product: SparseProduct, level: Level): Code | null {
  const { isChannelMajor, rows, steps } = product
  if (rows < 1 || (isChannelMajor && rows % LANES !== 0)) return null
  const isFloat = (op: string): boolean => ALGORITHMS[op]?.takes === 'float' && ALGORITHMS[op].gives === 'float'
  if (!steps.every(({ op }) => isFloat(op))) return null
  const e = new Floats(level, ['i32'])
  return new Product(product, e).write()
}

/** How many sums are made at a time: of some rows and some channels, vectors along channels or, where the result is channel-major, along rows. */
interface Tile {
  readonly rows: number
  readonly channels: number
}

/** One vector of a tile, by the numbers of its first row in the call and channel in the column. */
interface Place {
  readonly row: Value
  readonly channel: Value
  /** Of the lanes that exist. */
  readonly count: Local
}

class Product {
  private readonly call: Local
  private readonly lanes: Local
  private readonly m: Local
  /** The first row of the panel at hand. */
  private readonly firstRow: Local
  // of the tile at hand
  private readonly row: Local
  private readonly channel: Local
  /** The address of its rows in the panel. */
  private readonly cursor: Local

  constructor(
    private readonly product: SparseProduct,
    private readonly e: Floats,
  ) {
    this.call = e.parameter(0)
    this.m = e.keep(this.field(CALL.m))
    this.lanes = e.keep(this.field(CALL.lanes))
    this.firstRow = e.keep(e.i32(0))
    this.row = e.keep(e.i32(0))
    this.channel = e.keep(e.i32(0))
    this.cursor = e.keep(e.i32(0))
  }

  write(): Code {
    const { e, firstRow, m, product, row, cursor } = this
    const { rows, isChannelMajor, turns } = product
    const unit = isChannelMajor ? LANES : 1
    const perTile = Math.min(2, rows / unit)
    const across = Math.max(1, Math.min(isChannelMajor ? BLOCK : BLOCK_VECTORS, Math.floor(SUMS / perTile / turns)))
    const tile = { rows: perTile * unit, channels: isChannelMajor ? across : across * LANES }
    const panel = e.keep(this.field(CALL.panels))
    const left = e.keep(e.i32(0))
    e.code.block((end) => {
      e.op('i32.le_s', [m, e.i32(0)]).write()
      e.code.branchIf(end)
      e.code.loop((nextPanel) => {
        e.set(cursor, panel)
        e.set(row, firstRow)
        const whole = Math.floor(rows / tile.rows)
        e.code.block((done) => {
          e.set(left, e.i32(whole))
          e.code.loop((next) => {
            this.column(tile)
            e.set(row, e.op('i32.add', [row, e.i32(tile.rows)]))
            e.op('i32.ge_s', [row, m]).write()
            e.code.branchIf(done)
            e.set(cursor, e.op('i32.add', [cursor, e.i32(4 * tile.rows)]))
            e.set(left, e.op('i32.sub', [left, e.i32(1)]))
            left.write()
            e.code.branchIf(next)
          })
          if (rows > whole * tile.rows) this.column({ ...tile, rows: rows - whole * tile.rows })
        })
        e.set(panel, e.op('i32.add', [panel, this.field(CALL.panelBytes)]))
        e.set(firstRow, e.op('i32.add', [firstRow, e.i32(rows)]))
        e.op('i32.lt_s', [firstRow, m]).write()
        e.code.branchIf(nextPanel)
      })
    })
    return e.code
  }

  private field(offset: number): Value {
    return this.e.op('i32.load', [this.call], { offset })
  }

  /** All channels of the rows at hand. */
  private column(tile: Tile): void {
    const { e, channel, lanes } = this
    e.set(channel, e.i32(0))
    e.code.loop((next) => {
      e.code.scoped(() => this.finish(tile, this.sums(tile)))
      if (tile.channels === BLOCK) return
      e.set(channel, e.op('i32.add', [channel, e.i32(tile.channels)]))
      e.op('i32.lt_s', [channel, lanes]).write()
      e.code.branchIf(next)
    })
  }

  /** The places of a tile's vectors from its first one, in the order of its sums. */
  private places({ rows, channels }: Tile): { readonly row: number; readonly channel: number }[] {
    const { isChannelMajor } = this.product
    const [far, near] = isChannelMajor ? [channels, rows] : [rows, channels]
    const places: { row: number; channel: number }[] = []
    for (let i = 0; i < far; i++) {
      for (let j = 0; j < near; j += LANES) places.push(isChannelMajor ? { row: j, channel: i } : { row: i, channel: j })
    }
    return places
  }

  private sums(tile: Tile): Local[] {
    const { e, product } = this
    const { turns, hasBias } = product
    const places = this.places(tile)
    const bias = hasBias ? this.bias(tile) : []
    const first = places.map(({ channel }) => e.keep(hasBias ? bias[channel]! : e.f32(0)))
    const sums = [first, ...Array.from({ length: turns - 1 }, () => places.map(() => e.keep(e.f32(0))))]
    const left = e.keep(this.field(CALL.blocks))
    const offsets = e.keep(this.field(CALL.offsets))
    const values = e.keep(
      e.op('i32.add', [this.field(CALL.values), e.op('i32.mul', [this.channel, e.i32(this.product.hasHalves ? 2 : 4)])]),
    )
    const round = (blocks: number): void =>
      e.code.block((done) => {
        e.code.loop((again) => {
          e.op('i32.lt_s', [left, e.i32(blocks)]).write()
          e.code.branchIf(done)
          for (let i = 0; i < blocks; i++) e.code.scoped(() => this.block(tile, sums[i]!, offsets, values, i))
          e.set(offsets, e.op('i32.add', [offsets, e.i32(4 * blocks)]))
          e.set(values, e.op('i32.add', [values, e.i32(this.blockBytes * blocks)]))
          e.set(left, e.op('i32.sub', [left, e.i32(blocks)]))
          e.code.branch(again)
        })
      })
    if (turns > 1) round(turns)
    round(1)
    for (const other of sums.slice(1)) other.forEach((sum, i) => e.set(first[i]!, e.add(first[i]!, sum)))
    return first
  }

  private get blockBytes(): number {
    return BLOCK * (this.product.hasHalves ? 2 : 4)
  }

  /** Adds the products of block `i` from where the cursors are. */
  private block({ rows, channels }: Tile, sums: readonly Local[], offsets: Local, values: Local, i: number): void {
    const { e } = this
    const { isChannelMajor } = this.product
    const from = e.keep(e.op('i32.add', [this.cursor, e.op('i32.load', [offsets], { offset: 4 * i })]))
    const at = this.blockBytes * i
    let sum = 0
    const add = (weight: Value, activation: Value): void => {
      const to = sums[sum++]!
      e.set(to, e.multiplyAdd(weight, activation, to))
    }
    if (isChannelMajor) {
      const activations = Array.from({ length: rows / LANES }, (_, v) => e.keep(e.op('v128.load', [from], { offset: 16 * v })))
      for (let c = 0; c < channels; c++) {
        const weight = e.keep(this.oneWeight(values, at, c))
        for (const activation of activations) add(weight, activation)
      }
    } else {
      const weights = Array.from({ length: channels / LANES }, (_, v) => e.keep(this.weights(values, at, v * LANES)))
      for (let r = 0; r < rows; r++) {
        const activation = e.keep(e.op('v128.load32_splat', [from], { offset: 4 * r }))
        for (const weight of weights) add(weight, activation)
      }
    }
  }

  private oneWeight(values: Local, at: number, channel: number): Value {
    const { e } = this
    if (!this.product.hasHalves) return e.op('v128.load32_splat', [values], { offset: at + 4 * channel })
    return e.and(e.op('v128.load16_splat', [values], { offset: at + 2 * channel }), e.bits(0xffff0000))
  }

  private weights(values: Local, at: number, channel: number): Value {
    const { e } = this
    if (!this.product.hasHalves) return e.op('v128.load', [values], { offset: at + 4 * channel })
    const halves = e.op('v128.load64_zero', [values], { offset: at + 2 * channel })
    return e.shiftLeft(e.op('i32x4.extend_low_i16x8_u', [halves]), 16)
  }

  /** Of the channels of a tile that begin a vector, or of each; zero where there is none. By number from its first channel. */
  private bias({ channels }: Tile): Local[] {
    const { e, lanes, channel } = this
    const at = e.keep(e.op('i32.add', [this.field(CALL.bias), e.op('i32.shl', [channel, e.i32(2)])]))
    const left = e.keep(e.op('i32.sub', [lanes, channel]))
    const result: Local[] = []
    for (let c = 0; c < channels; c += this.product.isChannelMajor ? 1 : LANES) {
      const x = e.keep(e.f32(0))
      if (this.product.isChannelMajor) {
        e.op('i32.gt_s', [left, e.i32(c)]).write()
        e.code.when(() => e.set(x, e.op('v128.load32_splat', [at], { offset: 4 * c })))
      } else {
        this.byCount(e.keep(e.op('i32.sub', [left, e.i32(c)])), (rest) => {
          if (rest === null) e.set(x, e.op('v128.load', [at], { offset: 4 * c }))
          else e.set(x, loadRest(e, e.keep(e.op('i32.add', [at, e.i32(4 * c)])), rest, 'float32'))
        })
      }
      result[c] = x
    }
    return result
  }

  /** Whole vectors where `count` is 4 and more, a rest where it is 1 to 3, else nothing. */
  private byCount(count: Local, write: (rest: Local | null) => void): void {
    const { e } = this
    e.op('i32.ge_s', [count, e.i32(LANES)]).write()
    e.code.when(
      () => e.code.scoped(() => write(null)),
      () => {
        e.op('i32.gt_s', [count, e.i32(0)]).write()
        e.code.when(() => e.code.scoped(() => write(count)))
      },
    )
  }

  /** Post-ops and stores: written for each sum where they are short, else in a loop through which the sums move up. */
  private finish(tile: Tile, sums: readonly Local[]): void {
    const { e, lanes, m } = this
    const { isChannelMajor, steps } = this.product
    const places = this.places(tile)
    const one = (row: Local, channel: Local, sum: Local): void => {
      e.op('i32.and', [e.op('i32.lt_s', [row, m]), e.op('i32.lt_s', [channel, lanes])]).write()
      e.code.when(() => {
        e.code.scoped(() => {
          const count = e.keep(isChannelMajor ? e.op('i32.sub', [m, row]) : e.op('i32.sub', [lanes, channel]))
          this.vector({ row, channel, count }, sum)
        })
      })
    }
    const size = steps.reduce((total, { op }) => total + ALGORITHMS[op]!.size, 0)
    const after = (from: Local, by: number): Local => (by === 0 ? from : e.keep(e.op('i32.add', [from, e.i32(by)])))
    if (size <= SHORT_CHAIN) {
      places.forEach(({ row, channel }, i) => e.code.scoped(() => one(after(this.row, row), after(this.channel, channel), sums[i]!)))
      return
    }
    const row = e.keep(this.row)
    const channel = e.keep(this.channel)
    const [near, far, start] = isChannelMajor ? [row, channel, this.row] : [channel, row, this.channel]
    const end = e.keep(e.op('i32.add', [near, e.i32(isChannelMajor ? tile.rows : tile.channels)]))
    const left = e.keep(e.i32(places.length))
    e.code.loop((again) => {
      one(row, channel, sums[0]!)
      for (let i = 1; i < sums.length; i++) e.set(sums[i - 1]!, sums[i]!)
      e.set(near, e.op('i32.add', [near, e.i32(LANES)]))
      e.op('i32.ge_s', [near, end]).write()
      e.code.when(() => {
        e.set(near, start)
        e.set(far, e.op('i32.add', [far, e.i32(1)]))
      })
      e.set(left, e.op('i32.sub', [left, e.i32(1)]))
      left.write()
      e.code.branchIf(again)
    })
  }

  private vector(place: Place, sum: Local): void {
    const { e } = this
    const address = this.address(this.field(CALL.out), this.field(CALL.outBytes), place)
    this.byCount(place.count, (rest) => {
      const result = this.postOps(place, sum, rest)
      const at = e.keep(address)
      if (rest === null) e.do('v128.store', [at, result])
      else storeRest(e, at, rest, result, 'float32', false)
    })
  }

  /** Of a vector in a tensor that begins at the column and the call's first row. */
  private address(base: Value, step: Value, { row, channel }: Place): Value {
    const { e } = this
    const [far, near] = this.product.isChannelMajor ? [channel, row] : [row, channel]
    return e.op('i32.add', [e.op('i32.add', [base, e.op('i32.mul', [far, step])]), e.op('i32.shl', [near, e.i32(2)])])
  }

  private postOps(place: Place, sum: Local, rest: Local | null): Local {
    const { e } = this
    return this.product.steps.reduce((x, step, i) => {
      const { unary, binary } = ALGORITHMS[step.op]!
      return e.keep(unary !== undefined ? unary(e, x, step) : binary!(e, x, this.operand(step, i, place, rest)))
    }, sum)
  }

  private operand({ access }: SparseStep, i: number, place: Place, rest: Local | null): Local {
    const { e } = this
    const base = this.field(CALL.operands + 4 * i)
    if (access === 'scalar') return e.keep(e.op('v128.load32_splat', [base]))
    if (access === 'row') {
      const at = e.op('i32.add', [base, e.op('i32.shl', [place.channel, e.i32(2)])])
      if (this.product.isChannelMajor) return e.keep(e.op('v128.load32_splat', [at]))
      return rest === null ? e.keep(e.op('v128.load', [at])) : loadRest(e, e.keep(at), rest, 'float32')
    }
    const at = this.address(base, this.field(CALL.operandBytes + 8 * i), place)
    return rest === null ? e.keep(e.op('v128.load', [at])) : loadRest(e, e.keep(at), rest, 'float32')
  }
}
