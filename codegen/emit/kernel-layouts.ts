import type { Access, Effect, FrameField, InPlace, Kernel, KernelAbi, ScalarKind } from '../kernel-abi/model.js'
import { banner, KERNEL_INPUTS } from './file.js'

const LETTER: Record<ScalarKind, string> = { ptr: 'p', i32: 'i', i64: 'l', f32: 'f', f64: 'd' }
const ACCESS: Record<Access, string> = { in: 'r', out: 'w', 'in-out': 'x' }
const IN_PLACE: Record<InPlace, string> = { always: 'R', dense: 'D' }
const EFFECT: Record<Effect, string> = { allocation: 'A', process: 'P' }

/**
 * runtime/native/generated/layouts.ts: what the frames hold, as text that is parsed only when a run is captured. One line per
 * kernel, in the order of ids: `name[!facts] field:type ... > result:type ...`; types are i l f d p for i32 i64 f32 f64 and addresses that are
 * results, r w x for those that are given with access in, out and in-out, R and D for operands whose place the output may take, always and where they are dense, followed by the length of an array. Facts are r w x for JavaScript
 * memory, R for random, T for total, A and P for effects, and at the end the option of passes.
 */
export function emitKernelLayouts(abi: KernelAbi): string {
  const lines = abi.kernels.map((k) => `${line(k)}\n`).join('')
  return `${banner('kernel-layouts.ts', KERNEL_INPUTS)}export const KERNEL_LAYOUTS = \`${lines}\`\n`
}

function line(kernel: Kernel): string {
  const { host, random, total, effect, option } = kernel
  const facts = [
    host === null ? '' : ACCESS[host],
    random ? 'R' : '',
    total ? 'T' : '',
    effect === null ? '' : EFFECT[effect],
    option === null ? '' : `:${option}`,
  ]
  const text = facts.join('')
  const results = kernel.results.length === 0 ? [] : ['>', ...kernel.results.map(member)]
  return [`${kernel.name}${text === '' ? '' : `!${text}`}`, ...kernel.fields.map(member), ...results].join(' ')
}

function member({ name, kind, access, inPlace, length }: FrameField): string {
  const letter = inPlace !== null ? IN_PLACE[inPlace] : access !== null ? ACCESS[access] : LETTER[kind]
  return `${name}:${letter}${length ?? ''}`
}
