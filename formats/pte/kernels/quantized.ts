import type { Kernel } from '../kernel.js'

const KERNELS: Readonly<Record<string, Kernel>> = {}

export function quantizedKernel(name: string): Kernel | undefined {
  return Object.hasOwn(KERNELS, name) ? KERNELS[name] : undefined
}
