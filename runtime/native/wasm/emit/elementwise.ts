import { ELEMENTWISE_CALL as CALL } from './calls.js'
import type { Code } from './code.js'
import { Floats, type Level } from './floats.js'
import { isValid, sizeOf, type StepGraph, writeSteps } from './step-graph.js'
import { ELEMENT_BYTES, LANES, loadOne, loadRest, loadWhole, storeRest, storeWhole } from './transfer.js'
import type { Local, Value } from './values.js'

/** Vectors that a round of the loop works on: processors find work in the rounds to come, but rounds of few instructions are mostly loop. */
function vectorsPerRound(graph: StepGraph): number {
  const size = sizeOf(graph) + graph.inputs.filter(({ dtype }) => dtype === 'float16').length * 10
  return size > 24 ? 1 : size > 10 ? 2 : 4
}

/** A graph of steps as one loop over rows and columns, of the type of ElementwiseFunction. Null where no code can be generated. */
export function elementwise(graph: StepGraph, level: Level): Code | null {
  if (!isValid(graph)) return null
  return new Elementwise(graph, new Floats(level, ['i32'])).write()
}

/** An address that moves along a row, and from row to row. */
interface Place {
  readonly row: Local
  readonly cursor: Local
  /** Bytes of an element. */
  readonly bytes: number
  /** Bytes from row to row. */
  readonly step: Value
}

class Elementwise {
  private readonly call: Local

  constructor(
    private readonly graph: StepGraph,
    private readonly e: Floats,
  ) {
    this.call = e.parameter(0)
  }

  write(): Code {
    const { e, graph, call } = this
    const { code } = e
    const field = (offset: number): Value => e.op('i32.load', [call], { offset })
    const place = (at: number, step: number, bytes: number): Place => {
      const row = e.keep(field(at))
      return { row, cursor: e.keep(row), bytes, step: field(step) }
    }
    const rows = e.keep(field(CALL.rows))
    const length = e.keep(field(CALL.length))
    const out = place(CALL.out, CALL.outStep, ELEMENT_BYTES[graph.out])
    const inputs = graph.inputs.map(({ dtype }, k) => place(CALL.in + 4 * k, CALL.inStep + 8 * k, ELEMENT_BYTES[dtype]))
    const kept = graph.kept.map(({ dtype }, k) => place(CALL.more + 4 * k, CALL.moreStep + 8 * k, ELEMENT_BYTES[dtype]))
    const all = [out, ...inputs, ...kept]
    const moving = all.filter((p) => !inputs.some((input, k) => input === p && graph.inputs[k]!.isBroadcast))
    const perRound = vectorsPerRound(graph)
    const left = e.keep(length)
    code.block((end) => {
      e.op('i32.le_s', [rows, e.i32(0)]).write()
      code.branchIf(end)
      code.loop((nextRow) => {
        const ones = graph.inputs.map(({ dtype, isBroadcast }, k) => (isBroadcast ? loadOne(e, inputs[k]!.row, dtype) : null))
        for (const { cursor, row } of moving) e.set(cursor, row)
        e.set(left, length)
        const rounds = (vectors: number): void =>
          code.block((done) => {
            code.loop((again) => {
              e.op('i32.lt_s', [left, e.i32(vectors * LANES)]).write()
              code.branchIf(done)
              for (let i = 0; i < vectors; i++) this.vector({ out, inputs, kept, ones, first: i * LANES, rest: null })
              for (const { cursor, bytes } of moving) e.set(cursor, e.op('i32.add', [cursor, e.i32(vectors * LANES * bytes)]))
              e.set(left, e.op('i32.sub', [left, e.i32(vectors * LANES)]))
              code.branch(again)
            })
          })
        if (perRound > 1) rounds(perRound)
        rounds(1)
        e.op('i32.gt_s', [left, e.i32(0)]).write()
        code.when(() => this.vector({ out, inputs, kept, ones, first: 0, rest: left }))
        for (const { row, step } of all) e.set(row, e.op('i32.add', [row, step]))
        e.set(rows, e.op('i32.sub', [rows, e.i32(1)]))
        rows.write()
        code.branchIf(nextRow)
      })
    })
    return code
  }

  /** The steps on the vector that is `first` elements ahead, or on the rest of a row. */
  private vector({ out, inputs, kept, ones, first, rest }: Vector): void {
    const { e, graph } = this
    const { steps } = graph
    const put = (to: Place, value: Local, dtype: StepGraph['out'], step: number): void => {
      const isRounded = steps[step]!.op === 'round_bfloat16'
      if (rest === null) storeWhole(e, to.cursor, value, dtype, isRounded, first * to.bytes)
      else storeRest(e, to.cursor, rest, value, dtype, isRounded)
    }
    const stored: (() => void)[] = []
    e.code.scoped(() => {
      const result = writeSteps(e, graph, {
        load: (k) => {
          const { dtype } = graph.inputs[k]!
          const { cursor, bytes } = inputs[k]!
          return ones[k] ?? (rest === null ? loadWhole(e, cursor, dtype, first * bytes) : loadRest(e, cursor, rest, dtype))
        },
        keep: (k, value) => stored.push(() => put(kept[k]!, value, graph.kept[k]!.dtype, graph.kept[k]!.step)),
      })
      // behind all loads, as an output may lie where an input does
      for (const store of stored) store()
      put(out, result, graph.out, steps.length - 1)
    })
  }
}

interface Vector {
  readonly out: Place
  readonly inputs: readonly Place[]
  readonly kept: readonly Place[]
  /** Inputs that are the same along a row. */
  readonly ones: readonly (Local | null)[]
  readonly first: number
  readonly rest: Local | null
}
