import { cpu } from '../../native/cpu.js'

/* What a program can ask about the machine and the library. */

/** The level of the kernels in PyTorch's names: DEFAULT, AVX2 or AVX512. Finer levels count as the one that they build upon. */
export function cpu_capability(): string {
  const level = cpu.currentLevel()
  if (level === 'AMX' || level.startsWith('AVX512')) return 'AVX512'
  return level.startsWith('AVX2') ? 'AVX2' : 'DEFAULT'
}

/** False: convolutions have kernels of their own. */
export function nnpack_available(): boolean {
  return false
}
