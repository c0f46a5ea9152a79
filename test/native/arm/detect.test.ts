import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

/** Which levels CPUs of 64-bit Arm have, by what Linux reports of them; the decision is compiled for this machine. */

const KERNELS = fileURLToPath(new URL('../../../kernels/', import.meta.url))
const PROGRAM = fileURLToPath(new URL('detect.cpp', import.meta.url))

/** HWCAP and HWCAP2 by /proc/cpuinfo of machines, and the levels of these. */
const CPUS: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  'Cortex-A53': ['ff,0', ['DEFAULT']],
  // fphp and asimdhp without asimddp
  'Cortex-A75 of the first revision': ['7ff,0', ['DEFAULT']],
  'Cortex-A75 of the first revision with asimdrdm': ['17ff,0', ['DEFAULT', 'FP16']],
  'Neoverse N1': ['10119fff,0', ['DEFAULT', 'DOTPROD', 'FP16']],
  'Neoverse V1': ['ffffffff,3e6f20', ['DEFAULT', 'DOTPROD', 'FP16', 'I8MM', 'BF16', 'SVE']],
  'one with products of matrices and no bfloat16': ['10119fff,2000', ['DEFAULT', 'DOTPROD', 'FP16', 'I8MM']],
  'one that hides what comes with armv8.1': ['10118eff,6000', ['DEFAULT']],
  'one that reports nothing': ['0,0', ['DEFAULT']],
}

t.test('levels follow from what the system reports', (t) => {
  const folder = t.testdir({})
  execFileSync('cmake', ['-DPTLITE_ARCH=arm', '-DCMAKE_CXX_COMPILER_VERSION=12.2.0', '-P', `${KERNELS}arch/Levels.cmake`], {
    cwd: folder,
    stdio: 'pipe',
  })
  const include = [KERNELS, `${KERNELS}arch/arm`, `${KERNELS}include`, `${KERNELS}generated`, `${folder}/generated`].map(
    (path) => `-I${path}`,
  )
  const sources = ['dispatch/levels.cpp', 'arch/arm/isa/host.cpp', 'os/linux/machine.cpp', 'os/linux/threads.cpp']
  const program = `${folder}/detect`
  execFileSync('g++', ['-std=gnu++17', ...include, PROGRAM, ...sources.map((name) => KERNELS + name), '-o', program], { stdio: 'pipe' })
  const lines = execFileSync(
    program,
    Object.values(CPUS).map(([reported]) => reported),
    { encoding: 'utf8' },
  )
    .trim()
    .split('\n')
  Object.entries(CPUS).forEach(([name, [, levels]], i) => t.strictSame(lines[i]!.trim().split(' '), levels, name))
  t.end()
})
