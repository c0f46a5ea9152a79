import type { Kernel } from '../kernel.js'

const KERNELS: Readonly<Record<string, Kernel>> = {}

export function llamaKernel(name: string): Kernel | undefined {
  return Object.hasOwn(KERNELS, name) ? KERNELS[name] : undefined
}
