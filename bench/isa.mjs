// Times each kernel family at every level this machine has, as ratios to DEFAULT, in one run. Each level is a process
// of its own, held to it by ATEN_CPU_CAPABILITY; the processes take turns, round by round, on one thread. Prints a table of medians in Markdown.
//
//   node isa.mjs [--families REGEX] [--rounds 9] [--milliseconds 40] [--json FILE]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { FAMILIES } from './lib/kernel-families.mjs'

const LEVELS = ['DEFAULT', 'AVX2', 'AVX2_VNNI', 'AVX512', 'AVX512_VNNI', 'AVX512_BF16', 'AMX', 'AVX512_FP16']
const CHILD = fileURLToPath(new URL('lib/isa-child.mjs', import.meta.url))

/** What the project expects of its kernels: `family` at `level` against another one at another level. */
const EXPECTATIONS = [
  { family: 'product float32', level: 'AVX2', least: 4, of: 'product float32', at: 'DEFAULT' },
  { family: 'product float32', level: 'AVX512', least: 1, of: 'product float32', at: 'AVX2' },
  { family: 'product 8-bit', level: 'AVX512_VNNI', least: 3, of: 'product float32', at: 'AVX512' },
  { family: 'float32 to bfloat16', level: 'AVX512_BF16', least: 1, of: 'float32 to bfloat16', at: 'AVX512' },
]

const { values: options } = parseArgs({
  options: {
    families: { type: 'string', default: '.' },
    rounds: { type: 'string', default: '9' },
    milliseconds: { type: 'string', default: '40' },
    json: { type: 'string' },
  },
})

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2
}

class Level {
  #child

  static async start(name) {
    const level = new Level()
    level.#child = fork(CHILD, { env: { ...process.env, ATEN_CPU_CAPABILITY: name } })
    const [hello] = await once(level.#child, 'message')
    level.name = hello.level
    level.kernels = hello.kernels
    return level
  }

  async time(family, milliseconds) {
    this.#child.send({ family, milliseconds: Number(milliseconds) })
    const [{ microseconds }] = await once(this.#child, 'message')
    return microseconds
  }

  stop() {
    this.#child.disconnect()
  }
}

const levels = []
const missing = []
for (const name of LEVELS) {
  const level = await Level.start(name)
  if (level.name === name) {
    levels.push(level)
  } else {
    level.stop()
    missing.push(name)
  }
}

const pattern = new RegExp(options.families)
const chosen = FAMILIES.filter((family) => pattern.test(family.name))
const medians = new Map()
for (const family of chosen) {
  const times = levels.map(() => [])
  for (let round = 0; round < Number(options.rounds); round++) {
    // a different one begins each round, so that none always runs on a core that the one before has heated
    for (let i = 0; i < levels.length; i++) {
      const at = (round + i) % levels.length
      times[at].push(await levels[at].time(family.name, options.milliseconds))
    }
  }
  medians.set(family.name, new Map(levels.map((level, i) => [level.name, median(times[i])])))
}

console.log(`${cpus()[0].model}, one thread, node ${process.version}; processor time, median of ${options.rounds} rounds`)
if (missing.length > 0) console.log(`not measured, as this machine or library lacks them: ${missing.join(', ')}`)
console.log(
  `\n| kernel family | DEFAULT, µs | ${levels
    .slice(1)
    .map((l) => `${l.name}`)
    .join(' | ')} |`,
)
console.log(`| --- | ---: |${' ---: |'.repeat(levels.length - 1)}`)
for (const { name, kernel } of chosen) {
  const at = medians.get(name)
  const base = at.get('DEFAULT')
  const cells = levels.slice(1).map((level) => {
    // a level without code of its own for this kernel is served by a lower one
    const served = level.kernels[kernel]
    return `${(base / at.get(level.name)).toFixed(2)} ×${served === level.name ? '' : ` (${served})`}`
  })
  console.log(`| ${name} | ${base.toFixed(1)} | ${cells.join(' | ')} |`)
}

const results = EXPECTATIONS.flatMap((e) => {
  const time = medians.get(e.family)?.get(e.level)
  const other = medians.get(e.of)?.get(e.at)
  return time === undefined || other === undefined ? [] : [{ ...e, ratio: other / time }]
})
if (results.length > 0) console.log('')
for (const { family, level, least, of, at, ratio } of results) {
  console.log(
    `${ratio >= least ? 'ok    ' : 'MISSED'} ${family} at ${level} is ${ratio.toFixed(2)} × ${of} at ${at}; expected ${least} × or more`,
  )
}

if (options.json !== undefined) {
  const times = Object.fromEntries([...medians].map(([name, at]) => [name, Object.fromEntries(at)]))
  writeFileSync(options.json, `${JSON.stringify({ cpu: cpus()[0].model, missing, microseconds: times, expectations: results }, null, 2)}\n`)
}
for (const level of levels) level.stop()
