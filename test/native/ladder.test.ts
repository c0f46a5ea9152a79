import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { cpu } from '../../src/index.js'

/** What CMake makes of the ladder, without compiling anything. */

const SCRIPT = fileURLToPath(new URL('../../kernels/arch/Levels.cmake', import.meta.url))

/** Levels by name, 1 where a library built with g++ of this version has them; and what CMake says. */
function ladderFor(cwd: string, compiler: string, processor = 'x86'): { built: Record<string, string>; said: string } {
  const said = execFileSync('cmake', [`-DPTLITE_ARCH=${processor}`, `-DCMAKE_CXX_COMPILER_VERSION=${compiler}`, '-P', SCRIPT], {
    cwd,
    encoding: 'utf8',
  })
  const header = readFileSync(`${cwd}/generated/isa_levels.h`, 'utf8')
  const rows = [...header.matchAll(/^ {2}X\((\w+), ([01]),/gm)]
  return { built: Object.fromEntries(rows.map(([, name, built]) => [name!, built!])), said }
}

t.test('a compiler too old for a level leaves it out and says so', (t) => {
  const levels = cpu.report().levels.map(({ name }) => name)
  const missing: Readonly<Record<string, readonly string[]>> = {
    '12.2.0': [],
    '12.0.1': ['AVX512_FP16'],
    '11.1.0': ['AVX2_VNNI', 'AMX', 'AVX512_FP16'],
    '10.2.1': ['AVX2_VNNI', 'AVX512_BF16', 'AMX', 'AVX512_FP16'],
    '9.1.0': ['AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16', 'AMX', 'AVX512_FP16'],
  }
  for (const [compiler, names] of Object.entries(missing)) {
    const { built, said } = ladderFor(t.testdir({}), compiler)
    t.strictSame(Object.keys(built), levels)
    t.strictSame(
      levels.filter((name) => built[name] === '0'),
      names,
      compiler,
    )
    for (const name of names)
      t.match(said, new RegExp(`ISA level ${name} left out: it (needs g\\+\\+ [0-9.]+, found ${compiler}|builds upon)`))
    t.equal(said.match(/left out/g)?.length ?? 0, names.length + (said.match(/which is left out/g)?.length ?? 0))
  }
  t.end()
})

t.test('on 64-bit Arm, too', (t) => {
  const missing: Readonly<Record<string, readonly string[]>> = {
    '12.2.0': [],
    '9.3.0': ['I8MM', 'BF16', 'SVE'],
    '7.5.0': ['DOTPROD', 'FP16', 'I8MM', 'BF16', 'SVE'],
  }
  for (const [compiler, names] of Object.entries(missing)) {
    const { built } = ladderFor(t.testdir({}), compiler, 'arm')
    t.strictSame(Object.keys(built), ['DEFAULT', 'DOTPROD', 'FP16', 'I8MM', 'BF16', 'SVE'])
    t.strictSame(
      Object.keys(built).filter((name) => built[name] === '0'),
      names,
      compiler,
    )
  }
  t.end()
})
