import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { type CpuDump, detectCpu, parseDump } from '../../runtime/native/cpu-dump.js'
import { describeLevels, highestLevel } from '../../runtime/native/cpu-description.js'
import { cpu } from '../../src/index.js'

const FOLDER = fileURLToPath(new URL('fixtures/cpus/', import.meta.url))
const LADDER = ['DEFAULT', 'AVX2', 'AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16', 'AMX', 'AVX512_FP16'] as const
type Level = (typeof LADDER)[number]
const ALL = 0xff

const recorded = (name: string): CpuDump => parseDump(readFileSync(`${FOLDER}${name}.txt`, 'utf8'))

/** The level that a library with the whole ladder uses there. */
function current(dump: CpuDump, capability = '', tiles = true): string {
  return highestLevel(detectCpu(dump, { capability, tiles, levelsHeld: ALL }).levelsInUse)
}

/** The dump with registers of one leaf changed. */
function edited(dump: CpuDump, leaf: number, edit: (registers: number[]) => void): CpuDump {
  const leaves = dump.leaves.map((row) => {
    const copy = [...row]
    if (row[0] === leaf && row[1] === 0) edit(copy)
    return copy
  })
  return { ...dump, leaves }
}

/** Every level that each recorded CPU has, lowest first. */
const CPUS: Readonly<Record<string, readonly Level[]>> = {
  nehalem: ['DEFAULT'],
  haswell: ['DEFAULT', 'AVX2'],
  'skylake-x': ['DEFAULT', 'AVX2', 'AVX512'],
  'cascade-lake': ['DEFAULT', 'AVX2', 'AVX512', 'AVX512_VNNI'],
  'ice-lake': ['DEFAULT', 'AVX2', 'AVX512', 'AVX512_VNNI'],
  'alder-lake': ['DEFAULT', 'AVX2', 'AVX2_VNNI'],
  'alder-lake-avx512': ['DEFAULT', 'AVX2', 'AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16', 'AVX512_FP16'],
  'sapphire-rapids': LADDER,
  zen2: ['DEFAULT', 'AVX2'],
  zen4: ['DEFAULT', 'AVX2', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16'],
  zen5: ['DEFAULT', 'AVX2', 'AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16'],
}

t.test('every recorded CPU has the levels that its instructions make', (t) => {
  t.strictSame(
    readdirSync(FOLDER).sort(),
    Object.keys(CPUS)
      .map((name) => `${name}.txt`)
      .sort(),
  )
  for (const [name, levels] of Object.entries(CPUS)) {
    const found = detectCpu(recorded(name), { levelsHeld: ALL })
    const names = describeLevels(found)
      .filter(({ inUse }) => inUse)
      .map((level) => level.name)
    t.strictSame(names, levels, name)
    t.equal(highestLevel(found.levelsOfCpu), levels.at(-1), name)
  }
  t.end()
})

t.test('ATEN_CPU_CAPABILITY lowers the level to the next that the CPU has, in any case, and never raises it', (t) => {
  for (const [name, levels] of Object.entries(CPUS)) {
    LADDER.forEach((wanted, limit) => {
      const expected = levels.findLast((level) => LADDER.indexOf(level) <= limit)
      const mixed = [...wanted].map((c, i) => (i % 2 === 0 ? c.toLowerCase() : c)).join('')
      for (const form of [wanted, wanted.toLowerCase(), mixed]) t.equal(current(recorded(name), form), expected, `${form} on ${name}`)
    })
  }
  for (const wrong of ['avx', 'avx51', 'avx512_', 'avx5122', ' avx2', 'sse', 'äöü']) {
    t.throws(() => detectCpu(recorded('zen4'), { capability: wrong }), { code: 'INVALID_ARGUMENT' }, wrong)
  }
  t.end()
})

t.test('features without state of the operating system do not count', (t) => {
  const skylake = recorded('skylake-x')
  const sapphire = recorded('sapphire-rapids')
  const states: readonly (readonly [string, CpuDump, number, Level])[] = [
    ['a virtual machine that hides the AVX-512 state', skylake, 0x7, 'AVX2'],
    ['masks without the upper halves of zmm', skylake, 0x27, 'AVX2'],
    ['no ymm state', skylake, 0x3, 'DEFAULT'],
    ['zmm state without ymm state', skylake, 0xe3, 'DEFAULT'],
    ['a kernel that knows no tiles', sapphire, 0x2e7, 'AVX512_FP16'],
    ['tile configuration without tile data', sapphire, 0x202e7, 'AVX512_FP16'],
    ['a virtual machine that hides the AVX-512 state of a CPU with AVX-VNNI', sapphire, 0x60007, 'AVX2_VNNI'],
  ]
  for (const [what, dump, xcr0, level] of states) t.equal(current({ ...dump, xcr0 }), level, what)

  const noOsxsave = edited(skylake, 1, (row) => (row[4] = (row[4]! & ~(1 << 27)) >>> 0))
  t.equal(current(noOsxsave), 'DEFAULT', 'without OSXSAVE the register means nothing')
  const state13 = edited(skylake, 0xd, (row) => (row[2] = 7))
  t.equal(current(state13), 'AVX2', 'state that leaf 0xd does not list is none')
  const amxHidden = edited(sapphire, 7, (row) => (row[5] = (row[5]! & ~((1 << 22) | (3 << 24))) >>> 0))
  t.equal(current(amxHidden), 'AVX512_FP16', 'tiles hidden: the levels above and below stay')
  t.equal(current(amxHidden, 'amx'), 'AVX512_BF16')
  t.end()
})

t.test('leaves beyond the last one that a CPU has are not read', (t) => {
  const sapphire = recorded('sapphire-rapids')
  t.equal(current(edited(sapphire, 0, (row) => (row[2] = 6))), 'DEFAULT', 'no leaf 7')
  t.equal(current(edited(sapphire, 0, (row) => (row[2] = 7))), 'DEFAULT', 'no leaf 0xd')
  t.equal(
    current(
      edited(sapphire, 7, (row) => (row[2] = 0)),
      'amx',
    ),
    'AVX512_VNNI',
    'no subleaf 1 of leaf 7, where BF16 is',
  )
  t.equal(current(edited(recorded('haswell'), 0x80000000, (row) => (row[2] = 0x80000000))), 'DEFAULT', 'no leaf with LZCNT')
  t.end()
})

t.test('tiles need permission, and a library may lack levels', (t) => {
  const sapphire = recorded('sapphire-rapids')
  t.equal(current(sapphire, '', false), 'AVX512_FP16')
  t.equal(current(sapphire, 'amx', true), 'AMX')
  t.equal(current(sapphire, 'amx', false), 'AVX512_BF16')
  const refused = describeLevels(detectCpu(sapphire, { tiles: false, levelsHeld: ALL }))
  t.match(refused.find(({ name }) => name === 'AMX')?.reason, /does not permit/)
  const without = (...names: Level[]): number => names.reduce((set, name) => set & ~(1 << LADDER.indexOf(name)), ALL)
  const held = (levelsHeld: number): string => highestLevel(detectCpu(sapphire, { levelsHeld }).levelsInUse)
  t.equal(held(without('AVX512_FP16')), 'AMX')
  t.equal(held(without('AVX512_FP16', 'AMX', 'AVX512_BF16')), 'AVX512_VNNI')
  t.equal(held(1), 'DEFAULT')
  t.end()
})

t.test('features and reasons', (t) => {
  const zen4 = cpu.reportOf(readFileSync(`${FOLDER}zen4.txt`, 'utf8'), 'avx512')
  t.equal(zen4.currentLevel, 'AVX512')
  t.equal(zen4.highestCpuLevel, 'AVX512_BF16')
  t.match(zen4.features, { avx2: true, sha: true, avx512_bf16: true, avx_vnni: false, amx_tile: false, avx512_er: false, prefetchw: true })
  t.strictSame(zen4.os, { avx: true, avx2: true, avx512: true, amx: false })
  const reason = (name: string): string | null | undefined => zen4.levels.find((level) => level.name === name)?.reason
  t.equal(reason('AVX512'), null)
  t.equal(reason('AVX2_VNNI'), 'the CPU has no avx_vnni')
  t.equal(reason('AVX512_BF16'), 'ATEN_CPU_CAPABILITY=avx512')
  const hidden = describeLevels(detectCpu({ ...recorded('skylake-x'), xcr0: 7 }))
  t.match(hidden.find(({ name }) => name === 'AVX512')?.reason, /has not switched on 0xe6 of XCR0, which is 0x7/)
  t.end()
})

t.test('this machine by its own dump', (t) => {
  const here = cpu.report()
  t.strictSame(cpu.reportOf(cpu.dump(), process.env.ATEN_CPU_CAPABILITY), here)
  t.equal(here.currentLevel, cpu.currentLevel())
  t.equal(here.highestCpuLevel, cpu.highestCpuLevel())
  t.strictSame(here.features, cpu.features())
  t.end()
})

t.test('malformed dumps', (t) => {
  const bad = [
    '',
    '# nothing',
    '1 0 0 0 0',
    '1 0 0 0 0 0 0',
    '1 0 0 0 0 g',
    'xcr0',
    'xcr0 7',
    '1 0 100000000 0 0 0',
    '-1 0 0 0 0 0',
    '1 0 0 0 0 0\nxcr0 7 7',
  ]
  for (const text of bad) t.throws(() => parseDump(text), { code: 'INVALID_ARGUMENT' }, JSON.stringify(text))
  t.throws(() => parseDump('0 0 0 0 0 0\n'.repeat(5000)), { code: 'INVALID_ARGUMENT' }, 'too many leaves')
  t.strictSame(parseDump(' 1 0 a B 0 ffffffff # first\r\n\nxcr0 e7'), { leaves: [[1, 0, 10, 11, 0, 0xffffffff]], xcr0: 0xe7 })
  t.end()
})

const L3 = '/sys/devices/system/cpu/cpu0/cache/index3'
t.test('the third-level cache is the one that a core reads', { skip: existsSync(`${L3}/size`) ? false : 'no list of caches' }, (t) => {
  const { l1d, l2, l3 } = cpu.info().caches
  t.equal(`${l3 / 1024}K`, readFileSync(`${L3}/size`, 'utf8').trim())
  t.ok(l1d <= l2 && l2 <= l3, 'caches grow')
  t.end()
})
