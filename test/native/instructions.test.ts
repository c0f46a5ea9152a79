import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'

// The code of each level, disassembled: the instructions that the level is there for are in it, and none that its CPUs may lack.

const BUILD = fileURLToPath(new URL('../../build/', import.meta.url))
const VNNI = ['vpdpbusd', 'vpdpwssd']
const BF16 = ['vdpbf16ps', 'vcvtneps2bf16']
const AMX = ['tdpbusd', 'tdpbf16ps', 'ldtilecfg', 'tileloadd', 'tilestored', 'tilerelease']
const FP16 = ['vaddph', 'vmulph', 'vdivph', 'vsqrtph', 'vrndscaleph']

interface Level {
  readonly name: string
  readonly has: readonly string[]
  readonly lacks: readonly string[]
  /** Registers that no instruction may name. */
  readonly registers?: RegExp
}

const LEVELS: readonly Level[] = [
  { name: 'DEFAULT', has: ['mulps', 'pmaddwd'], lacks: ['vmulps', 'pmaddubsw', ...VNNI, ...BF16, ...AMX, ...FP16], registers: /%[yz]mm/ },
  { name: 'AVX2', has: ['vpmaddubsw', 'vfmadd231ps'], lacks: [...VNNI, ...BF16, ...AMX, ...FP16], registers: /%zmm|%k[0-7]/ },
  { name: 'AVX2_VNNI', has: ['{vex} vpdpbusd'], lacks: [...BF16, ...AMX, ...FP16], registers: /%zmm|%k[0-7]/ },
  { name: 'AVX512', has: ['vpmaddubsw', 'vfmadd231ps'], lacks: [...VNNI, ...BF16, ...AMX, ...FP16] },
  { name: 'AVX512_VNNI', has: ['vpdpbusd'], lacks: ['{vex} vpdpbusd', ...BF16, ...AMX, ...FP16] },
  { name: 'AVX512_BF16', has: BF16, lacks: [...AMX, ...FP16] },
  { name: 'AMX', has: AMX, lacks: FP16 },
  { name: 'AVX512_FP16', has: FP16, lacks: AMX },
]

/** How often each instruction occurs in an object file, and the first line that matches `registers`. */
function instructionsOf(file: string, registers: RegExp | undefined): { counts: Map<string, number>; offending: string | undefined } {
  const { stdout, status, stderr } = spawnSync('objdump', ['-d', '--no-show-raw-insn', file], { encoding: 'utf8', maxBuffer: 1 << 29 })
  if (status !== 0) throw new Error(stderr)
  const counts = new Map<string, number>()
  let offending: string | undefined
  for (const [line, instruction] of stdout.matchAll(/^ +[0-9a-f]+:\t((?:\{vex\} )?\S+).*$/gm)) {
    counts.set(instruction!, (counts.get(instruction!) ?? 0) + 1)
    if (offending === undefined && registers?.test(line) === true) offending = line
  }
  return { counts, offending }
}

const noTool = spawnSync('objdump', ['--version']).status === 0 ? null : 'not run: there is no objdump'

for (const { name, has, lacks, registers } of LEVELS) {
  const file = `${BUILD}level_${name}.o`
  const skip = noTool ?? (existsSync(file) ? false : `not run: ${file} was not built`)
  t.test(name, { skip }, (t) => {
    const { counts, offending } = instructionsOf(file, registers)
    t.ok(counts.size > 10, 'there is code')
    t.strictSame(
      has.filter((instruction) => !counts.has(instruction)),
      [],
      'instructions of the level',
    )
    t.strictSame(
      lacks.filter((instruction) => counts.has(instruction)),
      [],
      'instructions of higher levels',
    )
    t.equal(offending, undefined, 'registers of higher levels')
    t.end()
  })
}
