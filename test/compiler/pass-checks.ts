import type { Test } from 'tap'
import { GraphRunner } from '../../compiler/graph/execute.js'
import type { Graph, TensorType } from '../../compiler/graph/graph.js'
import { parseGraph } from '../../compiler/graph/parse.js'
import { printGraph } from '../../compiler/graph/print.js'
import { verifyGraph } from '../../compiler/graph/verify.js'
import { callOf } from '../../compiler/graph/compiled.js'
import { canonical } from '../../compiler/passes/canonical/canonical.js'
import { deadCode } from '../../compiler/passes/canonical/dead-code.js'
import type { Pass } from '../../compiler/passes/pass.js'
import { hostTarget } from '../../compiler/target/host.js'
import { castTo } from '../../runtime/operators/support/copy.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { isHalf } from '../../runtime/tensor/half.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import type { CustomObject } from '../../runtime/tensor/value.js'
import { tensor } from '../../src/index.js'

/** This machine. */
export const HOST = hostTarget()

let seed = 1
/** Numbers from -1.5 to 2.5. */
export function random(shape: number[]): Tensor {
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return (seed / 2 ** 32) * 4 - 1.5
  })
  return tensor(data, shape)
}

/** The same of a dtype of few bits; integers are 40 times as large. */
function randomOf({ dtype, shape }: TensorType): Tensor {
  const numbers = random([...shape])
  if (dtype === DType.int8)
    return castTo(
      tensor(
        (numbers.data() as Float32Array).map((x) => 40 * x),
        [...shape],
      ),
      dtype,
    )
  return isHalf(dtype) ? castTo(numbers, dtype) : numbers
}

/** Operators that compute the graph's nodes, in order, with a `+` behind those that go on with steps. */
export const operators = (graph: Graph): string[] =>
  graph.nodes.map((node) => `${callOf(node).op}${'post' in node && node.post !== null ? ' +' : ''}`)

/** Runs a pass and leaves out what it made superfluous, as the next ones do. */
export const cleaned = (pass: Pass): Pass => ({ name: pass.name, run: (graph) => deadCode.run(pass.run(graph)) })

/** Passes on canonical operators, as in the pipeline. */
export const onCanonical = (pass: Pass, before?: Pass): Pass =>
  cleaned({
    name: pass.name,
    run: (graph) => {
      const started = canonical.run(graph)
      return pass.run(before?.run(started) ?? started)
    },
  })

/** A graph of operators on values of one shape: input %0, then a line for each call; the last one is returned. */
export function chain(shape: string, calls: readonly string[], constants = ''): string {
  const lines = calls.map((call, i) => {
    const [text, type = shape] = call.split(' : ') as [string, string?]
    return `%${i + 1}: float32[${type}] @${i + 1} = aten::${text}\n`
  })
  return `input %0: float32[${shape}] @0\n${constants}${lines.join('')}return %${calls.length}\n`
}

/** What constants and objects of graphs in text stand for. */
type Named<T> = Readonly<Record<string, T>>

export interface PassChecks {
  readonly parse: (text: string) => Graph
  /** Checks which operators a pass leaves, and that outputs stay within `bound` of the largest value; with 0 they keep their bits. */
  readonly check: (t: Test, pass: Pass, text: string, left: string[], bound?: number) => Graph
}

export function passChecks(weights: Named<Tensor>, objects: readonly CustomObject[] = []): PassChecks {
  const parse = (text: string): Graph => {
    const graph = parseGraph(text, { constant: (name) => weights[name], object: (index) => objects[index] })
    verifyGraph(graph)
    return graph
  }
  return {
    parse,
    check(t, pass, text, left, bound = 0) {
      seed = 1
      const before = parse(text)
      const after = pass.run(before)
      verifyGraph(after)
      t.strictSame(operators(after), left, printGraph(after))
      for (let run = 0; run < 2; run++) {
        const inputs = [...new Set(before.inputs)].map((id) => randomOf(before.values.get(id)!.type))
        const [want, got] = [before, after].map((graph) => new GraphRunner(graph).run(inputs, true) as Tensor)
        const [a, b] = [want!.data() as Float32Array, got!.data() as Float32Array]
        const scale = a.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
        const off = a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0)
        t.ok(off <= bound * scale, `off by ${off} of ${scale}`)
      }
      return after
    },
  }
}
