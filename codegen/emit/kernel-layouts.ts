import type { FrameField, Kernel, KernelAbi, ScalarKind } from '../kernel-abi/model.js'
import { banner, KERNEL_INPUTS } from './file.js'

const LETTER: Record<ScalarKind, string> = { ptr: 'p', i32: 'i', i64: 'l', f32: 'f', f64: 'd' }

/**
 * runtime/native/generated/layouts.ts: what the frames hold, as text that is parsed only when a run is captured. One line per
 * kernel, in the order of ids: `name[!] field:type ... > result:type ...`, `!` where it takes JavaScript memory; types are p i l f d
 * for ptr i32 i64 f32 f64, followed by the length of an array.
 */
export function emitKernelLayouts(abi: KernelAbi): string {
  const lines = abi.kernels.map((k) => `${line(k)}\n`).join('')
  return `${banner('kernel-layouts.ts', KERNEL_INPUTS)}export const KERNEL_LAYOUTS = \`${lines}\`\n`
}

function line(kernel: Kernel): string {
  const results = kernel.results.length === 0 ? [] : ['>', ...kernel.results.map(member)]
  return [`${kernel.name}${kernel.host ? '!' : ''}`, ...kernel.fields.map(member), ...results].join(' ')
}

function member(field: FrameField): string {
  return `${field.name}:${LETTER[field.kind]}${field.length ?? ''}`
}
