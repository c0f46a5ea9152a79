import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { cpu } from '../../../src/index.js'

// Kernels whose instructions most machines lack, run with these instructions emulated and everything else real.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PROGRAMS = [
  { source: 'int8.cpp', levels: ['AVX2_VNNI', 'AVX512_VNNI', 'AMX'] },
  { source: 'int8_depthwise.cpp', levels: ['AVX2_VNNI', 'AVX512_VNNI'] },
  { source: 'bfloat16.cpp', levels: ['AVX512_BF16', 'AMX'] },
  { source: 'packed.cpp', levels: ['AVX2_VNNI', 'AVX512_VNNI', 'AVX512_BF16', 'AMX'] },
  { source: 'half.cpp', levels: ['AVX512_FP16'] },
]

interface Row {
  readonly upon: string
  readonly flags: readonly string[]
}

type Ladder = ReadonlyMap<string, Row>

const rowsOf = (processor: string): Ladder =>
  new Map(
    readFileSync(join(ROOT, 'kernels/arch', processor, 'isa/ladder.txt'), 'utf8')
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map((cells) => [cells[0]!, { upon: cells[1]!, flags: cells.at(-1)!.split(/\s+/) }]),
  )

const ladder = rowsOf('x86')

/** The levels that `level` contains, itself first. */
function chain(level: string, of: Ladder = ladder): string[] {
  const row = of.get(level)
  return row === undefined ? [] : [level, ...chain(row.upon, of)]
}

/** Levels whose instructions are not emulated. */
const REAL = ['DEFAULT', 'AVX2', 'AVX512']

interface Target {
  readonly processor: string
  /** Of the levels that it contains, itself first. */
  readonly levels: readonly string[]
  readonly flags: readonly string[]
  /** Where isa_levels.h is. */
  readonly generated: string
}

function x86(level: string): Target {
  const levels = chain(level)
  const flags = levels.filter((name) => REAL.includes(name)).flatMap((name) => ladder.get(name)!.flags)
  return { processor: 'x86', levels, flags: flags.filter((f) => f !== '-march=x86-64'), generated: join(ROOT, 'build/generated') }
}

function compilerArguments(source: string, { processor, levels, flags, generated }: Target, program: string): string[] {
  const include = ['kernels', `kernels/arch/${processor}`, 'kernels/arch/generic', 'kernels/include', 'kernels/generated'].map(
    (folder) => `-I${join(ROOT, folder)}`,
  )
  const defined = [`-DCPU_CAPABILITY=${levels[0]!}`, ...levels.map((name) => `-DCPU_CAPABILITY_${name}`)]
  const path = join(ROOT, 'test/native/emulated', source)
  return ['-std=gnu++17', '-O1', '-fwrapv', '-Wno-psabi', ...flags, ...defined, ...include, `-I${generated}`, path, '-o', program]
}

const compiler = process.env['CXX'] ?? 'g++'
const noCompiler = spawnSync(compiler, ['--version']).status === 0 ? null : `not run: there is no ${compiler}`
const folder = mkdtempSync(join(tmpdir(), 'ptlite-emulated-'))
t.teardown(() => {
  rmSync(folder, { recursive: true })
})

async function compileAndRun(
  t: Test,
  source: string,
  target: Target,
  program: string,
  by = compiler,
  runner: readonly string[] = [],
): Promise<void> {
  await promisify(execFile)(by, compilerArguments(source, target, program))
  const [command = program, ...args] = [...runner, program]
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  t.equal(status, 0, `${stdout}${stderr}`)
  t.match(stdout, /^[1-9]\d* cases, 0 wrong elements$/m)
}

for (const { source, levels } of PROGRAMS) {
  for (const level of levels) {
    const base = chain(level).find((name) => REAL.includes(name))!
    const missing = cpu.report().levels.find(({ name, inCpu }) => name === base && !inCpu)
    const skip = noCompiler ?? (missing === undefined ? false : `not run: ${missing.reason}`)
    t.test(`${source} at ${level}`, { skip }, async (t) => {
      const program = join(folder, `${source}-${level}`)
      await compileAndRun(t, source, x86(level), program)
    })
  }
}

// what arch/generic has for processors that nothing else is written for
for (const source of ['int8.cpp', 'int8_depthwise.cpp', 'bfloat16.cpp', 'packed.cpp']) {
  t.test(`${source} on any processor`, { skip: noCompiler ?? false }, async (t) => {
    const cwd = t.testdir({})
    await promisify(execFile)('cmake', ['-DPTLITE_ARCH=generic', '-P', join(ROOT, 'kernels/arch/Levels.cmake')], { cwd })
    const target = { processor: 'generic', levels: ['DEFAULT'], flags: [], generated: join(cwd, 'generated') }
    await compileAndRun(t, source, target, join(folder, `${source}-generic`))
  })
}

const armCompiler = 'aarch64-linux-gnu-g++'
const noArm = [armCompiler, 'qemu-aarch64-static'].find((tool) => spawnSync(tool, ['--version']).status !== 0)

for (const level of ['DOTPROD', 'I8MM', 'BF16']) {
  t.test(`packed.cpp at ${level} of Arm`, { skip: noArm === undefined ? false : `not run: there is no ${noArm}` }, async (t) => {
    const cwd = t.testdir({})
    await promisify(execFile)(
      'cmake',
      ['-DPTLITE_ARCH=arm', '-DCMAKE_CXX_COMPILER_VERSION=12.2.0', '-P', join(ROOT, 'kernels/arch/Levels.cmake')],
      {
        cwd,
      },
    )
    const arm = rowsOf('arm')
    const levels = chain(level, arm)
    const flags = [...levels].reverse().flatMap((name) => arm.get(name)!.flags)
    const target = { processor: 'arm', levels, flags: [...flags, '-static'], generated: join(cwd, 'generated') }
    await compileAndRun(t, 'packed.cpp', target, join(folder, `packed-${level}`), armCompiler, ['qemu-aarch64-static', '-cpu', 'max'])
  })
}
