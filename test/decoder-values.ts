import { type Module, type Output, Tensor, tensor } from '../src/index.js'

/** The `i`th of the inputs of `decoder.ptl`. */
export const row = (i: number): Tensor =>
  tensor(
    Float32Array.from({ length: 16 }, (_, k) => Math.sin(3 * i + k)),
    [1, 1, 16],
  )

export const numbers = (output: Output): number[] => (output instanceof Tensor ? Array.from(output.data(), Number) : [output as number])

export const near = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((x, i) => Math.abs(x - b[i]!) <= 1e-5 * Math.max(1, Math.abs(b[i]!)))

/** What its calls change. */
export const state = (m: Module): number[] => ['pos', 'total'].flatMap((name) => numbers(m.getAttribute(name)))
