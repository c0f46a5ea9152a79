import { cpu as capability } from '../index.js'
import { formatBytes, table } from './format.js'
import { type Command, parse } from './usage.js'

export const cpu: Command = {
  usage: 'cpu [--kernels] [--json]',
  help: `Says which instruction sets the kernels use here.

      --kernels  also the level that each kernel comes from
      --json     as JSON`,

  run(args) {
    const { values } = parse({ args, options: { kernels: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } } })
    const info = capability.info()
    const report = {
      currentLevel: capability.currentLevel(),
      highestCpuLevel: capability.highestCpuLevel(),
      highestBinaryLevel: capability.highestBinaryLevel(),
      cores: info.cores,
      caches: info.caches,
      xcr0: info.xcr0,
      features: capability.features(),
      ...(values.kernels ? { kernels: capability.kernels() } : {}),
    }
    if (values.json) {
      console.log(JSON.stringify(report))
      return
    }
    const present = Object.entries(report.features).filter(([, has]) => has)
    const { l1d, l2, l3 } = info.caches
    console.log(
      table([
        ['level in use', report.currentLevel],
        ['highest of this CPU', report.highestCpuLevel],
        ['highest in the library', report.highestBinaryLevel],
        ['forced by', process.env.ATEN_CPU_CAPABILITY === undefined ? 'nothing' : `ATEN_CPU_CAPABILITY=${process.env.ATEN_CPU_CAPABILITY}`],
        ['cores', String(info.cores)],
        ['caches', `L1d ${formatBytes(l1d)}, L2 ${formatBytes(l2)}, L3 ${formatBytes(l3)}`],
        ['XCR0', `0x${info.xcr0.toString(16)}`],
        ['features', present.map(([name]) => name).join(' ')],
      ]),
    )
    if (report.kernels !== undefined) console.log(`\n${table(Object.entries(report.kernels))}`)
  },
}
